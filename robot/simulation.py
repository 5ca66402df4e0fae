"""The whole robot in the simulated room: a mind, a body, and inline workers with declared latency."""
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibration.health import Health
from dialogue.engine import Engine, Timed
from perception.vision.detector import RetinaFace
from perception.vision.finder import FaceFinder
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import RoomConfig
from robot.bodies.simulated import SimulatedBody
from robot.build import body_of, build_mind
from robot.config import MindConfig
from robot.errors import BadRequest
from robot.runtime import GuardedMind
from robot.worker import InlineWorker

DETECTION_S = 0.03       # of one picture on one core of a small board, close-ups and rare whole scans mixed
DELAY_ERROR_S = 0.01     # the nominal playback delay is wrong by up to this: sound cards say so only roughly

ONE_MICROPHONE = ((0.02, 0.0, 0.0),)   # m in `head`: the standard firmware hands on one processed channel


@dataclass
class DetectorHandler:
    """Faces of a picture, after the declared time of a detection."""

    finder: FaceFinder = field(default_factory=lambda: FaceFinder(RetinaFace()))

    def handle(self, request: tuple[float, Any]) -> Iterator[Timed]:
        t_capture, picture = request
        yield Timed(DETECTION_S, self.finder.see(picture, t_capture))


def detector_trouble(error: BaseException, running: Any) -> Health:
    """What the mind is told when the detector crashed; who reads it puts in the time."""
    return Health(running[0] if running else 0.0, "detector_process", "gone", f"{type(error).__name__}: {error}")


def detector_ready(t: float) -> Health:
    """What the mind is told when a child that detects (again) works."""
    return Health(t, "detector_process", "ok", "works")


def engine_named(name: str) -> Callable[[], Engine]:
    """Makes the engine of that name; BadRequest for one that does not exist yet."""
    if name == "embedded":
        from robot.engine_start import embedded
        return embedded
    raise BadRequest(f"--engine {name}: expected embedded (others belong to `talkover script` and `talkover run`)")


def build_simulation(room: RoomConfig, people: Sequence[PersonScript], engine: str | Callable[[], Engine] = "embedded",
                     seed: int = 1, config: MindConfig | None = None,
                     stopwatch: Callable[[], float] | None = None,
                     shown: bool = False) -> tuple[GuardedMind, SimulatedBody]:
    """Mind and body of one run in virtual time. engine: its name, or what makes one (again after a crash).

    stopwatch: a clock that measures the engine's true cost instead of the declared one (figures of this machine).
    shown: the engine sees the camera's pictures.
    """
    make = engine_named(engine) if isinstance(engine, str) else engine
    true_delay = room.sound.loudspeaker.playback_delay_s
    error = np.random.default_rng([seed, 61]).uniform(-DELAY_ERROR_S, DELAY_ERROR_S)
    one = ONE_MICROPHONE if room.register else None
    config = config or MindConfig(seed=seed, playback_delay_s=float(max(0.0, true_delay + error)), mic_positions_m=one)
    workers = (InlineWorker(make, stopwatch=stopwatch),
               InlineWorker(DetectorHandler, cancels=lambda request, running: False, trouble=detector_trouble))
    body = SimulatedBody(room, people, workers[0], workers[1], seed, model=body_of(config), shown=shown)
    return build_mind(config, body.model, functools.partial(print, flush=True)), body
