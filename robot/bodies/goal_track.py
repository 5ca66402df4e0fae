"""Goals between goals: the mind's hundred a second, played a tick later, so that jitter does not reach the motors."""
from dataclasses import dataclass

import numpy as np

from calibration.frames import Array
from motion.intent import JointGoal
from robot.tick import TICK_S

COAST_S = 0.15             # s after the last goal until the joints stand: 200 deg/s fade at 1,333 deg/s^2


@dataclass(slots=True)
class GoalTrack:
    """Cubic Hermite between the last two goals (position and velocity); behind the last one it coasts to a stop."""

    delay: float = TICK_S          # s: so that there is a goal on both sides
    latest: JointGoal | None = None
    _before: JointGoal | None = None

    def add(self, goal: JointGoal) -> None:
        if self.latest is None or goal.t > self.latest.t:
            self._before, self.latest = self.latest, goal
        else:
            self._before, self.latest = None, goal      # the mind was restarted: its time began anew

    def at(self, t: float) -> JointGoal | None:
        """The goal to send at time t; None before the first."""
        before, latest = self._before, self.latest
        if latest is None:
            return None
        u = t - self.delay
        if before is None or u >= latest.t:
            position = _coast(latest, min(max(u - latest.t, 0.0), COAST_S))
        else:
            position = _between(before, latest, max(u, before.t))
        return JointGoal(t, position, latest.velocity, latest.torque)


def _coast(goal: JointGoal, s: float) -> Array:
    return goal.position + goal.velocity * (s - s * s / (2 * COAST_S))


def _between(a: JointGoal, b: JointGoal, t: float) -> Array:
    h = b.t - a.t
    s = (t - a.t) / h
    s2, s3 = s * s, s * s * s
    return np.asarray((2 * s3 - 3 * s2 + 1) * a.position + (3 * s2 - 2 * s3) * b.position
                      + h * ((s3 - 2 * s2 + s) * a.velocity + (s3 - s2) * b.velocity))
