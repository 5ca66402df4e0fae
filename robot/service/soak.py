"""`talkover bench --soak HOURS`: hours of varied life in virtual time, and what drifts meanwhile.

One process lives one share of the hours. Virtual time makes the same life on every machine; resident memory, open files
and the compute time of a tick are this machine's. Every tick of every hour is a whole one: microphones, hearing,
people, dialogue, motion, the servo bus in bytes and the engine, in nights too. Only pictures are fewer than a camera's.
"""
import gc
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Literal

import numpy as np

from dialogue.engine import Engine
from dialogue.engines.embedded import EmbeddedConfig, EmbeddedEngine
from dialogue.engines.recogniser import Recogniser
from dialogue.engines.remembering import Remembering
from dialogue.engines.scripted import tone_voice
from dialogue.engines.voice import Voice
from robot.bodies.room.camera import CameraConfig
from robot.bodies.room.room import RoomConfig
from robot.bodies.simulated import SimulatedBody
from robot.build import body_of, build_mind
from robot.clock import VirtualClock
from robot.config import MindConfig
from robot.engine_start import memory_of
from robot.interaction.faulty_engine import EngineFaults, faulty
from robot.interaction.scripted_answers import TrueWords, scripted_engine
from robot.runtime import run
from robot.service.soak_gauge import Gauge, Period
from robot.service.soak_life import PEOPLE, Life, LifeConfig
from robot.service.soak_report import HEAD, Lived, period_line, share_lines, unmet
from robot.service.vitals import VitalsConfig
from robot.simulation import ONE_MICROPHONE, DetectorHandler, detector_trouble
from robot.worker import InlineWorker

RAW, STANDARD = "four raw microphones", "one microphone and the direction register"
LEAN_PICTURES, ALL_PICTURES = VitalsConfig().lean_fps, CameraConfig().fps    # a second
PACE = {RAW: 1.0, STANDARD: 1.35}     # of the machine, against each other: measured; shares shall end together


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """What is lived through. The engine `scripted` hears the true words and hums: cheap, for tests."""

    hours: float
    seed: int = 1
    jobs: int = 1
    engine: Literal["embedded", "scripted"] = "embedded"
    pictures: float = LEAN_PICTURES   # a second, drawn and searched for faces; 0: none
    firmware: tuple[str, ...] = (RAW, STANDARD)    # of the shares, in turn
    periods: int = 8              # measurements of each share
    life: LifeConfig = field(default_factory=LifeConfig)


@dataclass(frozen=True, slots=True)
class Share:
    """What one process lives through."""

    plan: SoakPlan
    seed: int
    hours: float
    firmware: str


def shares_of(plan: SoakPlan) -> list[Share]:
    """The hours dealt out so that all processes need about as long."""
    kinds = [plan.firmware[job % len(plan.firmware)] for job in range(plan.jobs)]
    whole = sum(PACE[kind] for kind in kinds)
    return [Share(plan, plan.seed + job, plan.hours * PACE[kind] / whole, kind) for job, kind in enumerate(kinds)]


def live(share: Share, told: Callable[[str], None] = lambda line: None) -> Lived:
    """One share of the plan, in this process. told: takes a line for each stretch of it, as it ends."""
    plan, seed, seconds = share.plan, share.seed, 3600 * share.hours
    standard = share.firmware == STANDARD
    config = MindConfig(seed=seed, playback_delay_s=0.06, mic_positions_m=ONE_MICROPHONE if standard else None)
    words, faults = TrueWords(), EngineFaults()
    plain: Callable[[], Engine] = (embedded() if plan.engine == "embedded" else
                                   lambda: scripted_engine(words, tone_voice))
    detector = (InlineWorker(DetectorHandler, cancels=lambda request, running: False, trouble=detector_trouble)
                if plan.pictures else None)
    room = RoomConfig(recording_s=1.0, register=standard, camera=CameraConfig(fps=plan.pictures or CameraConfig().fps))
    body = SimulatedBody(room, PEOPLE, InlineWorker(faulty(plain, faults)), detector, seed, model=body_of(config))
    mind = build_mind(config, body.model)
    life = Life(body, faults, words, np.random.default_rng([seed, 81]), plan.life)

    def note(period: Period) -> None:
        told(period_line(seed, period))
    gauge = Gauge(mind, body, life, seconds / plan.periods, note)
    began = time.monotonic()
    gc.collect()
    gc.disable()
    try:
        run(mind, body, VirtualClock(), (gauge,), lambda t: t > seconds + 0.02)
    finally:
        gc.enable()
    levels = gauge.metrics.tally.counters.get(("talkover_events", "degradation"), 0.0)
    return Lived(gauge.periods, life.done, round(levels), time.monotonic() - began, gauge.failures, gauge.strange,
                 gauge.waits.trend)


def embedded() -> Callable[[], Engine]:
    """Makes one embedded engine after the other, with one memory (a file, in life) and the models loaded once.

    A real engine dies with its process, and the system has all of its memory back. Models that are loaded again within
    one process leave holes: after eight deaths 280 MB were resident instead of 246, with as many handed out as before.
    """
    config = EmbeddedConfig()
    models, memory = (Recogniser(config.recogniser), Voice(config.voice)), memory_of("embedded", config.start, None)
    return lambda: Remembering(EmbeddedEngine(config, memory, models), memory)


def _aloud(share: Share) -> Lived:
    return live(share, lambda line: print(line, flush=True))


def soak_figures(plan: SoakPlan) -> tuple[list[str], bool]:
    """All shares, what drifted, and whether all held. Each stretch is printed as it ends: hours pass until all have."""
    shares = shares_of(plan)
    print(f"soak: {plan.hours:g} h of life, engine {plan.engine}, {plan.pictures:g} pictures a second", flush=True)
    for share in shares:
        print(f"  seed {share.seed}: {share.hours:.2f} h with {share.firmware}", flush=True)
    print(HEAD, flush=True)
    if plan.jobs == 1:
        lived = [_aloud(shares[0])]
    else:
        with ProcessPoolExecutor(plan.jobs, get_context("spawn")) as pool:
            lived = list(pool.map(_aloud, shares))
    wall = max(one.wall_s for one in lived)
    lines = [line for share, one in zip(shares, lived, strict=True) for line in share_lines(share.seed, one)]
    lines.append(f"{3600 * plan.hours / wall:.1f} x real time: {plan.hours:g} h in {wall / 60:.1f} min")
    return lines, not any(unmet(one) for one in lived)
