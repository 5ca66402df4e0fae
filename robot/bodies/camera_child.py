"""The camera process's own program: `python -m robot.bodies.camera_child FD`. Started by camera_process, not by hand.

Opens the camera, looks for faces, says what it saw. A read that never returns is ended by the parent.
"""
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from calibration.health import Health, Level
from perception.vision.detector import Picture, RetinaFace
from perception.vision.finder import FaceFinder
from robot.bodies.camera_config import CameraDeviceConfig
from robot.bodies.view import Viewer
from robot.channel import Channel
from robot.worker_child import EXPENDABLE

PART = "camera"
BEAT_S = 0.5               # between two signs of life when nothing is seen
OLDEST_S = 1.0             # of a time that a driver gives: an older one is on another clock
DEVICE_TRIES = 50          # grabs in a row without a picture: the camera is gone


@dataclass(frozen=True)
class CameraSetup:
    """What the camera process is told first; afterwards only numbers: pictures a second, 0 to close it."""

    config: CameraDeviceConfig
    start: float                       # s, monotonic clock at the run's t = 0
    shown: bool = False                # pictures are also made for the engine


class CameraTrouble(Exception):
    """The camera is not there or gives no pictures; the reason is for people."""


@dataclass
class Camera:
    """An opened camera, file or stream. Calls may hang."""

    config: CameraDeviceConfig
    _capture: Any = field(init=False)
    _period: float = 0.0               # s between pictures of a file; 0: the device sets the pace
    _due: float = 0.0

    def __post_init__(self) -> None:
        import cv2

        config, source = self.config, self.config.source
        is_device = source.startswith("/dev/") or source.isdigit()
        if source.startswith("/dev/") and not Path(source).exists():
            raise CameraTrouble(f"no {source}: connect the camera or name its device")
        limits = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, 4000, cv2.CAP_PROP_READ_TIMEOUT_MSEC, 4000]
        self._capture = (cv2.VideoCapture(int(source) if source.isdigit() else source, cv2.CAP_V4L2) if is_device
                         else cv2.VideoCapture(source, cv2.CAP_FFMPEG, limits))
        if not self._capture.isOpened():
            raise CameraTrouble(f"{source} cannot be opened as a camera: in use by another program, or no video")
        if is_device:
            if config.fourcc:
                self._capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*config.fourcc))
            self._capture.set(cv2.CAP_PROP_FRAME_WIDTH, config.width_px)
            self._capture.set(cv2.CAP_PROP_FRAME_HEIGHT, config.height_px)
            self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        elif Path(source).exists():
            self._period = 1.0 / (self._capture.get(cv2.CAP_PROP_FPS) or 25.0)

    def pictures(self, wanted: Any) -> Iterator[tuple[float, Picture | None]]:
        """(monotonic time in the middle of the exposure in s, picture), None where `wanted(t)` says no. Endless."""
        import cv2

        missed = 0
        while missed < DEVICE_TRIES:
            self._keep_pace()
            if not self._capture.grab():
                if not self._period:
                    missed += 1
                    continue
                self._capture.set(cv2.CAP_PROP_POS_FRAMES, 0)       # a file: from its beginning again
                if not self._capture.grab():
                    break
            missed = 0
            now = time.monotonic()
            t = self._time(now, self._capture.get(cv2.CAP_PROP_POS_MSEC) / 1000)
            if not wanted(t):
                yield t, None
                continue
            whole, picture = self._capture.retrieve()
            yield t, self._fitting(picture) if whole else None
        raise CameraTrouble(f"{self.config.source} gives no pictures any more")

    def _time(self, now: float, told: float) -> float:
        """Drivers of real devices tell a picture's time on the monotonic clock."""
        if not self._period and now - OLDEST_S < told <= now:
            return told
        return now - self.config.latency_s

    def _keep_pace(self) -> None:
        if self._period:
            now = time.monotonic()
            self._due = max(self._due + self._period, now - 1.0)
            time.sleep(max(0.0, self._due - now))

    def _fitting(self, picture: np.ndarray) -> Picture:
        """In the size that the lens model holds for."""
        import cv2

        config = self.config
        height, width = picture.shape[:2]
        if (width, height) == (config.width_px, config.height_px):
            return picture
        if abs(width * config.height_px - height * config.width_px) > 0.02 * width * config.height_px:
            raise CameraTrouble(f"{config.source} gives {width}x{height} pictures, expected the shape of "
                                f"{config.width_px}x{config.height_px}: set width_px and height_px of [camera]")
        return np.asarray(cv2.resize(picture, (config.width_px, config.height_px), interpolation=cv2.INTER_AREA))

    def close(self) -> None:
        self._capture.release()


class CameraChild:
    """One life of the camera process."""

    def __init__(self, setup: CameraSetup, channel: Channel):
        self.setup, self.channel = setup, channel
        self.finder = FaceFinder(RetinaFace())
        self.viewer = Viewer() if setup.shown else None
        self.fps = setup.config.fps
        self._looked = self._said = -1e9
        self._level: tuple[Level, str] | None = None

    def run(self) -> None:
        pause, longest = self.setup.config.backoff_s
        again = pause
        self._listen()                      # a first sign of life: opening may hang
        while not self.channel.closed:
            if self.fps == 0:
                self._tell("ok", "off: nobody wants pictures")
                self.channel.wait(BEAT_S)
                self._listen()
                continue
            try:
                camera = Camera(self.setup.config)
                try:
                    self._watch(camera)
                finally:
                    camera.close()
                again = pause
                continue
            except CameraTrouble as error:
                self._tell("gone", str(error))
            until = time.monotonic() + again
            while not self.channel.closed and time.monotonic() < until:
                self.channel.wait(min(BEAT_S, again))
                self._listen()
            again = min(2 * again, longest)

    def _watch(self, camera: Camera) -> None:
        """Until the parent hangs up or wants no pictures any more."""
        for t, picture in camera.pictures(self._due):
            self._listen()
            if self.channel.closed or self.fps == 0:
                return
            if picture is None:
                continue
            self._looked = t
            self._tell("ok", f"sees by {self.setup.config.source}")
            self.channel.send(self.finder.see(picture, t - self.setup.start))
            view = None if self.viewer is None else self.viewer.of(t - self.setup.start, picture)
            if view is not None:
                self.channel.send(view)
            self._said = time.monotonic()

    def _due(self, t: float) -> bool:
        return self.fps > 0 and t - self._looked >= 0.9 / self.fps      # a device's own pace is never quite even

    def _listen(self) -> None:
        for fps in self.channel.receive():
            self.fps = fps
        now = time.monotonic()
        if now - self._said > BEAT_S:
            self.channel.send(None)
            self._said = now

    def _tell(self, level: Level, reason: str) -> None:
        if self._level != (level, reason):
            self._level = level, reason
            self.channel.send(Health(time.monotonic() - self.setup.start, PART, level, reason))


def main() -> None:
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    Path("/proc/self/oom_score_adj").write_text(str(EXPENDABLE))
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # a Ctrl-C is the parent's to answer
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    setup: CameraSetup | None = channel.first()
    if setup is not None:
        import cv2

        cv2.setNumThreads(1)
        CameraChild(setup, channel).run()


if __name__ == "__main__":
    main()
