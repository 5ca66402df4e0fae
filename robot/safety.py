"""The last check on every goal before it reaches a motor.

A goal that is not finite, beyond a limit or a jump is not sent: the joints hold where they are. When goals stay bad the
motors let go: torque off. What counts is what the joints would do: a goal where a joint is measured to be is no jump,
however far the last goal was (a limp robot, joints moved by hand), and a joint found beyond its limit may come back.
"""
from dataclasses import dataclass, field, replace

import numpy as np

from calibration.body_model import BodyModel
from calibration.frames import Array
from calibration.health import Health
from firmware_bridge.joint_reading import JointReading
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
    _measured: Array | None = None     # (9,) rad, newest; nan where a servo is silent
    _bad: int = 0

    def check(self, goal: JointGoal | None, joints: JointReading | None = None,
              ) -> tuple[JointGoal | None, tuple[Health, ...]]:
        """The goal to send, and a health change when goals turn bad or good again. joints: a new reading."""
        if joints is not None:
            self._measured = joints.position
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
        lower, upper = self._reach()
        beyond = np.maximum(goal.position - upper, lower - goal.position)
        if np.max(beyond) > self.config.margin:
            return f"joint {int(np.argmax(beyond))} is {np.max(beyond):.3f} rad past its limit"
        if self._last is not None:
            step = np.abs(goal.position - self._last.position)
            if self._measured is not None:
                step = np.fmin(step, np.abs(goal.position - self._measured))
            if np.max(step) > self.config.step:
                return f"joint {int(np.argmax(step))} would jump {np.max(step):.3f} rad"
        return None

    def _reach(self) -> tuple[Array, Array]:
        """Limits (9,) rad, wider where a joint is found or already held beyond them."""
        lower, upper = self.body.lower, self.body.upper
        for known in (self._measured, None if self._last is None else self._last.position):
            if known is not None:
                lower, upper = np.fmin(lower, known), np.fmax(upper, known)
        return lower, upper
