"""Between our joints and the daemon's way to say where the head shall be.

Its frame: axes as ours, fixed to the table; the origin lies at the resting head, so z is 0 at rest; yaw is absolute,
the body's included. It computes the joints again by its own inverse kinematics (automatic body yaw off, else it changes
the body's yaw), so what is sent must lead back to the very joints that were meant.
"""
import numpy as np

from calibration.body_model import ANTENNAS, STEWART, BodyModel
from calibration.frames import Array, rotation
from motion.kinematics import Platform, angles_of
from robot.bodies.daemon_words import full_target, joint_targets

SAME_RAD = 1e-6            # between the joints meant and those that the pose leads back to: far below an encoder step


class TargetWriter:
    """Joints in, messages out; remembers the last poses, near which the next one is sought."""

    def __init__(self, body: BodyModel):
        self._platform = Platform(body)
        self._height = body.rest_height
        self._now = self._before = np.array((0.0, 0.0, self._height, 0.0, 0.0, 0.0))     # in the body's frame

    def begin(self, matrix: Array, body_yaw: float) -> None:
        """The head is here: (4, 4) in the daemon's frame, rad."""
        turn = rotation(0.0, 0.0, -body_yaw)
        x, y, z = turn @ (matrix[:3, 3] + (0.0, 0.0, self._height))
        self._now = self._before = np.array((x, y, z, *angles_of(turn @ matrix[:3, :3])))

    def messages(self, joints: Array) -> list[str]:
        """One message for joints (9,) rad; two, without a pose, where the arms fit none or another way of standing."""
        arms = joints[STEWART]
        found = self._platform.forward(arms, 2 * self._now - self._before)
        if found is None or np.abs(self._platform.joints(*found.tolist()) - arms).max() > SAME_RAD:
            self._before = self._now
            return joint_targets(joints)
        self._before, self._now = self._now, found
        return [full_target(self.matrix(found, joints[0]), float(joints[0]), joints[ANTENNAS])]

    def matrix(self, pose: Array, body_yaw: float) -> Array:
        """(4, 4) in the daemon's frame of a pose (6,) in the body's: x, y, z m, roll, pitch, yaw rad."""
        turn = rotation(0.0, 0.0, body_yaw)
        out = np.eye(4)
        out[:3, :3] = turn @ rotation(*pose[3:])
        out[:3, 3] = turn @ pose[:3] - (0.0, 0.0, self._height)
        return out
