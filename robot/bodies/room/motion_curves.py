"""How things get from one value to another without a jerk."""
from dataclasses import dataclass, field

from calibration.frames import Array


def smooth(share: float) -> float:
    """Minimum-jerk step: 0 to 1 with rest at both ends (Flash and Hogan 1985)."""
    s = min(1.0, max(0.0, float(share)))
    return s * s * s * (10 - 15 * s + 6 * s * s)


@dataclass
class Path:
    """A value (n,) that goes to new targets; a new target starts from wherever it is then."""

    start: Array
    _goal: Array = field(init=False)
    _begin: float = 0.0
    _lasts: float = 0.0

    def __post_init__(self):
        self._goal = self.start

    def go(self, t: float, goal: Array, lasts: float) -> None:
        """Leave at t (s) and arrive `lasts` seconds later."""
        self.start, self._goal, self._begin, self._lasts = self.at(t), goal, t, lasts

    def at(self, t: float) -> Array:
        if self._lasts <= 0:
            return self._goal if t >= self._begin else self.start
        return self.start + (self._goal - self.start) * smooth((t - self._begin) / self._lasts)
