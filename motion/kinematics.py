"""Head platform: joint angles of a pose, and the pose of joint angles.

The head stands on six rotary arms (a Stewart platform) that turn with the body. Everything here is in the body's frame:
`base` turned by the body yaw. Geometry and elbow signs: calibration.body_model (source named there); the closed form of
the arm angle is the intersection of a circle with a sphere: with the anchor b in the motor's frame,
bx cos q + by sin q = (|b|^2 + arm^2 - rod^2) / (2 arm).
"""
from math import acos, asin, atan2, cos, pi, sin, sqrt

import numpy as np

from calibration.body_model import ANTENNAS, STEWART, BodyModel
from calibration.frames import Array, HeadPose, frozen
from motion.workspace import YAW, X

TURN = 2 * pi
NEAR_M2 = 1e-8          # rod length error times rod length: 0.1 um, from which one step more ends at 1e-12 m
ITERATIONS = 12         # Newton doubles its digits each time: more means that no pose fits


class WholeBody:
    """Between poses (9,) in motion.workspace.COORDINATES, joints (9,) in calibration.body_model.JOINTS and HeadPose."""

    def __init__(self, model: BodyModel):
        self._platform = Platform(model)
        self._height = model.rest_height
        self._lift = np.array((0.0, 0.0, model.rest_height, 0.0, 0.0, 0.0))

    def joints(self, pose: Array) -> Array:
        """Joint angles (9,) rad of a pose (9,)."""
        body, x, y, z, roll, pitch, yaw, right, left = pose.tolist()
        return np.array((body, *self._platform.joints(x, y, z + self._height, roll, pitch, yaw), right, left))

    def pose(self, joints: Array, guess: Array) -> Array | None:
        """Pose (9,) of joint angles (9,) rad, None when the arms fit no head pose near that of the guess (9,)."""
        head = self._platform.forward(joints[STEWART], guess[X:YAW + 1] + self._lift)
        return None if head is None else np.concatenate((joints[:1], head - self._lift, joints[ANTENNAS]))

    def head_pose(self, t: float, pose: Array) -> HeadPose:
        """The head in `base` at t (s). Its yaw is body plus head yaw, a bounded number that may pass pi."""
        body, x, y, z, roll, pitch, yaw, _, _ = pose.tolist()
        c, s = cos(body), sin(body)
        return HeadPose(t, frozen((c * x - s * y, s * x + c * y, z + self._height)),
                        frozen((roll, pitch, body + yaw)), body)


class Platform:
    """Inverse kinematics in closed form, forward kinematics by Newton's method."""

    def __init__(self, model: BodyModel):
        rotations = np.stack([arm.body_from_motor_rotation for arm in model.arms])          # (6, 3, 3)
        positions = np.stack([arm.body_from_motor_position for arm in model.arms])          # (6, 3)
        self._anchors = np.stack([arm.platform_anchor for arm in model.arms])               # (6, 3) in head
        self._elbow = [float(arm.elbow_sign) for arm in model.arms]
        self._arm, self._rod = model.arm_length, model.rod_length
        self._cosine_axis, self._sine_axis = rotations[:, :, 0], rotations[:, :, 1]     # of the arm's circle, in body
        self._motors = positions
        # An anchor in its motor's frame is linear in the pose's 12 numbers: (R row by row, position).
        linear = np.zeros((3, 6, 12))
        for row in range(3):
            linear[:, :, 3 * row:3 * row + 3] = rotations[:, row, :].T[:, :, None] * self._anchors[None]
            linear[:, :, 9 + row] = rotations[:, row, :].T
        self._linear = np.ascontiguousarray(linear.reshape(18, 12))
        self._offset = -np.einsum("irk,ir->ki", rotations, positions).reshape(18)
        self._square = (self._arm ** 2 - self._rod ** 2) / (2 * self._arm)

    def joints(self, x: float, y: float, z: float, roll: float, pitch: float, yaw: float) -> list[float]:
        """Arm angles (6) rad in (-pi, pi] for a head at (x, y, z) m and roll, pitch, yaw rad in the body's frame.

        Always finite: an arm that cannot reach its anchor points at it.
        """
        cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
        pose = np.array((cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr,
                         sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr,
                         -sp, cp * sr, cp * cr, x, y, z))
        b = (self._linear @ pose + self._offset).tolist()
        arm, square, angles = 2 * self._arm, self._square, []
        for bx, by, bz, elbow in zip(b[:6], b[6:12], b[12:], self._elbow, strict=True):
            flat = bx * bx + by * by
            c = ((flat + bz * bz) / arm + square) / sqrt(flat)
            angle = atan2(by, bx) + elbow * acos(1.0 if c > 1.0 else -1.0 if c < -1.0 else c)
            angles.append(angle - TURN if angle > pi else angle + TURN if angle <= -pi else angle)
        return angles

    def forward(self, joints: Array, guess: Array) -> Array | None:
        """Pose (6,) x, y, z m, roll, pitch, yaw rad in the body's frame of arm angles (6,); None when none is found.

        guess: a pose (6,) near by. Newton on the six rod lengths l_i: l_i dl_i = (a_i - tip_i) . (dp + w x R a_i).
        """
        if not np.isfinite(joints).all():
            return None
        tips = (self._motors + self._arm * (np.cos(joints)[:, None] * self._cosine_axis
                                            + np.sin(joints)[:, None] * self._sine_axis)).tolist()
        (x, y, z), turn = guess[:3].tolist(), rotation_of(*guess[3:].tolist())
        for _ in range(ITERATIONS):
            excess, rows = [], []
            for (ax, ay, az), (tx, ty, tz) in zip((self._anchors @ turn.T).tolist(), tips, strict=True):
                dx, dy, dz = ax + x - tx, ay + y - ty, az + z - tz
                excess.append((dx * dx + dy * dy + dz * dz - self._rod ** 2) / 2)
                rows.append((dx, dy, dz, ay * dz - az * dy, az * dx - ax * dz, ax * dy - ay * dx))
            try:
                dx, dy, dz, wx, wy, wz = np.linalg.solve(rows, excess).tolist()
            except np.linalg.LinAlgError:
                return None
            x, y, z, turn = x - dx, y - dy, z - dz, turned(turn, -wx, -wy, -wz)
            if max(excess) < NEAR_M2 and min(excess) > -NEAR_M2:
                return np.array((x, y, z, *angles_of(turn)))
        return None


def rotation_of(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation matrix (3, 3), as calibration.frames.rotation, in plain floats for speed."""
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    return np.array(((cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
                     (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
                     (-sp, cp * sr, cp * cr)))


def angles_of(matrix: Array) -> tuple[float, float, float]:
    """(roll, pitch, yaw) rad of a rotation matrix (3, 3), in plain floats for speed."""
    (r00, _, _), (r10, _, _), (r20, r21, r22) = matrix.tolist()
    return atan2(r21, r22), -asin(min(1.0, max(-1.0, r20))), atan2(r10, r00)


def turned(matrix: Array, wx: float, wy: float, wz: float) -> Array:
    """The rotation (3, 3) followed by a turn about the fixed axis w by |w| rad (Cayley's map, a rotation for any w)."""
    wx, wy, wz = wx / 2, wy / 2, wz / 2
    k = 1 / (1 + wx * wx + wy * wy + wz * wz)
    n = sqrt(k)
    a, b, c, d = n, n * wx, n * wy, n * wz
    return np.array(((a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)),
                     (2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)),
                     (2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d))) @ matrix
