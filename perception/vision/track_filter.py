"""Where one person's eyes are: a Kalman filter in the frame of the table.

State: position and velocity (6,), constant velocity with white acceleration (Bar-Shalom, Li, Kirubarajan, "Estimation
with Applications to Tracking and Navigation", ch. 6.2). A sighting is a point whose error is small across the line of
sight and large along it.
"""
from dataclasses import dataclass

import numpy as np

from calibration.frames import Array


@dataclass(frozen=True, slots=True)
class FilterConfig:
    """Errors of a sighting and liveliness of people."""

    across: float = 0.05         # eye distances, landmark noise of one picture
    across_least: float = 0.0008  # rad, what the lens calibration and the pose leave
    along: float = 0.06          # of the distance: size of the face in one picture
    acceleration: float = 1.2    # m/s^2 over `jerk_time`
    jerk_time: float = 0.5       # s
    first_speed: float = 0.6     # m/s, of someone new
    calm: float = 1.0            # s in which an unseen person's guessed velocity fades


def sighting_error(direction: Array, distance: float, config: FilterConfig) -> Array:
    """Covariance (3, 3) m^2 of a point seen at `distance` along the unit vector `direction`."""
    across = np.hypot(config.across * 0.063, config.across_least * distance)
    ray = np.outer(direction, direction)
    return across ** 2 * (np.eye(3) - ray) + (config.along * distance) ** 2 * ray


@dataclass(slots=True)
class TrackFilter:
    """Position and velocity of a person's eyes in `base`."""

    config: FilterConfig
    t: float
    state: Array         # (6,) m, m/s
    covariance: Array    # (6, 6)

    @classmethod
    def born(cls, t: float, point: Array, error: Array, config: FilterConfig) -> "TrackFilter":
        covariance = np.zeros((6, 6))
        covariance[:3, :3] = error
        covariance[3:, 3:] = np.eye(3) * config.first_speed ** 2
        return cls(config, t, np.concatenate([point, np.zeros(3)]), covariance)

    @property
    def position(self) -> Array:
        return self.state[:3]

    def predict(self, t: float, seen: bool) -> None:
        """Move on to time t (s). Unseen: the velocity fades; people who leave the view do not walk on for ever."""
        step = t - self.t
        if step <= 0:
            return
        f = np.eye(6)
        f[:3, 3:] = np.eye(3) * step
        if not seen:
            f[3:, 3:] *= np.exp(-step / self.config.calm)
        density = self.config.acceleration ** 2 * self.config.jerk_time
        q = np.kron([[step ** 3 / 3, step ** 2 / 2], [step ** 2 / 2, step]], np.eye(3)) * density
        self.state = f @ self.state
        self.covariance = f @ self.covariance @ f.T + q
        self.t = t

    def surprise(self, point: Array, error: Array) -> float:
        """Squared Mahalanobis distance of a point from where the person is expected."""
        apart = point - self.position
        return float(apart @ np.linalg.solve(self.covariance[:3, :3] + error, apart))

    def correct(self, point: Array, error: Array) -> None:
        gain = np.linalg.solve(self.covariance[:3, :3] + error, self.covariance[:3]).T
        self.state = self.state + gain @ (point - self.position)
        self.covariance = self.covariance - gain @ self.covariance[:3]
        self.covariance = (self.covariance + self.covariance.T) / 2
