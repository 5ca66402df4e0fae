"""The real child process against a daemon behind a real socket. Waits on readiness, bounded, for outcomes only."""
import json
import os
import select
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from firmware_bridge.bus_settings import BusSettings
from motion.intent import JointGoal
from robot.bodies.daemon_child import move_running
from robot.bodies.daemon_link import PART as DAEMON
from robot.bodies.daemon_link import LinkSettings
from robot.bodies.daemon_setup import PART, DaemonSetup
from robot.bodies.joint_process import JointProcess
from robot.bodies.servo_loop import LoopSettings
from tests.daemon_server import DaemonServer
from tests.daemon_stand_in import BODY, PARK, UPRIGHT, StandIn

LIMIT_S = 60.0             # a busy machine is slow; a hanging test must end
# Quick where that saves the test time, patient where a busy machine would be taken for trouble.
LINK = LinkSettings(settle_s=0.05, first_wait_s=0.05, longest_wait_s=0.3, gone_s=2.0, greet_s=2.0,
                    follow=BusSettings(stall_s=0.07, lost_s=5.0, leash_rad=1.0, catch_up_rad_s=2.5, catch_up_min_s=0.6))
LOOP = LoopSettings(deadman_s=1.0, park_after_s=30.0)


class Mind:
    """Sends a goal whenever the process rings, and keeps what it tells."""

    def __init__(self, port: int):
        setup = DaemonSetup(time.monotonic(), port=port, body=BODY, park=PARK, link=LINK, loop=LOOP)
        self.process = JointProcess.start("robot.bodies.daemon_child", PART, setup)
        self.told, self.reading, self.bearings = [], None, []

    def until(self, outcome: Callable[[], bool], goal=UPRIGHT) -> None:
        end = time.monotonic() + LIMIT_S
        while not outcome():
            assert time.monotonic() < end, f"not within {LIMIT_S} s; {self.told} {self.reading}"
            watched = [self.process.fileno()] if self.process.fileno() >= 0 else []
            select.select(watched, [], [], 0.05)
            self.reading = self.process.read() or self.reading
            self.told += self.process.health()
            self.bearings += self.process.heard()
            if goal is not None:
                self.process.write(JointGoal(time.monotonic() - self.process.setup.start, goal, np.zeros(9)))

    def at(self, joints) -> Callable[[], bool]:
        return lambda: self.reading is not None and all(self.reading.torque) and bool(
            (np.abs(self.reading.position - joints) < np.radians(1)).all())

    def levels(self) -> list[str]:
        return [line.level for line in self.told if line.part == DAEMON]


@pytest.fixture
def server():
    server = DaemonServer(StandIn(UPRIGHT + 0.2))
    server.start()
    yield server
    server.close()


@pytest.fixture
def mind(server):
    mind = Mind(server.port)
    yield mind
    mind.process.close()


def test_a_life_with_a_daemon_from_waking_over_its_restart_to_parking(server, mind):
    mind.until(mind.at(UPRIGHT))
    begun = len(server.answered)
    mind.until(lambda: len(server.answered) > begun + 100)
    answered = server.answered[begun:]
    assert sum(answered) <= len(answered) + 2              # never more than one message a tick

    mind.until(lambda: len(mind.bearings) > 3)             # the array's direction comes beside
    assert all(one.speech and 1.2 < one.angle < 3 for one in mind.bearings)

    far = UPRIGHT + 0.3
    server.stop()                                          # in mid-motion, on the way there
    mind.until(lambda: mind.levels()[-1:] == ["gone"], goal=far)
    assert np.isnan(mind.reading.position).all() or not any(mind.reading.torque)
    server.change(lambda: setattr(server, "daemon", StandIn(UPRIGHT - 0.3, mode="disabled")))
    server.start()
    mind.until(mind.at(far), goal=far)
    assert mind.levels()[-1] == "ok" and mind.process.deaths == 0
    assert max(server.jumps) < 0

    mind.process.stop(True)
    held = server.daemon.joints.copy()
    mind.until(lambda: any(line.part == PART and "emergency" in line.reason for line in mind.told), goal=UPRIGHT)
    assert np.abs(server.daemon.joints - held).max() < np.radians(2)
    mind.process.stop(False)
    mind.until(mind.at(UPRIGHT))

    mind.process.close()
    assert server.daemon.mode == "disabled" and server.daemon.automatic_body_yaw
    assert np.abs(server.daemon.joints - PARK)[1:7].max() < np.radians(6)
    assert max(server.jumps) < 0


def test_not_ready_then_rubbish_then_half_open_and_it_heals_each_time(server):
    server.refusals, server.rubbish = 4, True
    mind = Mind(server.port)
    try:
        mind.until(mind.at(UPRIGHT))
        assert server.refused == 4 and "not ready" in mind.told[1].reason
        server.change(lambda: setattr(server, "mute", True))
        mind.until(lambda: mind.levels()[-1] == "gone")
        server.change(lambda: setattr(server, "mute", False))
        mind.until(mind.at(UPRIGHT))
        assert mind.levels() == ["gone", "ok", "gone", "ok"] and mind.process.deaths == 0
        assert max(server.jumps) < 0
    finally:
        mind.process.close()


def test_without_a_daemon_it_waits_and_an_idle_one_ends_with_its_parent(server):                         # F57
    server.stop()
    mind = Mind(server.port)
    mind.until(lambda: mind.levels() == ["gone"] and mind.reading is not None, goal=None)
    child = os.pidfd_open(mind.process.pid)
    mind.process.close()
    assert select.select([child], [], [], LIMIT_S)[0] and mind.process.deaths == 0
    os.close(child)


@pytest.mark.parametrize(("status", "body", "running"), [
    (200, {"status": "ok"}, False), (200, {"status": "ignored", "reason": "move_running"}, True),
    (503, {"detail": "Backend not running"}, None), (200, ["?"], None), (200, None, None)])
def test_a_running_move_is_asked_about(status, body, running):
    class Answer(BaseHTTPRequestHandler):
        def do_POST(self):
            assert (self.path, self.rfile.read(2)) == ("/api/move/set_target", b"{}")
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"<html>" if body is None else json.dumps(body).encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    try:
        assert move_running("127.0.0.1", server.server_port) is running
    finally:
        thread.join()
        server.server_close()
    assert move_running("127.0.0.1", server.server_port) is None
