"""The settings of the camera: the section [camera] of a robot with devices."""
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CameraDeviceConfig:
    """Which camera are the robot's eyes. Its lens belongs to the body's model."""

    source: str = "/dev/video0"        # a device, video file (begins again at its end) or URL; "": no camera
    width_px: int = 640                # of the pictures asked for; the lens model holds for this size
    height_px: int = 480               # the same
    fps: float = 10.0                  # pictures that are looked at; the device may give more
    asleep_fps: float = 0.5            # the same while the robot lies without torque: the fan is heard too
    fourcc: str = ""                   # pixel format, such as MJPG where USB 2 is too slow for raw; "": device's
    latency_s: float = 0.05            # from the middle of the exposure to the hand-over, where a device tells no time
    stall_s: float = 5.0               # without a picture or a word: the process hangs and is started again
    backoff_s: tuple[float, float] = (1.0, 10.0)   # first and longest pause between two tries to open it

    def __post_init__(self) -> None:
        if not 0.1 <= self.fps <= 60 or not 0 < self.asleep_fps <= self.fps:
            raise ValueError(f"fps, asleep_fps: expected 0.1 to 60 and no more asleep, found {self.fps}, "
                             f"{self.asleep_fps}")
        if self.fourcc and len(self.fourcc) != 4:
            raise ValueError(f"fourcc: expected four letters, found {self.fourcc!r}")
        if self.stall_s < 2.0:
            raise ValueError(f"stall_s: expected at least 2, found {self.stall_s}")
        if not 0 < self.backoff_s[0] <= self.backoff_s[1]:
            raise ValueError(f"backoff_s: expected two ordered times, found {self.backoff_s}")
