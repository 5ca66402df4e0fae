"""What the servo process does without the mind, in virtual time: hold, park, let go, and come back."""
import mmap
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.emulator import Emulator, EmulatorPort
from firmware_bridge.joint_reading import JointReading
from firmware_bridge.servo_bus import ServoBus
from motion.intent import JointGoal
from robot.bodies.goal_track import COAST_S, GoalTrack
from robot.bodies.joint_slots import packed_goal, packed_reading, unpacked_goal, unpacked_reading
from robot.bodies.latest import LatestValue
from robot.bodies.servo_loop import ServoLoop
from tests.bus_bench import BODY, NEUTRAL, PARK, swinging

STEADY = settings(deadline=None, derandomize=True, max_examples=50)
DT = 0.01


class Robot:
    """A servo loop on emulated servos."""

    def __init__(self):
        self.emulator = Emulator(BODY.servos)
        self.port = EmulatorPort(self.emulator)
        self.loop = ServoLoop(ServoBus(self.port, BODY.servos, PARK))
        self.t, self.told, self.reading = 0.0, [], None

    def run(self, seconds: float, goal=None) -> None:
        for _ in range(round(seconds / DT)):
            self.port.advance(DT)
            self.t += DT
            if goal is not None:
                position, ahead = goal(self.t), goal(self.t + 1e-4)
                self.loop.hear(self.t, JointGoal(self.t, position, (ahead - position) / 1e-4))
            self.reading, health = self.loop.step(self.t)
            self.told += health


def resting(t: float) -> np.ndarray:
    return NEUTRAL


@pytest.fixture(scope="module")
def awake() -> Robot:
    robot = Robot()
    robot.run(4.5, resting)
    assert all(robot.reading.torque) and not robot.told
    return robot


def test_without_a_mind_nothing_moves():
    robot = Robot()
    robot.run(3.0)
    assert not any(robot.emulator.torques()) and not robot.told


def test_a_mind_that_goes_leaves_the_robot_holding_then_parked_then_limp(awake):
    robot = awake
    robot.run(2.0, swinging)
    yaw = robot.emulator.true_positions()[0]
    robot.run(1.5)
    assert all(robot.emulator.torques())
    assert abs(robot.emulator.true_velocities()).max() < 0.01
    assert [line.part for line in robot.told] == ["servo_process"]
    robot.run(5.5)
    assert not any(robot.emulator.torques())
    np.testing.assert_allclose(np.degrees(robot.emulator.true_positions()[1:7] - PARK[1:7]), 0, atol=6)
    assert abs(robot.emulator.true_positions()[0] - yaw) < np.radians(10)     # the body's yaw stays
    robot.run(7.0, resting)
    assert all(robot.reading.torque) and robot.told[-1].level == "ok"
    np.testing.assert_allclose(np.degrees(robot.reading.position - NEUTRAL), 0, atol=2)


def test_a_late_mind_is_not_a_gone_one(awake):
    robot = awake
    told = len(robot.told)
    for _ in range(30):
        robot.run(0.08)                      # 80 ms without a goal, again and again
        robot.run(0.01, resting)
    assert len(robot.told) == told and all(robot.emulator.torques())


def test_a_robot_that_the_mind_lets_cook_is_parked():
    robot = Robot()
    robot.run(4.5, resting)
    robot.emulator.fault(12, temperature_c=66.0)
    robot.run(4.0, resting)
    assert robot.reading.park and all(robot.emulator.torques())
    robot.run(16.0, resting)                 # slowly: it is hot
    assert not any(robot.emulator.torques()) and robot.loop.bus.parked()


def test_heat_that_comes_and_goes_is_the_mind_s_to_answer():
    robot = Robot()
    robot.run(4.5, resting)
    for celsius in (66.0, 40.0) * 2:
        robot.emulator.fault(12, temperature_c=celsius)
        robot.run(4.0, resting)
    np.testing.assert_allclose(np.degrees(robot.reading.position - NEUTRAL), 0, atol=2)


def test_torque_stays_until_the_way_to_the_park_pose_is_done(awake):
    robot = deepcopy(awake)
    robot.loop.closing = True
    while all(robot.emulator.torques()):
        sent = robot.loop.bus.follower.sent[1:7].copy()
        robot.run(DT)
    np.testing.assert_allclose(sent, PARK[1:7], atol=1e-3)


def test_closing_parks_and_lets_go():
    robot = Robot()
    robot.run(4.5, resting)
    robot.loop.closing = True
    for _ in range(600):
        robot.run(DT, resting)
        if robot.loop.finished:
            break
    assert robot.loop.finished and not any(robot.emulator.torques()) and robot.loop.bus.parked()


def test_closing_a_robot_that_never_woke_is_done_at_once():
    robot = Robot()
    robot.run(0.5)
    robot.loop.closing = True
    assert robot.loop.finished


# goals between goals ------------------------------------------------------------------------------------------------

def wave(t: float) -> JointGoal:
    return JointGoal(t, np.full(9, np.sin(3 * t)), np.full(9, 3 * np.cos(3 * t)))


@STEADY
@given(st.floats(0.0, 0.0099), st.lists(st.floats(0.0, 0.008), min_size=60, max_size=60))
def test_goals_are_played_a_tick_later_whatever_their_jitter(phase, jitter):
    track, events = GoalTrack(), []
    events += [(k * DT + late, 0, k * DT) for k, late in enumerate(jitter)]
    events += [(k * DT + phase, 1, 0.0) for k in range(3, 60)]
    for t, read, made in sorted(events):
        if not read:
            track.add(wave(made))
        else:
            goal = track.at(t)
            assert np.abs(goal.position - np.sin(3 * (t - track.delay))).max() < 1.5e-3


def test_behind_the_last_goal_it_coasts_to_a_stop():
    track = GoalTrack()
    assert track.at(0.0) is None
    for k in range(11):
        track.add(wave(k * DT))
    path = np.array([track.at(0.1 + k * 1e-3).position[0] for k in range(300)])
    speed = np.diff(path) / 1e-3
    assert abs(speed[0] - 3) < 0.2 and speed[-1] == 0
    assert np.abs(np.diff(speed)).max() < 3 / COAST_S * 1e-3 * 1.2
    assert path[-1] == pytest.approx(np.sin(0.3) + 3 * np.cos(0.3) * COAST_S / 2)


def test_a_mind_whose_time_began_anew_is_followed():
    track = GoalTrack()
    track.add(wave(5.0))
    track.add(wave(0.1))
    np.testing.assert_allclose(track.at(0.1).position, np.sin(0.3), atol=1e-12)


# values between processes -------------------------------------------------------------------------------------------

def test_the_newest_value_wins_and_half_written_ones_are_not_read():
    memory = mmap.mmap(-1, 128)
    writer, reader = LatestValue(memory, 32, 64), LatestValue(memory, 32, 64)
    assert reader.read() == (0, b"")
    for value in (b"one", b"two", b"three"):
        writer.write(value)
    assert reader.read() == (3, b"three")
    memory[32 + 12] ^= 1                     # a torn write
    assert reader.read() == (0, b"")
    LatestValue(memory, 32, 64).write(b"after a restart")
    assert reader.read() == (4, b"after a restart")
    with pytest.raises(ValueError, match="slot of 54"):
        writer.write(bytes(60))
    assert memory[:32] == bytes(32) and memory[96:] == bytes(32)


@STEADY
@given(st.lists(st.floats(allow_nan=True), min_size=18, max_size=18), st.floats(0, 1e5), st.booleans())
def test_goals_and_readings_survive_the_crossing(numbers, t, yes):
    goal = JointGoal(t, np.array(numbers[:9]), np.array(numbers[9:]), yes)
    back = unpacked_goal(packed_goal(goal))
    np.testing.assert_array_equal(back.position, goal.position)
    np.testing.assert_array_equal(back.velocity, goal.velocity)
    assert (back.t, back.torque) == (t, yes)
    reading = JointReading(t, np.array(numbers[:9]), (yes, not yes) * 4 + (yes,), 0.5, yes)
    again, cycle, late = unpacked_reading(packed_reading(reading, 0.002, 0.001))
    np.testing.assert_array_equal(again.position, reading.position)
    assert (again.torque, again.speed_scale, again.park, cycle, late) == (reading.torque, 0.5, yes, 0.002, 0.001)
