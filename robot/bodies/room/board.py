"""The simulated robot's computer: at ease until it is told to run hot, slow or full."""
from dataclasses import dataclass

from robot.service.vitals import Vitals

PERIOD_S = 1.0                       # s between samples, as of the real ones
COOL_C, HOT_C = 55.0, 88.0           # degrees C
WARMS_C_S, COOLS_C_S = 4.0, 3.0      # degrees C a second: faster than a real board, so that scenes stay short
LATE_S = 0.02                        # s, of three ticks in five on a slow board
SLOW = (3, 5)


@dataclass
class Board:
    """Says nothing before its first fault: virtual time has no machine."""

    temperature: float = COOL_C
    _sampled: float | None = None    # s

    def step(self, t: float, fault: str | None) -> tuple[Vitals | None, float]:
        """A sample, when one is due, and the seconds by which this tick is late. fault: hot, slow, full or None."""
        due = self._sampled is None or t - self._sampled >= PERIOD_S - 1e-9
        late = LATE_S if fault == "slow" and round(t * 100) % SLOW[1] < SLOW[0] else 0.0
        if not due or (self._sampled is None and fault is None):
            return None, late
        passed = 0.0 if self._sampled is None else t - self._sampled
        self._sampled = t
        warmer = self.temperature + (WARMS_C_S if fault == "hot" else -COOLS_C_S) * passed
        self.temperature = min(max(warmer, COOL_C), HOT_C)
        slow = fault == "slow"
        return Vitals(t, cpu_wait=0.99 if slow else 0.2, load=3.0 if slow else 0.6,
                      memory=0.94 if fault == "full" else 0.5, memory_wait=0.0, temperature=self.temperature), late
