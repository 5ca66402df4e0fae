"""Quick looks away and back, as someone does who has nothing to do.

Sizes fall off exponentially and pauses are skewed (S. P. Lee, J. B. Badler, N. I. Badler, "Eyes Alive", SIGGRAPH 2002).
That peak speed grows with size (A. T. Bahill, M. R. Clark, L. Stark, "The main sequence, a tool for studying human eye
movements", Math. Biosci. 24, 191-204, 1975) comes from motion.gaze. Every small turn takes the same time there, so the
speed grows in proportion; that of eyes, whose saccades last longer the larger they are, grows a little less. This
robot has no eyes to move, so the head does it, with smaller sizes than eyes have.
"""
from dataclasses import dataclass
from math import cos, exp, log, pi, radians, sin

import numpy as np

from motion.limiter import DT


@dataclass(frozen=True, slots=True)
class GlanceConfig:
    """How far, how long and how often."""

    mean: float = radians(5.5)          # rad, of the exponential part
    smallest: float = radians(3.0)      # rad: below this a look is a tremor
    largest: float = radians(10.0)      # rad: above this it would be a turn away from the person
    flatness: float = 0.5               # up against across: people scan the horizon
    away_s: float = 0.9                 # s, median of a look away
    home_s: float = 2.6                 # s, median of the rest between looks
    spread: float = 0.5                 # standard deviation of log time
    again: float = 0.25                 # chance that a look away is followed by another before coming home


class Glances:
    """Draws the looks; `step` is called only while nothing else holds the gaze."""

    def __init__(self, rng: np.random.Generator, config: GlanceConfig | None = None):
        self.config = config or GlanceConfig()
        self._rng = rng
        self._away = False
        self._offset = (0.0, 0.0)
        self._left_s = self._pause(self.config.home_s)

    def step(self) -> tuple[float, float]:
        """Where the glance is beside the target: (azimuth, elevation) rad."""
        self._left_s -= DT
        if self._left_s <= 0:
            self._away = not self._away or self._rng.random() < self.config.again
            self._offset = self._look() if self._away else (0.0, 0.0)
            self._left_s = self._pause(self.config.away_s if self._away else self.config.home_s)
        return self._offset

    def home(self) -> tuple[float, float]:
        """Back to the target, and wait there."""
        if self._away:
            self._away, self._offset, self._left_s = False, (0.0, 0.0), self._pause(self.config.home_s)
        return self._offset

    def _look(self) -> tuple[float, float]:
        c = self.config
        size = min(c.largest, c.smallest + float(self._rng.exponential(c.mean - c.smallest)))
        angle = float(self._rng.uniform(-pi, pi))
        return size * cos(angle), c.flatness * size * sin(angle)

    def _pause(self, median_s: float) -> float:
        return exp(log(median_s) + self.config.spread * float(np.clip(self._rng.standard_normal(), -2, 2)))
