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
        self._known = np.full(joints, np.nan)     # rad, measured last: a lost answer is no reason to let a goal run
        self._since = np.full(joints, np.inf)     # s, off its goals since then
        self._nothing = np.zeros(joints)

    def step(self, t: float, sent: Array, measured: Array, armed: Array) -> tuple[Array, list[int]]:
        """How far each armed joint is from the nearest of its recent goals (n,), rad, goal - measured, 0 where that
        is not known; and the indices of those that were off for too long. All arguments (n,); rad, armed bool."""
        self._recent[self._row] = sent
        self._row = (self._row + 1) % len(self._recent)
        reach, heard = self.settings.lost_rad, np.isfinite(measured)
        self._known = known = np.where(heard, measured, self._known)
        if (~(np.abs(known - sent) > reach)).all():
            self._since.fill(np.inf)
            return self._nothing, []
        above = np.fmin.reduce(self._recent) - known
        below = np.fmax.reduce(self._recent) - known
        away = np.where(armed & (above > 0), above, np.where(armed & (below < 0), below, 0.0))
        self._since = np.where(np.abs(away) > reach, np.minimum(self._since, t), np.inf)
        lost = [int(joint) for joint in np.flatnonzero(heard & (t - self._since >= self.settings.lost_s))]
        self._since[lost] = t
        return away, lost
