"""What the servo process does each tick: follow the mind; without it hold, then park. No clock, no process in here.

An emergency stop comes before all of it. Somebody wants this robot to stand still, and it does, with torque: it does
not follow, nor park for a mind that is gone, for heat (the servos guard themselves at 70 degrees C) or for closing,
because parking is a move and a head without torque falls. Torque goes off only where it always may: when the mind asks
for it and the head is measured to lie in its park pose. Let go, it goes on slowly from where it is, or parks if it was
asked to close meanwhile. If nobody lets it go, a process that was told to end does so at its own time limit with the
torque on: without goals the servos' own watchdogs keep the joints where they are.
"""
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from calibration.body_model import STEWART
from calibration.frames import Array
from calibration.health import Health
from firmware_bridge.goal_follower import GoalFollower
from firmware_bridge.health_changes import HealthChanges
from firmware_bridge.joint_reading import JointReading
from motion.intent import JointGoal
from robot.bodies.goal_track import GoalTrack

PART = "servo_process"


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """When the servo process acts by itself."""

    period_s: float = 0.01         # the bus is exchanged a hundred times a second
    deadman_s: float = 0.1         # without a goal: the mind is stuck or gone, so hold
    park_after_s: float = 2.0      # it does not come back: park, so that the head need not be held for ever
    hot_park_s: float = 5.0        # a servo asks for parking this long: the mind did not hear it
    calm_s: float = 1.0            # goals for so long: the mind is back


class JointBus(Protocol):
    """firmware_bridge.servo_bus.ServoBus, or the link to the robot's daemon."""

    @property
    def park(self) -> Array | None: ...

    @property
    def torque_wanted(self) -> bool: ...

    @property
    def follower(self) -> GoalFollower: ...

    def exchange(self, t: float, goal: JointGoal | None) -> tuple[JointReading, tuple[Health, ...]]: ...

    def parked(self) -> bool: ...


class ServoLoop:
    """One bus and the mind's goals. part: this process's name in Health."""

    def __init__(self, bus: JointBus, settings: LoopSettings | None = None, part: str = PART):
        if bus.park is None:
            raise ValueError("a servo process needs the pose in which the robot may be left")
        self.bus, self.settings, self.part = bus, settings or LoopSettings(), part
        self.park: Array = bus.park.copy()
        self.park[0] = np.nan          # the body's yaw carries no weight: it stays where it is
        self.track = GoalTrack()
        self.health = HealthChanges()
        self.closing = False           # park, then finish
        self.stopped = False           # emergency stop: decelerate and hold, whatever the mind says
        self._heard_at: float | None = None
        self._hot_since: float | None = None

    @property
    def finished(self) -> bool:
        """Asked to close, and nothing is held any more. Never while an emergency stop holds a joint."""
        return self.closing and not self.bus.torque_wanted

    def hear(self, t: float, goal: JointGoal) -> None:
        """A goal has come from the mind at time t."""
        self.track.add(goal)
        self._heard_at = t

    def step(self, t: float) -> tuple[JointReading, tuple[Health, ...]]:
        """One exchange at time t (s). Health: changes only."""
        reading, health = self.bus.exchange(t, self._goal(t))
        if not reading.park:
            self._hot_since = None
        elif self._hot_since is None:
            self._hot_since = t
        return reading, health + self.health.changes(t)

    def _goal(self, t: float) -> JointGoal | None:
        settings, latest = self.settings, self.track.latest
        if self.stopped:
            self.health.begins(t, self.part, "stop", "degraded", "emergency stop: holding until it is let go")
            return latest if latest is not None and not latest.torque else None
        self.health.ends(t, self.part, "stop", 0.0)
        if self.closing:
            return self._parking(t)
        if self._heard_at is None:
            return None
        silence = t - self._heard_at
        if silence > settings.deadman_s:
            self.health.begins(t, self.part, "mind", "degraded", "no goals from the mind: holding, then parking")
        else:
            self.health.ends(t, self.part, "mind", settings.calm_s)
        hot = self._hot_since is not None and t - self._hot_since > settings.hot_park_s
        if silence > settings.park_after_s or hot:
            return self._parking(t)
        return self.track.at(t)        # behind its last goal the track has come to rest by now: hold

    def _parking(self, t: float) -> JointGoal | None:
        """On the way to the park pose, and without torque once there."""
        if not self.bus.torque_wanted:
            return None
        arrived = self.bus.parked() and not self.bus.follower.bent[STEWART].any()
        goal = JointGoal(t, self.park, np.zeros_like(self.park))
        return replace(goal, torque=False) if arrived else goal
