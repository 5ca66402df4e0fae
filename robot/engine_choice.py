"""Which engine answers, in which process."""
import importlib.util
from datetime import datetime
from pathlib import Path
from typing import Any

from dialogue.engine import EngineReady
from dialogue.engines.secrets import KeyMissing, secret
from robot.errors import BadRequest
from robot.live_config import LiveConfig
from robot.places import state_folder
from robot.worker import ChildWorker


def engine_of(config: LiveConfig) -> ChildWorker:
    """The engine of `[run] engine`; BadRequest for one that a live run cannot have, or whose key is missing.

    An engine with a server tells by itself when it is ready: when the server is.
    """
    name = config.run.engine
    local = name in ("embedded", "chat")
    return ChildWorker(*recipe(config, memory_file(config)), ready=(lambda t: EngineReady(name)) if local else None)


def recipe(config: LiveConfig, file: Path | None) -> tuple[str, dict[str, Any]]:
    """What makes the configured engine, `module:name` and its arguments. file: of the memory, None: it is not kept."""
    memory = {"start": datetime.now().isoformat(timespec="seconds"), "file": file}
    makes: dict[str, tuple[str, dict[str, Any]]] = {
        "embedded": ("robot.engine_start:embedded", {**memory, "persona": config.persona}),
        "realtime": ("robot.engines:realtime", {"config": config.realtime, "seed": config.mind.seed, **memory}),
        "minicpm": ("robot.engines:minicpm", {"config": config.minicpm, "seed": config.mind.seed}),
        "chat": ("robot.engines:chat", {"config": config.chat, **memory, "persona": config.persona}),
    }
    name = config.run.engine
    if name not in makes:
        raise BadRequest(f"--engine {name}: belongs to `talkover script`, expected one of: {', '.join(makes)}")
    if name in ("realtime", "minicpm") and importlib.util.find_spec("websockets") is None:
        raise BadRequest(f"--engine {name}: the package websockets is missing: pip install 'talkover[engines]'")
    try:
        secret(getattr(getattr(config, name, None), "key_from", ""))
    except KeyMissing as missing:
        raise BadRequest(f"[{name}] key_from: {missing}") from missing
    return makes[name]


def sees(config: LiveConfig) -> bool:
    """Whether the configured engine gets pictures of the camera."""
    return bool(getattr(getattr(config, config.run.engine, None), "frames", False))


def memory_file(config: LiveConfig) -> Path | None:
    """Where what people tell is kept; None: only as long as the run."""
    kept, run = config.memory.kept, config.run
    simulated = run.body == "simulated" or (run.body in ("servo-bus", "reachy-daemon") and run.senses == "simulated")
    if kept == "never" or (kept == "robot" and simulated):
        return None
    return config.memory.place(state_folder())
