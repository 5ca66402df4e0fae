"""Whether an expectation came true in a run, and what happened instead."""
from dataclasses import dataclass

import numpy as np

from robot.interaction.expectations import (
    CallsTool,
    Cued,
    Expectation,
    FallsSilent,
    Happens,
    HeadFaces,
    HeadStill,
    HealthIs,
    History,
    KeepsTalking,
    Metric,
    Moment,
    RobotSays,
)
from robot.interaction.measures import measure
from robot.interaction.trace import Trace, fact
from robot.tick import TICK_S

HOLD_S = 0.2         # a look that is shorter only passes by; fixations are rarely shorter (Rayner 1998)
STILL_DEG = 1.0      # peak to peak; breathing alone moves the line of sight more
LONGEST_PAUSE_S = 1.0  # without sound in a running reply: longer is a stop, whatever the events say


@dataclass(frozen=True, slots=True)
class Judgement:
    """ok, and what happened; t: s, the time it is about, None for the whole run."""

    ok: bool
    happened: str
    t: float | None = None


def judge(expectation: Expectation, trace: Trace) -> Judgement:
    """One expectation on one run."""
    span = _span(expectation, trace)
    if isinstance(span, Judgement):
        return span
    found = _found(expectation, trace, *span)
    if not expectation.never:
        return found
    return Judgement(not found.ok, found.happened, found.t)


def _span(expectation: Expectation, trace: Trace) -> tuple[float, float] | Judgement:
    """(from, to) in s of the window, or why there is none."""
    window = expectation.window
    if window.between is not None:
        if window.between[0] >= trace.end:
            return Judgement(False, f"the run ended before {window.between[0]:g} s", trace.end)
        return window.between
    if window.of is None or window.within_s is None:
        return 0.0, trace.end
    start = _moment(window.of, trace)
    if start is None:
        return Judgement(False, f"utterance {window.of.says} was never said")
    return start, start + window.within_s


def _moment(moment: Moment, trace: Trace) -> float | None:
    utterance = trace.utterances.get(moment.says)
    if utterance is None:
        return None
    return utterance.onset if moment.onset else utterance.end


def _found(expectation: Expectation, trace: Trace, low: float, high: float) -> Judgement:
    match expectation.check:
        case Happens(name):
            return _happens(name, trace, low, high)
        case RobotSays():
            return _says(expectation.check, trace, low, high)
        case FallsSilent():
            return _falls_silent(expectation.check, trace)
        case KeepsTalking():
            return _keeps_talking(expectation.check, trace)
        case HeadFaces():
            whole = expectation.window.between is not None
            return _faces(expectation.check, trace, low, high, whole and not expectation.never)
        case HeadStill():
            return _still(trace, low, high)
        case CallsTool():
            return _calls(expectation.check, trace, low, high, expectation.never)
        case History():
            return _remembers(expectation.check, trace)
        case Metric():
            return _measured(expectation.check, trace)
        case HealthIs():
            return _health(expectation.check, trace, low, high)
        case Cued(name):
            return _cued(name, trace, low, high)


def _happens(name: str, trace: Trace, low: float, high: float) -> Judgement:
    times = [event.t for event in trace.named(name)]
    inside = [t for t in times if low <= t <= high]
    if inside:
        return Judgement(True, f"{name} came at {inside[0]:.2f} s", inside[0])
    nearest = min(times, key=lambda t: min(abs(t - low), abs(t - high)), default=None)
    came = "never came" if nearest is None else f"came at {', '.join(f'{t:.2f}' for t in times[:5])} s"
    return Judgement(False, f"{name} {came}, not in {low:.2f} to {high:.2f} s", nearest)


def _says(check: RobotSays, trace: Trace, low: float, high: float) -> Judgement:
    replies: dict[int, list] = {}
    for word in trace.words:
        if low <= word.t <= high:
            replies.setdefault(word.generation, []).append(word)
    for words in replies.values():
        text = " ".join(word.text for word in words)
        if check.pattern is None:
            return Judgement(True, f"the robot said \"{text}\"", words[0].t)
        if match := check.pattern.search(text):
            at = words[len(text[:match.start()].split()) if match.start() else 0].t
            return Judgement(True, f"the robot said \"{text}\"", at)
    spoken = " / ".join(" ".join(word.text for word in words) for words in replies.values())
    return Judgement(False, f"the robot said \"{spoken}\"" if spoken else "the robot said nothing")


def _falls_silent(check: FallsSilent, trace: Trace) -> Judgement:
    start = _moment(check.of, trace)
    if start is None:
        return Judgement(False, f"utterance {check.of.says} was never said")
    if not trace.speaking_at(start):
        return Judgement(False, "the robot was not speaking", start)
    silence = trace.silence_from(start)
    if silence is None:
        return Judgement(False, "the robot never fell silent", start)
    late = (silence - start) * 1000
    return Judgement(late <= check.within_ms + 1e-6, f"silent after {late:.0f} ms", silence)


def _keeps_talking(check: KeepsTalking, trace: Trace) -> Judgement:
    utterance = trace.utterances.get(check.through)
    if utterance is None:
        return Judgement(False, f"utterance {check.through} was never said")
    if not trace.speaking_at(utterance.onset):
        return Judgement(False, "the robot was not speaking", utterance.onset)
    until = utterance.end + LONGEST_PAUSE_S
    ends = [e.t for e in trace.named("reply_end") if utterance.onset <= e.t <= until]
    for name in ("barge_in", "reply_superseded"):
        for event in trace.named(name):
            if utterance.onset <= event.t <= until:
                return Judgement(False, f"{name} stopped it", event.t)
    silence = trace.silence_from(utterance.onset, LONGEST_PAUSE_S)
    if silence is not None and silence <= until and not ends:
        return Judgement(False, f"silence {silence - utterance.onset:.2f} s after the onset", silence)
    return Judgement(True, "it went on", utterance.end)


def _faces(check: HeadFaces, trace: Trace, low: float, high: float, throughout: bool) -> Judgement:
    """Azimuth of the line of sight. Within a time: looks there for at least HOLD_S; between two times: all the time."""
    rows = slice(round(low / TICK_S), round(high / TICK_S) + 1)
    sight = trace.sight[rows, 0]
    target = trace.places[check.target][rows] if isinstance(check.target, str) else np.radians(check.target)
    error = np.abs(np.degrees(np.angle(np.exp(1j * (sight - target)))))
    error = np.where(np.isnan(error), 180.0, error)
    if not len(error):
        return Judgement(False, "the run was over", trace.end)
    inside = error <= check.tolerance_deg
    if throughout:
        worst = int(np.argmax(error))
        return Judgement(bool(inside.all()), f"off by {error[worst]:.1f} deg at worst", low + worst * TICK_S)
    needed = min(round(HOLD_S / TICK_S), len(inside))
    runs = np.convolve(inside, np.ones(needed), "valid")
    if (runs >= needed - 0.5).any():
        first = low + float(np.argmax(runs >= needed - 0.5)) * TICK_S
        return Judgement(True, f"faced it {first - low:.2f} s into the window", first)
    best = int(np.argmin(error))
    return Judgement(False, f"nearest {error[best]:.1f} deg off, {error[-1]:.1f} deg at the end of the window",
                     low + best * TICK_S)


def _still(trace: Trace, low: float, high: float) -> Judgement:
    sight = np.degrees(np.unwrap(trace.sight[round(low / TICK_S):round(high / TICK_S) + 1], axis=0))
    if not len(sight):
        return Judgement(False, "the run was over", trace.end)
    moved = float(np.ptp(sight, axis=0).max())
    return Judgement(moved <= STILL_DEG, f"the line of sight moved by {moved:.2f} deg", low)


def _calls(check: CallsTool, trace: Trace, low: float, high: float, never: bool) -> Judgement:
    calls = [event for event in trace.named("tool") if low <= event.t <= high]
    same = [e for e in calls if str(fact(e, "name")) == check.name and _has(_arguments(fact(e, "arguments")), check)]
    ok = len(same) == check.times if check.times is not None else bool(same)
    told = "; ".join(f"{fact(e, 'name')}({', '.join(f'{k}={v}' for k, v in _arguments(fact(e, 'arguments')).items())})"
                     f" at {e.t:.2f} s" for e in calls)
    return Judgement(ok, f"{len(same)} such calls of {len(calls)}: {told}" if calls else "no tool was called",
                     same[0].t if same else calls[0].t if calls else None)


def _arguments(pairs: object) -> dict[str, str]:
    return {str(key): str(value) for key, value in pairs} if isinstance(pairs, tuple) else {}


def _has(arguments: dict[str, str], check: CallsTool) -> bool:
    return all(arguments.get(key, "").casefold() == value.casefold() for key, value in check.arguments)


def _remembers(check: History, trace: Trace) -> Judgement:
    text = "\n".join(trace.history)
    missing = check.matching is not None and not check.matching.search(text)
    unwanted = check.lacks.search(text) if check.lacks is not None else None
    told = f"memory holds \"{' / '.join(trace.history)}\"" if trace.history else "memory is empty"
    return Judgement(not missing and unwanted is None, told, trace.end)


def _measured(check: Metric, trace: Trace) -> Judgement:
    """equals, below and above hold for every value; p95_below for their 95th percentile."""
    values = np.array(measure(check.name, trace))
    if not len(values):
        return Judgement(False, f"{check.name} could not be measured: nothing of the kind happened")
    p95 = float(np.percentile(values, 95))
    ok = {"equals": bool((values == check.value).all()), "below": bool((values < check.value).all()),
          "above": bool((values > check.value).all()), "p95_below": p95 < check.value}[check.relation]
    shown = ", ".join(f"{v:.4g}" for v in values[:8])
    if check.relation == "p95_below":
        shown += f"; 95th percentile {p95:.4g}"
    return Judgement(ok, f"{check.name} was {shown}")


def _health(check: HealthIs, trace: Trace, low: float, high: float) -> Judgement:
    told = [e for e in trace.named("health") if fact(e, "of") == check.of and low <= e.t <= high]
    for event in told:
        if check.level is None or fact(event, "level") == check.level:
            return Judgement(True, f"{check.of} was told to be {fact(event, 'level')}", event.t)
    levels = ", ".join(f"{fact(e, 'level')} at {e.t:.2f} s" for e in told)
    return Judgement(False, f"{check.of}: {levels}" if levels else f"nothing was told of {check.of}")


def _cued(name: str, trace: Trace, low: float, high: float) -> Judgement:
    told = [event for event in trace.named("cue") if low <= event.t <= high]
    for event in told:
        if fact(event, "cue") == name:
            return Judgement(True, f"{name} was handed on at {event.t:.2f} s", event.t)
    others = ", ".join(f"{fact(e, 'cue')} at {e.t:.2f} s" for e in told)
    return Judgement(False, f"of what people did without words only {others}" if others else "no cue was handed on")
