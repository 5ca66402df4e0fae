"""What the mind wants from the body, and what the body is told."""
from dataclasses import dataclass
from typing import Literal

from calibration.frames import Array

Mode = Literal["idle", "listen", "speak", "still", "sleep", "park"]
GestureName = Literal["nod", "shake", "tilt"]
Mood = Literal["neutral", "glad", "curious", "sad", "surprised", "sorry", "sleepy"]


@dataclass(frozen=True, slots=True)
class Gaze:
    """Where to look: a direction in `base` axes from the centre of the resting head; a point when distance is known."""

    azimuth: float                  # rad
    elevation: float = 0.0          # rad, positive upwards
    distance: float | None = None   # m


@dataclass(frozen=True, slots=True)
class MotionIntent:
    """One tick's wish. gesture starts one now. hold_still: motors quiet for a moment, the robot listens."""

    t: float
    mode: Mode = "idle"
    gaze: Gaze | None = None
    gesture: GestureName | None = None
    hold_still: bool = False
    urgency: float = 0.5            # 0 calm ... 1 someone calls
    reason: str = ""                # why, for the timeline
    mood: Mood = "neutral"


@dataclass(frozen=True, slots=True)
class JointGoal:
    """Where the joints shall be at the end of this tick, in the order of calibration.body_model.JOINTS."""

    t: float
    position: Array        # (9,) rad
    velocity: Array        # (9,) rad/s commanded
    torque: bool = True
