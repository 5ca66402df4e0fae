"""The emergency stop of a live run: the signals that order it, and what the joints of the simulated robot do."""
import os
import signal

import numpy as np
import pytest

from calibration.frames import frozen
from motion.intent import JointGoal
from robot.bodies.room.room import RoomConfig
from robot.bodies.simulated import SimulatedBody
from robot.live import noted_emergency, stopping
from robot.tick import Outputs


def test_an_emergency_stop_holds_the_joints_until_it_is_let_go():
    body = SimulatedBody(RoomConfig())
    told, yaws = [], []

    def turn(first: int, count: int) -> None:
        for index in range(first, first + count):
            t = index * 0.01
            told.extend((h.part, h.level) for h in body.read(index, t).health)
            position = np.array([0.8 * min(t, 1.5), *body.joints.emulator.true_positions()[1:]])
            body.write(t, Outputs(JointGoal(t, frozen(position), frozen(np.zeros(9)))))
            yaws.append(body.joints.pose.body_yaw)

    turn(0, 50)
    body.stop(True)
    turn(50, 100)
    assert told == [("servo_process", "degraded")]
    assert abs(body.joints.velocities).max() < 0.01 and yaws[-1] == pytest.approx(yaws[70], abs=0.01) and yaws[-1] < 0.6
    body.stop(False)
    turn(150, 200)
    assert told[-1] == ("servo_process", "ok") and yaws[-1] == pytest.approx(1.2, abs=0.02)
    assert np.abs(np.diff(yaws)).max() < np.radians(2.5)


def test_signals_order_the_stop_its_end_and_the_end_of_the_run():
    orders, before = [], signal.getsignal(signal.SIGUSR1)
    with stopping(orders.append) as ends:
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGUSR1):
            os.kill(os.getpid(), number)
        assert orders == [True, False, True] and ends == []
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGHUP)
        assert ends == [signal.SIGTERM, signal.SIGHUP]       # the terminal was closed: park as well
    assert signal.getsignal(signal.SIGUSR1) == before


def test_a_stop_ordered_while_the_robot_starts_is_kept_for_its_body():
    before = signal.getsignal(signal.SIGUSR1)
    with noted_emergency() as ordered:
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGUSR1):
            os.kill(os.getpid(), number)
    assert ordered == [True, False, True] and signal.getsignal(signal.SIGUSR1) == before


def test_a_run_that_shall_outlive_its_terminal_does():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)       # what nohup does
    try:
        with stopping(lambda stopped: None) as ends:
            os.kill(os.getpid(), signal.SIGHUP)
            assert ends == []
    finally:
        signal.signal(signal.SIGHUP, before)
