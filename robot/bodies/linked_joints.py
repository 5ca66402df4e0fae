"""Joints that are moved by a process (real servos, the robot's daemon) in the place of a simulated robot's own.

The simulated room then turns its microphones, camera and motor noise with what these joints really do.
"""
import numpy as np

from calibration.body_model import BodyModel
from calibration.frames import Array, HeadPose, frozen
from calibration.health import Health
from firmware_bridge.joint_reading import JointReading
from motion.intent import JointGoal
from robot.bodies.joint_process import JointProcess
from robot.bodies.pose_track import PoseTrack, parked
from robot.errors import BadRequest

SETTLES_S = 0.05         # s over which speed is taken: encoder steps of 1.5 mrad would be 9 deg/s in one tick


class LinkedJoints:
    """A JointProcess behind the same calls as robot.bodies.room.servos.Joints."""

    def __init__(self, body: BodyModel, process: JointProcess):
        self.process = process
        self._track = PoseTrack(body, limp=True)
        self._last: tuple[float, Array] = (0.0, parked(body))       # newest reading, silent servos where they were
        self._velocity = np.zeros(len(self._last[1]))
        self._track.add(*self._last)

    def advance(self, t: float, dt: float) -> None:
        """They move by themselves."""

    def exchange(self, t: float, goal: JointGoal | None) -> tuple[JointReading | None, tuple[Health, ...]]:
        """Hands the goal over; the newest reading, if there is one."""
        if goal is not None:
            self.process.write(goal)
        reading = self.process.read()
        if reading is not None and reading.t > self._last[0]:
            self._note(reading)
        return reading, self.process.health()

    def _note(self, reading: JointReading) -> None:
        t, position = self._last
        new = np.where(np.isfinite(reading.position), reading.position, position)
        dt = reading.t - t
        share = 1.0 - np.exp(-dt / SETTLES_S)
        self._velocity = self._velocity + share * ((new - position) / dt - self._velocity)
        self._last = (reading.t, new)
        self._track.add(reading.t, new)

    @property
    def velocities(self) -> Array:
        """(9,) rad/s, measured."""
        return frozen(self._velocity)

    @property
    def pose(self) -> HeadPose:
        return self._track.pose

    def pose_at(self, t: float) -> HeadPose:
        return self._track.at(t)

    def fault(self, t: float, of: str, kind: str, for_s: float | None = None) -> None:
        raise BadRequest(f"fault {of} {kind}: these servos are not the room's, expected --body simulated")

    def stop(self, stopped: bool) -> None:
        """Emergency stop, or its end."""
        self.process.stop(stopped)

    def close(self) -> None:
        """Parks, and waits for it."""
        self.process.close()
