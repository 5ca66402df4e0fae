"""Pictures of the room through the published lens, from the true head pose in the middle of the exposure."""
from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.body_model import Camera
from calibration.frames import Array, HeadPose
from robot.bodies.room.backdrop import Backdrop
from robot.bodies.room.cutouts import Cutouts
from robot.bodies.room.lens import CellRays, camera_pose
from robot.bodies.room.people import FacePose
from robot.bodies.room.portraits import Portrait

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
    """A person as the camera needs him: pictures and their place at one moment."""

    portrait: Portrait
    face: FacePose
    hand: float | None = None    # m sideways, while raised


@dataclass
class Renderer:
    """Draws what the camera sees. Same seed, same pictures."""

    camera: Camera
    config: CameraConfig
    rng: np.random.Generator
    _cutouts: Cutouts = field(init=False)
    _backdrop: Backdrop = field(init=False)
    _noise: NDArray[np.uint8] = field(init=False)

    def __post_init__(self):
        lens = CellRays(self.camera)
        self._cutouts = Cutouts(lens)
        self._backdrop = Backdrop(lens, self.rng)
        height, width = self.camera.height_px + 64, self.camera.width_px + 64
        bank = self.rng.standard_normal((height, width, 3), dtype=np.float32) * self.config.noise
        self._noise = np.stack([np.maximum(bank, 0), np.maximum(-bank, 0)]).round().astype(np.uint8)

    def picture(self, before: HeadPose, middle: HeadPose, after: HeadPose, people: Sequence[Seen]) -> Picture:
        """BGR (height, width, 3) of an exposure from one head pose to another."""
        place, axes = camera_pose(middle, self.camera)
        frame = self._backdrop.seen(axes)
        for seen in sorted(people, key=lambda s: -float(np.linalg.norm(s.face.eyes - place))):
            self._cutouts.draw(frame, seen.portrait, seen.face, seen.hand, place, axes)
        frame = self._blurred(frame, camera_pose(before, self.camera)[1], camera_pose(after, self.camera)[1])
        return self._exposed(frame)

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
