"""Loop, link and the stand-in for the robot's daemon, tick by tick in virtual time, for tests."""

import numpy as np
from hypothesis import settings

from firmware_bridge.bus_settings import BusSettings
from motion.intent import JointGoal
from robot.bodies.daemon_link import PART, DaemonLink
from robot.bodies.servo_loop import ServoLoop
from tests.daemon_stand_in import BODY, PARK, TICK_S, UPRIGHT, StandIn

STEADY = settings(deadline=None, derandomize=True, max_examples=25)
LIMIT = BusSettings().top_speed_rad_s * TICK_S * 1.1      # rad a tick; a beat may be a tenth longer
NEAR = np.radians(0.5)
PUSHED = np.radians(20) * np.array([1, 1, -1, 1, -1, 1, -1, 1, 1])      # all joints, and the head has a pose for it


def nodding(t: float) -> np.ndarray:
    goal = UPRIGHT.copy()
    goal[0] = 0.9 * np.sin(1.5 * t)
    goal[1:7] += 0.12 * np.sin(2.5 * t)
    return goal


class Bench:
    """Loop, link and stand-in, tick by tick. `gone`: the line is cut. `asked`: the answer about a running move."""

    def __init__(self, daemon: StandIn | None = None, connect: bool = True):
        self.daemon = daemon or StandIn()
        self.link = DaemonLink(BODY, PARK, np.random.default_rng(1))
        self.loop = ServoLoop(self.link, part="daemon_process")
        self.t, self.told, self.reading = 100.0, [], None
        self.gone, self.mute, self.answers, self.second_line = not connect, False, True, True
        self.worst = self.first_off = 0.0           # rad beyond what a step may be; of the first goals
        self._began: object = None
        self._last: np.ndarray | None = None
        if connect:
            self.link.connected(self.t)

    def run(self, seconds: float, goal=UPRIGHT, torque: bool = True) -> None:
        for _ in range(round(seconds / TICK_S)):
            self.t += TICK_S
            self._connect()
            if goal is not None:
                wanted = goal(self.t) if callable(goal) else goal
                self.loop.hear(self.t, JointGoal(self.t, wanted, np.zeros(9), torque))
            beat = None
            for text in self.daemon.tick() if not self.gone and not self.mute else ():
                beat = self.link.receive(self.t, text) or beat
            if not self.gone and self.answers and self.link.asks_about_move(self.t):
                self.link.moves(self.t, self.daemon.move is not None)
            if self.second_line and self.daemon.ticks % 5 == 0 and not self.gone and not self.mute:
                self.link.note_mode(self.t, self.daemon.mode)       # as the state socket does
            self.reading, health = self.loop.step(beat or self.t)
            self.told += health
            self._send()
            if self.link.silent(self.t):
                self.cut()

    def cut(self, code: int | None = None) -> None:
        self.gone = True
        self.link.lost(self.t, code, "cut")

    def _connect(self) -> None:
        if self.gone and self.t >= self.link.retry_at and self.daemon is not None:
            self.gone = False
            self.link.connected(self.t)

    def _send(self) -> None:
        for text in self.link.take():
            count, steering = len(self.daemon.targets), self.link.steering
            self.daemon.say(text)
            for target in self.daemon.targets[count:]:
                self._judge(target, steering)

    def _judge(self, target: np.ndarray, steering: bool) -> None:
        measured = self.daemon.joints
        began = (steering, self.link._connected_at, self.link._enabled_at)
        if began != self._began or self._last is None:
            self.first_off = max(self.first_off, np.abs(target - measured).max())
        else:
            nearer = np.abs(target - measured) <= np.abs(self._last - measured)
            self.worst = max(self.worst, np.where(nearer, 0, np.abs(target - self._last)).max())
        self._began, self._last = began, target

    def levels(self, part: str = PART) -> list[str]:
        return [line.level for line in self.told if line.part == part]


def woken(**kwargs) -> Bench:
    bench = Bench(**kwargs)
    bench.run(5.0)
    assert all(bench.reading.torque)
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-6)
    return bench
