"""The project's own figures, each from whole runs in the simulated room. Nothing here decides pass or fail."""
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robot.interaction.demo import CALL, behaviours, demo_scenario, facing_after
from robot.interaction.measures import measure
from robot.interaction.runner import Run, run_scenario
from robot.interaction.scenario import Scenario, read_scenario
from robot.runtime import GuardedMind, Observer

STAGES = ("ears", "eyes", "people", "dialogue", "mover")
STORY_S = 31.0        # of the scripted story with its question and the pause before
PLACES_DEG = (20, -60, 100, 0, 150, -120, 40)     # where the listener walks during the stories: the head follows
QUESTIONS = ("what is your name?", "what time is it?", "who is there?", "how are you?", "what can you do?",
             "tell me about yourself.", "what day is it today?", "do you like music?")


class TimedStage:
    """A stage whose `step` is timed; everything else is the stage's own."""

    def __init__(self, stage: Any, step: Callable[..., Any]):
        self._stage, self.step = stage, step

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stage, name)


@dataclass
class Stopwatch:
    """Times every call of the mind's stages."""

    spent: dict[str, list[float]] = field(default_factory=dict)

    def watch(self, mind: GuardedMind) -> Iterable[Observer]:
        for name in STAGES:
            stage = getattr(mind.mind, name)
            setattr(mind.mind, name, TimedStage(stage, self._timed(name, stage.step)))
        mind.mind.tick = self._timed("tick", mind.mind.tick)  # type: ignore[method-assign]
        return ()

    def _timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        spent = self.spent.setdefault(name, [])

        def timed(*arguments: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*arguments)
            finally:
                spent.append(time.perf_counter() - began)
        return timed


def scenario_of(text: str) -> Scenario:
    """A scenario written in place."""
    with tempfile.TemporaryDirectory(prefix="talkover-") as folder:
        path = Path(folder) / "figures.yaml"
        path.write_text(text, encoding="utf-8")
        return read_scenario(path)


def stories(minutes: float, seed: int) -> Scenario:
    """Somebody asks for stories and walks around while listening: the robot speaks and moves for `minutes`."""
    steps = []
    for number in range(max(1, round(minutes * 60 / STORY_S))):
        when = "at: 1.0" if number == 0 else "while: robot_silent, after: {event: reply_end, ms: 700}"
        steps.append(f'  - {{{when}, anna: {{says: "please tell me a long story"}}}}')
        for step in range(5):
            place = PLACES_DEG[(5 * number + step) % len(PLACES_DEG)]
            steps.append(f"  - {{while: robot_speaking, after: {{heard_ms: {4000 * (step + 1)}}}, "
                         f"anna: {{walks_to: {{azimuth_deg: {place}, distance_m: 1.3, in_s: 4}}}}}}")
    return scenario_of("scenario: stories\n"
                       f"room: {{rt60_s: {0.25 + 0.1 * (seed % 4)}, seed: {seed}}}\n"
                       "people:\n  anna: {azimuth_deg: 20, distance_m: 1.3, voice: slt, face: astronaut}\n"
                       "timeline:\n" + "\n".join(steps) + "\nexpect:\n  - {metric: stale_blocks, equals: 0}\n")


def questions() -> Scenario:
    """One question after the other."""
    steps = [f'  - {{{"at: 1.0" if i == 0 else "while: robot_silent, after: {event: reply_end, ms: 900}"}, '
             f'anna: {{says: "{text}"}}}}' for i, text in enumerate(QUESTIONS * 2)]
    return scenario_of("scenario: questions\nroom: {rt60_s: 0.35, seed: 5}\n"
                       "people:\n  anna: {azimuth_deg: 10, distance_m: 1.1, voice: slt, face: astronaut}\n"
                       "timeline:\n" + "\n".join(steps) + "\nexpect:\n  - {metric: stale_blocks, equals: 0}\n")


def tick_figures() -> list[str]:
    """Compute time of a tick, all stages on, and the speed of the whole simulation on one core."""
    stopwatch = Stopwatch()
    began, cpu = time.perf_counter(), time.process_time()
    played = run_scenario(demo_scenario(), "scripted", 1, stopwatch.watch)
    wall, used = time.perf_counter() - began, time.process_time() - cpu
    lines = [f"tick, everything on      p50 {_ms(stopwatch.spent['tick'], 50):.2f} ms  "
             f"p99 {_ms(stopwatch.spent['tick'], 99):.2f} ms  over {len(stopwatch.spent['tick'])} ticks"]
    for name in STAGES:
        spent = stopwatch.spent[name]
        share = 100 * sum(spent) / (len(spent) / 100)
        lines.append(f"  {name:10} {share:5.1f} % of a core, p99 {_ms(spent, 99):.2f} ms")
    end = played.result.trace.end
    lines.append(f"simulated room and robot {end / wall:.1f} x real time ({end / used:.1f} x by CPU time)")
    return lines


def demo_figures(seeds: int) -> list[str]:
    """The demo over several seeds."""
    whole, silent, faced, first, jerk = 0, [], [], [], []
    lines = []
    for seed in range(1, seeds + 1):
        trace = run_scenario(demo_scenario(), "embedded", seed).result.trace
        found = behaviours(trace)
        whole += all(b.ok for b in found)
        missing = "; ".join(f"{b.name}: {b.happened}" for b in found if not b.ok)
        lines.append(f"  seed {seed}: {sum(b.ok for b in found)} of {len(found)}  {missing}")
        silent += measure("stop_latency_ms", trace)
        first += measure("first_audio_ms", trace)
        jerk += measure("jerk_deg_s3", trace)
        after = facing_after(trace, CALL)
        faced += [] if after is None else [after]
    return [f"demo: all behaviours in {whole} of {seeds} seeds", *lines,
            f"  interruption to silence  {_spread(silent)} ms", f"  call to facing           {_spread(faced)} s",
            f"  last word to first audio {_spread(first)} ms", f"  largest joint jerk       {max(jerk):.0f} deg/s3"]


def alone_figures(minutes: float, seeds: int) -> list[str]:
    """Speaking and moving without anybody who interrupts."""
    lines, total = [], 0.0
    for seed in range(1, seeds + 1):
        trace = run_scenario(stories(minutes, seed), "scripted", seed).result.trace
        stops = measure("self_interruptions", trace)[0]
        spoke = float(trace.sounding().sum()) / 6000
        total += stops
        lines.append(f"  seed {seed}: {stops:.0f} in {trace.end / 60:.1f} min, {spoke:.1f} min of sound, "
                     f"{len(trace.named('duck'))} ducks")
    return [f"self-interruptions in {minutes:g} min, {seeds} seeds: {total:.0f}", *lines]


def answer_figures() -> list[str]:
    """Last word to first audio, embedded engine, with its true cost on this machine."""
    run: Run = run_scenario(questions(), "embedded", 5, stopwatch=time.perf_counter)
    values = measure("first_audio_ms", run.result.trace)
    return [f"last word to first audio {_spread(values)} ms, {len(values)} of {2 * len(QUESTIONS)} questions answered"]


def _ms(seconds: list[float], percent: float) -> float:
    return float(np.percentile(seconds, percent)) * 1000


def _spread(values: list[float]) -> str:
    if not values:
        return "nothing measured"
    low, middle, high = np.percentile(values, [0, 50, 95])
    return f"p50 {middle:.3g}  p95 {high:.3g}  least {low:.3g}  ({len(values)})"
