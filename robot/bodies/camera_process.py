"""The parent's side of the camera process: faces and health come, a pace goes. No call waits."""
import time
from dataclasses import dataclass, field

from calibration.health import Health
from dialogue.engine import Picture
from perception.vision.frame import FaceFrame
from robot.bodies.camera_child import CameraSetup
from robot.bodies.camera_config import CameraDeviceConfig
from robot.bodies.child_process import ChildProcess

PROCESS = "camera_process"
FIRST_S = 40.0             # until the first sign of life: it loads the detector, on a busy board


@dataclass
class CameraProcess:
    """Eyes in a process of their own. Once a tick `read` and `health`; `pace` when fewer pictures will do."""

    config: CameraDeviceConfig
    start: float = field(default_factory=time.monotonic)    # s, monotonic clock at the run's t = 0
    shown: bool = False                # pictures are also made for the engine
    child: ChildProcess = field(init=False)
    frames: int = 0                    # looked at so far
    view: Picture | None = None        # the newest for the engine; who takes it puts None
    _fps: float = field(init=False)
    _health: list[Health] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._fps = self.config.fps
        self.child = ChildProcess("robot.bodies.camera_child", PROCESS, self.start, self.config.stall_s, FIRST_S,
                                  self.config.backoff_s)
        self._begin(time.monotonic())

    def fileno(self) -> int:
        """Becomes readable when there is something new; -1 while no child lives."""
        return -1 if self.child.connection is None else self.child.connection.fileno()

    def read(self) -> tuple[FaceFrame, ...]:
        """Frames that were looked at since the call before."""
        now = time.monotonic()
        if self.child.due(now):
            self._begin(now)
        out: list[FaceFrame] = []
        channel = self.child.channel
        if channel is None:
            return ()
        said = channel.receive()
        if said:
            self.child.beat(now)
        for word in said:
            if isinstance(word, Health):
                self._health.append(word)
            elif isinstance(word, FaceFrame):
                out.append(word)
            elif isinstance(word, Picture):
                self.view = word
        self.frames += len(out)
        if channel.closed:
            self.child.hung_up(now)
        self.child.watch(now)
        return tuple(out)

    def health(self) -> tuple[Health, ...]:
        """What changed since the call before."""
        told, self._health = self._health, []
        return (*told, *self.child.health())

    def pace(self, fps: float) -> None:
        """Look at so many pictures a second from now on; 0 closes the camera."""
        if fps != self._fps:
            self._fps = fps
            if self.child.channel is not None:
                self.child.channel.send(fps)

    def close(self) -> None:
        self.child.close()

    def _begin(self, now: float) -> None:
        self.child.begin(now, CameraSetup(self.config, self.start, self.shown))
        if self._fps != self.config.fps and self.child.channel is not None:
            self.child.channel.send(self._fps)
