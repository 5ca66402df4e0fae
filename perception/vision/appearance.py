"""A few numbers that tell one person from another for the length of a visit: not a face recogniser.

Coarse light and shade of the face (hair line, beard, glasses), its colour, and that of what is below it (clothes).
Good enough to tell apart the handful of people in one room, together with where they were; nothing more is claimed.
"""
import cv2
import numpy as np

from calibration.frames import Array, frozen
from perception.vision.closeup import Place, cut, lifted, matrix, place_of
from perception.vision.detector import Picture
from perception.vision.frame import Detection

WIDTH_PX, HEIGHT_PX = 32, 64     # of the upright cut: face above, chest below
FACE_PX = 22.0                   # height of the face's box in the cut
SHADE_WEIGHT, COLOUR_WEIGHT = 1.0, 1.0


def embedding(picture: Picture, face: Detection) -> Array:
    """Unit vector of a face's appearance."""
    place = place_of(face)
    down = np.array([-np.sin(place.tilt), np.cos(place.tilt)])
    to_cut = matrix(Place(place.centre + 0.85 * place.height * down, place.height, place.tilt), WIDTH_PX, FACE_PX)
    to_cut[1, 2] += (HEIGHT_PX - WIDTH_PX) / 2
    part = lifted(cut(picture, to_cut, (WIDTH_PX, HEIGHT_PX)))
    tones = cv2.cvtColor(part, cv2.COLOR_BGR2YCrCb).astype(np.float32)
    head = tones[4:28]
    shade = cv2.resize(head[..., 0], (8, 8), interpolation=cv2.INTER_AREA).ravel()
    shade = shade - shade.mean()
    colour = cv2.resize(tones[..., 1:], (3, 6), interpolation=cv2.INTER_AREA).ravel() - 128
    parts = [SHADE_WEIGHT * shade / (np.linalg.norm(shade) + 1e-6),
             COLOUR_WEIGHT * colour / (np.linalg.norm(colour) + 30.0)]
    whole = np.concatenate(parts).astype(np.float64)
    return frozen(whole / np.linalg.norm(whole))


def likeness(a: Array | None, b: Array | None) -> float:
    """-1..1, cosine of two appearances; 0 when one is absent."""
    return 0.0 if a is None or b is None else float(a @ b)
