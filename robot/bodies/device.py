"""The device body: a real sound card, a real camera and the engine, each in a process of its own.

Joints are somebody else's: `joined.JoinedBody` puts a servo bus or the robot's daemon beside it.
"""
from dataclasses import dataclass, field

from perception.vision.frame import FaceFrame
from robot.bodies.camera_config import CameraDeviceConfig
from robot.bodies.camera_process import CameraProcess
from robot.bodies.sound_config import SoundDeviceConfig
from robot.bodies.sound_process import SoundProcess
from robot.tick import Inputs, Outputs
from robot.worker import Worker


@dataclass(frozen=True, slots=True)
class DeviceConfig:
    """The sections [sound] and [camera]."""

    sound: SoundDeviceConfig = field(default_factory=SoundDeviceConfig)
    camera: CameraDeviceConfig = field(default_factory=CameraDeviceConfig)


@dataclass
class DeviceBody:
    """Reads and writes devices; no call waits for any of them. camera, engine: None where there is none."""

    sound: SoundProcess
    camera: CameraProcess | None = None
    engine: Worker | None = None
    _awake: bool = True      # asleep, it shows nobody what it sees

    def read(self, index: int, t: float) -> Inputs:
        audio, health = self.sound.read(), self.sound.health()
        frames: tuple[FaceFrame, ...] = ()
        if self.camera is not None:
            frames = self.camera.read()
            view, self.camera.view = self.camera.view, None
            if view is not None and self.engine is not None and self._awake:
                self.engine.offer(t, view)
            health += self.camera.health()
        replies = () if self.engine is None else tuple(self.engine.poll(t))
        return Inputs(index, t, audio, None, frames, replies, health)

    def write(self, t: float, outputs: Outputs) -> None:
        if outputs.volume is not None:
            self.sound.share = outputs.volume
        self.sound.write(outputs.speaker, outputs.live_generation)
        if self.engine is not None:
            for request in outputs.requests:
                self.engine.submit(t, request)
        if self.camera is not None and outputs.joints is not None:
            config = self.camera.config
            self._awake = outputs.joints.torque
            own = config.fps if self._awake else config.asleep_fps
            self.camera.pace(own if outputs.camera_fps is None else min(own, outputs.camera_fps))

    def stop(self, stopped: bool) -> None:
        """Nothing in here moves."""

    def close(self) -> None:
        self.sound.close()
        for part in (self.camera, self.engine):
            if part is not None:
                part.close()


def build_device(config: DeviceConfig, engine: Worker | None, start: float, shown: bool = False) -> DeviceBody:
    """Starts the processes. start: monotonic clock (s) at t = 0 of the run. shown: the engine sees the pictures too."""
    camera = CameraProcess(config.camera, start, shown) if config.camera.source else None
    return DeviceBody(SoundProcess(config.sound, start), camera, engine)
