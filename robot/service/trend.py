"""How a figure drifts with time, and how sure that is: least squares in constant memory."""
from dataclasses import dataclass
from math import inf, nan, sqrt


@dataclass
class Trend:
    """A straight line through all (t, value) so far."""

    n: int = 0
    t: float = 0.0           # means
    value: float = 0.0
    _tt: float = 0.0         # sums of products about the means (Welford 1962)
    _tv: float = 0.0
    _vv: float = 0.0

    def add(self, t: float, value: float) -> None:
        self.n += 1
        dt, dv = t - self.t, value - self.value
        self.t += dt / self.n
        self.value += dv / self.n
        self._tt += dt * (t - self.t)
        self._tv += dt * (value - self.value)
        self._vv += dv * (value - self.value)

    def drift(self, seconds: float) -> tuple[float, float]:
        """Change in `seconds` as a share of the mean, and its standard error; nan without two times."""
        if self.n < 2 or self._tt == 0.0 or self.value == 0.0:
            return nan, inf
        slope = self._tv / self._tt
        left = max(self._vv - slope * self._tv, 0.0) / max(self.n - 2, 1)
        return slope * seconds / self.value, sqrt(left / self._tt) * seconds / abs(self.value)
