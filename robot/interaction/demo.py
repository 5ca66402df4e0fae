"""The behaviours of the demo, judged on what truly happened, and the figures that it prints."""
import re
from dataclasses import dataclass
from importlib.resources import as_file, files

import numpy as np

from robot.interaction.measures import measure
from robot.interaction.scenario import Scenario, read_scenario
from robot.interaction.trace import Trace, fact
from robot.tick import TICK_S

CALL, STORY, MURMUR, CORRECTION = 1, 2, 3, 4      # utterances of demo.yaml by number
FACED = np.radians(10.0)      # rad, issue 2
FACED_WITHIN_S = 1.8          # s after the end of the call, issue 2
STORY_S = 60.0                # s of telling before the interruption
SILENT_WITHIN_S = 1.0         # s from the onset of the interruption to silence, in any single run
ANSWER_WITHIN_S = 5.0         # s after the correction in which the new answer must be heard
CUE_WITHIN_S = 2.5            # s after the head shake begins: the gesture itself takes 1.3 s


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One thing that the demo is there to show."""

    name: str
    ok: bool
    happened: str


def demo_scenario() -> Scenario:
    """The scene, from the file beside this one."""
    with as_file(files("robot.interaction").joinpath("demo.yaml")) as path:
        return read_scenario(path)


def behaviours(trace: Trace) -> tuple[Behaviour, ...]:
    """(a) to (e) of the demo."""
    return (_turns_to_the_call(trace), _tells_undisturbed(trace), _gives_way(trace), _ignores_the_murmur(trace),
            _sees_the_head_shake(trace))


def facing_after(trace: Trace, number: int) -> float | None:
    """Seconds from the end of an utterance until the head faces its speaker; None: never."""
    said = trace.utterances.get(number)
    if said is None:
        return None
    start = round(said.onset / TICK_S)
    error = np.abs((trace.sight[start:, 0] - trace.places[said.person][start:] + np.pi) % (2 * np.pi) - np.pi)
    faced = np.flatnonzero(error <= FACED)
    return float((start + faced[0]) * TICK_S - said.end) if len(faced) else None


def _turns_to_the_call(trace: Trace) -> Behaviour:
    name = "turns to a call from behind, then answers"
    after, said = facing_after(trace, CALL), trace.utterances.get(CALL)
    answer = next((e.t for e in trace.named("reply_start")), None)
    if after is None or said is None or answer is None:
        return Behaviour(name, False, "it never faced the caller" if after is None else "it never answered")
    heard = trace.believed[round(said.onset / TICK_S):round(said.end / TICK_S)]
    undecided = bool(np.isfinite(heard[:, 1]).any())
    ok = undecided and after <= FACED_WITHIN_S and answer >= said.end + after - TICK_S
    return Behaviour(name, ok, f"front or behind {'was undecided at first' if undecided else 'was never undecided'}, "
                               f"faced {after:+.2f} s after the call, answered {answer - said.end:+.2f} s after it")


def _tells_undisturbed(trace: Trace) -> Behaviour:
    name = "tells a story for a minute, breathing and swaying, undisturbed by its own voice and motors"
    story, correction = trace.utterances.get(STORY), trace.utterances.get(CORRECTION)
    if story is None or correction is None:
        return Behaviour(name, False, "the story did not last until the interruption")
    stops = [e.t for e in trace.named("barge_in") if story.end < e.t < correction.onset]
    begins = next((e.t for e in trace.named("reply_start") if e.t > story.end), correction.onset)
    told = correction.onset - begins
    ducks = [e.t for e in trace.named("duck") if begins < e.t < correction.onset]
    return Behaviour(name, not stops and told >= STORY_S,
                     f"told for {told:.0f} s, {len(stops)} stops, {len(ducks)} short ducks")


def _gives_way(trace: Trace) -> Behaviour:
    name = "stops at once for 'no wait, I meant ...' and answers the new question"
    said = trace.utterances.get(CORRECTION)
    if said is None:
        return Behaviour(name, False, "nobody interrupted it")
    silent = trace.silence_from(said.onset)
    answer = " ".join(w.text for w in trace.words if said.end < w.t <= said.end + ANSWER_WITHIN_S)
    within = None if silent is None else silent - said.onset
    right = re.search(r"o'?clock|it is|it's|\btime\b", answer, re.IGNORECASE) is not None
    ok = within is not None and within <= SILENT_WITHIN_S and right and trace.stale_blocks == 0
    silence = "never silent" if within is None else f"silent {within * 1000:.0f} ms after the onset"
    return Behaviour(name, ok, f"{silence}, {trace.stale_blocks} stale blocks, answered {answer!r}")


def _ignores_the_murmur(trace: Trace) -> Behaviour:
    name = "a 'mm-hm' does not stop it"
    said = trace.utterances.get(MURMUR)
    if said is None:
        return Behaviour(name, False, "nobody murmured")
    stops = [e for e in trace.named("barge_in") if said.onset <= e.t <= said.end + 1.0]
    speaking = trace.speaking_at(said.end + 0.8)
    return Behaviour(name, not stops and speaking, "it went on" if speaking and not stops else "it stopped")


def _sees_the_head_shake(trace: Trace) -> Behaviour:
    name = "a head shake during its answer reaches the engine"
    cues = [e for e in trace.named("cue") if fact(e, "cue") == "shakes_head"]
    ok = bool(cues) and any(trace.speaking_at(e.t) for e in cues)
    return Behaviour(name, ok, "; ".join(f"cue at {e.t:.2f} s" for e in cues) or "no cue")


def figures(trace: Trace) -> list[str]:
    """What was measured, one line each."""
    named = (("onset of the interruption to silence", "stop_latency_ms", "ms"),
             ("onset to duck", "duck_latency_ms", "ms"), ("last word to first audio", "first_audio_ms", "ms"),
             ("blocks of a superseded reply played", "stale_blocks", ""),
             ("stopped by itself", "self_interruptions", "times"), ("largest joint jerk", "jerk_deg_s3", "deg/s3"))
    lines = []
    for text, name, unit in named:
        values = measure(name, trace)
        told = ", ".join(f"{value:.0f}" for value in values) if values else "nothing to measure"
        lines.append(f"{text:38} {told} {unit if values else ''}".rstrip())
    return lines
