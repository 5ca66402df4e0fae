"""A scripted interaction: who is in which room, what happens, what is expected. Read from YAML (CONTRACTS.md)."""
import re
from dataclasses import dataclass, replace
from pathlib import Path

from robot.bodies.room.ambience import MicrophoneConfig
from robot.bodies.room.portraits import FACES
from robot.bodies.room.voices import VOICES
from robot.interaction.expectations import Expectation, read_expectation
from robot.interaction.marked import Marked, marked_text, read_yaml
from robot.interaction.timeline import FARTHEST_M, NEAREST_M, RESERVED, Says, Signs, Step, read_step

NAME = re.compile(r"[^\W\d][\w-]{0,39}")


ARRAYS = ("raw", "register")


@dataclass(frozen=True, slots=True)
class RoomSetup:
    rt60_s: float = 0.4          # s, time in which a sound decays by 60 dB; a living room
    noise_db: float = MicrophoneConfig().ambient_dbfs   # dB full scale of the ambient noise at a microphone
    seed: int = 0                # of everything random in the room and the bodies in it
    array: str = ARRAYS[0]       # what the robot gets of its array: raw microphones, or one channel and a register


@dataclass(frozen=True, slots=True)
class PersonSetup:
    """Somebody in the scenario, at the start. present: False when the first thing they do is to enter."""

    name: str
    azimuth_deg: float           # base axes, positive to the left
    distance_m: float
    voice: str = VOICES[0]
    face: str = FACES[0]
    present: bool = True


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    path: Path
    room: RoomSetup
    people: tuple[PersonSetup, ...]
    timeline: tuple[Step, ...]
    expect: tuple[Expectation, ...]

    @property
    def utterances(self) -> tuple[Says, ...]:
        """Everything said, in the order of the timeline: `{says: K}` is the K-th of these."""
        return tuple(action for step in self.timeline for action in step.actions if isinstance(action, Says))


def read_scenario(path: Path) -> Scenario:
    """The scenario in a YAML file; BadRequest names file, line and what was expected."""
    return _scenario(read_yaml(path), path)


def scenario_from_text(text: str, path: Path) -> Scenario:
    """The same from a text; `path` names it and WAV files are relative to its folder."""
    return _scenario(marked_text(text, str(path)), path)


def _scenario(top: Marked, path: Path) -> Scenario:
    found = top.words(("scenario", "room", "people", "timeline", "expect"), ("scenario", "timeline", "expect"))
    name = found["scenario"].words_said()
    room = _read_room(found["room"]) if "room" in found else RoomSetup()
    people = _read_people(found["people"]) if "people" in found else ()
    names = tuple(person.name for person in people)
    timeline = tuple(read_step(entry, names, path.parent) for entry in found["timeline"].items())
    said = sum(isinstance(action, Says) for step in timeline for action in step.actions)
    expect = tuple(read_expectation(entry, names, said) for entry in found["expect"].items())
    if not expect:
        raise found["expect"].wrong("a scenario that expects nothing proves nothing")
    people = tuple(replace(person, present=not _enters_first(person.name, timeline)) for person in people)
    return Scenario(name, path, room, people, timeline, expect)


def _enters_first(name: str, timeline: tuple[Step, ...]) -> bool:
    first = next((step for step in timeline if any(getattr(a, "person", None) == name for a in step.actions)), None)
    return first is not None and Signs(name, "enters") in first.actions


def _read_room(value: Marked) -> RoomSetup:
    found = value.words(("rt60_s", "noise_db", "array", "seed"))
    default = RoomSetup()
    return RoomSetup(
        found["rt60_s"].number(0.1, 0.8, "s") if "rt60_s" in found else default.rt60_s,
        found["noise_db"].number(-120, 0, "dB") if "noise_db" in found else default.noise_db,
        found["seed"].count(0, 2**31 - 1) if "seed" in found else default.seed,
        found["array"].one_of(ARRAYS) if "array" in found else default.array)


def _read_people(value: Marked) -> tuple[PersonSetup, ...]:
    people = []
    for name, entry in value.entries().items():
        if name in RESERVED or not NAME.fullmatch(name):
            raise value.key_of(name).wrong(
                f"'{name}' cannot be a name; expected letters, digits and _, and no word of the format")
        found = entry.words(("azimuth_deg", "distance_m", "voice", "face"), ("azimuth_deg", "distance_m"))
        people.append(PersonSetup(
            name, found["azimuth_deg"].number(-360, 360, "deg"), found["distance_m"].number(NEAREST_M, FARTHEST_M, "m"),
            found["voice"].one_of(VOICES) if "voice" in found else VOICES[0],
            found["face"].one_of(FACES) if "face" in found else FACES[0]))
    return tuple(people)
