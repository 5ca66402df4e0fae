"""Writes down what truly happens in a run, for the judgement."""
import time
from dataclasses import dataclass, field

import numpy as np

from calibration.frames import direction_of
from dialogue.engine import Clause, Resume
from perception.audio.block import BLOCK_S
from robot.bodies.simulated import SimulatedBody
from robot.interaction.heard_words import Piece, heard_words
from robot.interaction.stage import Stage, sounding_generation
from robot.interaction.trace import Trace, Utterance
from robot.runtime import GuardedMind
from robot.tick import Event, Inputs, Tick

SILENCE_DBFS = -120.0


@dataclass
class TimedMind(GuardedMind):
    """A mind that is timed: compute time of each tick, the one figure of a run that differs between machines."""

    tick_ms: list[float] = field(default_factory=list)

    def tick(self, inputs: Inputs) -> Tick:
        began = time.perf_counter()
        tick = super().tick(inputs)
        self.tick_ms.append((time.perf_counter() - began) * 1000)
        return tick


@dataclass
class Recorder:
    """An observer of the run."""

    body: SimulatedBody
    mind: TimedMind
    stage: Stage
    events: list[Event] = field(default_factory=list)
    clauses: dict[int, list[Clause]] = field(default_factory=dict)
    _sight: list[tuple[float, float]] = field(default_factory=list)
    _places: dict[str, list[float]] = field(default_factory=dict)
    _believed: list[tuple[float, float]] = field(default_factory=list)
    _goals: list[np.ndarray] = field(default_factory=list)
    _floor: list[tuple[float, str]] = field(default_factory=list)

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        self.events += [Event(h.t, "health", (("of", h.part), ("level", h.level), ("reason", h.reason)))
                        for h in inputs.health]
        self.events += tick.events
        for reply in inputs.replies:
            if isinstance(reply, Clause):
                self.clauses.setdefault(reply.generation, []).append(reply)
        for request in tick.outputs.requests:
            if isinstance(request, Resume):      # speaks what is left of the other's clauses
                self.clauses.setdefault(request.generation, []).extend(self.clauses.get(request.of, ()))
        self._sight.append(direction_of(self.body.joints.pose.rotation[:, 0]))
        for person in self.body.room.people:
            there = person.azimuth(inputs.t) if person.figure.present else np.nan
            self._places.setdefault(person.name, []).append(there)
        bearing = tick.sound.bearing
        self._believed.append((np.nan, np.nan) if bearing is None else
                              (bearing.azimuth, np.nan if bearing.mirror is None else bearing.mirror))
        goal = tick.outputs.joints
        last = self._goals[-1] if self._goals else np.full(9, np.nan)
        self._goals.append(last if goal is None else goal.position)
        if not self._floor or self._floor[-1][1] != tick.floor:
            self._floor.append((inputs.t, tick.floor))

    def trace(self) -> Trace:
        """The whole run. Row i of the arrays belongs to the tick at i * TICK_S."""
        played, delay = self.stage.played, self.body.config.sound.loudspeaker.playback_delay_s
        count = len(self._sight)
        level = np.full(count, SILENCE_DBFS)
        rows = min(count - 1, len(played.levels))
        level[1:rows + 1] = played.levels[:rows]        # the block that ends at the tick's time
        generation = np.array([0] + [sounding_generation(played, row, delay) for row in range(count - 1)], np.int64)
        pieces = [Piece((row + 1) * BLOCK_S + delay, block.generation, block.samples)
                  for row, block in enumerate(played.blocks) if block.generation]
        said = {k: Utterance(u.who, u.text, u.onset, u.end) for k, u in self.stage.utterances.items()}
        return Trace(
            events=tuple(self.events), utterances=said, level=level, generation=generation,
            sight=np.array(self._sight).reshape(-1, 2),
            places={name: np.array(azimuths) for name, azimuths in self._places.items()},
            believed=np.array(self._believed).reshape(-1, 2), goals=np.array(self._goals).reshape(count, -1),
            floor=tuple(self._floor), words=heard_words(pieces, self.clauses),
            history=tuple(f"{line.who}: {line.text}" for line in self.mind.mind.dialogue.answering.history),
            noises=tuple(self.stage.noises), stale_blocks=self.body.stale_blocks_played,
            tick_ms=np.array(self.mind.tick_ms), undone=self.stage.undone())
