"""The photograph that people in the room wear: a head and a chest cut out of it, at life size, with landmarks.

The head's picture is its front and, beside it, its back (hair); it lies on the shape of head_relief.py.

The photograph is scikit-image's astronaut (NASA, public domain), read from the package; nothing is stored here. Other
faces are the same one mirrored, or with the colours of another person's skin and hair.
"""
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.frames import Array, frozen
from robot.bodies.room.head_relief import Outline, surface
from robot.errors import BadRequest

FACES = ("astronaut", "mirrored", "dark", "red", "pale")
# in the photograph, px, measured by eye: eyes, nose, corners of the mouth (image left to right where two)
EYES, NOSE, MOUTH_CORNERS = ((204.0, 101.0), (247.0, 103.5)), (223.5, 127.5), ((203.5, 140.5), (243.0, 142.0))
EYE_DISTANCE_M = 0.063       # adult mean
HEAD_OUTLINE = ((188, 188), (186, 165), (182, 142), (172, 124), (158, 111), (153, 85), (157, 65), (168, 45), (188, 26),
                (212, 17), (240, 15), (272, 28), (295, 57), (301, 90), (292, 116), (277, 130), (266, 141), (259, 158),
                (254, 186), (222, 196))
CHEST_OUTLINE = ((118, 190), (150, 155), (185, 148), (250, 168), (290, 190), (305, 235), (345, 255), (362, 300),
                 (365, 350), (330, 400), (300, 511), (30, 511), (22, 430), (42, 330), (50, 270), (98, 228))
PICTURE = 512                # px, side of the photograph


@dataclass(frozen=True, slots=True)
class Layer:
    """A cut-out on a plane: pyramid of BGRA pictures, colours already multiplied by alpha, half size each."""

    pictures: tuple[NDArray[np.uint8], ...]
    px_per_m: float
    origin: Array            # (2,) px in the first picture: where the plane's (0, 0) is

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """(low y, high y, low z, high z) m of the picture on its plane; y to the person's left, z up."""
        height, width = self.pictures[0].shape[:2]
        return (-self.origin[0] / self.px_per_m, (width - self.origin[0]) / self.px_per_m,
                -(height - self.origin[1]) / self.px_per_m, self.origin[1] / self.px_per_m)


@dataclass(frozen=True, slots=True)
class Portrait:
    """A person: pictures for the head and planes for chest and a raised hand."""

    head: Layer
    back_px: float           # from a place on the head's front to the one behind it, in the first picture
    outline: Outline
    chest: Layer
    hand: Layer
    landmarks: Array         # (5, 3) m in face axes: right eye, left eye, nose, right and left corner of the mouth


def _photograph(face: str) -> NDArray[np.uint8]:
    """BGR, in the colours of `face`."""
    from skimage.data import astronaut
    picture = np.ascontiguousarray(astronaut()[:, :, ::-1])
    if face == "mirrored":
        return np.ascontiguousarray(picture[:, ::-1])
    gains = {"dark": (0.42, 0.50, 0.58), "red": (0.62, 0.80, 1.05), "pale": (1.12, 1.06, 1.0)}
    if face in gains:
        lit = picture.astype(np.float32) * np.array(gains[face], np.float32)
        return np.clip(lit, 0, 255).astype(np.uint8)
    return picture


def _alpha(outline, mirrored: bool) -> NDArray[np.float32]:
    points = np.array(outline, np.int32)
    if mirrored:
        points[:, 0] = PICTURE - 1 - points[:, 0]
    mask = np.zeros((PICTURE, PICTURE), np.float32)
    cv2.fillPoly(mask, [points], 1.0)
    return np.asarray(cv2.GaussianBlur(mask, (5, 5), 1.2), np.float32)


def _layer(picture: NDArray[np.uint8], alpha: NDArray[np.float32], origin: Array, px_per_m: float) -> Layer:
    """Cropped to what is visible, with its pyramid."""
    rows, columns = np.flatnonzero(alpha.max(1) > 0.01), np.flatnonzero(alpha.max(0) > 0.01)
    crop = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    bgra = np.dstack([picture * alpha[..., None], alpha * 255]).round().astype(np.uint8)[crop]
    levels = [np.ascontiguousarray(bgra)]
    while min(levels[-1].shape[:2]) > 24:
        levels.append(np.asarray(cv2.pyrDown(levels[-1]), np.uint8))
    return Layer(tuple(levels), px_per_m, frozen(origin - [columns[0], rows[0]]))


def _front_and_back(front: NDArray[np.uint8], back: NDArray[np.uint8], alpha: NDArray[np.float32], origin: Array,
                    px_per_m: float) -> tuple[Layer, float]:
    """One layer with the head's front at the left and its back at the right, and how far (px) they are apart."""
    both = _layer(np.hstack([front, back]), np.hstack([alpha, alpha]), origin, px_per_m)
    return both, float(PICTURE)


def _outline(alpha: NDArray[np.float32], origin: Array, px_per_m: float) -> Outline:
    """Of the head, from its cut-out: row by row, the lowest first."""
    rows = np.flatnonzero((alpha > 0.5).sum(axis=1) > 4)
    first = (alpha[rows] > 0.5).argmax(axis=1)
    last = PICTURE - 1 - (alpha[rows] > 0.5)[:, ::-1].argmax(axis=1)
    middle = ((first + last) / 2 - origin[0]) / px_per_m
    half = (last - first + 1) / 2 / px_per_m
    low_z = -(rows[-1] + 0.5 - origin[1]) / px_per_m
    return Outline.around(middle[::-1], half[::-1], float(low_z), 1 / px_per_m)


def _hand(skin: NDArray[np.uint8], px_per_m: float) -> Layer:
    """An open palm, 19 cm high, its middle at the plane's origin."""
    size = int(0.24 * px_per_m)
    mask = np.zeros((size, size), np.float32)
    at = lambda y, z: (round(size / 2 + y * px_per_m), round(size / 2 - z * px_per_m))   # noqa: E731
    cv2.ellipse(mask, at(0, -0.035), (round(0.042 * px_per_m), round(0.05 * px_per_m)), 0, 0, 360, 1.0, -1)
    for y, top in ((-0.034, 0.06), (-0.012, 0.085), (0.011, 0.08), (0.033, 0.055)):
        cv2.line(mask, at(y * 0.8, -0.02), at(y, top), 1.0, round(0.017 * px_per_m))
    cv2.line(mask, at(0.03, -0.05), at(0.07, 0.0), 1.0, round(0.019 * px_per_m))
    soft = np.asarray(cv2.GaussianBlur(mask, (5, 5), 1.2), np.float32)
    picture = np.full((size, size, 3), skin, np.uint8)
    return _layer(picture, soft, np.array([size / 2, size / 2]), px_per_m)


@cache
def portrait(face: str) -> Portrait:
    """The planes of a face out of FACES."""
    if face not in FACES:
        raise BadRequest(f"face {face!r}: expected one of: {', '.join(FACES)}")
    mirrored = face == "mirrored"
    picture = _photograph(face)
    marks = np.array([*EYES, NOSE, *MOUTH_CORNERS])
    if mirrored:
        marks[:, 0] = PICTURE - 1 - marks[:, 0]
        marks = marks[[1, 0, 2, 4, 3]]
    middle = marks[:2].mean(axis=0)
    px_per_m = float(np.linalg.norm(marks[1] - marks[0]) / EYE_DISTANCE_M)
    offsets = (marks - middle) / px_per_m
    head_alpha, chest_alpha = _alpha(HEAD_OUTLINE, mirrored), _alpha(CHEST_OUTLINE, mirrored)
    outline = _outline(head_alpha, middle, px_per_m)
    y, z = offsets[:, 0], -offsets[:, 1]
    landmarks = np.column_stack([surface(y, z, outline), y, z])
    hair = np.array(picture[45, 215 if not mirrored else PICTURE - 216], np.float32)
    grain = np.random.default_rng(3).normal(0, 9, (PICTURE, PICTURE, 1)) + hair
    back = np.clip(cv2.GaussianBlur(grain.astype(np.float32), (1, 9), 3), 0, 255).astype(np.uint8)
    head, back_px = _front_and_back(picture, back, head_alpha, middle, px_per_m)
    skin = picture[85, 222 if not mirrored else PICTURE - 223]
    return Portrait(head, back_px, outline,
                    _layer(picture, chest_alpha * (1 - _inside_head(mirrored)), middle, px_per_m),
                    _hand(skin, px_per_m), frozen(landmarks))


def _inside_head(mirrored: bool) -> NDArray[np.float32]:
    """Where the chest's picture shows the head, down to the collar: cut out, lest a turned head leaves a second one."""
    mask = _alpha(HEAD_OUTLINE, mirrored)
    mask[178:] = 0.0
    return mask
