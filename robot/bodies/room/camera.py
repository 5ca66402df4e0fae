"""Pictures of the room through the published lens, from the true head pose in the middle of the exposure."""
from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.body_model import Camera
from calibration.frames import Array, HeadPose, rotation
from robot.bodies.room.backdrop import Backdrop
from robot.bodies.room.lens import CELL, CellRays, camera_pose, finer, looked_up, projected
from robot.bodies.room.people import FacePose
from robot.bodies.room.portraits import Layer, Portrait

WIDEST = np.deg2rad(62)      # off axis: beyond, the published lens model is not to be trusted
CHEST_BEHIND = 0.04          # m, the chest's plane behind the face's: no face is hidden in its own chest
HAND_PLACE = np.array([0.02, -0.32, -0.12])   # m in face axes at rest: a hand raised beside the head
NEAREST = 0.12               # m, a plane nearer than this is not drawn

Picture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class CameraConfig:
    """The simulated camera. Size and lens come from the body's model."""

    fps: float = 10.0                                   # of the robot's local camera channel (SDK: IPC_FPS)
    latency_s: tuple[float, float] = (0.04, 0.11)       # from the middle of the exposure until a picture is handed on
    exposure_s: float = 0.014                           # a room in the evening
    noise: float = 2.5                                  # grey levels RMS
    light: float = 1.0                                  # brightness of the whole

    def __post_init__(self):
        if not 1 <= self.fps <= 60:
            raise ValueError(f"fps: expected 1 to 60, found {self.fps}")
        if not 0 <= self.latency_s[0] <= self.latency_s[1] <= 0.3:
            raise ValueError(f"latency_s: expected two ordered times up to 0.3 s, found {self.latency_s}")


@dataclass(frozen=True, slots=True)
class Seen:
    """A person as the camera needs him: planes and their place at one moment."""

    portrait: Portrait
    face: FacePose
    hand: float | None = None    # m sideways, while raised


@dataclass
class Renderer:
    """Draws what the camera sees. Same seed, same pictures."""

    camera: Camera
    config: CameraConfig
    rng: np.random.Generator
    _lens: CellRays = field(init=False)
    _backdrop: Backdrop = field(init=False)
    _noise: NDArray[np.uint8] = field(init=False)

    def __post_init__(self):
        self._lens = CellRays(self.camera)
        self._backdrop = Backdrop(self._lens, self.rng)
        height, width = self.camera.height_px + 64, self.camera.width_px + 64
        bank = self.rng.standard_normal((height, width, 3), dtype=np.float32) * self.config.noise
        self._noise = np.stack([np.maximum(bank, 0), np.maximum(-bank, 0)]).round().astype(np.uint8)

    def picture(self, before: HeadPose, middle: HeadPose, after: HeadPose, people: Sequence[Seen]) -> Picture:
        """BGR (height, width, 3) of an exposure from one head pose to another."""
        place, axes = camera_pose(middle, self.camera)
        frame = self._backdrop.seen(axes)
        for seen in sorted(people, key=lambda s: -float(np.linalg.norm(s.face.eyes - place))):
            for layer, origin, plane in _planes(seen, place):
                self._draw(frame, layer, origin, plane, place, axes)
        frame = self._blurred(frame, camera_pose(before, self.camera)[1], camera_pose(after, self.camera)[1])
        return self._exposed(frame)

    def _draw(self, frame: Picture, layer: Layer, origin: Array, plane: Array, place: Array, axes: Array) -> None:
        """One plane over the frame; `plane` (3, 3): base from its axes (x towards whom it faces)."""
        window = self._window(layer, (origin - place) @ axes, axes.T @ plane)
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
        to_px = np.array([[scale, 0, x], [0, -scale, y], [0, 0, 1]]) @ on_plane
        rows, columns, rays = self._lens.window(*window)
        flat = rays @ to_px.T
        part = frame[rows, columns]
        where = finer(flat[..., :2] / flat[..., 2:], CELL, *part.shape[:2])
        patch = looked_up(layer.pictures[level], where, cv2.BORDER_CONSTANT)
        kept = cv2.merge([cv2.bitwise_not(patch[..., 3])] * 3)
        frame[rows, columns] = cv2.add(cv2.multiply(part, kept, scale=1 / 255), cv2.cvtColor(patch, cv2.COLOR_BGRA2BGR))

    def _window(self, layer: Layer, origin: Array, plane: Array) -> tuple[int, int, int, int] | None:
        """Rows and columns that the plane may cover; origin and plane in the camera's axes."""
        low_y, high_y, low_z, high_z = layer.extent
        y, z = np.meshgrid(np.linspace(low_y, high_y, 6), np.linspace(low_z, high_z, 6))
        points = origin + y.reshape(-1, 1) * plane[:, 1] + z.reshape(-1, 1) * plane[:, 2]
        off_axis = np.arctan2(np.hypot(points[:, 0], points[:, 1]), points[:, 2])
        points = points[(off_axis < WIDEST) & (points[:, 2] > NEAREST)]
        if not len(points):
            return None
        pixels = projected(points, self.camera)
        first, top = np.maximum(np.floor(pixels.min(0)).astype(int) - 3, 0)
        last, bottom = np.minimum(np.ceil(pixels.max(0)).astype(int) + 4, [self.camera.width_px, self.camera.height_px])
        return (top, bottom, first, last) if bottom > top and last > first else None

    def _level(self, layer: Layer, distance: float) -> int:
        """The pyramid's picture whose pixels are about as large as the camera's."""
        finer = layer.px_per_m / (self.camera.k[0, 0] / max(distance, NEAREST))
        return int(np.clip(round(np.log2(max(finer, 1.0)) - 0.2), 0, len(layer.pictures) - 1))

    def _blurred(self, frame: Picture, before: Array, after: Array) -> Picture:
        """Averaged along the way that the picture's middle goes during the exposure, in halving steps."""
        ahead = before.T @ after[:, 2]
        way = ahead[:2] / ahead[2] * self.camera.k[[0, 1], [0, 1]]
        while np.abs(way).max() >= 1.0:
            way = way / 2
            dx, dy = np.round(way).astype(int)
            if dx == 0 and dy == 0:
                break
            moved = cv2.copyMakeBorder(frame, max(dy, 0), max(-dy, 0), max(dx, 0), max(-dx, 0), cv2.BORDER_REPLICATE)
            height, width = frame.shape[:2]
            shifted = moved[max(-dy, 0):][:height, max(-dx, 0):][:, :width]
            frame = np.asarray(cv2.addWeighted(frame, 0.5, shifted, 0.5, 0.0), np.uint8)
        return frame

    def _exposed(self, frame: Picture) -> Picture:
        """Light and the sensor's noise."""
        if self.config.light != 1.0:
            frame = np.asarray(cv2.convertScaleAbs(frame, alpha=self.config.light), np.uint8)
        top, left = self.rng.integers(0, 64, 2)
        part = np.s_[top:top + self.camera.height_px, left:left + self.camera.width_px]
        return np.asarray(cv2.subtract(cv2.add(frame, self._noise[0][part]), self._noise[1][part]), np.uint8)


def _planes(seen: Seen, camera: Array) -> list[tuple[Layer, Array, Array]]:
    """(layer, origin, base from plane) of one person, farthest first."""
    face, portrait = seen.face, seen.portrait
    chest_axes = rotation(0.0, 0.0, face.chest_yaw)
    out = [(portrait.chest, face.chest - CHEST_BEHIND * chest_axes[:, 0], chest_axes)]
    faces_us = (camera - face.eyes) @ face.rotation[:, 0] > 0
    out.append((portrait.head if faces_us else portrait.back, face.eyes, face.rotation))
    if seen.hand is not None:
        place = HAND_PLACE + np.array([0.0, seen.hand, 0.0])
        out.append((portrait.hand, face.chest + chest_axes @ place, chest_axes))
    return out
