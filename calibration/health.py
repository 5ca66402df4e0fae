"""What a part of the robot says about itself."""
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "degraded", "gone"]


@dataclass(frozen=True, slots=True)
class Health:
    """State of one part (`microphone_2`, `servo_13`, `engine`, `camera`) at time t, with the reason in plain words."""

    t: float          # s, monotonic clock of the run
    part: str
    level: Level
    reason: str = ""
