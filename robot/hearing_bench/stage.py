"""One take played in the simulated room, every kind of sound by itself."""
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calibration.body_model import BodyModel
from calibration.frames import HeadPose, frozen
from dialogue.engine import SpeakerBlock
from motion.intent import Gaze, JointGoal, MotionIntent
from motion.mover import Mover
from perception.audio.block import BLOCK, BLOCK_S, Samples
from robot.bodies.room.room import Room
from robot.bodies.room.servos import Joints
from robot.bodies.room.shoebox import HEAD_AT
from robot.bodies.room.soundscape import STEMS
from robot.hearing_bench.plans import Plan
from robot.take import Motion

LOOKS_S = (0.7, 2.4)         # between two looks somewhere else while the robot speaks and moves
WIDEST_LOOK = 1.3            # rad
SWEEP = np.radians(40.0)     # to either side
SWEEP_S = 1.5                # from side to side: peaks of 90 deg/s
SWEEP_URGENCY = 0.0
REST = HeadPose(0.0, frozen(HEAD_AT), frozen(np.zeros(3)), 0.0)


@dataclass
class Looks:
    """Where the robot looks next: anywhere, or from side to side in a sweep."""

    plan: Plan
    rng: np.random.Generator
    _gaze: Gaze = field(default_factory=lambda: Gaze(0.0))
    _urgency: float = 0.0
    _until: float = 0.0
    _side: int = 1

    def at(self, t: float) -> MotionIntent:
        if t >= self._until and self.plan.kind == "talker_sweep":
            self._side = -self._side
            self._gaze, self._urgency, self._until = Gaze(self._side * SWEEP), SWEEP_URGENCY, t + SWEEP_S
        elif t >= self._until:
            azimuth, elevation = self.rng.uniform([-WIDEST_LOOK, -0.2], [WIDEST_LOOK, 0.3])
            self._gaze, self._urgency = Gaze(float(azimuth), float(elevation)), float(self.rng.uniform(0.1, 1.0))
            self._until = t + float(self.rng.uniform(*LOOKS_S))
        return MotionIntent(t, "speak" if self.plan.speaks else "listen", self._gaze, urgency=self._urgency)


class Mechanics:
    """Mover and servos of a robot that looks around; what it commands, where its head truly is."""

    def __init__(self, body: BodyModel, looks: Looks, seed: int):
        self._looks = looks
        self._mover, self._joints = Mover(body, looks.rng), Joints(body, seed)
        self._goal: JointGoal | None = None
        self._rows: list[tuple[HeadPose, NDArray[np.float64]]] = []

    def step(self, t: float, spoken: Samples) -> tuple[HeadPose, NDArray[np.float64]]:
        """The head's pose at t and the joints' true speeds (9,) in the 10 ms before."""
        before = self._joints.velocities
        self._joints.advance(t, BLOCK_S if self._rows else 0.0)
        reading, _ = self._joints.exchange(t, self._goal)
        self._goal = self._mover.step(t, self._looks.at(t), spoken, reading)
        self._rows.append((self._joints.pose, np.array(self._goal.velocity)))
        return self._joints.pose, (before + self._joints.velocities) / 2

    def motion(self) -> Motion:
        poses, speeds = zip(*self._rows, strict=True)
        return Motion(frozen([pose.t for pose in poses]), frozen([pose.position for pose in poses]),
                      frozen([pose.rpy for pose in poses]), frozen([pose.body_yaw for pose in poses]), frozen(speeds))


@dataclass(frozen=True, slots=True)
class Played:
    """What came of it."""

    stems: dict[str, Samples]      # (M, n) each
    motion: Motion | None


def play(room: Room, reference: Samples, mechanics: Mechanics | None) -> Played:
    """Let the room go on for as long as the reference (n,) lasts; people and head have been told what to do."""
    stems: dict[str, list[Samples]] = {stem: [] for stem in STEMS}
    still = np.zeros(9)
    for index in range(reference.size // BLOCK):
        t, samples = (index + 1) * BLOCK_S, reference[index * BLOCK:(index + 1) * BLOCK]
        velocity = still
        if mechanics is not None:
            pose, velocity = mechanics.step(t, samples)
            room.turn_head(pose)
        room.gate.put((SpeakerBlock(0, 0, samples),), 0)
        room.capture(t, velocity)
        for stem, parts in stems.items():
            parts.append(room.stems[stem])
    return Played({stem: np.concatenate(parts, axis=1) for stem, parts in stems.items()},
                  None if mechanics is None else mechanics.motion())
