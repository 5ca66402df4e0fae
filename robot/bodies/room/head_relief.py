"""The shape of a head: upright, round, with a nose, on which a photograph lies as seen from the front.

A flat photograph looks at you from every side; on a round head the nose moves against the eyes when it turns. At each
height the head is an ellipse as wide as the photograph's outline there.
"""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.frames import Array

DEPTH = 0.098                            # m, half axis of every ellipse (an adult head is 19 to 20 cm deep)
NOSE_HEIGHT, NOSE_AT = 0.024, -0.028     # m, out of the ellipse; below the eyes
NOSE_WIDTH, NOSE_LENGTH = 0.013, 0.017   # m, one standard deviation sideways and upwards
AXIS = -0.093                            # m, x of the upright axis in face axes: the surface at the eyes has x = 0
CROWN = 0.03                             # m over the eyes, where the head begins to close
ROUNDS = 2                               # of finding where a ray meets the nose

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Outline:
    """Middle, half width and depth (m) of a head at n heights from low_z on, step apart (m), in face axes."""

    middle: Floats
    half_width: Floats
    depth: Floats
    low_z: float
    step: float

    @classmethod
    def around(cls, middle: Array, half_width: Array, low_z: float, step: float) -> "Outline":
        """A head as wide as told at each height; its crown is rounded."""
        z = low_z + step * np.arange(len(middle))
        crown = np.clip((z - CROWN) / (z[-1] + step - CROWN), 0.0, 1.0)
        return cls(middle.astype(np.float32), half_width.astype(np.float32),
                   (DEPTH * np.sqrt(1 - crown ** 2)).astype(np.float32), low_z, step)

    def at(self, z: NDArray) -> tuple[Floats, Floats, Floats]:
        rows = np.clip(((z - self.low_z) / self.step).astype(np.int32), 0, len(self.middle) - 1)
        return self.middle[rows], self.half_width[rows], self.depth[rows]


def nose(y: NDArray, z: NDArray) -> NDArray:
    """Height (m) over the ellipse at a place of the face."""
    return NOSE_HEIGHT * np.exp(-0.5 * ((y / NOSE_WIDTH) ** 2 + ((z - NOSE_AT) / NOSE_LENGTH) ** 2))


def surface(y: Array, z: Array, outline: Outline) -> Array:
    """x (m) of the face at y, z (m)."""
    middle, half, depth = outline.at(z)
    return AXIS + depth * np.sqrt(np.maximum(0.0, 1 - ((y - middle) / half) ** 2)) + nose(y, z)


def hits(eye: Array, rays: Floats, outline: Outline) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Where rays (h, w, 3) from a point (3,) first meet the head, all in face axes.

    Returns y and z (h, w) m, whether it is the front half, and whether it is met at all.
    """
    eye_x, eye_y, eye_z = (np.float32(e) for e in eye)
    dx_m, dy_m, dz = rays[..., 0], rays[..., 1], rays[..., 2]
    level = dx_m * dx_m + dy_m * dy_m
    about = -(np.float32(eye_x - AXIS) * dx_m + eye_y * dy_m) / level - np.float32(DEPTH - 0.01) / np.sqrt(level)
    middle, half, depth = outline.at(eye_z + about * dz)      # the head's width hardly changes along the rest
    x0, dx, y0, dy = np.float32(eye_x - AXIS) / depth, dx_m / depth, (eye_y - middle) / half, dy_m / half
    a, b = dx * dx + dy * dy, x0 * dx + y0 * dy
    root = b * b - a * (x0 * x0 + y0 * y0 - 1)
    far = -(b + np.sqrt(np.maximum(root, 0))) / a
    x, y = x0 + far * dx, y0 + far * dy
    front = x > 0
    # along the ray the nose is met earlier, as if the surface stood off by its height here
    slope = np.minimum(x * dx + y * dy, np.float32(-1e-3)) / np.maximum(x, np.float32(1e-3))
    reach = front / (depth * slope)
    here = far
    for _ in range(ROUNDS):
        here = far + nose(eye_y + here * dy_m, eye_z + here * dz).astype(np.float32) * reach
    return eye_y + here * dy_m, eye_z + here * dz, front, root > 0
