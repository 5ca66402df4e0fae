"""Where ticks come from: the machine's monotonic clock, or pure counting."""
import math
import time
from collections.abc import Callable
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
class PacedClock:
    """Never faster than the machine's clock, for who talks with a server; what a slow machine loses is not caught up.

    So virtual seconds are as long as the server's or longer, and nothing comes in a rush.
    """

    now_s: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _due: float | None = None        # s on that clock, of the next tick

    def wait(self, index: int) -> float:
        now = self.now_s()
        self._due = now if self._due is None else max(self._due, now)
        self.sleep(self._due - now)
        self._due += TICK_S
        return index * TICK_S

    def lateness(self, index: int) -> float:
        return 0.0


@dataclass
class LiveClock:
    """Absolute deadlines on CLOCK_MONOTONIC, so that a late tick does not shift the ones after it.

    With real devices a robot that was held up must not live through the missed ticks in a rush: from `most_late` on
    they are dropped. A simulated room loses no time; it only becomes slow.
    """

    start: float = field(default_factory=time.monotonic)
    most_late: float = math.inf      # s
    now_s: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _dropped: int = 0                # ticks

    def wait(self, index: int) -> float:
        remaining = self._due(index) - self.now()
        if remaining > 0:
            self.sleep(remaining)
        elif -remaining > self.most_late:
            self._dropped += round(-remaining / TICK_S)
        return self._due(index)

    def now(self) -> float:
        """Seconds since the start of the run."""
        return self.now_s() - self.start

    def lateness(self, index: int) -> float:
        return max(0.0, self.now() - self._due(index))

    def _due(self, index: int) -> float:
        return (index + self._dropped) * TICK_S
