"""Figures of a run, by the names of CONTRACTS.md. A figure is a list: one value for each time that it was measured."""
import numpy as np

from robot.interaction.trace import Trace
from robot.tick import TICK_S, Event

EXPLAINED_S = 0.6     # after the end of a sound: a detector decides late, by its window and the room's reverberation
JERK_STRIDE = 2       # ticks: jerk is measured on 50 Hz samples


def measure(name: str, trace: Trace) -> list[float]:
    """All values of the metric `name`; empty when there was nothing to measure."""
    return {"stale_blocks": _stale_blocks, "first_audio_ms": _first_audio, "stop_latency_ms": _stop_latency,
            "duck_latency_ms": _duck_latency, "self_interruptions": _self_interruptions, "jerk_deg_s3": _jerk,
            "tick_p99_ms": _tick_p99}[name](trace)


def _stale_blocks(trace: Trace) -> list[float]:
    return [float(trace.stale_blocks)]


def _first_audio(trace: Trace) -> list[float]:
    """From the end of an utterance to the first sound of an answer begun after it, before anybody speaks again."""
    values = []
    said = sorted(trace.utterances.values(), key=lambda utterance: utterance.onset)
    sounding = trace.sounding()
    for i, utterance in enumerate(said):
        until = min((other.onset for other in said[i + 1:] if other.onset > utterance.end), default=trace.end)
        rows = slice(round(utterance.end / TICK_S), round(until / TICK_S))
        before = set(trace.generation[round(utterance.onset / TICK_S):rows.start].tolist())
        fresh = sounding[rows] & ~np.isin(trace.generation[rows], [0, *before])
        if fresh.any():
            values.append(float(np.argmax(fresh)) * TICK_S * 1000)
    return values


def _stop_latency(trace: Trace) -> list[float]:
    """From the true onset of an interruption to silence at the loudspeaker."""
    values = []
    for event in trace.named("barge_in"):
        onset = onset_behind(trace, event)
        silence = None if onset is None else trace.silence_from(event.t)
        if onset is not None and silence is not None:
            values.append((silence - onset) * 1000)
    return values


def _duck_latency(trace: Trace) -> list[float]:
    """From the true onset of a voice over the robot's to the first duck for it."""
    first: dict[float, float] = {}
    for event in trace.named("duck"):
        onset = onset_behind(trace, event)
        if onset is not None:
            first.setdefault(onset, event.t - onset)
    return [seconds * 1000 for seconds in first.values()]


def _self_interruptions(trace: Trace) -> list[float]:
    """Stops that neither a person nor a noise of the scenario explains."""
    unexplained = [event for event in trace.named("barge_in") if onset_behind(trace, event) is None
                   and not any(low <= event.t <= high + EXPLAINED_S for low, high in trace.noises)]
    return [float(len(unexplained))]


def _jerk(trace: Trace) -> list[float]:
    """Largest joint jerk commanded, deg/s^3, by third differences of 50 Hz samples."""
    samples = np.degrees(trace.goals[::JERK_STRIDE])
    if len(samples) < 4:
        return []
    return [float(np.nanmax(np.abs(np.diff(samples, 3, axis=0)))) / (JERK_STRIDE * TICK_S) ** 3]


def _tick_p99(trace: Trace) -> list[float]:
    return [float(np.percentile(trace.tick_ms, 99))] if len(trace.tick_ms) else []


def onset_behind(trace: Trace, event: Event) -> float | None:
    """True onset (s) of the newest utterance that can have caused an event, None when there is none."""
    causes = [u.onset for u in trace.utterances.values() if u.onset <= event.t <= u.end + EXPLAINED_S]
    return max(causes, default=None)
