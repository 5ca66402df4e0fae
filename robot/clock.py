"""Where ticks come from: the machine's monotonic clock, or pure counting."""
import time
from dataclasses import dataclass, field
from typing import Protocol

from robot.tick import TICK_S


class Clock(Protocol):
    """Deadlines of ticks: tick i is due at i * TICK_S."""

    def wait(self, index: int) -> float:
        """Wait for the deadline of tick `index`; returns its time in s since the start of the run."""

    def lateness(self, index: int) -> float:
        """Seconds by which the present is past the deadline of tick `index`; 0 on a virtual clock."""


class VirtualClock:
    """Counts; as fast as the machine allows, the same on every machine."""

    def wait(self, index: int) -> float:
        return index * TICK_S

    def lateness(self, index: int) -> float:
        return 0.0


@dataclass
class LiveClock:
    """Absolute deadlines on CLOCK_MONOTONIC, so that a late tick does not shift the ones after it."""

    start: float = field(default_factory=time.monotonic)

    def wait(self, index: int) -> float:
        remaining = index * TICK_S - self.now()
        if remaining > 0:
            time.sleep(remaining)
        return index * TICK_S

    def now(self) -> float:
        """Seconds since the start of the run."""
        return time.monotonic() - self.start

    def lateness(self, index: int) -> float:
        return max(0.0, self.now() - index * TICK_S)
