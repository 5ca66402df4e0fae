"""How a face is turned, how far away it is and where its eyes are, from five landmarks.

All angles are against the line of sight from the camera, so they do not depend on where the camera looks. The numbers
of the mean face are anthropometric (Gordon et al., ANSUR II, 2012: 63 mm between the pupils) as far as RetinaFace's
landmarks show them: these sit a little inside the true places.
"""
from dataclasses import dataclass

import numpy as np

from calibration.frames import Array

BETWEEN_EYES_M = 0.0615   # as the landmarks show it
EYES_TO_MOUTH_M = 0.0650
NOSE_DEPTH = 0.56         # tip of the nose before the plane of the eyes, in eye distances
NOSE_DOWN = 0.54          # tip of the nose below the eyes, in eye-to-mouth distances, of a level face
NOSE_DOWN_RATE = 0.65     # and its change by rad of pitch
FEW = 1e-6


@dataclass(frozen=True, slots=True)
class HeadView:
    """One face as seen from the camera."""

    direction: Array    # (3,) unit, from the camera to the middle between the eyes, in the frame of the rays
    distance: float     # m from the camera to there
    yaw: float          # rad off the line of sight, positive: turned to the picture's right
    pitch: float        # rad, positive: nose down
    roll: float         # rad, positive: clockwise in the picture
    foreshortening: float   # eye distance against eye-to-mouth distance; 1: a mean face from the front


def head_view(rays: Array) -> HeadView:
    """View of a face whose landmarks (right eye, left eye, nose, mouth corners) are seen along unit rays (5, 3).

    The rays' frame has z up (any frame of the head or the base will do: roll is counted against its horizon).
    """
    middle = rays[:2].mean(axis=0)
    middle = middle / np.linalg.norm(middle)
    right = np.cross(middle, [0.0, 0.0, 1.0])
    right = right / (np.linalg.norm(right) + FEW)
    down = np.cross(middle, right)
    flat = np.column_stack([rays @ right, rays @ down]) / np.maximum(rays @ middle, FEW)[:, None]
    across = flat[1] - flat[0]
    eyes = float(np.linalg.norm(across)) + FEW
    along = across / eyes
    below = np.array([-along[1], along[0]])
    nose, mouth = flat[2] - flat[:2].mean(axis=0), flat[3:].mean(axis=0) - flat[:2].mean(axis=0)
    length = float(np.linalg.norm(mouth)) + FEW
    # the mouth's middle swings with the nose when the head turns, by a good third of it
    yaw = float(np.arctan((nose @ along - 0.25 * (mouth @ along)) / (NOSE_DEPTH * eyes)))
    pitch = float(np.clip(((nose @ below) / length - NOSE_DOWN) / NOSE_DOWN_RATE, -1.2, 1.2))
    return HeadView(middle, _distance(eyes, length, yaw), yaw, pitch, float(np.arctan2(along[1], along[0])),
                    (eyes / BETWEEN_EYES_M) / (length / EYES_TO_MOUTH_M))


def _distance(eyes: float, length: float, yaw: float) -> float:
    """Distance in m from the two extents (in units of depth). Turning shortens one of them: the larger counts most."""
    by_eyes = eyes / BETWEEN_EYES_M / max(np.cos(yaw), 0.6)
    by_length = length / EYES_TO_MOUTH_M
    power = 6.0   # between the mean (1), best for a face from the front, and the largest, best for a turned one
    inverse = ((by_eyes ** power + by_length ** power) / 2) ** (1 / power)
    return float(1 / max(inverse, FEW))
