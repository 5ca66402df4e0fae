"""The published lens: the ray of every pixel, and maps along rays that are worked out coarsely and then made finer."""
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import RectBivariateSpline

from calibration.body_model import Camera
from calibration.frames import Array, HeadPose, rotation

OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])   # camera axes from OpenCV's
NEWTON_STEPS = 8             # from a pinhole's rays; the error falls below 1e-9 in 6
CELL = 8                     # px between exact rays; linear between them is right within 0.01 px of this lens


def projected(points: Array, camera: Camera) -> Array:
    """Pixels (n, 2) of points (n, 3) in OpenCV's camera axes."""
    pixels, _ = cv2.projectPoints(points, np.zeros(3), np.zeros(3), camera.k, camera.distortion)
    return np.asarray(pixels, np.float64)[:, 0]


def camera_pose(pose: HeadPose, camera: Camera) -> tuple[Array, Array]:
    """Place (3,) and rotation (3, 3) in base of OpenCV's camera axes for a head pose."""
    head = pose.rotation
    return pose.position + head @ camera.position, head @ rotation(*camera.rpy) @ OPTICAL


def lens_rays(camera: Camera, rows: Array, columns: Array) -> Array:
    """Directions (rows, columns, 3) in OpenCV's camera axes, depth 1, of places in the picture, by Newton's method."""
    u, v = np.meshgrid(columns, rows)
    wanted = np.stack([u.ravel(), v.ravel()], axis=1)
    flat = (wanted - camera.k[:2, 2]) / camera.k[[0, 1], [0, 1]]
    step = 1e-5
    for _ in range(NEWTON_STEPS):
        here, right, down = (projected(np.column_stack([flat + d, np.ones(len(flat))]), camera)
                             for d in ([0.0, 0.0], [step, 0.0], [0.0, step]))
        jacobian = np.stack([right - here, down - here], axis=2) / step
        flat = flat + np.linalg.solve(jacobian, (wanted - here)[..., None])[..., 0]
    return np.column_stack([flat, np.ones(len(flat))]).reshape(*u.shape, 3)


@dataclass
class CellRays:
    """Rays at the middles of cells of CELL pixels, with one ring of cells around the picture."""

    camera: Camera
    rays: Array = field(init=False)     # (rows + 2, columns + 2, 3)

    def __post_init__(self):
        height, width = self.camera.height_px, self.camera.width_px
        rows, columns = np.arange(0.0, height, CELL), np.arange(0.0, width, CELL)
        exact = lens_rays(self.camera, np.r_[rows, height - 1.0], np.r_[columns, width - 1.0])
        known_rows, known_columns = np.r_[rows, height - 1.0], np.r_[columns, width - 1.0]
        middle = (CELL - 1) / 2
        out = np.ones((len(rows) + 2, len(columns) + 2, 3))
        for axis in range(2):
            spline = RectBivariateSpline(known_rows, known_columns, exact[..., axis])
            inner = spline(np.clip(rows + middle, 0, height - 1), np.clip(columns + middle, 0, width - 1))
            out[..., axis] = _with_ring(inner)
        self.rays = out

    def window(self, top: int, bottom: int, first: int, last: int) -> tuple[slice, slice, NDArray]:
        """Rows and columns, grown to whole cells inside the picture, and the rays of their cells with the ring."""
        low = np.array([top, first]) // CELL
        high = -(-np.array([bottom, last]) // CELL)
        cells = self.rays[low[0]:high[0] + 2, low[1]:high[1] + 2]
        return (slice(low[0] * CELL, min(high[0] * CELL, self.camera.height_px)),
                slice(low[1] * CELL, min(high[1] * CELL, self.camera.width_px)), cells)


def _with_ring(inner: Array) -> Array:
    """One more row and column on each side, going on straight."""
    for axis in (0, 1):
        first, second = np.take(inner, [0], axis), np.take(inner, [1], axis)
        last, before = np.take(inner, [-1], axis), np.take(inner, [-2], axis)
        inner = np.concatenate([2 * first - second, inner, 2 * last - before], axis)
    return inner


def finer(values: NDArray, cell: int, rows: int, columns: int) -> NDArray[np.float32]:
    """(rows, columns, n) at every pixel, from values (cell rows + 2, cell columns + 2, n) of cells with their ring."""
    height, width = values.shape[:2]
    large = cv2.resize(values.astype(np.float32), (width * cell, height * cell), interpolation=cv2.INTER_LINEAR)
    return np.asarray(large, np.float32)[cell:cell + rows, cell:cell + columns]


def looked_up(picture: NDArray[np.uint8], where: NDArray[np.float32], border: int) -> NDArray[np.uint8]:
    """The picture's colours (h, w, c) at places (h, w, 2) px x, y, between pixels linearly."""
    return cv2.remap(picture, where, None, cv2.INTER_LINEAR, borderMode=border)  # type: ignore[call-overload]
