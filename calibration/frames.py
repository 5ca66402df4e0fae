"""Axes, rotations and poses.

Axes as in ROS REP-103: x forward, y left, z up, right-handed. Roll, pitch, yaw turn about the fixed axes x, y, z in
that order (R = Rz Ry Rx); yaw is positive to the left, pitch positive nose-down. `base` stands on the table with its
origin under the body's yaw axis; `head` is fixed to the head. Lengths in m, angles in rad.
"""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def frozen(values) -> Array:
    """A read-only float64 copy, for arrays that cross a wall."""
    out = np.array(values, dtype=np.float64)
    out.flags.writeable = False
    return out


def wrapped(angle):
    """Angle in (-pi, pi], of a number or an array."""
    return np.pi - (np.pi - angle) % (2 * np.pi)


def rotation(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation matrix (3, 3) for fixed-axis roll, pitch, yaw."""
    cr, sr, cp, sp, cy, sy = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch), np.cos(yaw), np.sin(yaw)
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])


def rpy_of(matrix: Array) -> Array:
    """(roll, pitch, yaw) of a rotation matrix (3, 3)."""
    return np.array([
        np.arctan2(matrix[2, 1], matrix[2, 2]),
        -np.arcsin(np.clip(matrix[2, 0], -1.0, 1.0)),
        np.arctan2(matrix[1, 0], matrix[0, 0]),
    ])


def direction_vector(azimuth: float, elevation: float = 0.0) -> Array:
    """Unit vector (3,) of a direction; elevation positive upwards."""
    return np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])


def direction_of(vector) -> tuple[float, float]:
    """(azimuth, elevation) of a vector (3,)."""
    x, y, z = vector
    return float(np.arctan2(y, x)), float(np.arctan2(z, np.hypot(x, y)))


@dataclass(frozen=True, slots=True)
class HeadPose:
    """Where the head is in `base` at time t, and how far the body has turned."""

    t: float
    position: Array       # (3,) m; z is 0.177 at rest on Reachy Mini
    rpy: Array            # (3,) rad
    body_yaw: float       # rad

    @property
    def rotation(self) -> Array:
        """base-from-head rotation (3, 3)."""
        return rotation(*self.rpy)

    @property
    def yaw(self) -> float:
        return float(self.rpy[2])
