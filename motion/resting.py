"""A body that is too hot lies down, whatever is wanted; hearing, seeing and talking go on."""
from dataclasses import dataclass, replace
from typing import Protocol

from motion.intent import MotionIntent


class Warmth(Protocol):
    """What firmware_bridge.joint_reading.JointReading says of heat."""

    @property
    def park(self) -> bool:
        """A servo is too hot to go on."""


@dataclass(slots=True)
class Resting:
    """Keeps the last reading's wish between readings."""

    wished: bool = False

    def step(self, intent: MotionIntent, joints: Warmth | None) -> MotionIntent:
        """The intent, or the way to the park pose while the last reading asked for it."""
        if joints is not None:
            self.wished = joints.park
        if not self.wished or intent.mode == "park":
            return intent
        return replace(intent, mode="park", gesture=None, hold_still=False, reason="a servo is too hot: resting")
