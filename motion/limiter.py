"""The one limiter, last in line: whatever is wanted, the joints move within speed, acceleration and jerk.

Two stages. First a step towards the wanted pose is shortened so that no joint exceeds its speed, nor changes its speed
by more than that within the time of the first average: the pose moves on a straight line from where it is to where it
is wanted. Then come two moving averages (a trapezoid as FIR kernel: Biagiotti, Melchiorri, "FIR filters for online
trajectory planning with time- and frequency-domain specifications", Control Engineering Practice 20, 2012). An average
of speeds within V is within V, its rate of change within V / T1, and that one's within 2 V / (T1 T2): no wish, however
wild, breaks it. An average of poses from a convex workspace lies in it, so nothing overshoots; and the averages are
linear, so head and body that together hold a line of sight still hold it behind them. The averages are taken of poses
while the limits are meant for joints, and the platform is curved: what that adds (up to a third in jerk) has room
between these figures and what the servos stand, and tests/properties measures it.

Small quick movements (the sway of speech) take a shorter kernel of their own, because the first one's delay of
(T1 + T2) / 2 would be seen against the voice; their speed is so low that they stay a small part of the same limits.
"""
from collections.abc import Callable
from dataclasses import dataclass
from math import radians

import numpy as np

from calibration.frames import Array

DT = 0.01   # s, one tick of the mind (robot.tick.TICK_S; motion knows nothing above it)
BOTH_WAYS = np.array([[1.0], [-1.0]])


@dataclass(frozen=True, slots=True)
class LimiterConfig:
    """The body reaches 695 deg/s^2 and 9,270 deg/s^3 (930 and 10,030 hurried), servos stand 1,500 and 50,000."""

    body_speed: float = radians(146.0)      # rad/s: a third of an XC330's no-load speed at 7 V
    hurried_body_speed: float = radians(195.0)  # rad/s when someone calls from the other side of the back
    platform_speed: float = radians(100.0)  # rad/s of a platform arm: quiet, and what the curved platform adds has room
    antenna_speed: float = radians(120.0)   # rad/s
    acceleration_s: float = 0.21            # s, first average T1: speed / T1 is the largest acceleration
    jerk_s: float = 0.15                    # s, second average T2: 2 * acceleration / T2 is the largest jerk
    quick_speed: float = radians(15.0)      # rad/s of one head angle in the quick path
    quick_acceleration_s: float = 0.04      # s
    quick_jerk_s: float = 0.03              # s


class MovingAverage:
    """A trapezoid kernel over the last poses; exact, because it never accumulates."""

    def __init__(self, start: Array, first_s: float, second_s: float):
        first, second = round(first_s / DT), round(second_s / DT)
        self._kernel = np.convolve(np.full(first, 1 / first), np.full(second, 1 / second))
        self._length = len(self._kernel)
        self._past = np.tile(start, (2 * self._length, 1))      # every pose twice, so that a window is one slice
        self._next = 0

    def step(self, value: Array) -> Array:
        self._past[self._next] = self._past[self._next + self._length] = value
        self._next = (self._next + 1) % self._length
        return self._kernel @ self._past[self._next:self._next + self._length]


class Limiter:
    """Keeps where the pose is and how fast the joints went lately."""

    def __init__(self, joints_of: Callable[[Array], Array], start: Array, config: LimiterConfig | None = None):
        """joints_of: joint angles (9,) of a pose (9,). start: the pose, at rest, in motion.workspace.COORDINATES."""
        self.config = config = config or LimiterConfig()
        self._limit = np.array([config.body_speed, *[config.platform_speed] * 6, *[config.antenna_speed] * 2])
        self._hurried = self._limit.copy()
        self._hurried[0] = config.hurried_body_speed
        self._joints_of = joints_of
        self.pose = start
        self._joints = joints_of(start)
        self._slow = MovingAverage(start, config.acceleration_s, config.jerk_s)
        self._quick = MovingAverage(np.zeros(3), config.quick_acceleration_s, config.quick_jerk_s)
        self._offset = np.zeros(3)
        self._speeds = np.zeros((round(config.acceleration_s / DT), 2, len(self._joints)))  # up and, negated, down
        self._next = 0

    def step(self, wanted: Array, quick: Array, hurry: bool = False) -> Array:
        """The pose (9,) of this tick.

        wanted: a pose inside the workspace; quick: roll, pitch, yaw (3,) rad on top; hurry: the body may turn faster.
        """
        speed = (self._joints_of(wanted) - self._joints) / DT
        share = self._allowed(speed, self._hurried if hurry else self._limit)
        if share < 1.0:
            wanted = self.pose + share * (wanted - self.pose)
        joints = self._joints_of(wanted) if share < 1.0 else self._joints + speed * DT
        self._speeds[self._next] = BOTH_WAYS * ((joints - self._joints) / DT)
        self._next = (self._next + 1) % len(self._speeds)
        self.pose, self._joints = wanted, joints
        pose = self._slow.step(wanted)
        reach = self.config.quick_speed * DT
        self._offset = self._offset + np.minimum(np.maximum(quick - self._offset, -reach), reach)
        pose[4:7] += self._quick.step(self._offset)
        return pose

    def hold(self) -> Array:
        """The pose (9,) of a tick in which only rest is wanted: all motion runs out within the kernel's length."""
        return self.step(self.pose, self._offset)

    def _allowed(self, speed: Array, limit: Array) -> float:
        """Largest share 0..1 of the joint speeds (9,) that respects the limits (9,)."""
        room = limit - np.maximum(self._speeds.max(0)[::-1], 0.0)
        excess = float((BOTH_WAYS * speed / np.maximum(room, 1e-9)).max())
        return 1.0 if excess <= 1.0 else 1.0 / excess
