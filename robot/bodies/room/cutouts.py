"""People drawn over a picture: chest and hand as planes, the head round, each through the exact lens."""
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.frames import Array, rotation
from robot.bodies.room.head_relief import AXIS, DEPTH, NOSE_HEIGHT, hits
from robot.bodies.room.lens import CELL, CellRays, finer, looked_up, projected
from robot.bodies.room.people import FacePose
from robot.bodies.room.portraits import Layer, Portrait

WIDEST = np.deg2rad(62)      # off axis: beyond, the published lens model is not to be trusted
CHEST_BEHIND = 0.07          # m, the chest's plane behind the eyes
HAND_PLACE = np.array([0.02, -0.32, -0.12])   # m in face axes at rest: a hand raised beside the head
NEAREST = 0.12               # m, what is nearer is not drawn
NOWHERE = -1e4               # px: outside every picture

Picture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Cutouts:
    """Draws the parts of people onto pictures of one camera."""

    lens: CellRays

    def draw(self, frame: Picture, portrait: Portrait, face: FacePose, hand: float | None, place: Array,
             axes: Array) -> None:
        """One person over the frame, for a camera at place (3,) with OpenCV's axes (3, 3), both in base."""
        chest_axes = rotation(0.0, 0.0, face.chest_yaw)
        self._plane(frame, portrait.chest, face.chest - CHEST_BEHIND * chest_axes[:, 0], chest_axes, place, axes)
        self._head(frame, portrait, face, place, axes)
        if hand is not None:
            raised = face.chest + chest_axes @ (HAND_PLACE + np.array([0.0, hand, 0.0]))
            self._plane(frame, portrait.hand, raised, chest_axes, place, axes)

    def _plane(self, frame: Picture, layer: Layer, origin: Array, plane: Array, place: Array, axes: Array) -> None:
        """A layer on a plane through origin (3,); plane (3, 3): base from its axes, x towards whom it faces."""
        low_y, high_y, low_z, high_z = layer.extent
        y, z = np.meshgrid(np.linspace(low_y, high_y, 6), np.linspace(low_z, high_z, 6))
        window = self._window(np.column_stack([np.zeros(36), y.ravel(), z.ravel()]) @ plane.T + origin, place, axes)
        if window is None:
            return
        # pixel = ray; on the plane: (y w, z w, w), all linear in the ray
        towards, left, up = plane.T
        offset = place - origin
        depth, y0, z0 = -offset @ towards, offset @ left, offset @ up
        on_plane = np.stack([y0 * towards + depth * left, z0 * towards + depth * up, towards]) @ axes
        level = self._level(layer, float(np.linalg.norm(offset)))
        scale = layer.px_per_m / 2 ** level
        x, y = layer.origin / 2 ** level          # pyrDown keeps the pixels of even number
        rows, columns, rays = self.lens.window(*window)
        flat = rays @ (np.array([[scale, 0, x], [0, -scale, y], [0, 0, 1]]) @ on_plane).T
        where = finer(flat[..., :2] / flat[..., 2:], CELL, *frame[rows, columns].shape[:2])
        self._over(frame, rows, columns, layer.pictures[level], where)

    def _head(self, frame: Picture, portrait: Portrait, face: FacePose, place: Array, axes: Array) -> None:
        layer = portrait.head
        _, _, low_z, high_z = layer.extent
        eye = face.rotation.T @ (place - face.eyes)
        if np.hypot(eye[0] - AXIS, eye[1]) < DEPTH + NEAREST:
            return
        window = self._window(face.point(_box(low_z, high_z)), place, axes)
        if window is None:
            return
        level = self._level(layer, float(np.linalg.norm(eye)))
        scale = layer.px_per_m / 2 ** level
        rows, columns, cells = self.lens.window(*window)
        rays = finer(cells @ (face.rotation.T @ axes).T, CELL, *frame[rows, columns].shape[:2])
        y, z, front, met = hits(eye, rays, portrait.outline)
        u = layer.origin[0] / 2 ** level + y * scale + np.where(front, 0.0, portrait.back_px / 2 ** level)
        where = np.stack([np.where(met, u, NOWHERE), layer.origin[1] / 2 ** level - z * scale], axis=-1)
        self._over(frame, rows, columns, layer.pictures[level], where.astype(np.float32))

    def _over(self, frame: Picture, rows: slice, columns: slice, picture: Picture, where: NDArray[np.float32]) -> None:
        """The picture's colours over the frame, its alpha aside already multiplied in."""
        patch = looked_up(picture, where, cv2.BORDER_CONSTANT)
        kept = cv2.merge([cv2.bitwise_not(patch[..., 3])] * 3)
        behind = cv2.multiply(frame[rows, columns], kept, scale=1 / 255)
        frame[rows, columns] = cv2.add(behind, cv2.cvtColor(patch, cv2.COLOR_BGRA2BGR))

    def _window(self, points: Array, place: Array, axes: Array) -> tuple[int, int, int, int] | None:
        """Rows and columns around points (n, 3) in base, as far as the camera sees them."""
        seen = (points - place) @ axes
        off_axis = np.arctan2(np.hypot(seen[:, 0], seen[:, 1]), seen[:, 2])
        seen = seen[(off_axis < WIDEST) & (seen[:, 2] > NEAREST)]
        if not len(seen):
            return None
        camera = self.lens.camera
        pixels = projected(seen, camera)
        first, top = np.maximum(np.floor(pixels.min(0)).astype(int) - 3, 0)
        last, bottom = np.minimum(np.ceil(pixels.max(0)).astype(int) + 4, [camera.width_px, camera.height_px])
        return (top, bottom, first, last) if bottom > top and last > first else None

    def _level(self, layer: Layer, distance: float) -> int:
        """The pyramid's picture whose pixels are about as large as the camera's."""
        finer_by = layer.px_per_m / (self.lens.camera.k[0, 0] / max(distance, NEAREST))
        return int(np.clip(round(np.log2(max(finer_by, 1.0)) - 0.2), 0, len(layer.pictures) - 1))


def _box(low_z: float, high_z: float) -> Array:
    """Corners and middles (n, 3) of a box around a head, in face axes."""
    x, y, z = np.meshgrid([AXIS - DEPTH, AXIS, NOSE_HEIGHT], [-0.12, 0.0, 0.12], [low_z, high_z])
    return np.column_stack([x.ravel(), y.ravel(), z.ravel()])
