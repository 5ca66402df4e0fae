"""The emergency stop of the servo process, in virtual time: nothing comes before it, no order of events breaks it."""
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motion.intent import JointGoal
from tests.bus_bench import NEUTRAL, PARK, STEP_DEG, swinging
from tests.test_servo_loop import DT, Robot, resting


class Watched(Robot):
    """A robot whose every tick is checked: goals within speed and acceleration, torque off only where the head lies."""

    def __init__(self):
        super().__init__()
        self.armed, self.sent, self.speed = np.zeros(9, bool), np.full(9, np.nan), np.zeros(9)

    def tick(self, goal=None, torque: bool = True) -> None:
        bus, torques = self.loop.bus, self.emulator.torques()
        if goal is not None:
            position, ahead = goal(self.t + DT), goal(self.t + DT + 1e-4)
            self.loop.hear(self.t + DT, JointGoal(self.t + DT, position, (ahead - position) / 1e-4, torque))
        self.run(DT)
        armed = np.array([watch.phase == "armed" for watch in bus.watches])
        held = armed & self.armed
        speed = np.where(held, (bus.follower.sent - self.sent) / DT, 0.0)
        assert np.abs(speed[held]).max(initial=0.0) <= bus.settings.top_speed_rad_s + 1e-9
        assert np.abs(speed - self.speed)[held].max(initial=0.0) / DT <= bus.settings.top_rad_s2 + 1e-6
        self.armed, self.sent, self.speed = armed, bus.follower.sent.copy(), np.where(armed, speed, 0.0)
        if any(was and not now for was, now in zip(torques, self.emulator.torques(), strict=True)):
            assert np.abs(self.emulator.true_positions() - PARK)[1:7].max() < np.radians(7)

    def ticks(self, count: int, goal=None, torque: bool = True) -> None:
        for _ in range(count):
            self.tick(goal, torque)


def far(t: float) -> np.ndarray:
    return NEUTRAL + np.radians([70, 10, -10, 10, -10, 10, -10, 60, -60])


def lying(t: float) -> np.ndarray:
    return PARK


@pytest.fixture(scope="module")
def upright() -> Watched:
    robot = Watched()
    robot.ticks(450, resting)
    return robot


def standing(robot: Watched) -> bool:
    return bool((np.abs(robot.speed) == 0).all())


@pytest.mark.parametrize("mind", [swinging, None, lying])
def test_an_emergency_stop_comes_before_mind_deadman_and_park(upright, mind):
    """Field log F46: a second dance over a long one, and no stop existed."""
    robot = deepcopy(upright)
    robot.ticks(150, swinging)
    robot.loop.stopped = True
    robot.ticks(12, mind)                        # 94 deg/s are gone in 63 ms
    at = robot.sent.copy()
    assert standing(robot)
    robot.ticks(400, mind, torque=mind is not lying)         # asks for torque off, too: refused, it would fall
    np.testing.assert_array_equal(robot.sent, at)
    assert all(robot.emulator.torques())
    assert robot.told[-1].part == "servo_process" and "emergency stop" in robot.told[-1].reason
    robot.loop.stopped = False
    robot.ticks(500, swinging)
    assert all(robot.emulator.torques()) and robot.told[-1].level == "ok"
    assert np.abs(robot.reading.position - swinging(robot.t)).max() < np.radians(5)


def test_a_stopped_head_that_lies_may_lose_its_torque(upright):
    robot = deepcopy(upright)
    robot.ticks(400, lying)
    robot.loop.stopped = True
    robot.ticks(20, lying)
    assert all(robot.emulator.torques())
    robot.ticks(5, lying, torque=False)
    assert not any(robot.emulator.torques())


def test_a_stopped_robot_that_is_told_to_close_stays_and_parks_when_it_is_let_go(upright):
    robot = deepcopy(upright)
    robot.loop.stopped = robot.loop.closing = True
    robot.ticks(500)
    assert all(robot.emulator.torques()) and not robot.loop.finished and standing(robot)
    robot.loop.stopped = False
    robot.ticks(600)
    assert robot.loop.finished and not any(robot.emulator.torques())


def test_a_stopped_robot_that_never_woke_closes_at_once():
    robot = Watched()
    robot.loop.stopped = True
    robot.ticks(50, resting)
    assert not any(robot.emulator.torques())
    robot.loop.closing = True
    assert robot.loop.finished


def test_a_stopped_robot_whose_cable_was_pulled_holds_where_it_is_found(upright):
    robot = deepcopy(upright)
    robot.ticks(150, swinging)
    robot.loop.stopped = True
    robot.ticks(30, swinging)
    robot.port.connected = False
    robot.ticks(100, swinging)
    robot.emulator.power(False)
    robot.emulator.power(True)                   # limp: it sinks
    robot.ticks(20, swinging)
    robot.port.connected = True
    robot.ticks(300, swinging)
    at = robot.emulator.true_positions()
    robot.ticks(100, swinging)
    assert all(robot.emulator.torques())
    np.testing.assert_allclose(robot.emulator.true_positions(), at, atol=1e-3)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(["stop", "release", "swing", "far", "lie", "limp", "gone", "cable", "pause"]),
                          st.integers(5, 150)), min_size=2, max_size=9))
def test_in_any_order_of_stops_goals_and_losses_no_limit_breaks_and_no_head_falls(upright, steps):
    robot, mind, torque = deepcopy(upright), swinging, True
    minds = {"swing": swinging, "far": far, "lie": lying, "limp": lying, "gone": None}
    for word, ticks in steps:
        if word in minds:
            mind, torque = minds[word], word != "limp"
        elif word in ("stop", "release"):
            robot.loop.stopped = word == "stop"
        elif word == "cable":
            robot.port.connected = not robot.port.connected
        else:
            robot.port.advance(0.02 * ticks)     # nobody calls the bus for up to 3 s
            robot.t += 0.02 * ticks
            robot.speed[:] = 0.0
        robot.ticks(ticks, mind, torque)
        if robot.loop.stopped and ticks > 20:
            assert standing(robot)


def test_with_stops_goals_and_losses_the_joints_themselves_do_not_jump(upright):
    robot = deepcopy(upright)
    for word in (True, False) * 6:
        before = robot.emulator.true_positions()
        for _ in range(37):
            robot.tick(far if word else swinging)
            step = np.abs(robot.emulator.true_positions() - before).max()
            assert np.degrees(step) < STEP_DEG
            before = robot.emulator.true_positions()
        robot.loop.stopped = not robot.loop.stopped
