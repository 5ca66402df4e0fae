"""A whole robot without hardware: a simulated room behind the protocol that real devices have."""
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from calibration.body_model import BodyModel, reachy_mini
from calibration.health import Health
from dialogue.engine import SILENCE, Cancel
from motion.intent import JointGoal
from perception.audio.block import BLOCK_S, AudioBlock
from perception.vision.frame import FaceFrame
from robot.bodies.linked_joints import LinkedJoints
from robot.bodies.room.array_readings import ArrayReadings
from robot.bodies.room.board import Board
from robot.bodies.room.eyesight import Eyesight
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import Room, RoomConfig
from robot.bodies.room.servos import Joints
from robot.bodies.room.tracks import Arrival
from robot.bodies.view import Viewer
from robot.tick import Inputs, Outputs
from robot.worker import Worker

Script = Callable[[float, Room], None]


class SimulatedBody:
    """Room, servos, camera, engine and detector in virtual time: the same seed gives the same inputs, bit by bit.

    script: called at the start of every tick with its time and the room, to let people act. engine, detector: workers
    (inline ones in virtual time); None: nobody answers, no pictures are made. shown: the engine sees the pictures too.
    """

    def __init__(self, config: RoomConfig | None = None, people: Sequence[PersonScript] = (),
                 engine: Worker | None = None, detector: Worker | None = None, seed: int = 0,
                 script: Script | None = None, model: BodyModel | None = None,
                 joints: Joints | LinkedJoints | None = None, shown: bool = False):
        self.config = config or RoomConfig()
        self.model = model or reachy_mini()
        self.engine, self.detector, self.script = engine, detector, script
        self.room = Room(self.config, self.model, people, seed)
        self._viewer = Viewer() if shown else None
        self.joints = joints or Joints(self.model, seed, self.config.starts_limp)
        self.eyesight = Eyesight(self.model.camera, self.config.camera, detector,
                                 np.random.default_rng([seed, 51]))
        self._register = (ArrayReadings(self.room, np.random.default_rng([seed, 53]))
                          if self.config.register else None)
        self._arrival = Arrival(self.config.bursts, np.random.default_rng([seed, 52]))
        self.room.gate.queue.extend([SILENCE] * (self.config.sound.loudspeaker.queue_blocks + self.config.bursts - 1))
        self.room.turn_head(self.joints.pose)
        self.board = Board()
        self._t: float | None = None
        self._captured = 0                       # blocks
        self._gap = False
        self._goal: JointGoal | None = None

    @property
    def stale_blocks_played(self) -> int:
        """Blocks of a cancelled or superseded reply that truly went to the loudspeaker."""
        return self.room.played.stale_blocks

    def read(self, index: int, t: float) -> Inputs:
        """Let the world go on until t, and tell what has arrived."""
        if self.script is not None:
            self.script(t, self.room)
        velocity = self.joints.velocities
        dt = 0.0 if self._t is None else t - self._t
        self.joints.advance(t, dt)
        self._t = t
        self.room.turn_head(self.joints.pose)
        blocks = self._listened(t, (velocity + self.joints.velocities) / 2)
        reading, health = self.joints.exchange(t, self._goal)
        frames, trouble = self._looked(t)
        replies = () if self.engine is None else tuple(self.engine.poll(t))
        array = () if self._register is None else self._register.step(t)
        vitals, late = self.board.step(t, self.room.faults.active(t, "board"))
        return Inputs(index, t, blocks, reading, frames, replies, (*health, *trouble), array=array,
                      touches=self.room.skin.step(t, dt), vitals=vitals, late=late)

    def _listened(self, t: float, velocity) -> tuple[AudioBlock, ...]:
        """Blocks that were recorded and have arrived by t."""
        captured = []
        while (self._captured + 1) * BLOCK_S <= t + 1e-9:
            self._captured += 1
            block = self.room.capture(self._captured * BLOCK_S, velocity)
            if self.room.faults.active(block.t, "microphone") in ("gone", "stall"):
                self._gap = True
            else:
                captured.append(replace(block, gap=True) if self._gap else block)
                self._gap = False
        return self._arrival.delivered(captured)

    def _looked(self, t: float) -> tuple[tuple[FaceFrame, ...], tuple[Health, ...]]:
        works = self.room.faults.active(t, "camera") is None
        found = self.eyesight.step(t, self.joints.pose_at, self.room.seen_at, works)
        frames = tuple(reply for reply in found if isinstance(reply, FaceFrame))
        self._show(t)
        trouble = (replace(reply, t=t) if isinstance(reply, Health) else Health(t, "camera", "degraded", str(reply))
                   for reply in found if not isinstance(reply, FaceFrame))
        return frames, tuple(trouble)

    def _show(self, t: float) -> None:
        """The newest picture is for the engine too, unless the robot sleeps."""
        asleep = self._goal is not None and not self._goal.torque
        if self._viewer is None or self.engine is None or self.eyesight.last is None or asleep:
            return
        view = self._viewer.of(*self.eyesight.last)
        if view is not None:
            self.engine.offer(t, view)

    def write(self, t: float, outputs: Outputs) -> None:
        """Joint goals for the next exchange, blocks for the loudspeaker's queue, requests for the engine."""
        self._goal = outputs.joints
        self.eyesight.most_fps = outputs.camera_fps
        for request in outputs.requests:
            if isinstance(request, Cancel):
                self.room.played.cancel(request.generation)
            if self.engine is not None:
                self.engine.submit(t, request)
        self.room.played.live_generation = outputs.live_generation
        self.room.volume = 1.0 if outputs.volume is None else outputs.volume
        self.room.gate.put(outputs.speaker, outputs.live_generation)
        if outputs.haptic is not None:
            self.room.skin.haptics.start(outputs.haptic)

    def fault(self, t: float, of: str, kind: str, for_s: float | None = None) -> None:
        """A device fails: one of faults.KINDS, servo_ID or servo_bus (see servos.py)."""
        if of.startswith("servo_"):
            self.joints.fault(t, of, kind, for_s)
        else:
            self.room.fault(t, of, kind, for_s)

    def stop(self, stopped: bool) -> None:
        self.joints.stop(stopped)

    def close(self) -> None:
        self.joints.close()
        for worker in (self.engine, self.detector):
            if worker is not None:
                worker.close()

