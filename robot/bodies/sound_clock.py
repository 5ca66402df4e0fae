"""When captured sound was in the air: samples counted, mapped to the monotonic clock by an offset without jumps back.

Blocks are handed over late by a changing amount and never early, so the least lateness of the last seconds is the
offset; it is approached slowly (clocks drift), except where sound was lost: there time goes on by what was lost.
"""
from collections import deque
from dataclasses import dataclass, field

WINDOW_S = 2.0             # in which at least one block was handed over without delay
SLEW = 0.003               # s per s: ten times the drift of bad crystals, yet block times stay 10 ms apart
SLEW_BACK = 0.05           # s per s when blocks would be handed over before their time: the first one was late
LEAST_LOSS_S = 0.004       # less than this is jitter of the hand-over
UNSEEN_S = 0.06            # lateness that no block of a window undercuts: sound was lost and nobody said so


@dataclass
class CaptureClock:
    """Time of captured samples in s on the clock that `arrived` is read from."""

    rate_hz: int
    latency_s: float = 0.0             # from the microphone to the hand-over, as the driver says
    counted_s: float = 0.0             # of sound captured, lost sound included
    offset: float | None = None        # s: time = counted + offset
    _recent: deque[tuple[float, float]] = field(default_factory=deque)   # (arrived, lateness)

    def step(self, arrived: float, frames: int, overflow: bool) -> float:
        """`frames` were handed over at `arrived` (s). overflow: the driver lost sound before them. Returns s lost."""
        self.counted_s += frames / self.rate_hz
        observed = arrived - self.latency_s - self.counted_s
        if self.offset is None:
            self.offset = observed
        lost = max(0.0, observed - self.offset) if overflow else 0.0
        elapsed = frames / self.rate_hz
        if lost < LEAST_LOSS_S:
            lost = 0.0
            self._recent.append((arrived, observed))
        while self._recent and self._recent[0][0] < arrived - WINDOW_S:
            self._recent.popleft()
        if not lost and self._recent:
            late = min(observed for _, observed in self._recent) - self.offset
            full = arrived - self._recent[0][0] > 0.8 * WINDOW_S
            if full and late > UNSEEN_S:
                lost = late
            else:
                self.offset += min(max(late, -SLEW_BACK * elapsed), SLEW * elapsed)
        if lost:
            self.counted_s += lost
            self._recent.clear()
        return lost

    def time(self, counted_s: float) -> float:
        """Of the sample that ends at `counted_s`."""
        assert self.offset is not None
        return counted_s + self.offset
