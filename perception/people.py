"""Voices and faces fused into people."""
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Person:
    """Someone who is there. Directions in `base` axes from the centre of the resting head."""

    id: str
    azimuth: float                   # rad
    elevation: float                 # rad
    distance: float | None           # m; None: only heard
    heard_at: float | None           # s, last time the voice came from there
    seen_at: float | None            # s, capture time of the last sighting
    attention: float = 0.0           # 0..1: looks at the robot
    speaking: bool = False
    ambiguous: bool = False          # front or back is not decided yet
    mirror: float | None = None      # rad, the other azimuth when ambiguous
