"""The whole robot in real time: a mind, a body, and workers in child processes."""
import functools
import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from dialogue.engine import Engine
from dialogue.engines.embedded import EmbeddedConfig, EmbeddedEngine
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import RoomConfig
from robot.bodies.simulated import SimulatedBody
from robot.build import build_mind
from robot.config import MindConfig, read_toml
from robot.errors import BadRequest
from robot.interaction.typed_people import NAME
from robot.runtime import GuardedMind
from robot.settings import filled, nearest
from robot.simulation import detector_trouble
from robot.worker import ChildWorker

SECTIONS = ("mind", "room")
LATER = ("device", "reachy-daemon", "servo-bus")


def embedded(start: str) -> Engine:
    """The embedded engine of a child process; start: ISO time at the beginning of the run."""
    return EmbeddedEngine(EmbeddedConfig(start=start))


def read_config(path: Path | None) -> tuple[MindConfig, RoomConfig]:
    """The sections [mind] and [room] of a TOML file over the defaults."""
    values: dict[str, Any] = {} if path is None else read_toml(path)
    for section in values:
        if section not in SECTIONS:
            raise BadRequest(f"{path}: unknown section [{section}], {nearest(section, SECTIONS)}")
    return (filled(MindConfig, values.get("mind", {}), f"{path}: mind"),
            filled(RoomConfig, values.get("room", {}), f"{path}: room"))


def build_live(body: str, engine: str, config: MindConfig, room: RoomConfig) -> tuple[GuardedMind, SimulatedBody]:
    """Mind and body of a live run; BadRequest for a body or an engine that does not exist yet."""
    if body in LATER:
        raise BadRequest(f"--body {body}: comes later, expected simulated")
    if engine != "embedded":
        raise BadRequest(f"--engine {engine}: comes later, expected embedded")
    you = PersonScript(NAME, azimuth=0.3, distance=1.1)
    talker = ChildWorker("robot.live:embedded", {"start": datetime.now().isoformat(timespec="seconds")})
    detector = ChildWorker("robot.simulation:DetectorHandler", {}, trouble=detector_trouble)
    simulated = SimulatedBody(room, (you,), talker, detector, config.seed)
    if config.playback_delay_s is None:
        config = replace(config, playback_delay_s=room.sound.loudspeaker.playback_delay_s)
    return build_mind(config, simulated.model, functools.partial(print, flush=True)), simulated


@contextmanager
def stopping() -> Iterator[list[int]]:
    """Collects SIGTERM and SIGINT, so that the loop can end in order; garbage is collected in idle moments only."""
    got: list[int] = []
    before = {s: signal.signal(s, lambda number, frame: got.append(number)) for s in (signal.SIGTERM, signal.SIGINT)}
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield got
    finally:
        gc.enable()
        gc.unfreeze()
        for number, handler in before.items():
            signal.signal(number, handler)

