"""What the servo bus says the joints do."""
from dataclasses import dataclass

from calibration.frames import Array


@dataclass(frozen=True, slots=True)
class JointReading:
    """Measured joints in the order of calibration.body_model.JOINTS; nan where a servo is silent."""

    t: float               # s, when the positions were read
    position: Array        # (9,) rad
