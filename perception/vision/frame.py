"""What the detector worker says about one camera frame, and what the eyes make of it."""
from dataclasses import dataclass
from typing import Literal

from calibration.frames import Array


@dataclass(frozen=True, slots=True)
class Detection:
    """One face in pixels of the raw (distorted) frame."""

    box: Array           # (4,) px: x, y, width, height
    score: float         # 0..1
    landmarks: Array     # (5, 2) px: right eye, left eye, nose, right and left corner of the mouth (of the person)
    embedding: Array | None = None  # (n,) unit length appearance, where the detector gives one
    beside: Array | None = None     # (2, 2) what moves left and right of the face, see perception.vision.beside


@dataclass(frozen=True, slots=True)
class FaceFrame:
    """All faces of one processed frame. t_capture: middle of the exposure."""

    t_capture: float
    faces: tuple[Detection, ...]


@dataclass(frozen=True, slots=True)
class Face:
    """A tracked face, in `base` axes from the centre of the resting head, at the time of its capture."""

    id: str
    t_capture: float
    azimuth: float       # rad
    elevation: float     # rad
    distance: float      # m
    attention: float     # 0..1: looks at the robot


@dataclass(frozen=True, slots=True)
class Gesture:
    """A gesture of a person, seen in the world frame."""

    t: float
    id: str
    name: Literal["nod", "shake", "wave"]


@dataclass(frozen=True, slots=True)
class View:
    """Where the camera looked in a processed frame: absence of a face means something only inside it."""

    t_capture: float
    azimuth: float       # rad, of the optical axis in `base`
    elevation: float     # rad
    half_width: float    # rad, from the axis to the left or right edge of what is searched


@dataclass(frozen=True, slots=True)
class Sight:
    """What the eyes see now. faces: one a processed frame and face of this tick; gestures: finished in this tick."""

    t: float
    faces: tuple[Face, ...] = ()
    gestures: tuple[Gesture, ...] = ()
    view: View | None = None    # of the newest frame of this tick; None: no frame
