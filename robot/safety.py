"""The last check on every goal before it reaches a motor.

A goal that is not finite, beyond a limit or a jump is not sent: the joints hold where they are. When goals stay bad the
motors let go: torque off.
"""
from dataclasses import dataclass, field, replace

import numpy as np

from calibration.body_model import BodyModel
from calibration.health import Health
from motion.intent import JointGoal


@dataclass(frozen=True, slots=True)
class SafetyConfig:
    """Beyond the mover's own limits, so that only a fault meets them."""

    margin: float = 0.002          # rad past a joint limit: rounding of a projected pose
    step: float = 0.12             # rad a tick: 690 deg/s, three times what the mover may command
    patience: int = 300            # bad goals in a row until torque off: 3 s of holding


@dataclass
class Safety:
    """Passes good goals on, holds on bad ones."""

    body: BodyModel
    config: SafetyConfig = field(default_factory=SafetyConfig)
    _last: JointGoal | None = None
    _bad: int = 0

    def check(self, goal: JointGoal | None) -> tuple[JointGoal | None, tuple[Health, ...]]:
        """The goal to send, and a health change when goals turn bad or good again."""
        if goal is None:
            return None, ()
        fault = self._fault(goal)
        if fault is None:
            healed = (Health(goal.t, "motion", "ok"),) if self._bad else ()
            self._last, self._bad = goal, 0
            return goal, healed
        self._bad += 1
        told = (Health(goal.t, "motion", "degraded", f"goal refused: {fault}"),) if self._bad == 1 else ()
        return self.held(goal.t), told

    def held(self, t: float) -> JointGoal | None:
        """The last good goal again, at rest; without torque once goals have been bad for too long."""
        if self._last is None:
            return None
        torque = self._last.torque and self._bad <= self.config.patience
        return replace(self._last, t=t, velocity=np.zeros_like(self._last.velocity), torque=torque)

    def _fault(self, goal: JointGoal) -> str | None:
        if goal.position.shape != self.body.lower.shape or not np.all(np.isfinite(goal.position)):
            return "a joint is not a finite number"
        beyond = np.maximum(goal.position - self.body.upper, self.body.lower - goal.position)
        if np.max(beyond) > self.config.margin:
            return f"joint {int(np.argmax(beyond))} is {np.max(beyond):.3f} rad past its limit"
        if self._last is not None:
            step = np.abs(goal.position - self._last.position)
            if np.max(step) > self.config.step:
                return f"joint {int(np.argmax(step))} would jump {np.max(step):.3f} rad"
        return None
