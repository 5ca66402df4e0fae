"""What the machine tells decides what the robot can afford: in steps, with hysteresis, replayable."""
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.health import Health
from dialogue.engine import Candidate, Commit, EngineTrouble, Hear, Prompt
from dialogue.engines.companion import Companion
from dialogue.engines.scripted import ScriptedEngine
from dialogue.loop import Turn
from dialogue.memory import Memory
from dialogue.persona import Persona
from motion.intent import MotionIntent
from perception.audio.block import frozen_samples
from perception.people import Person
from robot.codec import decoded, encoded
from robot.interaction.scripted_answers import RULES
from robot.service.audio_loss import AudioLoss
from robot.service.sparing import Means, Sparing
from robot.service.vitals import LEVELS, Degradation, ProcessVitals, Vitals, VitalsConfig, steps_of
from robot.tick import Inputs

SOUND = frozen_samples([0.0] * 160)


def lived(degradation, seconds, start=0.0, sound=lambda t: True, late=lambda t: 0.0, dead=lambda t: (), **vitals):
    """Ticks of `seconds`, a sample a second with these values; [(t, level, reason)] of the changes."""
    changes = []
    for tick in range(round(start * 100), round((start + seconds) * 100)):
        t = tick / 100
        sample = Vitals(t, **vitals) if vitals and tick % 100 == 0 else None
        moved = degradation.step(t, sample, late(t), (t,) if sound(t) else (), dead(t))
        if moved:
            changes.append((t, *moved))
    return changes


def test_heat_takes_the_levels_one_by_one_and_gives_them_back_slowly():
    machine = Degradation()
    down = lived(machine, 10, temperature=90.0)
    assert [level for _, level, _ in down] == ["lean", "voice_only", "safe"]
    assert all("90 degrees" in reason for *_, reason in down)
    assert down[-1][0] < 3 * machine.config.falls_after_s + 1
    up = lived(machine, 70, 10, temperature=50.0)
    assert [level for _, level, _ in up] == ["voice_only", "lean", "full"]
    assert up[0][0] >= 10 + machine.config.rises_after_s - 0.01
    assert up[2][0] - up[1][0] == pytest.approx(machine.config.rises_after_s)


def test_a_value_that_swings_about_a_limit_changes_nothing_after_the_first_time():
    machine = Degradation()
    changes = []
    for second in range(120):
        changes += lived(machine, 1, second, temperature=76.0 if second % 3 == 0 else 72.0)
    assert [level for _, level, _ in changes] == ["lean"]


def test_a_short_peak_and_an_old_sample_change_nothing():
    machine = Degradation()
    assert lived(machine, 1, memory=0.99) == [] and lived(machine, 30, 1, memory=0.2) == []
    assert lived(machine, 1, 31, memory=0.86, load=0.0) == []
    assert lived(machine, 40, 32) == [(pytest.approx(33.0), "lean", "86% of the memory is used"),
                                      (pytest.approx(56.0, abs=0.1), "full", "everything is calm again")]


@pytest.mark.parametrize(("value", "level"), [
    ({"temperature": 74.0, "memory": 0.84, "cpu_wait": 0.79, "load": 1.9, "memory_wait": 0.09}, "full"),
    ({"temperature": 76.0}, "lean"), ({"temperature": 81.0}, "voice_only"), ({"temperature": 86.0}, "safe"),
    ({"memory": 0.86}, "lean"), ({"memory": 0.93}, "voice_only"), ({"memory": 0.98}, "safe"),
    ({"cpu_wait": 1.0}, "voice_only"), ({"load": 30.0}, "voice_only"), ({"memory_wait": 0.7}, "safe"),
])
def test_where_each_level_begins(value, level):
    machine = Degradation()
    lived(machine, 30, **value)
    assert machine.level == level


def test_late_ticks_count_and_a_hiccup_does_not():
    """F59: a starved board; the steps go down one by one, pictures first (test_what_each_level_leaves_out)."""
    machine = Degradation()
    assert lived(machine, 20, late=lambda t: 3.0 if t < 9.0 or 14.0 <= t < 14.3 else 0.0001) == []
    assert lived(machine, 20, 20, late=lambda t: 0.02 if round(t * 100) % 5 < 3 else 0.0)[-1][1] == "voice_only"
    assert "ticks come late" in machine.strain.reason


def test_lost_sound_counts_and_a_device_that_is_gone_does_not():
    machine = Degradation()
    assert lived(machine, 15, sound=lambda t: round(t * 100) % 100 < 88)[0][1] == "lean"
    gone = Degradation()
    assert lived(gone, 60, sound=lambda t: not 10 <= t < 40) == []


def test_a_child_that_dies_three_times_in_a_minute_costs_a_step_and_not_more():
    machine = Degradation()
    dies = {5.0: ("engine",), 20.0: ("engine",), 60.0: ("engine",), 61.0: ("engine",), 62.0: ("engine",)}
    down = lived(machine, 100, dead=lambda t: dies.get(t, ()))
    assert [(level, reason) for _, level, reason in down] == [("lean", "engine died 3 times in 60 s")]
    assert [level for _, level, _ in lived(machine, 60, 100)] == ["full"]
    slow = Degradation()
    assert lived(slow, 100, dead=lambda t: ("engine",) if t in (5.0, 40.0, 75.0) else ()) == []
    both = Degradation()
    lived(both, 20, dead=lambda t: ("engine", "camera_process") if t in (1.0, 2.0, 3.0) else ())
    assert both.level == "voice_only"


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.lists(st.tuples(st.floats(0, 120), st.floats(0, 1), st.floats(0, 1), st.booleans()), max_size=40))
def test_levels_change_by_one_step_never_faster_than_their_patience(samples):
    machine, changes = Degradation(), []
    for second, (temperature, memory, wait, dies) in enumerate(samples):
        before = machine.level
        moved = machine.step(float(second), Vitals(float(second), wait, None, memory, None, temperature), 0.0, (),
                             ("engine",) if dies else ())
        assert (moved is None) == (machine.level == before)
        if moved:
            way = LEVELS.index(machine.level) - LEVELS.index(before)
            assert abs(way) == 1 and moved[1]
            changes.append((second, way))
    for (earlier, _), (later, way) in pairwise(changes):
        patience = machine.config.falls_after_s if way > 0 else machine.config.rises_after_s
        assert later - earlier >= patience


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.floats(0, 1), st.integers(0, 3))
def test_a_limit_once_met_holds_until_eased(value, before):
    limits, eased = (0.3, 0.5, 0.8), (0.24, 0.4, 0.64)
    steps = steps_of(value, limits, eased, before)
    assert steps >= steps_of(value, limits, eased, 0)
    assert steps <= max(before, steps_of(value, limits, eased, 0))
    assert steps_of(value, limits, eased, steps) == steps


def test_audio_loss_counts_holes_and_silence_once():
    loss = AudioLoss()
    assert loss.step(5.0, ()) == 0.0
    assert loss.step(5.01, (5.01,)) == 0.0 and loss.step(5.02, (5.02,)) == 0.0
    assert loss.step(5.2, (5.18, 5.19)) == pytest.approx(0.15)
    waited = sum(loss.step(5.2 + k / 100, ()) for k in range(100))
    assert waited == pytest.approx(0.75) and loss.silent_for(6.19) == pytest.approx(1.0)
    assert loss.step(6.2, (6.2,)) == pytest.approx(0.25)                 # the rest of the second
    assert loss.step(6.21, (6.205, 6.215)) == 0.0                        # a clock that is estimated


def test_a_sample_survives_the_tape():
    inputs = Inputs(3, 0.03, vitals=Vitals(0.02, 0.1, 0.5, 0.3, None, None, (ProcessVitals("mind", 0.4, 10, 12),)),
                    late=0.001)
    assert decoded(encoded(inputs)) == inputs


def turn(floor="person", *requests, **intent):
    return Turn(MotionIntent(1.0, **intent), SOUND, (), 0, requests, (), floor, ())


def test_what_each_level_leaves_out():
    asks, commits, hears = Candidate(1.0, 4, 0.2, 0.8), Commit(1.0, 4, 0.2, 0.8, 9), Hear(1.0, SOUND, True)
    wish = turn("person", hears, asks, commits, mode="idle", gesture="nod", urgency=0.9)
    assert Means().spare(wish) is wish
    assert Means("lean").spare(wish) == replace(wish, requests=(hears, commits))
    assert asks in Means("lean").spare(replace(wish, floor="ducked")).requests     # a hum is judged only here
    calm = Means("voice_only").spare(wish).intent
    assert (calm.mode, calm.gesture, calm.urgency) == ("listen", None, 0.2)
    assert Means("voice_only").spare(wish).requests == (hears, replace(commits, light=True))
    rest = Means("safe", "I am getting too warm").spare(wish)
    assert rest.intent.mode == "park" and rest.requests == (
        hears, Prompt(1.0, "say: I am sorry, I have to rest: I am getting too warm.", 9))
    assert Means("safe", "x").spare(turn(mode="sleep")).intent.mode == "sleep"


def test_pictures_by_level_and_company():
    stage, config = Sparing(), VitalsConfig()
    somebody = (Person("anna", 0.0, 0.0, 1.0, None, 0.0),)
    assert stage.step(Inputs(0, 0.0), ()).camera_fps is None
    assert stage.step(Inputs(0, 61.0), ()).camera_fps == config.alone_fps
    assert stage.step(Inputs(0, 61.01), somebody).camera_fps is None
    for level, fps in (("lean", config.lean_fps), ("voice_only", 0.0), ("safe", 0.0)):
        stage.degradation.level = level
        assert stage.step(Inputs(0, 61.02), somebody).camera_fps == fps


def test_the_stage_knows_a_death_from_trouble():
    stage = Sparing()
    for index in range(6):
        t = index * 1.0
        inputs = Inputs(index, t, replies=(EngineTrouble("connection refused"),),
                        health=(Health(t, "camera", "gone"), Health(t, "sound_process", "degraded")))
        assert stage.step(inputs, ()).level == "full"
    for index in range(6, 15):
        t = index * 1.0
        died = (EngineTrouble("died", None, died=True),) if index < 9 else ()
        means = stage.step(Inputs(index, t, replies=died), ())
    assert means.level == "lean" and stage.degradation.strain.reason.startswith("engine_process died 3 times")


def test_engines_say_what_they_are_told_to_say():
    companion = Companion(Persona(), Memory(), datetime(2026, 1, 1))
    assert companion.prompted("say: I can see again.", 0.0).text == "I can see again."
    engine = ScriptedEngine(RULES, lambda *_: "")
    said = [timed.reply.text for timed in engine.handle(Prompt(0.0, "say: I can see again.", 1))
            if hasattr(timed.reply, "text")]
    assert said == ["I can see again."]
