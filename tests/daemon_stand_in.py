"""A stand-in for the Reachy Mini daemon: its messages and manners as values, without a socket and without a clock.

Manners from pollen-robotics/reachy_mini 1.13.0: the newest target is played at once, fifty times a second; targets are
ignored and not answered while a move plays; switching the motors on pins the targets to where the joints are;
switching its tracking off, before it had a target, makes it play the upright pose.
"""
import json
from collections.abc import Callable

import numpy as np

from calibration.body_model import STEWART, reachy_mini
from calibration.frames import rotation
from motion.kinematics import Platform, angles_of
from robot.bodies.pose_track import parked, upright

BODY = reachy_mini()
PLATFORM = Platform(BODY)
PARK, UPRIGHT = parked(BODY), upright(BODY)
SDK_SLEEP = np.array([0, -0.9848156658225817, 1.2624661884298831, -0.24390294527381684, 0.20555342557667577,
                      -1.2363885150358267, 1.0032234352772091, -3.05, 3.05])      # its simulators start there
TICK_S = 0.02


def pose_of(joints: np.ndarray) -> np.ndarray:
    """(4, 4) in the daemon's frame; joints that fit no pose count as upright."""
    found = PLATFORM.forward(joints[STEWART], np.array([0, 0, BODY.rest_height, 0, 0, 0.0]))
    found = np.array([0, 0, BODY.rest_height, 0, 0, 0]) if found is None else found
    out, turn = np.eye(4), rotation(0, 0, joints[0])
    out[:3, :3], out[:3, 3] = turn @ rotation(*found[3:]), turn @ found[:3] - (0, 0, BODY.rest_height)
    return out


def joints_of(matrix: np.ndarray, body_yaw: float) -> np.ndarray:
    """(7,): body yaw and arms, as the daemon's inverse kinematics finds them."""
    turn = rotation(0, 0, -body_yaw)
    x, y, z = turn @ (matrix[:3, 3] + (0, 0, BODY.rest_height))
    return np.array([body_yaw, *PLATFORM.joints(x, y, z, *angles_of(turn @ matrix[:3, :3]))])


class StandIn:
    """`say` what a client sends; `tick` gives what all clients hear."""

    def __init__(self, joints: np.ndarray = SDK_SLEEP, mode: str = "enabled"):
        self.joints, self.target = joints.copy(), joints.copy()
        self.mode, self.state, self.error = mode, "running", None
        self.dead = np.zeros(9, bool)                 # joints without torque, whatever the mode says
        self.obstinate = False                        # refuses to switch its motors on
        self.automatic_body_yaw = True
        self.move: Callable[[np.ndarray], np.ndarray] | None = None      # joints of a tick from those before
        self.stops = 0
        self.switched_off: list[str] = []
        self.targets: list[np.ndarray] = []           # (9,) of each message that asked for some
        self.ticks = 0
        self._aimed = False                           # there was a target ever
        self._head: list[float] = []
        self._posed: tuple[np.ndarray, np.ndarray] | None = None      # joints, and the pose that was found for them

    def say(self, text: str) -> None:
        message = json.loads(text)
        kind = message["type"]
        if kind == "set_full_target":
            head = joints_of(np.reshape(message["head"], (4, 4)), message["body_yaw"])
            self._aim(np.array([*head, *message["antennas"]]))
        elif kind == "set_head_joints":
            self._head = message["joints"]              # the antennas of the same goal come in the next message
        elif kind == "set_antennas":
            self._aim(np.array([*self._head, *message["antennas"]]))
        elif kind == "set_motor_mode":
            self.switch(message["mode"])
        elif kind == "stop_move":
            self.move, self.stops = None, self.stops + 1
        elif kind == "set_automatic_body_yaw":
            self.automatic_body_yaw = message["enabled"]
        elif kind in ("set_wobbling", "set_head_tracking"):
            if not self._aimed:
                self.target = np.array([*UPRIGHT[:7], *self.target[7:]])      # its unit matrix
            self.switched_off += [kind] if not message["enabled"] else []
        else:
            raise AssertionError(f"not a command of the daemon: {kind}")

    def switch(self, mode: str) -> None:
        if mode == "enabled" and self.obstinate:
            return
        if mode == "enabled" and self.mode != "enabled":
            self.target = self.joints.copy()
        self.mode = mode

    def tick(self) -> list[str]:
        self.ticks += 1
        if self.move is not None:
            self.target = self.move(self.target)
        if self.mode == "enabled":
            self.joints = np.where(self.dead, self.joints, self.target)
        if self._posed is None or (self._posed[0] != self.joints).any():
            self._posed = self.joints, pose_of(self.joints)
        said = [{"type": "joint_positions", "head_joint_positions": self.joints[:7].tolist(),
                 "antennas_joint_positions": self.joints[7:].tolist()},
                {"type": "head_pose", "head_pose": self._posed[1].tolist()}]
        if self.ticks % 50 == 1:
            said.append({"type": "daemon_status", "state": self.state, "error": self.error,
                         "backend_status": {"motor_control_mode": self.mode, "error": None}})
        return [json.dumps(message) for message in said]

    def _aim(self, joints: np.ndarray) -> None:
        self.targets.append(joints)
        self._aimed = True
        if self.move is None:
            self.target = joints
