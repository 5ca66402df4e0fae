"""What a run tells Prometheus: counted from events, handed over without waiting, served on loopback, used by alerts."""
import json
import mmap
import pickle
import re
import select
import time
import urllib.request
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from calibration.frames import frozen
from calibration.health import Health
from dialogue.engine import Clause, EngineUsage, ReplyDone
from firmware_bridge.joint_reading import JointReading
from motion.intent import MotionIntent
from perception.audio.block import AudioBlock, frozen_samples
from perception.audio.scene import SoundScene
from perception.vision.frame import Sight
from robot.bodies.latest import LatestValue
from robot.build import build_mind
from robot.config import MindConfig
from robot.mind_state import kept, woken
from robot.service.metric_table import TABLE
from robot.service.metrics import Metrics
from robot.service.metrics_child import Figures
from robot.service.metrics_process import SIZE, MetricsConfig, MetricsProcess, measuring
from robot.service.stage_clock import STAGES, ClockedStage, StageClock
from robot.service.tally import Tally, families
from robot.service.vitals import ProcessVitals, Vitals
from robot.tick import Event, Inputs, Outputs, Tick

MONITORING = Path("robot/service/monitoring")
SOUND = frozen_samples([0.0] * 160)


def event(t: float, name: str, **facts) -> Event:
    return Event(t, name, tuple(facts.items()))


def tick(t: float, *events: Event) -> Tick:
    return Tick(Outputs(), SoundScene(t), Sight(t), (), MotionIntent(t), "idle", events)


def exposed(packed: bytes) -> dict[str, float]:
    """`name{label="value"}` and value of everything in the exposition, through the official parser."""
    registry = CollectorRegistry()
    memory = mmap.mmap(-1, SIZE)
    slot = LatestValue(memory, 0, SIZE)
    if packed:
        slot.write(packed)
    registry.register(Figures(slot))
    out = {}
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        for sample in family.samples:
            labels = ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items()))
            out[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return out


class Engine:
    """A worker with one clause of half a second that took 50 ms."""

    def spent(self):
        return [(0.05, Clause(1, 0, "hello", frozen_samples([0.0] * 8000))), (0.01, "something else")]


@pytest.fixture
def figures():
    packed = []
    metrics = Metrics(packed.append, {"ears": 0.25}, {"loudspeaker": lambda: 3.0}, Engine())
    lines = (
        (1.00, Inputs(0, 1.00, audio=(AudioBlock(1.0, SOUND, SOUND),), late=0.0004), ()),
        (1.01, Inputs(1, 1.01, audio=(AudioBlock(1.06, SOUND, SOUND),)),        # 50 ms are missing
         (event(1.01, "turn_committed", generation=1, turn=1, onset=0.1, end=0.66),)),
        (1.13, Inputs(2, 1.13, replies=(Clause(1, 0, "hello", SOUND),)), ()),
        (1.15, Inputs(3, 1.15), (event(1.15, "reply_start", generation=1, turn=1, resumed=False, waited_for=0.66),)),
        (1.90, Inputs(4, 1.90), (event(1.9, "duck", onset=1.7, evidence=1.0, step=1),)),
        (2.00, Inputs(5, 2.00), (event(2.0, "release", reason="nobody"), event(2.0, "duck", onset=None))),
        (2.10, Inputs(6, 2.10), (event(2.1, "barge_in", onset=1.7, generation=1, heard="", unheard="", reason=""),)),
        (2.20, Inputs(7, 2.20), (event(2.2, "reply_resumed", generation=2, of=1, reason="false"),
                                 event(2.2, "engine", state="lost", reason="no answer came"),
                                 event(2.2, "degradation", level="voice_only", before="lean", reason="hot", aloud=""))),
        (2.30, Inputs(8, 2.30, joints=JointReading(2.3, frozen([0.0] * 9), (True,) * 8 + (False,), 0.5),
                      health=(Health(2.3, "servo_13", "gone"), Health(2.3, "camera_process", "gone"))), ()),
        (2.35, Inputs(9, 2.35, replies=(EngineUsage(1, (("input_audio", 40), ("output_audio", 90))), ReplyDone(1),
                                        EngineUsage(0, (("output_audio", 10),)), ReplyDone(2, yielded=True))),
         (event(2.35, "engine", state="trouble", reason="lost"), event(2.35, "engine", state="ready", reason="ok"))),
        (2.40, Inputs(10, 2.40, vitals=Vitals(2.3, 0.1, 0.7, 0.8, None, 61.0, (
            ProcessVitals("mind", 0.4, 1000, 12), ProcessVitals("embedded", 0.1, 2000, 9)))), ()),
        (3.50, Inputs(11, 3.50, vitals=Vitals(3.4, 0.1, 0.7, 0.9, None, 61.0, (
            ProcessVitals("mind", 0.3, 1100, 12),))), ()),
    )
    for t, inputs, events in lines:
        metrics(inputs, tick(t, *events))
    return exposed(packed[-1])


@pytest.mark.parametrize(("name", "value"), [
    ("talkover_ticks_total", 12), ("talkover_tick_late_seconds_count", 12),
    ('talkover_tick_late_seconds_bucket{le=0.0002}', 11), ('talkover_tick_late_seconds_bucket{le=0.0005}', 12),
    ("talkover_response_seconds_sum", 0.14), ("talkover_response_seconds_count", 1),
    ("talkover_engine_seconds_sum", 0.12), ("talkover_answer_seconds_sum", 0.49),
    ("talkover_duck_seconds_sum", 0.2), ("talkover_duck_seconds_count", 1), ("talkover_stop_seconds_sum", 0.4),
    ("talkover_released_ducks_total", 1), ("talkover_resumed_replies_total", 1), ("talkover_lost_answers_total", 1),
    ("talkover_events_total{event=duck}", 2), ("talkover_degradation_level", 2),
    ("talkover_busy_seconds_total{stage=ears}", 0.25), ("talkover_queue_length{queue=loudspeaker}", 3),
    ("talkover_engine_chunk_factor_sum", 0.3), ("talkover_engine_chunk_factor_count", 3),
    ("talkover_engine_tokens_total{kind=output_audio}", 100), ("talkover_engine_tokens_total{kind=input_audio}", 40),
    ("talkover_engine_yields_total", 1), ("talkover_engine_states_total{state=ready}", 1),
    ("talkover_engine_states_total{state=trouble}", 1), ("talkover_engine_states_total{state=lost}", 1),
    ("talkover_servo_torque", 8), ("talkover_servo_speed_scale", 0.5),
    ("talkover_servo_errors_total{servo=servo_13}", 1),
    ("talkover_child_deaths_total{part=camera_process}", 1), ("talkover_health{part=servo_13}", 2),
    ("talkover_memory_used_ratio", 0.9), ("talkover_temperature_celsius", 61),
    ("talkover_process_memory_bytes{process=mind}", 1100), ("talkover_people", 0),
])
def test_a_figure_counts_what_its_name_says(figures, name, value):
    assert figures[name] == pytest.approx(value)


def test_where_a_server_makes_the_speech_its_own_pace_counts_and_not_the_handing_on():
    packed = []
    metrics = Metrics(packed.append, engine=Engine())
    metrics(Inputs(0, 0.0, replies=(EngineUsage(1, (), ((0.3, 0.5), (0.05, 0.5))),)), tick(0.0))
    found = exposed(packed[-1])
    assert found["talkover_engine_chunk_factor_count"] == 2
    assert found["talkover_engine_chunk_factor_sum"] == pytest.approx(0.7)


def test_sound_that_came_and_sound_that_was_lost(figures):
    assert figures["talkover_audio_seconds_total"] == pytest.approx(0.02)
    assert figures["talkover_audio_lost_seconds_total"] == pytest.approx(0.05 + 3.5 - 0.25 - 1.06)


def test_a_process_that_is_gone_is_no_longer_told(figures):
    assert not [name for name in figures if "process=embedded" in name]


def test_before_the_first_figures_the_names_are_there_and_nothing_is_invented():
    assert exposed(b"") == {}
    started = exposed(Tally().packed())
    assert started["talkover_ticks_total"] == 0 and started["talkover_response_seconds_count"] == 0


def used(text: str) -> set[str]:
    return set(re.findall(r"\btalkover_[a-z_]+\b", text))


def known() -> set[str]:
    """All names of the exposition, as the client's own families write them."""
    out = set()
    for metric in TABLE:
        out |= {"counter": {f"{metric.name}_total"}, "gauge": {metric.name},
                "histogram": {f"{metric.name}_{end}" for end in ("bucket", "sum", "count")}}[metric.kind]
    return out


def expressions() -> dict[str, str]:
    rules = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"][0]["rules"]
    panels = json.loads((MONITORING / "dashboard.json").read_text())["panels"]
    shown = {f"{panel['title']} {k}": target["expr"] for panel in panels for k, target in enumerate(panel["targets"])}
    return {rule["alert"]: rule["expr"] for rule in rules} | shown


def test_every_name_in_alerts_and_dashboard_is_served():
    assert {family.name for family in families(b"")} == {metric.name for metric in TABLE}
    for place, text in expressions().items():
        assert used(text) and used(text) <= known(), place


def test_expressions_are_well_formed():
    """No promtool here: brackets close, functions exist, edges of buckets are edges, labels are labels."""
    functions = {"rate", "increase", "histogram_quantile", "sum", "max", "by"}
    labels = {label for metric in TABLE for label in metric.labels} | {"le"}
    edges = {str(edge) for metric in TABLE for edge in metric.buckets}
    for place, text in expressions().items():
        for left, right in ("()", "[]", "{}"):
            assert text.count(left) == text.count(right), place
        assert set(re.findall(r"([a-z_]+) ?\(", text)) <= functions, place
        assert set(re.findall(r"by \((\w+)\)", text)) <= labels, place
        assert set(re.findall(r'le="([^"]+)"', text)) <= edges, place
        for counter in used(text):
            if counter.endswith(("_total", "_bucket", "_sum", "_count")):
                assert re.search(rf"(rate|increase)\({counter}(\{{[^}}]*\}})?\[", text), f"{place}: {counter}"


def test_every_alert_says_what_people_notice_and_what_to_do():
    for rule in yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"][0]["rules"]:
        assert rule["labels"]["severity"] in ("info", "warning", "critical")
        assert rule["annotations"]["summary"] and rule["annotations"]["remedy"]


def test_stages_are_clocked_and_a_kept_mind_has_no_clock():
    guarded = build_mind(MindConfig())
    clock = StageClock()
    clock.watch(guarded.mind)
    guarded.tick(Inputs(0, 0.0, audio=(AudioBlock(0.01, frozen_samples([[0.0] * 160] * 4), SOUND),)))
    assert set(clock.spent) == set(STAGES) and clock.spent["ears"] > 0
    assert guarded.mind.dialogue.floor.state == "idle"
    again = woken(kept(guarded), "here")
    assert not isinstance(again.mind.ears, ClockedStage) and type(again.mind.ears).__name__ == "Ears"
    assert pickle.loads(pickle.dumps(guarded.mind.people)).step


def test_figures_are_served_on_loopback_by_a_child_that_comes_back():
    process = MetricsProcess(MetricsConfig(port=0), time.monotonic())
    guarded, told = build_mind(MindConfig()), []
    process.report = told.append
    observers = measuring(process, guarded.mind)
    inputs = Inputs(0, 2.0)
    result = guarded.tick(inputs)

    def served() -> int:
        process.port = None
        for _ in range(2000):
            for observe in observers:
                observe(inputs, result)
            if process.port:
                return process.port
            connection = process.child.connection
            select.select([connection] if connection else [], [], [], 10 if connection else 0.05)
        pytest.fail("no port")

    try:
        port = served()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
            text = answer.read().decode()
        assert "talkover_ticks_total" in text and 'stage="ears"' in text
        process.child._child.kill()
        process.child.backoff_s = (0.0, 0.0)
        assert served()
        assert [line.split(":")[0] for line in told][:1] == ["metrics_process gone"]
    finally:
        process.close()
