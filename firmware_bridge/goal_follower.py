"""The goals that really go to the servos: continuous, and within speed and acceleration, whatever the mind asks.

Where the goal would jump (torque came on elsewhere, mind or bus paused, a joint was held), the difference
becomes an offset that decays along a minimum-jerk curve (Flash and Hogan 1985). Where its speed would jump (it is let
go after an emergency stop while the mind moves), the step is shortened to the acceleration that the joints stand, and
what is missing is caught up at once. Otherwise a goal passes as it is.
"""
import numpy as np

from calibration.body_model import STEWART
from calibration.frames import Array
from firmware_bridge.bus_settings import BusSettings

PEAK = 1.875              # peak speed of a minimum-jerk move over its mean speed
BRAKING = 0.7             # of the acceleration: braking is begun early enough for a goal that itself brakes


class GoalFollower:
    """Follows goals of n joints within [lower, upper] (rad)."""

    def __init__(self, settings: BusSettings, lower: Array, upper: Array):
        self.settings = settings
        self.lower, self.upper = lower.copy(), upper.copy()
        n = len(lower)
        self.sent = np.full(n, np.nan)        # rad, last goals; nan before the first
        self.velocity = np.zeros(n)           # rad/s of them
        self._dt = 0.0                        # s, over which they had it
        self._wanted = np.full(n, np.nan)     # rad, where they would be without limits
        self._raw = np.full(n, np.nan)        # rad, the mind's last goals
        self._offset = np.zeros(n)            # rad, at its start
        self._start = np.zeros(n)             # s
        self._length = np.ones(n)             # s
        self._peak = np.full(n, settings.catch_up_rad_s)   # rad/s of the way back
        self._bent = False                    # some offset is not zero
        self._slowed = False                  # behind the mind because of warm servos
        self._resting = False                 # held by `hold` and stopped
        self._t: float | None = None

    @property
    def bent(self) -> Array:
        """(n,) bool: joints still on their way from where they were to the mind's goal."""
        return self._offset != 0.0

    def begin(self, t: float, joint: int, start: float, slow: bool = False) -> None:
        """This joint starts (again) from an angle, where it is; slow: back from outside its limits, or held."""
        self.sent[joint], self.velocity[joint], self._wanted[joint] = start, 0.0, start
        self._peak[joint] = self.settings.slow_rad_s if slow else self.settings.catch_up_rad_s
        self._bend(t, np.arange(len(self.sent)) == joint, self.sent - self._raw)

    def follow(self, t: float, goal: Array, speed_scale: float) -> Array:
        """The goals (n,) to send for the mind's goals at time t; nan where a joint has not begun."""
        stalled, dt = self._elapsed(t)
        if not np.isfinite(goal).all():
            goal = np.where(np.isfinite(goal), goal, np.where(np.isfinite(self._raw), self._raw, self.sent))
        goal = np.minimum(np.maximum(goal, self.lower), self.upper)
        jumped = ~(np.abs(goal - self._raw) <= self.settings.top_speed_rad_s * dt)
        if self._resting or stalled or jumped.any():
            self._bend(t, (jumped | self._resting | stalled) & np.isfinite(self.sent - goal), self.sent - goal)
            self._resting = False
        self._raw = goal
        wanted = goal + self._offsets(t) if self._bent else goal
        if speed_scale < 1.0:
            self._slowed = True
        elif self._slowed:              # cool again: what it fell behind is caught up like any other difference
            self._bend(t, np.isfinite(self.sent), self.sent - goal)
            wanted, self._slowed = goal + self._offsets(t), False
        return self._send(self._limited(wanted, dt, speed_scale), dt)

    def hold(self, t: float) -> Array:
        """Emergency stop: decelerate and stay. The way back to the mind's goals will be a slow one."""
        _, dt = self._elapsed(t)
        slower = self.settings.top_rad_s2 * (dt + self._dt) / 2
        velocity = np.sign(self.velocity) * np.maximum(np.abs(self.velocity) - slower, 0.0)
        self._resting = True
        return self._send(self.sent + velocity * dt, dt)

    def _limited(self, wanted: Array, dt: float, speed_scale: float) -> Array:
        """What is wanted, where speed and acceleration allow it; otherwise the way that catches up with it soonest."""
        moving = (wanted - self._wanted) / dt if dt > 0 else self.velocity      # rad/s, of what is wanted
        self._wanted = wanted
        if dt <= 0:
            return self.sent
        top = self.settings.top_speed_rad_s * speed_scale
        change = self.settings.top_rad_s2 * (dt + self._dt) / 2
        velocity = (wanted - self.sent) / dt
        if not ((np.abs(velocity) > top) | (np.abs(velocity - self.velocity) > change)).any():
            return wanted
        off = wanted - self.sent - moving * dt
        chase = moving + np.sign(off) * np.sqrt(2 * BRAKING * self.settings.top_rad_s2 * np.abs(off))
        velocity = np.where(np.abs(velocity - self.velocity) > change, chase, velocity)
        velocity = np.minimum(np.maximum(velocity, -top), top)
        velocity = np.minimum(np.maximum(velocity, self.velocity - change), self.velocity + change)
        limited = self.sent + velocity * dt
        return np.minimum(np.maximum(limited, np.minimum(self.lower, self.sent)), np.maximum(self.upper, self.sent))

    def _send(self, wanted: Array, dt: float) -> Array:
        wanted = np.where(np.isfinite(self.sent), wanted, np.nan)
        if dt > 0:
            self.velocity, self._dt = np.where(np.isfinite(wanted), (wanted - self.sent) / dt, 0.0), dt
        self.sent = wanted
        return wanted

    def _elapsed(self, t: float) -> tuple[bool, float]:
        """(paused for so long that the joints stand, s since the call before; 0 after such a pause)."""
        dt = 0.0 if self._t is None else max(t - self._t, 0.0)
        self._t = t
        if dt <= self.settings.stall_s:
            return False, dt
        self.velocity, self._dt = np.zeros_like(self.velocity), 0.0
        return True, 0.0

    def _bend(self, t: float, joints: Array, offset: Array) -> None:
        """These joints (bool) begin a way of `offset` together; those of the platform arrive together."""
        joints = joints & np.isfinite(offset)
        if not joints.any():
            return
        settings, offset = self.settings, np.where(joints, offset, 0.0)
        length = np.maximum(settings.catch_up_min_s, PEAK * np.abs(offset) / self._peak)
        length[STEWART] = (length * joints)[STEWART].max()
        self._offset = np.where(joints, offset, self._offset)
        self._start = np.where(joints, t, self._start)
        self._length = np.where(joints, length, self._length)
        self._bent = True

    def _offsets(self, t: float) -> Array:
        s = np.minimum(np.maximum((t - self._start) / self._length, 0.0), 1.0)
        over = s >= 1.0
        if over.any():
            self._offset = np.where(over, 0.0, self._offset)
            self._bent = bool(self._offset.any())
        return self._offset * (1.0 - s * s * s * (10.0 + s * (6.0 * s - 15.0)))
