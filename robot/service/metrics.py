"""Counts what a live run does, from its ticks alone, and hands the figures over once a second. Never waits.

Latencies are taken from the events of the log, as the scenarios' measures take them; what only the truth of a simulated
room could tell (silence at the loudspeaker, self-interruptions) is not in here.
"""
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Protocol

from calibration.health import Health
from dialogue.engine import Clause, EngineUsage, ReplyDone
from perception.audio.block import BLOCK_S, SAMPLE_RATE_HZ
from robot.service.audio_loss import AudioLoss
from robot.service.parts import health_of
from robot.service.sparing import PROCESS
from robot.service.tally import Tally
from robot.service.vitals import LEVELS, Level, Vitals
from robot.tick import Event, Inputs, Tick

PERIOD_S = 1.0                      # between two hand-overs: Prometheus asks every 5 to 60 s
KEPT = 16                           # turns that wait for an answer; more are superseded ones
STATES = {"ok": 0.0, "degraded": 1.0, "gone": 2.0}
GAUGES = {"memory": "talkover_memory_used_ratio", "cpu_wait": "talkover_cpu_wait_ratio",
          "memory_wait": "talkover_memory_wait_ratio", "load": "talkover_load_per_core",
          "temperature": "talkover_temperature_celsius"}


class Costs(Protocol):
    """A worker that knows what its replies cost: robot.worker.ChildWorker."""

    def spent(self) -> list[tuple[float, object]]:
        """(s, reply) of the replies since the call before."""


@dataclass
class Metrics:
    """An observer of the run. hand_over: takes the packed figures. busy: s by stage; queues: what waits, by name."""

    hand_over: Callable[[bytes], None]
    busy: Mapping[str, float] = field(default_factory=dict)
    queues: Mapping[str, Callable[[], float]] = field(default_factory=dict)
    engine: Costs | None = None
    tally: Tally = field(default_factory=Tally)
    _loss: AudioLoss = field(default_factory=AudioLoss)
    _turns: dict[object, float] = field(default_factory=dict)       # generation: t of its commit (s)
    _states: dict[str, str] = field(default_factory=dict)
    _due: float = 0.0
    _far: bool = False                  # the engine's speech is made at a server, which tells what it took

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        tally, t = self.tally, inputs.t
        tally.count("talkover_ticks")
        tally.observe("talkover_tick_late_seconds", inputs.late)
        tally.count("talkover_audio_seconds", by=BLOCK_S * len(inputs.audio))
        tally.count("talkover_audio_lost_seconds", by=self._loss.step(t, (block.t for block in inputs.audio)))
        tally.count("talkover_pictures", by=len(inputs.faces))
        for reply in inputs.replies:
            if isinstance(reply, Clause) and reply.index == 0 and reply.generation in self._turns:
                tally.observe("talkover_engine_seconds", t - self._turns[reply.generation])
            elif isinstance(reply, EngineUsage):
                self._used(reply)
            elif isinstance(reply, ReplyDone) and reply.yielded:
                tally.count("talkover_engine_yields")
        for event in tick.events:
            self._note(event)
        for health in inputs.health:
            self._health(health)
        if inputs.joints is not None:
            tally.set("talkover_servo_speed_scale", inputs.joints.speed_scale)
            tally.set("talkover_servo_torque", float(sum(inputs.joints.torque)))
        if inputs.vitals is not None:
            self._machine(inputs.vitals)
        if t >= self._due:
            self._due = t + PERIOD_S
            self._tell(tick)

    def _note(self, event: Event) -> None:
        tally, facts = self.tally, dict(event.facts)
        tally.count("talkover_events", event.name)
        match event.name:
            case "turn_committed":
                self._turns = dict([*self._turns.items()][-KEPT:]) | {facts["generation"]: event.t}
            case "reply_start" if facts["turn"] is not None and not facts["resumed"]:
                self._since("talkover_answer_seconds", event, facts["waited_for"])
                self._since("talkover_response_seconds", event, self._turns.pop(facts["generation"], None))
            case "duck":
                self._since("talkover_duck_seconds", event, facts["onset"])
            case "barge_in":
                self._since("talkover_stop_seconds", event, facts["onset"])
            case "release":
                tally.count("talkover_released_ducks")
            case "reply_resumed":
                tally.count("talkover_resumed_replies")
            case "degradation":
                level: Level = facts["level"]       # type: ignore[assignment]
                tally.set("talkover_degradation_level", float(LEVELS.index(level)))
        if event.name == "engine":
            tally.count("talkover_engine_states", str(facts["state"]))
            tally.count("talkover_lost_answers", by=float(facts["state"] == "lost"))
        health = health_of(event)
        if health is not None:
            self._health(health)

    def _used(self, usage: EngineUsage) -> None:
        for kind, count in usage.tokens:
            self.tally.count("talkover_engine_tokens", kind, by=float(count))
        for took, sounds in usage.pieces:
            self.tally.observe("talkover_engine_chunk_factor", took / sounds)
        self._far = self._far or bool(usage.pieces)

    def _since(self, name: str, event: Event, cause: object) -> None:
        if isinstance(cause, float) and event.t >= cause:
            self.tally.observe(name, event.t - cause)

    def _health(self, health: Health) -> None:
        tally, before = self.tally, self._states.get(health.part)
        self._states[health.part] = health.level
        tally.set("talkover_health", STATES[health.level], health.part)
        if before == health.level:
            return
        tally.count("talkover_health_changes", health.part, health.level)
        if health.level != "ok" and health.part.startswith("servo_"):
            tally.count("talkover_servo_errors", health.part)
        if health.level == "gone" and health.part.endswith(PROCESS):
            tally.count("talkover_child_deaths", health.part)

    def _machine(self, vitals: Vitals) -> None:
        for measure, name in GAUGES.items():
            value = getattr(vitals, measure)
            if value is not None:
                self.tally.set(name, value)
        for name in ("talkover_process_cpu_ratio", "talkover_process_memory_bytes", "talkover_process_open_files"):
            self.tally.forget(name)
        for process in vitals.processes:
            self.tally.set("talkover_process_cpu_ratio", process.cpu, process.name)
            self.tally.set("talkover_process_memory_bytes", float(process.rss), process.name)
            self.tally.set("talkover_process_open_files", float(process.fds), process.name)

    def _tell(self, tick: Tick) -> None:
        tally = self.tally
        tally.set("talkover_people", float(len(tick.people)))
        tally.gauges.setdefault(("talkover_degradation_level",), 0.0)
        for stage, seconds in self.busy.items():
            tally.counters["talkover_busy_seconds", stage] = seconds
        for queue, length in self.queues.items():
            tally.set("talkover_queue_length", length(), queue)
        for cost, reply in self.engine.spent() if self.engine is not None else ():
            if isinstance(reply, Clause) and len(reply.samples) and not self._far:
                tally.observe("talkover_engine_chunk_factor", cost * SAMPLE_RATE_HZ / len(reply.samples))
        tally.gauges = {key: value for key, value in tally.gauges.items() if isfinite(value)}
        self.hand_over(tally.packed())
