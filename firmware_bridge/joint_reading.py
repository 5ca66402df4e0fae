"""What the servo bus says the joints do."""
from dataclasses import dataclass

from calibration.frames import Array


@dataclass(frozen=True, slots=True)
class JointReading:
    """Measured joints in the order of calibration.body_model.JOINTS; nan where a servo is silent."""

    t: float               # s, when the positions were read
    position: Array        # (9,) rad
    torque: tuple[bool, ...] = ()   # (9,) the joint obeys its goals; empty: not known
    speed_scale: float = 1.0        # 0..1 of the top speed that the warmest servo allows
    park: bool = False              # a servo is too hot to go on: park the robot
