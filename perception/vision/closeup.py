"""A face cut out of the picture, upright and at the size that the network likes best.

The small network sees a face of 12 px (an adult at 4 m, 640 px wide) in one picture of two; enlarged three times it is
sure of it. A head tilted by 45 degrees is found when the cut is turned against the tilt. So known faces are looked for
in a close-up, which costs a twentieth of the whole picture.
"""
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.frames import Array, frozen
from perception.vision.detector import Detector, Picture
from perception.vision.frame import Detection

CROP_PX = 112        # side of the close-up
FACE_PX = 48         # height of the face in it: room to move by 0.6 of it; 42 and 54 both place the eyes worse
DARK_LEVEL = 45.0    # mean grey level below which the picture is lifted
LIFTED_LEVEL = 90.0  # to about this, near the mean of the network's training pictures
MOST_GAIN = 5.0      # more only lifts noise


@dataclass(frozen=True, slots=True)
class Place:
    """Where to look for a face in the picture: middle and height of its box in px, tilt in rad (clockwise)."""

    centre: Array       # (2,) px
    height: float       # px
    tilt: float = 0.0


def lifted(picture: Picture) -> Picture:
    """The picture, brighter when it is dark, and smoothed, since its noise is lifted with it."""
    level = float(picture[::8, ::8].mean())
    if level >= DARK_LEVEL:
        return picture
    smooth = cv2.GaussianBlur(picture, (5, 5), 0)
    return cv2.convertScaleAbs(smooth, alpha=min(MOST_GAIN, LIFTED_LEVEL / max(level, 1.0)))


def tilt_of(landmarks: Array) -> float:
    """Tilt of the face in the picture in rad, clockwise: of the line between the eyes and the one to the mouth."""
    across = landmarks[1] - landmarks[0]
    down = landmarks[3:].mean(axis=0) - landmarks[:2].mean(axis=0)
    vector = across + np.array([down[1], -down[0]])
    return float(np.arctan2(vector[1], vector[0]))


def place_of(face: Detection) -> Place:
    return Place(face.box[:2] + face.box[2:] / 2, float(face.box[3]), tilt_of(face.landmarks))


def matrix(place: Place, size: int = CROP_PX, face_px: float = FACE_PX) -> Array:
    """(2, 3) transform from the picture's pixels to those of the close-up."""
    scale = face_px / place.height
    c, s = scale * np.cos(place.tilt), scale * np.sin(place.tilt)
    turn = np.array([[c, s], [-s, c]])
    return np.column_stack([turn, size / 2 - turn @ place.centre])


def look_closer(detector: Detector, picture: Picture, place: Place) -> tuple[Detection, ...]:
    """Faces in the close-up of `place`, in pixels of the picture, best first."""
    to_crop = matrix(place)
    crop = cut(picture, to_crop, (CROP_PX, CROP_PX))
    back = np.asarray(cv2.invertAffineTransform(to_crop), dtype=np.float64)
    return tuple(_carried(face, back) for face in detector.detect(lifted(crop)))


def cut(picture: Picture, to_crop: Array, size: tuple[int, int]) -> Picture:
    """The close-up (size: width, height); a strongly reduced one is taken from a reduced picture against aliasing."""
    scale = float(np.hypot(to_crop[0, 0], to_crop[0, 1]))
    if scale < 0.5:
        step = int(1 / scale)
        low, high = _extent(to_crop, size, picture.shape)
        part = picture[low[1]:high[1], low[0]:high[0]]
        small = (max(1, part.shape[1] // step), max(1, part.shape[0] // step))
        ratio = np.array([part.shape[1] / small[0], part.shape[0] / small[1]])
        to_crop = np.column_stack([to_crop[:, :2] * ratio,
                                   to_crop[:, 2] + to_crop[:, :2] @ (low + ratio / 2 - 0.5)])
        picture = cv2.resize(part, small, interpolation=cv2.INTER_AREA)
    return cv2.warpAffine(picture, to_crop, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def _extent(to_crop: Array, size: tuple[int, int], shape) -> tuple[Array, Array]:
    """Corner pixels (low, high) of the part of the picture that the close-up shows; at least one pixel."""
    corners = np.array([[0, 0], [size[0], 0], [0, size[1]], size], float)
    inside = cv2.invertAffineTransform(to_crop)
    points = corners @ inside[:, :2].T + inside[:, 2]
    limit = np.array([shape[1], shape[0]])
    low = np.clip(np.floor(points.min(axis=0)).astype(int) - 2, 0, limit - 1)
    high = np.clip(np.ceil(points.max(axis=0)).astype(int) + 3, low + 1, limit)
    return low, high


def _carried(face: Detection, back: Array) -> Detection:
    """The face of a close-up in pixels of the picture; its box stays upright."""
    scale = float(np.hypot(back[0, 0], back[0, 1]))
    centre = back[:, :2] @ (face.box[:2] + face.box[2:] / 2) + back[:, 2]
    size = face.box[2:] * scale
    marks = face.landmarks @ back[:, :2].T + back[:, 2]
    return Detection(frozen(np.concatenate([centre - size / 2, size])), face.score, frozen(marks))
