"""Runs a scenario from its first tick to the moment at which nothing more can happen."""
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dialogue.engine import Engine
from dialogue.engines.voice import Voice
from robot.bodies.room.ambience import MicrophoneConfig
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import RoomConfig
from robot.bodies.room.shoebox import BoxConfig
from robot.bodies.room.soundscape import SoundConfig
from robot.clock import Clock, PacedClock, VirtualClock
from robot.errors import BadRequest
from robot.interaction.faulty_engine import EngineFaults, faulty
from robot.interaction.recorder import Recorder, TimedMind
from robot.interaction.recording import write_stereo
from robot.interaction.result import Result, outcomes_of
from robot.interaction.scenario import Scenario
from robot.interaction.scripted_answers import TrueWords, scripted_engine
from robot.interaction.server_engines import ServerEngines
from robot.interaction.stage import Stage, check_playable
from robot.interaction.timeline_picture import draw_timeline
from robot.interaction.trace import Trace
from robot.runtime import GuardedMind, Observer, run
from robot.simulation import build_simulation, engine_named

SETTLED_S = 2.0      # of silence and an idle floor, after which nothing comes of its own accord
PATIENCE_S = 20.0    # of the same silence before a step that still waits is given up
LONGEST_S = 300.0    # after the last step: a robot that has not finished by then never will


@dataclass
class Ending:
    """Says when a run is over."""

    stage: Stage
    floor: Callable[[], str]
    _busy_at: float = 0.0
    _stepped_at: float = 0.0
    _steps: int = 0

    def __call__(self, t: float) -> bool:
        now, triggers = self.stage.now, self.stage.triggers
        if self.floor() != "idle" or now.speaking or self.stage.people_talk():
            self._busy_at = t
        if len(triggers.happened) > self._steps:
            self._steps, self._stepped_at = len(triggers.happened), t
        coming = max((step.when.at or 0.0 for i, step in enumerate(triggers.steps) if i not in triggers.happened),
                     default=0.0)
        if t < max(coming, self._windows()):
            return False
        waits = len(triggers.happened) < len(triggers.steps)
        quiet_since = max(self._busy_at, coming)         # a step that is due in this tick has not happened yet
        return (t - quiet_since >= (PATIENCE_S if waits else SETTLED_S)
                or t - max(self._stepped_at, coming) >= LONGEST_S)

    def _windows(self) -> float:
        """When the last window of an expectation closes (s), as far as that is known."""
        ends = [0.0]
        for expectation in self.stage.scenario.expect:
            window = expectation.window
            if window.between is not None:
                ends.append(window.between[1])
            said = self.stage.utterances.get(window.of.says) if window.of is not None else None
            if said is not None and window.of is not None and window.within_s is not None:
                ends.append((said.onset if window.of.onset else said.end) + window.within_s)
        return max(ends)


@dataclass(frozen=True)
class Run:
    """A finished run: what became of it, and what it sounded like. sound: (n, 2), people and robot."""

    result: Result
    sound: NDArray[np.float32] = field(repr=False)

    def keep(self, folder: Path) -> tuple[Path, Path]:
        """Write NAME-seed-N.wav and .png into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{self.result.scenario.path.stem}-seed-{self.result.seed}"
        wav, picture = folder / f"{name}.wav", folder / f"{name}.png"
        write_stereo(self.sound[:, 0], self.sound[:, 1], wav)
        draw_timeline(self.result.trace, picture, f"{self.result.scenario.name} (seed {self.result.seed})")
        return wav, picture


def run_scenario(scenario: Scenario, engine: str = "embedded", seed: int | None = None,
                 watch: Callable[[GuardedMind], Iterable[Observer]] = lambda mind: (),
                 stopwatch: Callable[[], float] | None = None, servers: ServerEngines | None = None) -> Run:
    """One run in virtual time. seed None: the scenario's own. BadRequest when the room cannot play it.

    watch: gives further observers of the run. stopwatch: measures the engine's true cost (see build_simulation).
    servers: makes the engine instead; then the run is no faster than the wall's clock, and never twice the same.
    """
    check_playable(scenario)
    seed = scenario.room.seed if seed is None else seed
    words, faults = TrueWords(), EngineFaults()
    served = None if servers is None else ready(servers)
    try:
        made = engine_of(engine, words) if served is None else served
        guarded, body = build_simulation(room_of(scenario), people_of(scenario), faulty(made, faults), seed,
                                         stopwatch=stopwatch, shown=servers is not None and servers.shown)
    except BadRequest as error:
        raise BadRequest(f"{scenario.path}: {error}") from error
    stage = Stage(scenario, body, faults, words)
    mind = TimedMind(guarded.mind, guarded.safety, guarded.config, guarded.report)
    recorder = Recorder(body, mind, stage)
    observers: tuple[Observer, ...] = (recorder, stage, *watch(mind))
    clock: Clock = VirtualClock() if servers is None else PacedClock()
    run(mind, body, clock, observers, Ending(stage, lambda: mind.mind.dialogue.floor.state))
    trace = recorder.trace()
    result = Result(scenario, seed, trace, outcomes_of(scenario, trace), digest(trace))
    return Run(result, body.room.recording())


def ready(servers: ServerEngines) -> Callable[[], Engine]:
    """What makes the engine, the first one ready now: a scenario begins when its server can answer."""
    first = [servers()]
    return lambda: first.pop() if first else servers()


def engine_of(name: str, words: TrueWords) -> Callable[[], Engine]:
    """What makes the engine of that name; the scripted one hears the true `words` and speaks with the robot's voice."""
    if name != "scripted":
        return engine_named(name)
    voice = Voice()
    return lambda: scripted_engine(words, voice)


def room_of(scenario: Scenario) -> RoomConfig:
    return RoomConfig(SoundConfig(BoxConfig(rt60_s=scenario.room.rt60_s),
                                  MicrophoneConfig(ambient_dbfs=scenario.room.noise_db)),
                      register=scenario.room.array == "register")


def people_of(scenario: Scenario) -> tuple[PersonScript, ...]:
    return tuple(PersonScript(p.name, float(np.radians(p.azimuth_deg)), p.distance_m, voice=p.voice, face=p.face,
                              present=p.present) for p in scenario.people)


def digest(trace: Trace) -> str:
    """A fingerprint of everything that virtual time makes the same each time: events, words, sound, motion."""
    told = hashlib.sha256(repr((trace.events, trace.words, trace.history, trace.floor)).encode())
    for array in (trace.level, trace.generation, trace.sight, trace.goals, trace.believed):
        told.update(np.ascontiguousarray(array).tobytes())
    return told.hexdigest()

