"""Direction from an array that gives no microphones, only registers with an angle and a speech flag.

XMOS XVF3800 and its kin (ReSpeaker; the audio board of Reachy Mini with its two-channel firmware): DOA_VALUE_RADIANS is
0 at the left, pi/2 in front (of a line also behind), pi at the right, on to 2 pi of a circle. The angle stands still
while nobody speaks, and with some firmware always, unless the LEDs show it (respeaker/reSpeaker_XVF3800_USB_4MIC_ARRAY,
issue 16), so a register that stands still when it may not is told apart.
"""
from dataclasses import dataclass, field

import numpy as np

from calibration.frames import Array, wrapped
from calibration.health import Health
from perception.audio.bearing_tracker import BearingTracker, TrackerConfig
from perception.audio.scene import Bearing
from perception.audio.spatial import looks_of
from perception.pose_history import PoseHistory

PART = "array_register"


@dataclass(frozen=True, slots=True)
class RegisterConfig:
    period: float = 0.1          # s between readings
    lag: float = 0.1             # s from a sound to the angle it gives: beams are compared over some frames
    error: float = 0.17          # rad, standard deviation of an angle (10 degrees, assumed: no figure is published)
    stray: float = 0.03          # share of angles that are a reflection's
    tempering: float = 0.4       # readings 0.1 s apart share their sound
    frozen_after: float = 8.0    # s of speech through which an angle never stands still: it comes in whole degrees
    frozen_turn: float = 0.26    # rad that the head turns during speech while the angle stays: 15 degrees
    gone_after: float = 1.0      # s without a reading
    tracker: TrackerConfig = field(default_factory=TrackerConfig)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the registers said at t (s): angle in rad as the array counts it, speech flag."""

    t: float
    angle: float
    speech: bool


class ArrayRegister:
    """Readings to bearings, one step a period."""

    def __init__(self, mic_positions: Array, config: RegisterConfig = RegisterConfig()):
        """mic_positions (M, 3) in `head`, m: a line along y, or a circle in the xy plane."""
        self._config = config
        looks = looks_of(np.asarray(mic_positions, float))
        azimuth = np.arctan2(looks.vectors[:, 1], looks.vectors[:, 0])
        self._line = looks.axis is not None
        self._angles = np.arccos(np.clip(looks.vectors[:, 1], -1, 1)) if self._line else np.pi / 2 - azimuth
        self._tracker = BearingTracker(looks, config.tracker, config.period)
        self._last: Reading | None = None      # newest good one
        self._stands = 0.0                     # s of speech for which the angle has not changed
        self._yaws: tuple[float, float] | None = None   # least and largest yaw of the head meanwhile
        self._told = ""                        # reason of the trouble that was reported

    def step(self, t: float, reading: Reading | None, voice: bool | None, poses: PoseHistory,
             ) -> tuple[Bearing | None, Health | None]:
        """At t (s): reading, None when it failed; voice: what a detector of our own says, None without one.
        The bearing while somebody speaks, and the register's health when it changes."""
        trouble = self._trouble(t, reading, voice, poses)
        health = None
        if trouble != self._told:
            level = "gone" if trouble.startswith("no ") else "degraded" if trouble else "ok"
            health, self._told = Health(t, PART, level, trouble), trouble   # type: ignore[arg-type]
        if reading is None or trouble or not reading.speech or voice is False:
            self._tracker.fade(1)
            return None, health
        self._tracker.step([(self._likelihood(reading.angle), poses.at(reading.t - self._config.lag).rotation)])
        best = self._tracker.best()
        if best is None:
            return None, health
        return Bearing(t, best.azimuth, best.spread, best.mirror is not None, best.mirror), health

    def _likelihood(self, angle: float) -> Array:
        """(D,) log, over the looks."""
        off = wrapped(self._angles - angle) / self._config.error
        return self._config.tempering * np.log(np.exp(-0.5 * off**2) + self._config.stray)

    def _trouble(self, t: float, reading: Reading | None, voice: bool | None, poses: PoseHistory) -> str:
        """Why the register cannot be believed; empty when it can."""
        if reading is None:
            late = self._last is None or t - self._last.t > self._config.gone_after
            return "no reading from the array: is it connected?" if late else self._told
        if not (np.isfinite(reading.angle) and -0.01 <= reading.angle <= (np.pi if self._line else 2 * np.pi) + 0.01):
            return f"angle out of range: {reading.angle:.3g} rad"
        yaw = poses.at(reading.t - self._config.lag).yaw
        if self._last is None or reading.angle != self._last.angle:
            self._stands, self._yaws = 0.0, None
        elif reading.speech or voice:
            self._stands += reading.t - self._last.t
            low, high = self._yaws or (yaw, yaw)
            self._yaws = min(low, yaw), max(high, yaw)
        self._last = reading
        turned = 0.0 if self._yaws is None else self._yaws[1] - self._yaws[0]
        if self._stands > self._config.frozen_after or turned > self._config.frozen_turn:
            return "the angle stands still through speech: restart the array, or let its LEDs show the direction"
        return ""
