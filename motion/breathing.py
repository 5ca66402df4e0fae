"""Breathing: the head rises and sinks. Height and roll do not turn the line of sight, so it cannot leave its target."""
from dataclasses import dataclass
from math import pi, radians, sin

import numpy as np

from motion.limiter import DT


@dataclass(frozen=True, slots=True)
class BreathConfig:
    """A calm adult breathes 12-16 times a minute, breathes in faster than out, and no two breaths are alike."""

    period_s: float = 4.4           # s
    irregularity: float = 0.06      # relative standard deviation of a breath's length
    skew: float = 0.25              # share by which breathing in is faster; more would put power above 0.35 Hz
    height: float = 0.003           # m up and down
    roll: float = radians(0.4)      # rad to either side, every second breath
    antenna: float = radians(2.0)   # rad the antennas spread


class Breath:
    """The phase of breathing; stands still while it is not stepped."""

    def __init__(self, rng: np.random.Generator, config: BreathConfig | None = None):
        self.config = config or BreathConfig()
        self._rng = rng
        self._breaths = 0.0
        self._rate = 1.0 / self.config.period_s

    def step(self, pace: float) -> tuple[float, float, float]:
        """(height m, roll rad, antenna spread rad) of this tick; pace 1 is awake, less is slower."""
        before = int(self._breaths)
        self._breaths += self._rate * pace * DT
        if int(self._breaths) != before:
            length = 1.0 + self.config.irregularity * float(np.clip(self._rng.standard_normal(), -2, 2))
            self._rate = 1.0 / (self.config.period_s * length)
        phase = 2 * pi * self._breaths
        chest = sin(phase + self.config.skew * sin(phase))
        return self.config.height * chest, self.config.roll * sin(phase / 2), self.config.antenna * chest
