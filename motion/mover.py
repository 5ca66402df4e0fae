"""From what the mind wants to where the joints shall be: one step a tick, one writer."""
from dataclasses import dataclass, field, replace
from math import cos, isfinite, radians, sin
from typing import Protocol

import numpy as np

from calibration.body_model import ANTENNAS, STEWART, BodyModel
from calibration.frames import Array, HeadPose, direction_of, direction_vector, frozen
from motion.blend import Blend, sleeping_pitch
from motion.breathing import Breath, BreathConfig
from motion.gaze import DROWSY, GazeConfig, GazeTurn
from motion.gestures import Gestures
from motion.intent import Gaze, JointGoal, MotionIntent
from motion.kinematics import Platform
from motion.limiter import DT, Limiter, LimiterConfig
from motion.saccades import GlanceConfig, Glances
from motion.sway import Sway, SwayConfig
from motion.workspace import BODY, COORDINATES, LEFT, PITCH, RIGHT, ROLL, YAW, X, Y, Z, Workspace, WorkspaceConfig


class Reading(Protocol):
    """Measured joints, as firmware_bridge.joint_reading.JointReading: motion does not know the bus."""

    @property
    def t(self) -> float: ...       # s

    @property
    def position(self) -> Array: ...    # (9,) rad in the order of JOINTS, nan where a servo is silent


@dataclass(frozen=True, slots=True)
class MotionConfig:
    """All settings of motion, each stage's beside the stage."""

    gaze: GazeConfig = field(default_factory=GazeConfig)
    glance: GlanceConfig = field(default_factory=GlanceConfig)
    breath: BreathConfig = field(default_factory=BreathConfig)
    sway: SwayConfig = field(default_factory=SwayConfig)
    workspace: WorkspaceConfig = field(default_factory=WorkspaceConfig)
    limiter: LimiterConfig = field(default_factory=LimiterConfig)
    wake_s: float = 1.8                     # s after the start in which turns are slow: a limp head is lifted gently
    displaced: float = radians(3.0)         # rad between goal and first measurement from which we start over from there
    offset_speed: float = radians(30.0)     # rad/s at which joints that fit no head pose come back to one
    stale_s: float = 0.2                    # s after which a measured pose is worth less than the commanded one


class Mover:
    """gaze -> layers -> workspace -> limiter -> joints."""

    def __init__(self, model: BodyModel, rng: np.random.Generator, config: MotionConfig | None = None):
        self.config = config or MotionConfig()
        self._model = model
        self._platform = Platform(model)
        self._workspace = Workspace(model, self.config.workspace)
        self._glances = Glances(rng, self.config.glance)
        self._breath = Breath(rng, self.config.breath)
        self._sleeping = Gaze(0.0, -sleeping_pitch(model))
        rest = np.zeros(len(COORDINATES))
        rest[ANTENNAS] = model.rest_antennas
        self._begin(0.0, rest, np.zeros(len(COORDINATES)))
        self._awake_at = 0.0
        self._placed = self._moving = False
        self._found: Array | None = None            # the last measured pose (9,)
        self._measured: HeadPose | None = None

    @property
    def commanded_velocity(self) -> Array:
        """Joint speeds (9,) rad/s commanded in the last tick, for the ears."""
        return self._velocity

    def step(self, t: float, intent: MotionIntent, spoken: Array, joints: Reading | None) -> JointGoal:
        """The goal of the tick at t (s). spoken: samples (160 n,) at 16 kHz that are being played now.

        A gaze that is not finite is not followed: the last one stands (motion.workspace.refusal names it).
        """
        if joints is not None and not self._placed and np.isfinite(joints.position).any():
            self._placed = True
            if not self._moving or self._distance(joints) > self.config.displaced:
                self.start_from(joints)
        self._moving = True
        self._notice(intent)
        if intent.hold_still or intent.mode == "still":
            self._gestures.stop()
            if intent.mode == "still":
                self._turn.calm_down()
            pose = self._limiter.hold()
        else:
            layers, sway = self._wanted(t, intent, spoken)
            wanted = np.array(self._workspace.project(layers))
            if t < self._awake_at:  # a limp head may lie outside the workspace
                wanted = wanted + (self._awake_at - t) / self.config.wake_s * (self._start - wanted)
            pose = self._limiter.step(wanted, sway, self._turn.hurries)
        before, self._pose, self._t = self._joints, pose, t
        self._joints = self._joints_of(pose) + self._remaining_offset()
        self._velocity = frozen((self._joints - before) / DT)
        return JointGoal(t, frozen(self._joints), self._velocity)

    def start_from(self, joints: Reading) -> None:
        """Go on from measured joints: at the start, and when torque returns after somebody else moved them.

        The next goals are these very joints, then motion sets out from there slowly. A silent servo keeps its goal.
        """
        measured = self._completed(joints)
        slow = self._distance(joints) > self.config.displaced
        pose = self._pose_of(measured, self._pose)
        if pose is None:    # arms that fit no head pose: the last one, and the difference fades
            pose = np.concatenate((measured[:1], self._pose[X:YAW + 1], measured[ANTENNAS]))
        self._begin(self._t, pose, measured - self._joints_of(pose))
        self._awake_at = self._t + self.config.wake_s if slow else self._t

    def head_pose(self, reading: Reading | None) -> HeadPose:
        """Where the head is: measured, or as commanded when nothing was ever or lately measured.

        Without a new reading the last measured pose is given again, with its own time, rather than a commanded one that
        the servos have not reached yet.
        """
        if reading is not None:
            joints, near = self._completed(reading), self._pose if self._found is None else self._found
            found = self._pose_of(joints, near)
            if found is None:
                found = self._pose_of(joints, self._pose)
            self._found = near if found is None else found
            self._measured = self._head_pose(reading.t, self._found)
        if self._measured and self._t - self._measured.t < self.config.stale_s:
            return self._measured
        return self._head_pose(self._t, self._pose)

    def _begin(self, t: float, pose: Array, offset: Array) -> None:
        """At rest in `pose`; offset (9,) rad: joints beside those of the pose, which fades."""
        self._t, self._start, self._pose = t, pose, pose
        self._limiter = Limiter(self._joints_of, pose, self.config.limiter)
        sight = float(pose[BODY] + pose[YAW])
        self._gaze, self._urgency = Gaze(sight), 0.0
        self._turn = GazeTurn(self._workspace, float(pose[BODY]), sight, float(-pose[PITCH]), self.config.gaze)
        self._blend = Blend(self._model, pose.tolist())
        self._sway = Sway(self.config.sway)
        self._gestures = Gestures()
        peak_to_mean = 1.875            # of minimum jerk
        longest_s = max(self.config.wake_s, peak_to_mean * float(np.abs(offset).max()) / self.config.offset_speed)
        self._offset, self._offset_ticks = offset, round(longest_s / DT)
        self._offset_left = self._offset_ticks if offset.any() else 0
        self._nothing = np.zeros(len(COORDINATES))
        self._joints = self._joints_of(pose) + offset
        self._velocity = frozen(np.zeros(len(COORDINATES)))

    def _notice(self, intent: MotionIntent) -> None:
        """Takes over a new target, also while holding still. A turn that no new target asks for is calm."""
        if intent.gaze is None or not _is_finite(intent.gaze):
            return
        change = abs(intent.gaze.azimuth - self._gaze.azimuth) + abs(intent.gaze.elevation - self._gaze.elevation)
        if change > self.config.gaze.new_target and intent.mode not in ("still", "sleep", "park"):
            self._urgency = intent.urgency
            self._glances.home()
        self._gaze = intent.gaze

    def _wanted(self, t: float, intent: MotionIntent, spoken: Array) -> tuple[list[float], Array]:
        """The sum of all layers (9), still to be brought inside the workspace, and the sway (3,)."""
        asleep = intent.mode in ("sleep", "park")
        glance = self._glances.step() if intent.mode == "idle" else self._glances.home()
        if intent.gesture is not None and not asleep:
            self._gestures.start(intent.gesture)
        gaze = self._sleeping if asleep else self._aim(self._gaze)
        urgency = DROWSY if asleep or t < self._awake_at else self._urgency
        self._urgency = 0.0
        body, yaw, pitch = self._turn.step(gaze, glance, urgency, straight=asleep)
        pose, breath_weight, sway_weight, pace = self._blend.step(intent.mode, intent.mood)
        height, roll, spread = self._breath.step(pace)
        pose = [p + g for p, g in zip(pose, self._gestures.step(), strict=True)]
        pose[BODY] += body
        pose[YAW] += yaw
        pose[PITCH] += pitch
        pose[ROLL] += breath_weight * roll
        room = self._workspace.ceiling(pose[ROLL], pose[PITCH], pose[YAW]) - breath_weight * self.config.breath.height
        pose[Z] = min(pose[Z], room) + breath_weight * height
        pose[RIGHT] -= breath_weight * spread
        pose[LEFT] += breath_weight * spread
        return pose, self._sway.step(spoken, sway_weight)

    def _aim(self, gaze: Gaze) -> Gaze:
        """The direction from where the head is now, when the distance of the target is known."""
        if gaze.distance is None:
            return gaze
        head = self._head_pose(self._t, self._pose).position - (0.0, 0.0, self._model.rest_height)
        point = gaze.distance * direction_vector(gaze.azimuth, gaze.elevation) - head
        return replace(gaze, azimuth=direction_of(point)[0], elevation=direction_of(point)[1])

    def _remaining_offset(self) -> Array:
        """What is left of the joints' offset from the start: a minimum-jerk fade."""
        if self._offset_left == 0:
            return self._nothing
        self._offset_left -= 1
        s = self._offset_left / self._offset_ticks
        return self._offset * (s ** 3 * (10 - 15 * s + 6 * s ** 2))

    def _completed(self, reading: Reading) -> Array:
        """Measured joints (9,) rad; a silent servo is taken to be where it was told to go."""
        return np.where(np.isfinite(reading.position), reading.position, self._joints)

    def _distance(self, reading: Reading) -> float:
        """Largest difference (rad) between measured and commanded joints."""
        return float(np.abs(self._completed(reading) - self._joints).max())

    def _joints_of(self, pose: Array) -> Array:
        """Joint angles (9,) rad of a pose (9,)."""
        body, x, y, z, roll, pitch, yaw, right, left = pose.tolist()
        arms = self._platform.joints(x, y, z + self._model.rest_height, roll, pitch, yaw)
        return np.array((body, *arms, right, left))

    def _pose_of(self, joints: Array, guess: Array) -> Array | None:
        """Pose (9,) of joint angles (9,) rad, None when the arms fit no pose near the guess."""
        near = guess[X:YAW + 1] + (0.0, 0.0, self._model.rest_height, 0.0, 0.0, 0.0)
        head = self._platform.forward(joints[STEWART], near)
        if head is None:
            return None
        head[2] -= self._model.rest_height
        return np.concatenate((joints[:1], head, joints[ANTENNAS]))

    def _head_pose(self, t: float, pose: Array) -> HeadPose:
        body, x, y, z, roll, pitch, yaw, _, _ = pose.tolist()
        c, s = cos(body), sin(body)
        return HeadPose(t, frozen((c * x - s * y, s * x + c * y, z + self._model.rest_height)),
                        frozen((roll, pitch, body + yaw)), body)


def _is_finite(gaze: Gaze) -> bool:
    return isfinite(gaze.azimuth) and isfinite(gaze.elevation) and (gaze.distance is None or isfinite(gaze.distance))
