"""A servo bus, its emulated servos and a virtual clock, for tests."""
from copy import deepcopy
from functools import cache

import numpy as np

from calibration.body_model import JOINTS, STEWART, reachy_mini
from calibration.health import Health
from firmware_bridge.emulator import Emulator, EmulatorPort
from firmware_bridge.joint_reading import JointReading
from firmware_bridge.servo_bus import ServoBus
from motion.intent import JointGoal

BODY = reachy_mini()
NEUTRAL = np.radians([0.0, *[35.9, -35.9] * 3, -10.0, 10.0])
PARK = np.radians([0.0, -9.8, 47.9, -7.1, 5.0, -46.5, 10.2, -174.7, 174.7])   # the sleep pose by inverse kinematics
STEP_DEG = 3.5         # a joint's way in 10 ms at the highest speed that the follower lets through, and some


def joint(name: str) -> int:
    return JOINTS.index(name)


def nodding(t: float) -> np.ndarray:
    goal = NEUTRAL.copy()
    goal[STEWART] += np.radians(8) * np.sin(2 * np.pi * 0.4 * t)
    return goal


def swinging(t: float) -> np.ndarray:
    goal = NEUTRAL.copy()
    goal[0] = np.radians(60) * np.sin(2 * np.pi * 0.25 * t)
    return goal


class Bench:
    """`run` exchanges once a tick; what was read and told is kept."""

    def __init__(self, servos=BODY.servos, park=PARK, dt: float = 0.01, settings=None, **emulator):
        self.emulator = Emulator(servos, **emulator)
        self.port = EmulatorPort(self.emulator)
        self.bus = ServoBus(self.port, servos, park, settings)
        self.order = [joint(servo.joint) for servo in servos]
        self.dt, self.t = dt, 0.0
        self.readings: list[JointReading] = []
        self.told: list[Health] = []
        self.torque_on_errors: list[float] = []       # degrees between goal and measured joint when torque came on
        self.steps: list[float] = []                  # degrees, the largest true step of a tick
        self.torque_lost: list[tuple[float, int]] = []

    @property
    def reading(self) -> JointReading:
        return self.readings[-1]

    def tick(self, goal: JointGoal | None) -> None:
        before, torque = self.emulator.true_positions(), self.emulator.torques()
        self.port.advance(self.dt)
        self.steps.append(float(np.degrees(np.abs(self.emulator.true_positions() - before)).max()))
        self.t += self.dt
        reading, health = self.bus.exchange(self.t, goal)
        off = np.degrees(np.abs(self.emulator.goals() - reading.position[self.order]))
        for index, (was, now) in enumerate(zip(torque, self.emulator.torques(), strict=True)):
            if now and not was:
                self.torque_on_errors.append(float(off[index]))
            if was and not now:
                self.torque_lost.append((self.t, index))
        self.readings.append(reading)
        self.told += health

    def run(self, seconds: float, goal=NEUTRAL, torque: bool = True) -> None:
        """goal: (9,) rad, a function of t, or None."""
        for _ in range(round(seconds / self.dt)):
            position = goal(self.t) if callable(goal) else goal
            self.tick(None if position is None else JointGoal(self.t, position, np.zeros(9), torque))

    def lines(self, part: str) -> list[Health]:
        return [line for line in self.told if line.part == part]

    def first(self, part: str, level: str = "gone") -> float:
        """s, when this was told first."""
        return next(line.t for line in self.told if line.part == part and line.level == level)


@cache
def _woken(emulator: tuple) -> Bench:
    bench = Bench(**dict(emulator))
    bench.run(4.5)
    assert all(bench.reading.torque) and not bench.told
    bench.steps.clear()
    bench.torque_on_errors.clear()
    return bench


def woken(**emulator) -> Bench:
    """A bench of its own, armed, up, and quiet."""
    return deepcopy(_woken(tuple(emulator.items())))
