"""`talkover bench --soak HOURS`: hours of varied life in virtual time, and what drifts meanwhile.

One process lives `hours / jobs` of it. Virtual time makes the same life on every machine; resident memory, open files
and the compute time of a tick are this machine's. Garbage is not collected between two measurements, as in a live run,
which collects none: what a collection then finds is what a live run would have kept.
"""
import gc
import os
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from dialogue.engine import Engine
from dialogue.engines.scripted import tone_voice
from robot.bodies.room.room import RoomConfig
from robot.bodies.simulated import SimulatedBody
from robot.build import body_of, build_mind
from robot.clock import VirtualClock
from robot.config import MindConfig
from robot.interaction.faulty_engine import EngineFaults, faulty
from robot.interaction.scripted_answers import TrueWords, scripted_engine
from robot.runtime import GuardedMind, run
from robot.service.metrics import Metrics
from robot.service.soak_life import PEOPLE, Life, LifeConfig
from robot.service.tally import Tally
from robot.simulation import ONE_MICROPHONE, DetectorHandler, detector_trouble, engine_named
from robot.tick import Inputs, Tick
from robot.worker import InlineWorker

PAGE = resource.getpagesize()
RATES = ("talkover_lost_answers", "talkover_resumed_replies", "talkover_released_ducks")


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """What is lived through. The engine `scripted` hears the true words and hums: cheap, for tests."""

    hours: float
    seed: int = 1
    jobs: int = 1
    engine: str = "embedded"
    pictures: bool = False        # drawn and looked at: a fifth of the time
    microphones: int = 4          # or 1
    periods: int = 8              # measurements of each process
    life: LifeConfig = field(default_factory=LifeConfig)


@dataclass(frozen=True, slots=True)
class Period:
    """One stretch of a life."""

    end_s: float                  # virtual
    answers: int
    response_s: float             # mean, committed turn to first sound, virtual
    engine_s: float               # of it the engine's
    stops: int
    rates: dict[str, float]
    tick_ms: float                # mean compute time of this machine
    rss_mb: float                 # after a collection
    garbage: int                  # objects that the collection found
    files: int
    failed: int                   # ticks that raised
    stale: int                    # blocks of superseded replies at the loudspeaker


@dataclass
class Gauge:
    """An observer that measures at the end of each stretch."""

    mind: GuardedMind
    body: SimulatedBody
    every_s: float
    metrics: Metrics = field(default_factory=lambda: Metrics(lambda packed: None))
    periods: list[Period] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    _spent: float = 0.0
    _ticks: int = 0
    _before: tuple[float, ...] = (0.0,) * 8

    def __post_init__(self) -> None:
        self.mind.report = self.failures.append
        inner = self.mind.mind.tick

        def timed(inputs: Inputs) -> Tick:
            began = time.process_time()
            tick = inner(inputs)
            self._spent += time.process_time() - began
            self._ticks += 1
            return tick
        self.mind.mind.tick = timed          # type: ignore[method-assign]

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        self.metrics(inputs, tick)
        if inputs.t >= self.every_s * (len(self.periods) + 1) - 1e-6:
            self._measure(inputs.t)

    def _measure(self, t: float) -> None:
        garbage = gc.collect()
        now = self._counts(self.metrics.tally)
        responses, response, engines, engine, stops, *rates = (a - b for a, b in zip(now, self._before, strict=True))
        self._before = now
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
        self.periods.append(Period(
            t, round(responses), response / max(responses, 1), engine / max(engines, 1), round(stops),
            dict(zip(RATES, rates, strict=True)), 1000 * self._spent / max(self._ticks, 1), resident / 1e6, garbage,
            len(os.listdir("/proc/self/fd")), len(self.failures), self.body.stale_blocks_played))
        self._spent, self._ticks = 0.0, 0

    def _counts(self, tally: Tally) -> tuple[float, ...]:
        sums = [tally.histograms[name,] for name in ("talkover_response_seconds", "talkover_engine_seconds")]
        pairs = [number for counts in sums for number in (sum(counts[:-1]), counts[-1])]
        return (*pairs, tally.counters.get(("talkover_events", "barge_in"), 0.0),
                *(tally.counters[name,] for name in RATES))


@dataclass(frozen=True)
class Lived:
    """What became of one process' share."""

    periods: list[Period]
    done: dict[str, int]
    levels: int                   # changes of the degradation level
    wall_s: float
    failures: list[str]


def live(plan: SoakPlan, seed: int) -> Lived:
    """One share of the plan, in this process."""
    seconds = 3600 * plan.hours / plan.jobs
    one = ONE_MICROPHONE if plan.microphones == 1 else None
    config = MindConfig(seed=seed, playback_delay_s=0.06, mic_positions_m=one)
    words, faults = TrueWords(), EngineFaults()
    plain: Callable[[], Engine] = (engine_named(plan.engine) if plan.engine != "scripted" else
                                   lambda: scripted_engine(words, tone_voice))
    detector = (InlineWorker(DetectorHandler, cancels=lambda request, running: False, trouble=detector_trouble)
                if plan.pictures else None)
    body = SimulatedBody(RoomConfig(recording_s=1.0), PEOPLE, InlineWorker(faulty(plain, faults)), detector, seed,
                         model=body_of(config))
    mind = build_mind(config, body.model)
    life = Life(body, faults, words, np.random.default_rng([seed, 81]), plan.life)
    gauge = Gauge(mind, body, seconds / plan.periods)
    began = time.monotonic()
    gc.collect()
    gc.disable()
    try:
        run(mind, body, VirtualClock(), (gauge,), lambda t: t > seconds + 0.02)
    finally:
        gc.enable()
    levels = gauge.metrics.tally.counters.get(("talkover_events", "degradation"), 0.0)
    return Lived(gauge.periods, life.done, round(levels), time.monotonic() - began, gauge.failures)


def soak_figures(plan: SoakPlan) -> list[str]:
    """All shares, and what drifted."""
    seeds = [plan.seed + share for share in range(plan.jobs)]
    if plan.jobs == 1:
        shares = [live(plan, seeds[0])]
    else:
        with ProcessPoolExecutor(plan.jobs, get_context("spawn")) as pool:
            shares = list(pool.map(live, [plan] * plan.jobs, seeds))
    lines = [f"soak: {plan.hours:g} h of life in {plan.jobs} processes, engine {plan.engine}, {plan.microphones} "
             f"microphones, {'with' if plan.pictures else 'without'} pictures"]
    for seed, lived in zip(seeds, shares, strict=True):
        lines += share_lines(seed, lived)
    wall = max(lived.wall_s for lived in shares)
    return [*lines, f"{3600 * plan.hours / wall:.1f} x real time: {plan.hours:g} h in {wall / 60:.1f} min"]


def share_lines(seed: int, lived: Lived) -> list[str]:
    """A table by period, and the drift from the second to the last one: the first loads and warms up."""
    lines = [f"seed {seed}: until s  answers  response  engine ms  stops  lost  resumed  tick ms  rss MB  garbage "
             " files"]
    for p in lived.periods:
        lost, resumed, _ = p.rates.values()
        lines.append(f"  {p.end_s:13.0f}  {p.answers:7d}  {1000 * p.response_s:8.0f}  {1000 * p.engine_s:9.0f}  "
                     f"{p.stops:5d}  {lost:4.0f}  {resumed:7.0f}  {p.tick_ms:7.2f}  {p.rss_mb:6.1f}  {p.garbage:7d}  "
                     f"{p.files:5d}")
    if len(lived.periods) > 2:
        half = len(lived.periods) // 2
        first, last = lived.periods[1:half + 1], lived.periods[half:]
        own = [sum((p.response_s - p.engine_s) * p.answers for p in part) / max(1, sum(p.answers for p in part))
               for part in (first, last)]
        a, b = lived.periods[1], lived.periods[-1]
        lines.append(f"  drift, halves: response over the engine's own {1000 * own[0]:.0f} to {1000 * own[1]:.0f} ms; "
                     f"second to last period: memory {100 * (b.rss_mb / a.rss_mb - 1):+.1f} %, tick "
                     f"{100 * (b.tick_ms / a.tick_ms - 1):+.0f} %, files {b.files - a.files:+d}")
    happened = ", ".join(f"{n} {what}" for what, n in sorted(lived.done.items()))
    lines.append(f"  {happened}; {lived.levels} changes of level; {len(lived.failures)} failed ticks, "
                 f"{lived.periods[-1].stale if lived.periods else 0} stale blocks")
    return lines + [f"  {failure}" for failure in lived.failures[:3]]
