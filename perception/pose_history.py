"""Where the head was at any recent time, so that a sound or a picture is placed with the pose of its own moment."""
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass

import numpy as np

from calibration.frames import HeadPose, frozen, wrapped

REST_HEIGHT_M = 0.177   # head origin above base at rest on Reachy Mini


@dataclass(frozen=True, slots=True)
class PoseHistoryConfig:
    """span: s of poses kept; a picture arrives up to 160 ms late, and a stalled detector may take a second."""

    span: float = 2.0


class PoseHistory:
    """A ring of head poses, read by time with linear interpolation. At rest before the first pose."""

    def __init__(self, config: PoseHistoryConfig = PoseHistoryConfig()):
        self.config = config
        self._times: deque[float] = deque()
        self._poses: deque[HeadPose] = deque()

    def add(self, t: float, pose: HeadPose) -> "PoseHistory":
        """Remember `pose` as that of time t (s); a time not after the newest replaces it. Returns itself."""
        while self._times and self._times[-1] >= t:
            self._times.pop()
            self._poses.pop()
        self._times.append(t)
        self._poses.append(pose)
        while self._times[0] < t - self.config.span:
            self._times.popleft()
            self._poses.popleft()
        return self

    def at(self, t: float) -> HeadPose:
        """The pose at time t (s): interpolated between its neighbours, the nearest one outside the ring."""
        if not self._times:
            return HeadPose(t, frozen([0.0, 0.0, REST_HEIGHT_M]), frozen(np.zeros(3)), 0.0)
        after = bisect_right(self._times, t)
        if after == 0 or after == len(self._times):
            nearest = self._poses[min(after, len(self._poses) - 1)]
            return HeadPose(t, nearest.position, nearest.rpy, nearest.body_yaw)
        low, high = self._poses[after - 1], self._poses[after]
        share = (t - self._times[after - 1]) / (self._times[after] - self._times[after - 1])
        turned = low.rpy + share * wrapped(high.rpy - low.rpy)
        body = low.body_yaw + share * (high.body_yaw - low.body_yaw)
        return HeadPose(t, frozen(low.position + share * (high.position - low.position)), frozen(wrapped(turned)),
                        float(body))
