"""What a scenario demands: the entries of `expect`, read from YAML."""
import re
from dataclasses import dataclass

from robot.interaction.marked import Marked
from robot.interaction.timeline import EVENTS, LONGEST_S, PARTS, known_person

LEVELS = ("ok", "degraded", "gone")
METRICS = ("stale_blocks", "first_audio_ms", "stop_latency_ms", "duck_latency_ms", "self_interruptions", "jerk_deg_s3",
           "tick_p99_ms")
CUES = ("nods", "shakes_head", "waves", "looks_away", "long_pause", "sighs", "speaks_fast", "speaks_slowly",
        "hesitates", "ends_high", "sounds_breathy")       # of dialogue.cues
RELATIONS = ("equals", "below", "above", "p95_below")
FACING_DEG = 10.0   # default tolerance: the angle within which a face is still looked at by people's judgement
_WINDOW = ("within", "of", "onset_of", "between")
_COMPANIONS = {     # the words that may stand beside each word of expectation
    "event": _WINDOW, "robot_says": ("matching", *_WINDOW), "silent_within_ms": ("of", "onset_of"),
    "keeps_talking_through": (), "head_faces": ("tolerance_deg", *_WINDOW), "head_still": _WINDOW,
    "tool": ("arguments", "times", *_WINDOW), "history": (), "metric": RELATIONS, "health": _WINDOW,
    "cue": _WINDOW}
_DENIABLE = ("event", "robot_says", "head_faces", "tool", "health", "cue")


@dataclass(frozen=True, slots=True)
class Moment:
    """The end (or the onset) of the K-th utterance of the timeline, counted from 1."""

    says: int
    onset: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """When an expectation counts: within_s after a moment, between two times (s), or always."""

    within_s: float | None = None
    of: Moment | None = None
    between: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Happens:
    event: str


@dataclass(frozen=True, slots=True)
class RobotSays:
    """Heard from the loudspeaker. None: anything at all."""

    pattern: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class FallsSilent:
    within_ms: float
    of: Moment


@dataclass(frozen=True, slots=True)
class KeepsTalking:
    """Playback goes on through the K-th utterance (it may be lowered)."""

    through: int


@dataclass(frozen=True, slots=True)
class HeadFaces:
    """The head's x axis points at a person, or at an azimuth (deg, base axes)."""

    target: str | float
    tolerance_deg: float = FACING_DEG


@dataclass(frozen=True, slots=True)
class HeadStill:
    pass


@dataclass(frozen=True, slots=True)
class CallsTool:
    """times None: at least once. arguments: those named must be equal as text, others are free."""

    name: str
    arguments: tuple[tuple[str, str], ...] = ()
    times: int | None = None


@dataclass(frozen=True, slots=True)
class History:
    """What the robot remembers of the talk at the end."""

    matching: re.Pattern[str] | None = None
    lacks: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    name: str                # one of METRICS
    relation: str            # one of RELATIONS
    value: float


@dataclass(frozen=True, slots=True)
class HealthIs:
    of: str
    level: str | None


@dataclass(frozen=True, slots=True)
class Cued:
    """What somebody did without words was handed to the engine."""

    name: str                # one of CUES


Check = (Happens | RobotSays | FallsSilent | KeepsTalking | HeadFaces | HeadStill | CallsTool | History | Metric
         | HealthIs | Cued)


@dataclass(frozen=True, slots=True)
class Expectation:
    """One entry of `expect`. never: it must not come true. source: as it is written."""

    line: int
    source: str
    check: Check
    window: Window = Window()
    never: bool = False


def read_expectation(entry: Marked, people: tuple[str, ...], utterances: int) -> Expectation:
    """One entry of `expect`; `utterances`: how many the timeline has."""
    found = entry.entries()
    never = found.pop("never", None)
    known = {word for companions in _COMPANIONS.values() for word in companions} | set(_COMPANIONS)
    entry.words(known | {"never"})
    if never is not None:
        found = _denied(never, found)
    checks = [word for word in found if word in _COMPANIONS]
    if len(checks) != 1:
        raise entry.wrong(f"expected one of {', '.join(_COMPANIONS)}, found {' and '.join(checks) or 'none'}")
    word = checks[0]
    if never is not None and word not in _DENIABLE:
        raise never.wrong(f"'{word}' cannot be denied; expected one of {', '.join(_DENIABLE)}")
    for other in found:
        if other not in (word, *_COMPANIONS[word]):
            raise found[other].wrong(f"'{other}' does not go with '{word}'; "
                                     f"expected {', '.join(_COMPANIONS[word]) or 'nothing else'}")
    window = _read_window(entry, found, utterances) if "within" in _COMPANIONS[word] else Window()
    check = _read_check(word, entry, found, people, utterances)
    return Expectation(entry.line, entry.source, check, window, never is not None)


def _denied(never: Marked, beside: dict[str, Marked]) -> dict[str, Marked]:
    """The entries of `never: {robot_says: ...}`, of `never: robot_says, matching: ...` and of `never: duck` alike."""
    if never.kind == "map":
        found = never.words({*_DENIABLE, "matching", "tolerance_deg", "arguments", "times", *_WINDOW})
        for word in beside:
            if word in found:
                raise beside[word].wrong(f"'{word}' comes twice")
        found |= beside
    else:
        word = never.one_of(("robot_says", *EVENTS))
        found = ({"robot_says": never} if word == "robot_says" else {"event": never}) | beside
    return found


def _read_window(entry: Marked, found: dict[str, Marked], utterances: int) -> Window:
    if "between" in found:
        if len({"within", "of", "onset_of"} & set(found)):
            raise found["between"].wrong("expected either 'between' or 'within'")
        ends = found["between"].items()
        if len(ends) != 2:
            raise found["between"].expected("[from, to] in s")
        low, high = (end.number(0, LONGEST_S, "s") for end in ends)
        if low >= high:
            raise found["between"].expected("[from, to] in s with from before to")
        return Window(between=(low, high))
    of = _read_moment(found, utterances)
    if (of is None) != ("within" not in found):
        raise entry.wrong("'within' needs 'of' or 'onset_of', and they need 'within'")
    return Window() if of is None else Window(found["within"].number(0.001, LONGEST_S, "s"), of)


def _read_moment(found: dict[str, Marked], utterances: int) -> Moment | None:
    if "of" in found and "onset_of" in found:
        raise found["of"].wrong("expected either 'of' or 'onset_of'")
    for word in ("of", "onset_of"):
        if word in found:
            return Moment(_utterance(found[word], utterances), word == "onset_of")
    return None


def _utterance(value: Marked, utterances: int) -> int:
    number = value.words(("says",), ("says",))["says"]
    if not utterances:
        raise number.wrong("nobody says anything in this timeline")
    return number.count(1, utterances)


def _read_check(word: str, entry: Marked, found: dict[str, Marked], people: tuple[str, ...], utterances: int) -> Check:
    value = found[word]
    match word:
        case "event":
            return Happens(value.one_of(EVENTS))
        case "robot_says":
            return RobotSays(_read_said(value, found.get("matching")))
        case "silent_within_ms":
            of = _read_moment(found, utterances)
            if of is None:
                raise entry.wrong("'silent_within_ms' needs 'onset_of' or 'of'")
            return FallsSilent(value.number(1, 60000, "ms"), of)
        case "keeps_talking_through":
            return KeepsTalking(_utterance(value, utterances))
        case "head_faces":
            return _read_faced(found, people)
        case "head_still":
            value.true()
            return HeadStill()
        case "tool":
            return _read_tool(found)
        case "history":
            return _read_history(value)
        case "metric":
            return _read_metric(entry, found)
        case "cue":
            return Cued(value.one_of(CUES))
        case _:
            health = value.words(("of", "level"), ("of",))
            return HealthIs(health["of"].one_of(PARTS),
                            health["level"].one_of(LEVELS) if "level" in health else None)


def _read_said(value: Marked, beside: Marked | None) -> re.Pattern[str] | None:
    """The pattern of `robot_says: {matching: REGEX}`; of `never: robot_says` the one `beside` it, or none."""
    if not value.name.endswith("robot_says"):
        return beside.pattern() if beside else None
    if beside is not None:
        raise beside.wrong("expected it inside, as robot_says: {matching: REGEX}")
    return value.words(("matching",), ("matching",))["matching"].pattern()


def _read_faced(found: dict[str, Marked], people: tuple[str, ...]) -> HeadFaces:
    value = found["head_faces"]
    if value.kind == "map":
        value = value.words(("azimuth_deg",), ("azimuth_deg",))["azimuth_deg"]
    target = known_person(value, people) if value.kind == "str" else value.number(-360, 360, "deg")
    tolerance = found["tolerance_deg"].number(0.1, 180, "deg") if "tolerance_deg" in found else FACING_DEG
    return HeadFaces(target, tolerance)


def _read_history(value: Marked) -> History:
    parts = {word: part.pattern() for word, part in value.words(("matching", "lacks")).items()}
    if not parts:
        raise value.wrong("expected 'matching' or 'lacks'")
    return History(**parts)


def _read_tool(found: dict[str, Marked]) -> CallsTool:
    arguments = []
    for name, value in (found["arguments"].entries() if "arguments" in found else {}).items():
        if value.kind not in ("str", "int", "float", "bool"):
            raise value.expected("a text or a number")
        arguments.append((name, str(value.node.value)))
    times = found["times"].count(0, 1000) if "times" in found else None
    return CallsTool(found["tool"].words_said(), tuple(arguments), times)


def _read_metric(entry: Marked, found: dict[str, Marked]) -> Metric:
    name = found["metric"].one_of(METRICS)
    relations = [word for word in RELATIONS if word in found]
    if len(relations) != 1:
        raise entry.wrong(f"expected one of {', '.join(RELATIONS)}, found {' and '.join(relations) or 'none'}")
    return Metric(name, relations[0], found[relations[0]].number())
