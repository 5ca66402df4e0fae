"""Where the head truly was at recent times, from the joints alone: what a camera and microphones ride on."""
from bisect import bisect_right
from collections import deque

import numpy as np

from calibration.body_model import STEWART, BodyModel
from calibration.frames import Array, HeadPose, frozen, rotation, rpy_of, wrapped
from motion.kinematics import Platform

REMEMBERED = 60              # poses: 0.6 s, longer than any exposure lies back


class PoseTrack:
    """Joint positions in, head poses out. limp: the first pose is near the sleeping one, else near rest."""

    def __init__(self, body: BodyModel, limp: bool):
        self._platform = Platform(body)
        self._in_body = np.array([0.0, 0.0, body.rest_height, 0.0, 0.0, 0.0])
        if limp:
            self._in_body = np.array([*body.sleep_position, *rpy_of(body.sleep_rotation)])
        self._before = self._in_body     # a tick earlier: together they tell Newton where to begin
        self._poses: deque[HeadPose] = deque(maxlen=REMEMBERED)

    @property
    def pose(self) -> HeadPose:
        """The newest."""
        return self._poses[-1]

    def add(self, t: float, positions: Array) -> None:
        """Joints (9,) rad at t (s)."""
        found = self._platform.forward(positions[STEWART], 2 * self._in_body - self._before)
        if found is not None:            # arms that no pose fits (a servo without torque is pushed) keep the last one
            self._before, self._in_body = self._in_body, found
        yaw = rotation(0.0, 0.0, positions[0])
        turned = yaw @ rotation(*self._in_body[3:])
        self._poses.append(HeadPose(t, frozen(yaw @ self._in_body[:3]), frozen(rpy_of(turned)), float(positions[0])))

    def at(self, t: float) -> HeadPose:
        """The pose at a recent time, between the two around it."""
        times = [pose.t for pose in self._poses]
        after = bisect_right(times, t)
        if after in (0, len(times)):
            return self._poses[min(after, len(times) - 1)]
        low, high = self._poses[after - 1], self._poses[after]
        share = (t - low.t) / (high.t - low.t)
        turn = wrapped(high.rpy - low.rpy)
        return HeadPose(t, frozen(low.position + share * (high.position - low.position)),
                        frozen(low.rpy + share * turn), low.body_yaw + share * (high.body_yaw - low.body_yaw))


def upright(body: BodyModel) -> Array:
    """(9,) rad: the head at rest."""
    arms = Platform(body).joints(0.0, 0.0, body.rest_height, 0.0, 0.0, 0.0)
    return frozen([0.0, *arms, *body.rest_antennas])


def parked(body: BodyModel) -> Array:
    """(9,) rad: the sleep pose, in which the head may lose its torque."""
    arms = Platform(body).joints(*body.sleep_position, *rpy_of(body.sleep_rotation))
    return frozen([0.0, *arms, *body.sleep_antennas])
