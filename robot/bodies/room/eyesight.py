"""The camera in time: exposures at its own rate, pictures that arrive late, faces found by the detector's worker."""
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from calibration.body_model import Camera
from calibration.frames import HeadPose
from calibration.health import Health
from perception.vision.frame import FaceFrame
from robot.bodies.room.camera import CameraConfig, Picture, Renderer, Seen
from robot.worker import Worker


@dataclass
class Eyesight:
    """Renders a picture at the end of each exposure and hands it to the detector after the camera's latency."""

    camera: Camera
    config: CameraConfig
    detector: Worker | None
    rng: np.random.Generator
    most_fps: float | None = None              # pictures a second that are wanted, 0: none; None: all
    pictures: int = 0                          # exposures so far
    last: tuple[float, Picture] | None = None  # (t_capture, picture) of the newest exposure
    _renderer: Renderer | None = None
    _on_the_way: deque[tuple[float, float, Picture]] = field(default_factory=deque)

    def __post_init__(self):
        if self.detector is not None:
            self._renderer = Renderer(self.camera, self.config, self.rng)
        self._phase = self.rng.uniform(0.0, 1.0 / self.config.fps)

    def step(self, t: float, pose_at: Callable[[float], HeadPose], seen_at: Callable[[float], Sequence[Seen]],
             works: bool = True) -> tuple[FaceFrame | Health, ...]:
        """What the detector has said by t: faces, or its trouble. works False: the camera gives nothing."""
        if self.detector is None or self._renderer is None:
            return ()
        half = self.config.exposure_s / 2
        while (middle := self._phase + self.pictures / self.config.fps) + half <= t:
            self.pictures += 1
            late = self.rng.uniform(*self.config.latency_s)
            if works and self._wanted(middle):
                picture = self._renderer.picture(pose_at(middle - half), pose_at(middle), pose_at(middle + half),
                                                 seen_at(middle))
                self.last = (middle, picture)
                before = self._on_the_way[-1][0] if self._on_the_way else 0.0
                self._on_the_way.append((max(middle + late, before), middle, picture))
        while self._on_the_way and self._on_the_way[0][0] <= t:
            arrived, middle, picture = self._on_the_way.popleft()
            self.detector.submit(arrived, (middle, picture))
        return tuple(self.detector.poll(t))

    def _wanted(self, middle: float) -> bool:
        """Pictures come at the camera's own moments; at a lower rate some of them are left out."""
        if self.most_fps is None:
            return True
        last = -np.inf if self.last is None else self.last[0]
        return self.most_fps > 0 and middle - last >= 0.9 / self.most_fps
