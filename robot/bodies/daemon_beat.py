"""The daemon's fifty ticks a second, heard through a jittery line.

Its loop plays the newest target once a tick. Targets on a clock of our own would drift through its ticks: now and then
one is played twice and the next is a double step. So each of its messages about the joints is answered by one target,
and the goal is taken where the tick really was: an alpha-beta filter follows phase and period of the arrivals.
"""
from dataclasses import dataclass

PERIOD_S = 0.02            # the daemon's control loop on every backend (daemon/backend)
STRAYS = 0.1               # share by which the period may be another: its loop sleeps a little too long each time
PHASE, RATE = 0.1, 0.0053  # alpha; beta = alpha^2 / (2 - alpha), critically damped
ANEW_S = 0.5               # s without a tick: another daemon, another phase


@dataclass(slots=True)
class Beat:
    """`hear` each arrival."""

    t: float | None = None         # s, the newest tick
    period: float = PERIOD_S       # s

    def hear(self, arrival: float) -> float | None:
        """The tick's time (s); None for an arrival late in a burst whose tick has been answered already."""
        if self.t is None or arrival - self.t > ANEW_S:
            self.t, self.period = arrival, PERIOD_S
            return arrival
        missed = round((arrival - self.t) / self.period)
        if missed < 1:
            return None
        error = arrival - (self.t + missed * self.period)
        self.t += missed * self.period + PHASE * error
        self.period = min(max(self.period + RATE * error, PERIOD_S * (1 - STRAYS)), PERIOD_S * (1 + STRAYS))
        return self.t
