"""What is behind the people: walls, furniture and light, painted on a cylinder far away and a little out of focus."""
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.frames import Array
from robot.bodies.room.lens import CELL, CellRays, finer, looked_up

HIGHEST = np.deg2rad(75)     # elevation where the cylinder ends; the picture's edge goes on above
SOFT = 2                     # drawn at half the camera's resolution: it is out of focus


@dataclass
class Backdrop:
    """A painted surround, seen through the lens."""

    lens: CellRays
    rng: np.random.Generator
    _picture: NDArray[np.uint8] = field(init=False)

    def __post_init__(self):
        self._px_per_rad = self.lens.camera.k[0, 0] / SOFT
        self._width = int(2 * np.pi * self._px_per_rad)
        self._horizon = int(HIGHEST * self._px_per_rad)
        painted = _painted(self._width, 2 * self._horizon, self._horizon, self.rng)
        self._picture = np.ascontiguousarray(np.hstack([painted, painted]))

    def seen(self, axes: Array) -> NDArray[np.uint8]:
        """BGR picture for a camera whose axes (3, 3) in base are OpenCV's."""
        ahead = np.arctan2(axes[1, 2], axes[0, 2])
        way = self.lens.rays @ axes.T
        along, left = np.array([np.cos(ahead), np.sin(ahead)]), np.array([-np.sin(ahead), np.cos(ahead)])
        beside = np.arctan2(way[..., :2] @ left, way[..., :2] @ along)
        up = np.arctan2(way[..., 2], np.hypot(way[..., 0], way[..., 1]))
        x = (-ahead % (2 * np.pi) - beside) * self._px_per_rad
        where = np.stack([x + (self._width if x.min() < 0 else 0), self._horizon - up * self._px_per_rad], axis=-1)
        height, width = self.lens.camera.height_px, self.lens.camera.width_px
        half = finer(where, CELL // SOFT, -(-height // SOFT), -(-width // SOFT))
        soft = looked_up(self._picture, half, cv2.BORDER_REPLICATE)
        size = soft.shape[1] * SOFT, soft.shape[0] * SOFT
        return np.ascontiguousarray(cv2.resize(soft, size)[:height, :width], np.uint8)


def _painted(width: int, height: int, horizon: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """A wall with pictures, shelves and a window above a darker floor, in soft light; its ends meet."""
    wall, floor = rng.uniform(140, 200) + rng.normal(0, 10, 3), rng.uniform(60, 120) + rng.normal(0, 10, 3)
    out = np.empty((height, width, 3), np.float32)
    edge = horizon + int(0.22 * horizon)
    out[:edge], out[edge:] = wall, floor
    for _ in range(40):
        x, w = rng.integers(0, width), rng.integers(width // 90, width // 18)
        h = rng.integers(height // 30, height // 4)
        y = rng.integers(height // 5, edge) if rng.uniform() < 0.6 else edge - h + rng.integers(0, 15)
        colour = np.clip(rng.uniform(30, 210) + rng.normal(0, 25, 3), 0, 255)
        for start in (x, x - width):
            box = (int(start), int(y)), (int(start + w), int(y + h))
            cv2.rectangle(out, *box, colour.tolist(), -1)
            cv2.rectangle(out, *box, (colour * 0.6).tolist(), 2)
    knots = rng.uniform(0.75, 1.15, (4, 12)).astype(np.float32)
    light = cv2.resize(np.hstack([knots] * 3), (3 * width, height), interpolation=cv2.INTER_CUBIC)[:, width:2 * width]
    grain = cv2.GaussianBlur(rng.normal(0, 9, (height, width)).astype(np.float32), (0, 0), 1.0)
    return np.clip(cv2.GaussianBlur(out, (0, 0), 0.8) * light[..., None] + grain[..., None], 0, 255).astype(np.uint8)
