"""A robot with one channel and a direction register: front and back by a turn, and an angle that stands still (F08)."""
import numpy as np
import pytest

from calibration.body_model import line_array
from calibration.frames import HeadPose, direction_vector, wrapped
from dialogue.engines.scripted import Rule, ScriptedEngine
from perception.audio.array_register import Reading, RegisterConfig
from perception.audio.register_direction import RegisterDirection
from perception.pose_history import PoseHistory
from robot.bodies.replayed import ReplayedBody
from robot.bodies.room.array_readings import ArrayReadings, RegisterNoise
from robot.bodies.room.faults import Faults
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import RoomConfig, Utterance
from robot.build import build_mind
from robot.clock import VirtualClock
from robot.config import config_of, header_of
from robot.runtime import run
from robot.simulation import build_simulation
from robot.tape import Tape, TapeWriter, read_tape

AZIMUTH = np.radians(150)


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """(inputs, tick, head yaw) of each tick of a one-channel robot to which somebody speaks from behind; its tape."""
    engine = lambda: ScriptedEngine((Rule(".*", "Hello."),), lambda samples, onset, end: "hello")   # noqa: E731
    mind, body = build_simulation(RoomConfig(register=True), (PersonScript("anna", AZIMUTH, 1.5),), engine, 3)
    says = "hello robot, can you please look at me, I am over here"
    body.script = lambda t, room: room.person("anna").say(t, says) if t == 0.5 else None
    folder, seen = tmp_path_factory.mktemp("tape"), []
    tape = TapeWriter(folder, header_of(mind.config))
    run(mind, body, VirtualClock(), (lambda i, tick: seen.append((i, tick, mind.mind.poses.at(i.t).yaw)), tape),
        lambda t: t >= 4.0)
    tape.close()
    return seen, folder


def test_a_small_turn_decides_and_the_robot_turns_to_the_person(lived):
    seen, _ = lived
    assert all(i.audio[0].mics.shape == (1, 160) for i, *_ in seen if i.audio)
    bearings = [(tick.sound.bearing, tick.intent.reason, yaw) for _, tick, yaw in seen if tick.sound.bearing]
    first = bearings[0][0]
    assert first.ambiguous and min(abs(wrapped(a - AZIMUTH)) for a in (first.azimuth, first.mirror)) < 0.2
    decided = next(k for k, (bearing, *_) in enumerate(bearings) if not bearing.ambiguous)
    assert any("small turn" in reason for _, reason, _ in bearings[:decided])
    assert np.degrees(max(abs(yaw) for *_, yaw in bearings[:decided])) < 25
    assert abs(wrapped(bearings[-1][0].azimuth - AZIMUTH)) < np.radians(8)
    assert abs(wrapped(seen[-1][2] - AZIMUTH)) < np.radians(10)


def test_the_tape_of_a_one_channel_robot_replays_to_the_bit(lived):
    tape = read_tape(lived[1])
    assert any(inputs.array for inputs, _ in tape.pairs)
    short = Tape(tape.path, tape.header, tape.pairs[:150])
    body = ReplayedBody(short)
    run(build_mind(config_of(tape.header, "tape")), body, VirtualClock())
    assert body.difference is None


class Speaker:
    """A room in which somebody speaks from 1 s to 3 s, as far as a direction register knows."""

    def __init__(self, azimuth, elevation=0.0):
        self.head_pose_true = HeadPose(0.0, np.zeros(3), np.zeros(3), 0.0)
        self.utterances, self.faults = [Utterance("anna", 1.0, 3.0, "")], Faults()
        self._mouth = 2.0 * direction_vector(azimuth, elevation)

    def person(self, name):
        return self

    def mouth(self, t):
        return self._mouth

    def readings(self, seconds=4.0, error=0.0):
        register = ArrayReadings(self, np.random.default_rng(1), RegisterNoise(error=error))
        return [reading for k in range(round(seconds * 100)) for reading in register.step(k * 0.01)]


def test_the_simulated_register_is_late_in_whole_degrees_and_blind_for_front_and_back():
    front, back, left = (Speaker(np.radians(a)).readings() for a in (30, 150, 90))
    assert front == back and len(front) == 40
    speaks = [reading.t for reading in front if reading.speech]
    assert (speaks[0], speaks[-1]) == (pytest.approx(1.1), pytest.approx(3.1))
    assert np.degrees(front[20].angle) == pytest.approx(60, abs=1e-4) and left[20].angle == 0.0
    assert front[-1].angle == front[20].angle, "it stands still in silence"
    noisy = np.degrees([reading.angle for reading in Speaker(0.5).readings(error=0.05)])
    np.testing.assert_allclose(noisy, np.round(noisy), atol=1e-4)
    assert len(set(noisy)) > 5
    high = Speaker(np.pi / 2, np.radians(60)).readings()[20]
    assert np.degrees(high.angle) == pytest.approx(60, abs=0.6), "a cone about the line"


def test_a_simulated_register_stalls_and_goes():
    stalled, gone = Speaker(0.5), Speaker(0.5)
    stalled.faults.begin(0.0, "array", "stall", None)
    gone.faults.begin(1.0, "array", "gone", 1.0)
    assert len({reading.angle for reading in stalled.readings(error=0.1)}) == 1
    assert any(reading.speech for reading in stalled.readings())
    assert len(gone.readings()) == 30


class Still:
    """A head at rest and a register in front of it."""

    def __init__(self):
        self.direction, self.poses, self.t = RegisterDirection(line_array(), RegisterConfig()), PoseHistory(), 0.0

    def run(self, seconds, angle=1.0, voice=True, reads=True):
        out = []
        for _ in range(round(seconds * 100)):
            self.t += 0.01
            self.poses.add(self.t, HeadPose(self.t, np.zeros(3), np.zeros(3), 0.0))
            tenth = round(self.t * 100) % 10 == 0
            jitter = 0.02 * (round(self.t * 10) % 3)
            readings = (Reading(self.t, angle + jitter, True),) if reads and tenth else ()
            out.append(self.direction.step(self.t, readings, voice, self.poses))
        return out


def test_a_bearing_stands_between_two_readings_and_ends_with_the_voice():
    still = Still()
    still.run(1.0)
    assert all(bearing is not None for bearing, _ in still.run(0.5))
    assert all(bearing is None for bearing, _ in still.run(0.5, voice=False))


def test_a_register_that_was_never_there_is_no_trouble():
    assert all(step == (None, ()) for step in Still().run(5.0, reads=False))


def test_readings_that_stop_are_told_after_a_second_and_taken_back():
    still = Still()
    still.run(1.0)
    told = [health for _, changes in still.run(3.0, reads=False) for health in changes]
    assert [(h.part, h.level) for h in told] == [("array_register", "gone")] and 2.0 < told[0].t < 2.5
    assert [h.level for _, changes in still.run(0.5) for h in changes] == ["ok"]
