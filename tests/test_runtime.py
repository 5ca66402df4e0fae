"""The whole robot, for a few seconds: the same twice, the same from tape, alive when its mind stumbles."""
import hashlib

import numpy as np
import pytest

from dialogue.engines.scripted import Rule, ScriptedEngine
from robot.__main__ import main
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import RoomConfig
from robot.clock import LiveClock, VirtualClock
from robot.codec import encoded
from robot.config import header_of
from robot.runtime import PARK_S, run
from robot.simulation import build_simulation
from robot.tape import TapeWriter, read_tape

SECONDS = 4.0
ANNA = PersonScript("anna", azimuth=0.4, distance=1.2)


def engine():
    return ScriptedEngine((Rule(".*", "Hello. I am a robot."),), lambda samples, onset, end: "hello robot")


def built(seed=3):
    mind, body = build_simulation(RoomConfig(), (ANNA,), engine, seed)
    body.script = lambda t, room: room.person("anna").say(t, "hello robot") if t == 0.5 else None
    return mind, body


class Kept:
    """An observer that keeps everything in a fingerprint."""

    def __init__(self):
        self.told = hashlib.sha256()
        self.ticks = []

    def __call__(self, inputs, tick):
        self.told.update(encoded(inputs).encode() + encoded(tick.outputs).encode())
        self.ticks.append((inputs, tick))


@pytest.fixture(scope="module")
def taped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tape")
    mind, body = built()
    tape, kept = TapeWriter(folder, header_of(mind.config)), Kept()
    run(mind, body, VirtualClock(), (tape, kept), lambda t: t >= SECONDS)
    tape.close()
    return folder, kept


def test_the_same_seed_gives_the_same_run_to_the_bit(taped):
    again = Kept()
    mind, body = built()
    run(mind, body, VirtualClock(), (again,), lambda t: t >= SECONDS)
    assert again.told.digest() == taped[1].told.digest()


def test_another_seed_gives_another_run(taped):
    other = Kept()
    mind, body = built(seed=4)
    run(mind, body, VirtualClock(), (other,), lambda t: t >= 1.0)
    assert any(encoded(a[0]) != encoded(b[0]) for a, b in zip(other.ticks, taped[1].ticks, strict=False))


def test_a_replay_is_the_same_and_a_changed_tape_is_found(taped, tmp_path, capsys):
    folder, _ = taped
    assert main(["replay", str(folder), "--verify"]) == 0
    assert "identical" in capsys.readouterr().out
    tape, changed = read_tape(folder), TapeWriter(tmp_path, read_tape(folder).header)
    pairs = [(i, o) for i, o in tape.pairs]
    for number, (inputs, outputs) in enumerate(pairs):
        if number == 150:
            position = np.array(outputs.joints.position)
            position[0] = np.nextafter(position[0], 1.0)
            outputs = outputs.__class__(outputs.joints.__class__(outputs.joints.t, position, outputs.joints.velocity))
        changed(inputs, type("T", (), {"outputs": outputs})())
    changed.close()
    assert main(["replay", str(tmp_path), "--verify"]) == 1
    assert "tick 150 (1.50 s), outputs.joints" in capsys.readouterr().out


def test_a_mind_that_stumbles_holds_still_and_goes_on():
    mind, body = built()
    told, ears = [], mind.mind.ears
    mind.report = told.append
    step, failing = ears.step, range(100, 130)
    kept = Kept()

    def stumbling(*arguments):
        if len(kept.ticks) in failing:
            raise ZeroDivisionError("a bug")
        return step(*arguments)

    ears.step = stumbling
    run(mind, body, VirtualClock(), (kept,), lambda t: t >= 2.0)
    broken = [tick for _, tick in kept.ticks[100:130]]
    assert len(told) == 1 and "ZeroDivisionError: a bug" in told[0]
    assert all(not tick.outputs.joints.velocity.any() for tick in broken)
    assert all(len(tick.outputs.speaker) == 1 and tick.outputs.live_generation == 0 for tick in broken)
    assert [dict(e.facts)["of"] for tick in broken for e in tick.events if e.name == "health"] == ["mind"]
    again = [dict(e.facts) for _, tick in kept.ticks for e in tick.events if e.name == "health"][1:]
    assert [(fact["of"], fact["level"]) for fact in again if fact["of"] == "mind"] == [("mind", "ok")]
    assert len(kept.ticks) == 200


def test_a_mind_that_only_stumbles_gives_up():
    mind, body = built()
    mind.mind.ears.step = lambda *arguments: 1 / 0
    with pytest.raises(ZeroDivisionError):
        run(mind, body, VirtualClock(), (), lambda t: t >= 5.0)


def test_leaving_parks_first():
    mind, body = built()
    kept = Kept()
    run(mind, body, VirtualClock(), (kept,), leaving=lambda: len(kept.ticks) >= 50)
    inputs, tick = kept.ticks[-1]
    assert inputs.parking and tick.intent.mode == "park" and not tick.outputs.joints.velocity.any()
    assert len(kept.ticks) == 50 + round(PARK_S * 100)
    assert abs(np.degrees(tick.outputs.joints.position[7])) > 150      # antennas folded back, as it sleeps


def test_live_deadlines_are_absolute():
    clock = LiveClock(start=LiveClock().start - 1.0)      # a loop that is a second late
    assert clock.wait(10) == pytest.approx(0.1) and clock.lateness(10) >= 0.9
