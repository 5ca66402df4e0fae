"""From what the mind wants to where the joints shall be: one step a tick, one writer."""
from dataclasses import dataclass, field, replace
from math import radians, tau
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from calibration.body_model import ANTENNAS, BodyModel
from calibration.frames import Array, HeadPose, direction_of, direction_vector, frozen
from motion.blend import Blend, sleeping_pitch
from motion.breathing import Breath, BreathConfig
from motion.gaze import DROWSY, GazeConfig, GazeTurn
from motion.gestures import Gestures
from motion.intent import Gaze, JointGoal, Mode, MotionIntent
from motion.kinematics import WholeBody
from motion.limiter import DT, Limiter, LimiterConfig
from motion.refusal import obeyable
from motion.saccades import GlanceConfig, Glances
from motion.sway import Sway, SwayConfig
from motion.waking import Waking, WakingConfig
from motion.workspace import BODY, COORDINATES, LEFT, PITCH, RIGHT, ROLL, YAW, Workspace, WorkspaceConfig, X, Z

ASLEEP = ("sleep", "park")


class Reading(Protocol):
    """Measured joints, as firmware_bridge.joint_reading.JointReading: motion does not know the bus."""

    @property
    def t(self) -> float:
        """s, when they were measured."""

    @property
    def position(self) -> Array:
        """(9,) rad in the order of calibration.body_model.JOINTS, nan where a servo is silent."""


@dataclass(frozen=True, slots=True)
class MotionConfig:
    """All settings of motion, each stage's beside the stage."""

    gaze: GazeConfig = field(default_factory=GazeConfig)
    glance: GlanceConfig = field(default_factory=GlanceConfig)
    breath: BreathConfig = field(default_factory=BreathConfig)
    sway: SwayConfig = field(default_factory=SwayConfig)
    waking: WakingConfig = field(default_factory=WakingConfig)
    workspace: WorkspaceConfig = field(default_factory=WorkspaceConfig)
    limiter: LimiterConfig = field(default_factory=LimiterConfig)
    displaced: float = radians(3.0)     # rad between goal and a late first measurement that is not lag and droop
    patience_s: float = 1.0             # s of holding still after which a gesture that it cut short is over
    stale_s: float = 0.2                # s after which a measured pose is worth less than the commanded one
    nearest: float = 0.15               # m: a point nearer than its own nose would turn the head that breathes past it


class Mover:
    """gaze and layers -> workspace -> limiter -> joints."""

    def __init__(self, model: BodyModel, rng: np.random.Generator, config: MotionConfig | None = None):
        """rng draws the idle looks and the breaths."""
        self.config = config or MotionConfig()
        self._model = model
        self._figure = WholeBody(model)
        self._workspace = Workspace(model, self.config.workspace)
        self._glances = Glances(rng, self.config.glance)
        self._breath = Breath(rng, self.config.breath)
        self._sway = Sway(self.config.sway)
        self._gestures = Gestures()
        self._sleeping = Gaze(0.0, -sleeping_pitch(model))
        self._placed = self._moving = self._asleep = False
        self._found: Array | None = None            # the last measured pose (9,)
        self._measured: HeadPose | None = None
        self._due, self._urgency, self._held = 0.0, 0.0, 0   # s, when the commanded pose is reached
        self._mode: Mode = "idle"
        self._refused = self._told = ""
        self._pose = np.zeros(len(COORDINATES))
        self._pose[ANTENNAS] = model.rest_antennas
        self._joints = self._figure.joints(self._pose)
        self._velocity = frozen(np.zeros(len(self._joints)))
        self._limiter, self._turn, self._blend = self._stages()
        self._gaze = Gaze(0.0)
        self._waking = Waking(self._pose, np.zeros(len(self._joints)), 0.0, self.config.waking)

    @property
    def commanded_velocity(self) -> Array:
        """Joint speeds (9,) rad/s commanded in the last tick, for the ears."""
        return self._velocity

    @property
    def refused(self) -> str:
        """What of the last wish was not obeyed and why; empty when nothing, or when it was said in the tick before."""
        return self._told

    def step(self, t: float, intent: MotionIntent, spoken: NDArray[np.floating], joints: Reading | None) -> JointGoal:
        """The goal of the tick at t (s). spoken: samples (160 n,) at 16 kHz that are being played now.

        What makes no sense in a wish, as a gaze that is not finite, is not obeyed, and `refused` names it.
        """
        intent, refused = obeyable(intent, self._mode)
        self._told, self._refused = "" if refused == self._refused else refused, refused
        self._place(joints)
        self._notice(intent)
        if intent.hold_still or intent.mode == "still":
            self._held += 1
            if intent.mode == "still" or self._held * DT > self.config.patience_s:
                self._gestures.stop()
            if intent.mode == "still":
                self._turn.calm_down()
            pose = self._limiter.hold()
        else:
            self._held = 0
            layers, sway = self._layers(intent, spoken)
            wanted = self._waking.step(np.array(self._workspace.project(layers)))
            pose = self._limiter.step(wanted, sway, self._turn.hurries)
        before, self._pose, self._due, self._mode = self._joints, pose, t + DT, intent.mode
        self._joints = self._figure.joints(pose) + self._waking.offset()
        self._velocity = frozen((self._joints - before) / DT)
        return JointGoal(t, frozen(self._joints), self._velocity)

    def start_from(self, joints: Reading) -> None:
        """Go on from measured joints: at the start, and when torque returns after somebody else moved them.

        The next goals are these very joints, then motion sets out from there slowly. A silent servo keeps its goal.
        """
        measured, far = self._completed(joints), self._distance(joints) > self.config.displaced
        pose = self._figure.pose(measured, self._pose)
        if pose is None:    # arms that fit no head pose: the last one, and the difference fades
            pose = np.concatenate((measured[:1], self._pose[X:YAW + 1], measured[ANTENNAS]))
        self._pose, self._joints = pose, measured
        self._limiter, self._turn, self._blend = self._stages()
        self._gaze = Gaze(float(pose[BODY] + pose[YAW]))
        self._waking = Waking(pose, measured - self._figure.joints(pose), float(far), self.config.waking)

    def head_pose(self, reading: Reading | None) -> HeadPose:
        """Where the head is: measured, or as commanded when nothing was ever or lately measured.

        Without a new reading the last measured pose is given again, with its own time, rather than a commanded one that
        the servos have not reached yet.
        """
        if reading is not None:
            joints, near = self._completed(reading), self._pose if self._found is None else self._found
            found = self._figure.pose(joints, near)
            if found is None:
                found = self._figure.pose(joints, self._pose)
            self._found = near if found is None else found
            self._measured = self._figure.head_pose(reading.t, self._found)
        if self._measured and (not self._moving or abs(self._due - self._measured.t) < self.config.stale_s):
            return self._measured
        return self._figure.head_pose(self._due, self._pose)

    def _stages(self) -> tuple[Limiter, GazeTurn, Blend]:
        """The stages that remember where they are, at rest in the present pose."""
        pose = self._pose
        turn = GazeTurn(self._workspace, float(pose[BODY]), float(pose[BODY] + pose[YAW]), float(-pose[PITCH]),
                        self.config.gaze)
        return Limiter(self._figure.joints, pose, self.config.limiter), turn, Blend(self._model, pose.tolist())

    def _place(self, joints: Reading | None) -> None:
        """Sets out from the first measurement; a late one counts only when the robot is not where it was told to go."""
        if joints is not None and not self._placed and _measured(joints).any():
            self._placed = True
            if not self._moving or self._distance(joints) > self.config.displaced:
                self.start_from(joints)
        self._moving = True

    def _notice(self, intent: MotionIntent) -> None:
        """Takes over a new target or gesture, also while holding still. A turn that no new target asks for is calm."""
        gaze = intent.gaze
        if intent.gesture is not None and intent.mode not in ASLEEP:
            self._gestures.start(intent.gesture)
        if gaze is None:
            return
        change = abs(gaze.azimuth - self._gaze.azimuth) + abs(gaze.elevation - self._gaze.elevation)
        if change > self.config.gaze.new_target and intent.mode not in (*ASLEEP, "still"):
            self._urgency = intent.urgency
            self._glances.home()
        self._gaze = gaze

    def _layers(self, intent: MotionIntent, spoken: NDArray[np.floating]) -> tuple[list[float], Array]:
        """The sum of all layers (9), still to be brought inside the workspace, and the sway (3,) rad."""
        asleep = intent.mode in ASLEEP
        looks_around = intent.mode == "idle" and not self._turn.turning
        glance = self._glances.step() if looks_around else self._glances.home()
        wakes = self._asleep and self._urgency <= self.config.gaze.calm
        urgency = DROWSY if asleep or wakes or self._waking.unfinished else self._urgency
        self._urgency, self._asleep = 0.0, asleep
        target = self._sleeping if asleep else self._aim(self._gaze)
        body, yaw, pitch = self._turn.step(target, glance, urgency, straight=asleep)
        posture, breath, sway, pace = self._blend.step(intent.mode, intent.mood)
        height, roll, spread = self._breath.step(pace)
        pose = [p + g for p, g in zip(posture, self._gestures.step(), strict=True)]
        pose[BODY] += body
        pose[YAW] += yaw
        pose[PITCH] += pitch
        pose[ROLL] += breath * roll
        room = self._workspace.ceiling(pose[ROLL], pose[PITCH], pose[YAW]) - breath * self.config.breath.height
        pose[Z] = min(pose[Z], room) + breath * height
        pose[RIGHT] -= breath * spread
        pose[LEFT] += breath * spread
        return pose, self._sway.step(spoken, sway)

    def _aim(self, gaze: Gaze) -> Gaze:
        """The direction from where the head is now, when the distance of the target is known."""
        if gaze.distance is None:
            return gaze
        distance = max(gaze.distance, self.config.nearest)
        head = self._figure.head_pose(self._due, self._pose).position - (0.0, 0.0, self._model.rest_height)
        azimuth, elevation = direction_of(distance * direction_vector(gaze.azimuth, gaze.elevation) - head)
        return replace(gaze, azimuth=azimuth, elevation=elevation)

    def _completed(self, reading: Reading) -> Array:
        """Measured joints (9,) rad; a silent servo is taken to be where it was told to go."""
        return np.where(_measured(reading), reading.position, self._joints)

    def _distance(self, reading: Reading) -> float:
        """Largest difference (rad) between measured and commanded joints."""
        return float(np.abs(self._completed(reading) - self._joints).max())


def _measured(reading: Reading) -> NDArray[np.bool_]:
    """(9,) which joints were measured: nan is a silent servo, more than a turn is no angle a servo counts."""
    return np.abs(reading.position) <= tau
