"""Direction for a robot whose array gives no raw microphones: from its register, while our own detector hears a voice.
"""
from collections.abc import Sequence

from calibration.frames import Array
from calibration.health import Health
from perception.audio.array_register import ArrayRegister, Reading, RegisterConfig
from perception.audio.scene import Bearing
from perception.pose_history import PoseHistory


class RegisterDirection:
    """Bearings from readings as they come; silent, and without trouble to tell, until the first one."""

    def __init__(self, mic_positions: Array, config: RegisterConfig):
        """mic_positions (M, 3) in `head`, m, of the microphones behind the register."""
        self._config = config
        self._register = ArrayRegister(mic_positions, config)
        self._due: float | None = None        # s, when a reading that does not come is missed
        self._bearing: Bearing | None = None

    def step(self, t: float, readings: Sequence[Reading], voice: bool,
             poses: PoseHistory) -> tuple[Bearing | None, tuple[Health, ...]]:
        """At t (s). voice: our own detector believes that somebody speaks. The bearing stands between two readings."""
        told = []
        for reading in readings:
            self._bearing, health = self._register.step(t, reading, voice, poses)
            told.append(health)
            self._due = t + 2 * self._config.period
        if self._due is not None and t >= self._due:
            self._bearing, health = self._register.step(t, None, voice, poses)
            told.append(health)
            self._due = t + self._config.period
        if not voice:
            self._bearing = None
        return self._bearing, tuple(health for health in told if health is not None)
