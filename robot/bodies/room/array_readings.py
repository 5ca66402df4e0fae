"""What the direction register of a line of microphones says of this room: left or right, late, in whole degrees."""
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from calibration.frames import HeadPose
from perception.audio.array_register import Reading
from robot.bodies.room.room import Room


@dataclass(frozen=True, slots=True)
class RegisterNoise:
    """How the register differs from the truth. The step is that of the SDK's own example, 0.54105 rad: 31 degrees."""

    period: float = 0.1            # s between readings
    lag: float = 0.1               # s from a sound to the angle that it gives
    error: float = np.deg2rad(4)   # rad, one standard deviation; assumed, no figure is published
    step: float = np.deg2rad(1)    # rad


@dataclass
class ArrayReadings:
    """Readings of one run, ten a second. Fault `array`: gone, or stall: the same angle whoever speaks (F08)."""

    room: Room
    rng: np.random.Generator
    noise: RegisterNoise = field(default_factory=RegisterNoise)
    _angle: float = float(np.float32(np.pi / 2))
    _count: int = 0
    _poses: deque[tuple[float, HeadPose]] = field(default_factory=deque)

    def step(self, t: float) -> tuple[Reading, ...]:
        """What was read by t (s)."""
        self._poses.append((t, self.room.head_pose_true))
        while len(self._poses) > 1 and self._poses[1][0] <= t - self.noise.lag:
            self._poses.popleft()
        if t < self._count * self.noise.period - 1e-9:
            return ()
        self._count += 1
        error = self.noise.error * self.rng.standard_normal()
        fault = self.room.faults.active(t, "array")
        if fault == "gone":
            return ()
        azimuth = self._heard(t - self.noise.lag)
        if azimuth is not None and fault != "stall":
            angle = np.clip(np.arccos(np.clip(np.sin(azimuth), -1, 1)) + error, 0.0, np.pi)
            self._angle = float(np.float32(np.round(angle / self.noise.step) * self.noise.step))
        return (Reading(t, self._angle, azimuth is not None),)

    def _heard(self, t: float) -> float | None:
        """Azimuth (rad) about the line of microphones, in `head`, of who speaks at t; None: nobody."""
        speaks = [said for said in self.room.utterances if said.onset <= t <= said.end]
        if not speaks:
            return None
        pose = self._poses[0][1]
        way = (self.room.person(speaks[-1].who).mouth(t) - pose.position) @ pose.rotation
        way /= np.linalg.norm(way)
        return float(np.arcsin(np.clip(way[1], -1, 1)))      # a cone about the line: front, behind and above alike
