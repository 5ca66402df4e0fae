"""What happens in a scenario and when: the steps of `timeline`, read from YAML."""
import re
from dataclasses import dataclass
from pathlib import Path

from firmware_bridge.touch import TouchKind
from robot.bodies.room.voices import VOICES, read_wav
from robot.errors import BadRequest
from robot.interaction.marked import Marked
from robot.settings import nearest

EVENTS = ("speech_start", "speech_end", "turn_candidate", "turn_committed", "duck", "release", "barge_in",
          "reply_start", "reply_end", "reply_superseded", "tool", "health")
STATES = ("robot_speaking", "robot_silent", "robot_moving")
SIGNS = ("sighs", "nods", "shakes_head", "waves", "enters", "leaves")
TOUCHES: tuple[TouchKind, ...] = ("tap", "stroke", "hold")
NOISES = ("knock", "cough", "music", "babble", "fan")
PARTS = ("microphone", "loudspeaker", "camera", "array", "array_register", "engine", "servo_13", "servo_bus", "disk",
         "board")
FAULTS = ("gone", "stall", "slow", "garbage", "hot", "overload", "full")
ENGINE_FAULTS = ("close", "late_deltas", "duplicate_reply", "never_answers")
LONGEST_S = 3600.0          # an hour of virtual time: more is a typing error
NEAREST_M, FARTHEST_M = 0.3, 10.0   # the head itself takes the first 0.1 m; rooms are not larger
LEVELS_DB = (-60.0, 40.0)           # against normal speech at the same distance
_STEP_WORDS = {"at", "after", "while", "room", "noise", "fault"}
_PERSON_WORDS = {"says", "wav", "voice", "level_db", "looks", "walks_to", "touches", *SIGNS}
RESERVED = _STEP_WORDS | _PERSON_WORDS | {"robot", "away", "never", "expect"}
_PAUSE = re.compile(r"<([^<>]*)>")


@dataclass(frozen=True, slots=True)
class When:
    """Conditions of a step; all that are given must hold."""

    at: float | None = None          # s since the start of the run
    event: str | None = None
    event_ms: float = 0.0            # after the event
    heard_ms: float | None = None    # of the running reply, at the loudspeaker
    during: str | None = None        # one of STATES


@dataclass(frozen=True, slots=True)
class Says:
    """An utterance. pieces: texts and the pauses (s) between them. wav: a recording instead of an offline voice."""

    person: str
    pieces: tuple[str | float, ...]
    voice: str | None = None         # None: the person's own
    level_db: float | None = None    # dB against normal speech; None: normal
    wav: Path | None = None

    @property
    def text(self) -> str:
        return " ".join(piece for piece in self.pieces if isinstance(piece, str))


@dataclass(frozen=True, slots=True)
class Signs:
    """Something done without words; name: one of SIGNS."""

    person: str
    name: str


@dataclass(frozen=True, slots=True)
class Looks:
    person: str
    at: str                          # robot, away or a person


@dataclass(frozen=True, slots=True)
class Touches:
    """A hand on the robot."""

    person: str
    kind: TouchKind


@dataclass(frozen=True, slots=True)
class Walks:
    person: str
    azimuth_deg: float               # base axes, positive to the left
    distance_m: float
    in_s: float


@dataclass(frozen=True, slots=True)
class Noise:
    """kind: one of NOISES. level_db against normal speech. None: as loud or as long as such a noise usually is."""

    kind: str
    level_db: float | None = None
    for_s: float | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Something fails. for_s None: for good. detail: of an engine's own faults, the close code or the count."""

    of: str
    kind: str                        # one of FAULTS or ENGINE_FAULTS
    for_s: float | None = None
    detail: int | None = None


Action = Says | Signs | Looks | Touches | Walks | Noise | Fault


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of the timeline. source: as it is written."""

    line: int
    source: str
    when: When
    actions: tuple[Action, ...]


def read_step(entry: Marked, people: tuple[str, ...], folder: Path) -> Step:
    """One entry of `timeline`; WAV paths are relative to `folder`."""
    found = entry.words(_STEP_WORDS | set(people))
    when = _read_when(entry, found)
    actions: list[Action] = []
    for word, value in found.items():
        if word in people:
            actions += _read_person(word, value, people, folder)
        elif word == "room":
            actions.append(_read_noise(value.words(("noise",), ("noise",))["noise"]))
        elif word == "noise":
            actions.append(_read_noise(value))
        elif word == "fault":
            actions.append(_read_fault(value))
    if not actions:
        raise entry.wrong("nothing happens here; expected a person, 'room', 'noise' or 'fault'")
    return Step(entry.line, entry.source, when, tuple(actions))


def _read_when(entry: Marked, found: dict[str, Marked]) -> When:
    at = found["at"].number(0, LONGEST_S, "s") if "at" in found else None
    event, event_ms, heard_ms = None, 0.0, None
    if "after" in found:
        after = found["after"].words(("event", "ms", "heard_ms"))
        if "event" in after:
            event = after["event"].one_of(EVENTS)
            event_ms = after["ms"].number(0, LONGEST_S * 1000, "ms") if "ms" in after else 0.0
        elif "ms" in after:
            raise found["after"].wrong("'ms' needs an 'event' to count from")
        if "heard_ms" in after:
            heard_ms = after["heard_ms"].number(0, LONGEST_S * 1000, "ms")
        if not after:
            raise found["after"].wrong("expected 'event' or 'heard_ms'")
    during = found["while"].one_of(STATES) if "while" in found else None
    if at is None and event is None and heard_ms is None and during is None:
        raise entry.wrong("when? expected 'at', 'after' or 'while'")
    return When(at, event, event_ms, heard_ms, during)


def _read_person(name: str, value: Marked, people: tuple[str, ...], folder: Path) -> list[Action]:
    """The actions of one person in one step; a sign may stand alone: `anna: nods`."""
    if value.kind == "str":
        return [Signs(name, value.one_of(SIGNS))]
    if value.kind == "map" and "pause_s" in value.entries():
        raise value.key_of("pause_s").wrong("a pause is written inside the text: \"one <0.8> two\"")
    found = value.words(_PERSON_WORDS)
    actions: list[Action] = [Signs(name, word) for word in SIGNS if word in found and found[word].true()]
    if "looks" in found:
        actions.append(Looks(name, _looked_at(name, found["looks"], people)))
    if "touches" in found:
        actions.append(Touches(name, found["touches"].one_of(TOUCHES)))  # type: ignore[arg-type]
    if "walks_to" in found:
        actions.append(_read_walk(name, found["walks_to"]))
    if "says" in found or "wav" in found:
        actions.append(_read_says(name, found, folder))
    elif "voice" in found or "level_db" in found:
        raise value.wrong("'voice' and 'level_db' need 'says' or 'wav'")
    if not actions:
        raise value.wrong(f"what does {name} do? expected one of {', '.join(sorted(_PERSON_WORDS))}")
    return actions


def _looked_at(name: str, value: Marked, people: tuple[str, ...]) -> str:
    target = value.one_of(("robot", "away", *people))
    if target == name:
        raise value.wrong(f"{name} cannot look at {name}")
    return target


def _read_walk(name: str, value: Marked) -> Walks:
    found = value.words(("azimuth_deg", "distance_m", "in_s"), ("azimuth_deg", "distance_m", "in_s"))
    return Walks(name, found["azimuth_deg"].number(-360, 360, "deg"),
                 found["distance_m"].number(NEAREST_M, FARTHEST_M, "m"), found["in_s"].number(0.1, LONGEST_S, "s"))


def _read_says(name: str, found: dict[str, Marked], folder: Path) -> Says:
    pieces = _pieces(found["says"]) if "says" in found else ()
    wav = None
    if "wav" in found:
        wav = folder / found["wav"].words_said()
        try:
            read_wav(wav)
        except BadRequest as error:
            raise found["wav"].wrong(str(error)) from error
        if any(isinstance(piece, float) for piece in pieces):
            raise found["says"].wrong("a recording has its own pauses; expected a text without '<s>'")
    return Says(name, pieces, found["voice"].one_of(VOICES) if "voice" in found else None,
                found["level_db"].number(*LEVELS_DB, "dB") if "level_db" in found else None, wav)


def _pieces(value: Marked) -> tuple[str | float, ...]:
    """A text split at its pauses: "one <0.8> two" is ("one", 0.8, "two")."""
    parts = _PAUSE.split(value.words_said())
    pieces: list[str | float] = []
    for i, part in enumerate(parts):
        if i % 2:
            pieces.append(_pause_s(value, part))
        elif part.strip():
            pieces.append(part.strip())
    if not any(isinstance(piece, str) for piece in pieces):
        raise value.wrong("expected words besides the pauses")
    return tuple(pieces)


def _pause_s(value: Marked, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.0 < seconds <= 60.0:  # a NaN compares false
        raise value.wrong(f"expected a pause of 0 to 60 s, as \"one <0.8> two\", found <{text}>")
    return seconds


def _read_noise(value: Marked) -> Noise:
    found = value.words(("kind", "level_db", "for_s"), ("kind",))
    return Noise(found["kind"].one_of(NOISES),
                 found["level_db"].number(*LEVELS_DB, "dB") if "level_db" in found else None,
                 found["for_s"].number(0.01, LONGEST_S, "s") if "for_s" in found else None)


def _read_fault(value: Marked) -> Fault:
    found = value.words(("of", "kind", "for_s", *ENGINE_FAULTS), ("of",))
    part = found["of"].one_of(PARTS)
    for_s = found["for_s"].number(0.01, LONGEST_S, "s") if "for_s" in found else None
    kinds = [word for word in ("kind", *ENGINE_FAULTS) if word in found]
    if len(kinds) != 1:
        raise value.wrong(f"expected one of kind, {', '.join(ENGINE_FAULTS)}, found {' and '.join(kinds) or 'none'}")
    word = kinds[0]
    if word == "kind":
        return Fault(part, found["kind"].one_of(FAULTS), for_s)
    if part != "engine":
        raise value.key_of(word).wrong(f"'{word}' is a fault of an engine, not of {part}")
    return Fault(part, word, for_s, _detail(word, found[word]))


def _detail(word: str, value: Marked) -> int | None:
    """The number behind an engine's own fault."""
    if word == "close":
        return value.count(1000, 4999)  # the range of WebSocket close codes, RFC 6455 section 7.4.2
    if value.kind == "int":
        return value.count(1, 10000)
    value.true()
    return None


def known_person(value: Marked, people: tuple[str, ...]) -> str:
    """The name of somebody in `people`."""
    name = value.words_said()
    if name not in people:
        raise value.wrong(f"nobody is called '{name}'; {nearest(name, people) if people else 'there are no people'}")
    return name
