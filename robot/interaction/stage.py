"""Plays the timeline of a scenario in the simulated room, tick by tick."""
from dataclasses import dataclass, field

import numpy as np

from calibration.frames import Array
from dialogue.engine import SpeakerBlock
from perception.audio.block import BLOCK_S
from robot.bodies.room import faults as room_faults
from robot.bodies.room import servos
from robot.bodies.room.loudspeaker import PlayedLog
from robot.bodies.room.noises import USUAL_S
from robot.bodies.room.room import Room, RoomPerson, Utterance
from robot.bodies.room.voices import read_wav, spoken
from robot.bodies.simulated import SimulatedBody
from robot.errors import BadRequest
from robot.interaction.faulty_engine import KINDS as ENGINE_KINDS
from robot.interaction.faulty_engine import EngineFaults
from robot.interaction.scenario import Scenario
from robot.interaction.scripted_answers import TrueWords
from robot.interaction.timeline import PARTS, Action, Fault, Looks, Noise, Says, Signs, Step, Touches, Walks
from robot.interaction.trace import SILENT_DBFS, WORD_GAP_S
from robot.interaction.triggers import MOVING_DEG_S, Now, Triggers
from robot.tick import TICK_S, Event, Inputs, Tick

GESTURES = {"nods": RoomPerson.nod, "shakes_head": RoomPerson.shake_head, "waves": RoomPerson.wave}


@dataclass
class PlayedBlocks(PlayedLog):
    """The log of the loudspeaker with the blocks themselves."""

    blocks: list[SpeakerBlock] = field(default_factory=list)

    def entered(self, block: SpeakerBlock) -> None:
        super().entered(block)
        self.blocks.append(block)


class Stage:
    """Knows what has happened, and lets people, room and faults act when their moment has come."""

    def __init__(self, scenario: Scenario, body: SimulatedBody, faults: EngineFaults, words: TrueWords):
        self.scenario, self.body, self.faults, self.words = scenario, body, faults, words
        self.triggers = Triggers(scenario.timeline)
        self.utterances: dict[int, Utterance] = {}
        self.noises: list[tuple[float, float]] = []
        self.now = Now(0.0)
        self._events: list[Event] = []
        self._heard = 0                        # blocks of the running reply
        self._generation = 0
        self._sounded = 0                      # blocks looked at
        self._loud_at = -1.0                   # s, last sound of the loudspeaker
        self._sight: Array | None = None
        self._numbers = _numbered(scenario.timeline)
        self.played = PlayedBlocks()
        body.room.played = self.played
        body.script = self.act

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        """An observer of the run: what the robot did in this tick."""
        told = tuple(Event(h.t, "health", (("of", h.part), ("level", h.level), ("reason", h.reason)))
                     for h in inputs.health)
        self._events += [*told, *tick.events]

    def act(self, t: float, room: Room) -> None:
        """The start of the tick at t (s)."""
        self.faults.now = t
        self._listen()
        moving = self._turned(room) / TICK_S > np.radians(MOVING_DEG_S)
        self.now = Now(t, tuple(self._events), self._generation, self._heard * BLOCK_S * 1000,
                       t - self._loud_at < WORD_GAP_S, moving)
        self._events = []
        for i in self.triggers.due(self.now):
            for action in self.scenario.timeline[i].actions:
                try:
                    self._do(t, action, room)
                except BadRequest as error:
                    line = self.scenario.timeline[i].line
                    raise BadRequest(f"{self.scenario.path}:{line}: {error}") from error

    def undone(self) -> tuple[tuple[int, str, str], ...]:
        """(line, source, why) of the steps that have not happened."""
        return tuple((step.line, step.source, self.triggers.reason_to_wait(i, self.now) or "the run was over")
                     for i, step in enumerate(self.scenario.timeline) if i not in self.triggers.happened)

    def people_talk(self) -> bool:
        return any(said.end >= self.now.t for said in self.body.room.utterances)

    def _listen(self) -> None:
        """Count what the loudspeaker truly gave since the tick before."""
        delay = self.body.config.sound.loudspeaker.playback_delay_s
        for row in range(self._sounded, len(self.played.levels)):
            if self.played.levels[row] > SILENT_DBFS:
                self._loud_at = (row + 1) * BLOCK_S
            generation = sounding_generation(self.played, row, delay)
            if generation and generation != self._generation:
                self._generation, self._heard = generation, 0
            if generation:
                self._heard += 1
        self._sounded = len(self.played.levels)

    def _turned(self, room: Room) -> float:
        """Angle (rad) by which the head has turned since the tick before."""
        now = room.head_pose_true.rotation[:, 0]
        before, self._sight = self._sight, now
        return 0.0 if before is None else float(np.arccos(np.clip(np.dot(before, now), -1.0, 1.0)))

    def _do(self, t: float, action: Action, room: Room) -> None:
        match action:
            case Says():
                self._say(t, action, room)
            case Signs(person, "sighs"):
                room.person(person).sigh(t)
            case Signs(person, "enters"):
                room.person(person).enter(t)
            case Signs(person, "leaves"):
                room.person(person).leave(t)
            case Signs(person, name):
                GESTURES[name](room.person(person), t)
            case Looks(person, at):
                room.person(person).look(t, at)
            case Touches(_, kind):
                room.skin.touch(t, kind)
            case Walks(person, azimuth, distance, in_s):
                room.person(person).walk_to(t, np.radians(azimuth), distance, in_s)
            case Noise(kind, level_db, for_s):
                room.noise(t, kind, level_db, for_s)  # type: ignore[arg-type]
                self.noises.append((t, t + (USUAL_S[kind] if for_s is None else for_s)))  # type: ignore[index]
            case Fault():
                self._fail(t, action)

    def _say(self, t: float, says: Says, room: Room) -> None:
        person = room.person(says.person)
        level = says.level_db or 0.0
        if says.wav is not None:
            said = person.say(t, read_wav(says.wav), level, text=says.text)
            self.words.add(said.onset, said.end, says.text)
        else:
            marked = " ".join(piece if isinstance(piece, str) else f"<{piece:g}>" for piece in says.pieces)
            said = person.say(t, marked, level, says.voice, says.text)
            self._tell_words(said.onset, says, person.figure.script.voice)
        self.utterances[self._numbers[id(says)]] = said
        self.triggers.talks(says.person, said.end)

    def _tell_words(self, onset: float, says: Says, voice: str) -> None:
        """When each piece between pauses sounds, for ears that hear the true words."""
        for piece in says.pieces:
            lasts = piece if isinstance(piece, float) else len(spoken(piece, says.voice or voice)) * BLOCK_S / 160
            if isinstance(piece, str):
                self.words.add(onset, onset + lasts, piece)
            onset += lasts

    def _fail(self, t: float, fault: Fault) -> None:
        if fault.of != "engine":
            self.body.fault(t, fault.of, fault.kind, fault.for_s)
        else:
            self.faults.begin(fault)


def check_playable(scenario: Scenario) -> None:
    """Refuse, with its line, a fault that the simulation cannot play: an ignored fault would prove nothing."""
    kinds = {**room_faults.KINDS, "engine": ENGINE_KINDS,
             **{part: tuple(servos.FAULTS) for part in PARTS if part.startswith("servo_")}}
    if scenario.room.array == "raw":
        del kinds["array"]       # nobody asks it
    for step in scenario.timeline:
        for fault in step.actions:
            if isinstance(fault, Fault) and fault.kind not in kinds.get(fault.of, ()):
                known = ", ".join(kinds.get(fault.of, ())) or "nothing of it"
                raise BadRequest(f"{scenario.path}:{step.line}: '{fault.kind}' of {fault.of} is not simulated yet; "
                                 f"expected one of {known}")


def _numbered(steps: tuple[Step, ...]) -> dict[int, int]:
    """The number of each utterance in the timeline, from 1."""
    said = [action for step in steps for action in step.actions if isinstance(action, Says)]
    return {id(says): number for number, says in enumerate(said, 1)}


def sounding_generation(played: PlayedLog, row: int, delay_s: float) -> int:
    """The reply whose sound leaves the loudspeaker in block `row`, 0 for none."""
    entered = row - round(delay_s / BLOCK_S)
    return played.generations[entered] if 0 <= entered < len(played.generations) else 0
