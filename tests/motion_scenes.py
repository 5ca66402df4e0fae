"""Runs of the mover for the motion tests: a list of intents in, arrays of what was commanded out."""
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from calibration.body_model import reachy_mini
from calibration.frames import Array
from motion.intent import MotionIntent
from motion.mover import Mover, Reading

TICK_S = 0.01
SILENCE = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Measured:
    """Joints (9,) rad that a body says it has at t (s)."""

    t: float
    position: Array


@dataclass(frozen=True, slots=True)
class Run:
    """What was commanded: t (n,), joints (n, 9) rad, position (n, 3) m, rpy (n, 3) rad, body (n,) rad."""

    t: Array
    joints: Array
    position: Array
    rpy: Array
    body: Array

    @property
    def sight(self) -> Array:
        """(n, 2) azimuth and elevation of the line of sight, deg."""
        return np.degrees(np.stack([self.rpy[:, 2], -self.rpy[:, 1]], axis=1))

    def derivative(self, order: int) -> Array:
        """(9,) largest |derivative| of each joint by finite differences, deg/s^order."""
        return np.abs(np.diff(np.degrees(self.joints), order, axis=0)).max(axis=0) / TICK_S ** order

    def jerk_50hz(self) -> Array:
        """(9,) largest |jerk| of each joint in 50 Hz samples, deg/s^3."""
        return np.abs(np.diff(np.degrees(self.joints[::2]), 3, axis=0)).max(axis=0) / (2 * TICK_S) ** 3


def mover(seed: int = 0) -> Mover:
    return Mover(reachy_mini(), np.random.default_rng(seed))


def run(intents: Iterable[MotionIntent], spoken: Callable[[int], Array] = lambda _: SILENCE,
        first: Reading | None = None, body: Mover | None = None) -> Run:
    """Steps a mover through the intents, one a tick. spoken: samples of tick i. first: measured joints of tick 0."""
    body, rows = body or mover(), []
    for index, intent in enumerate(intents):
        goal = body.step(intent.t, intent, spoken(index), first if index == 0 else None)
        pose = body.head_pose(None)
        rows.append((intent.t, goal.position, pose.position, pose.rpy, pose.body_yaw))
    return Run(*(np.array(column) for column in zip(*rows, strict=True)))


def ticks(seconds: float, start: float = 0.0, **wish) -> list[MotionIntent]:
    """The same wish for a while."""
    return [MotionIntent(round(start + i * TICK_S, 4), **wish) for i in range(round(seconds / TICK_S))]


def scene(*parts: dict) -> list[MotionIntent]:
    """Wishes one after the other; each part is a mapping with `s` and the wish's own words."""
    intents: list[MotionIntent] = []
    for part in parts:
        wish = dict(part)
        intents += ticks(wish.pop("s"), len(intents) * TICK_S, **wish)
    return intents
