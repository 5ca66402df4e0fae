"""Does each joint go where it is sent? A servo without torque looks healthy in every register but this one."""
import numpy as np

from calibration.frames import Array
from firmware_bridge.bus_settings import BusSettings


class FollowCheck:
    """Compares measured joints (n,) with the goals of the last moments, so that lag alone is no fault."""

    def __init__(self, joints: int, settings: BusSettings):
        self.settings = settings
        self._recent = np.full((settings.lag_ticks, joints), np.nan)   # rad, goals sent
        self._row = 0
        self._since = np.full(joints, np.inf)     # s, off its goals since then

    def step(self, t: float, sent: Array, measured: Array, armed: Array) -> list[int]:
        """Indices of armed joints that were off their goals for too long. All arguments (n,); rad, armed bool."""
        self._recent[self._row] = sent
        self._row = (self._row + 1) % len(self._recent)
        reach = self.settings.lost_rad
        if (~(np.abs(measured - sent) > reach)).all():
            self._since.fill(np.inf)
            return []
        low, high = np.fmin.reduce(self._recent) - reach, np.fmax.reduce(self._recent) + reach
        off = armed & ((measured < low) | (measured > high))
        self._since = np.where(off, np.minimum(self._since, t), np.inf)
        lost = [int(joint) for joint in np.flatnonzero(t - self._since >= self.settings.lost_s)]
        self._since[lost] = t
        return lost
