"""The file of `talkover run --config`: one section a part, over the defaults."""
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

from firmware_bridge.bus_settings import BusSettings
from robot.bodies.room.room import RoomConfig
from robot.bodies.servo_loop import LoopSettings
from robot.config import MindConfig, read_toml
from robot.errors import BadRequest
from robot.settings import filled, nearest


@dataclass(frozen=True, slots=True)
class ServoBusConfig:
    """The robot's own servos on a serial line."""

    device: str = "/dev/ttyACM0"     # the USB board of a Reachy Mini; a path under /dev/serial/by-id never changes
    bus: BusSettings = field(default_factory=BusSettings)
    loop: LoopSettings = field(default_factory=LoopSettings)


@dataclass(frozen=True, slots=True)
class LiveConfig:
    """What a live run is built from."""

    mind: MindConfig = field(default_factory=MindConfig)
    room: RoomConfig = field(default_factory=RoomConfig)
    servo_bus: ServoBusConfig = field(default_factory=ServoBusConfig)


def read_live_config(path: Path | None) -> LiveConfig:
    """The sections of a TOML file over the defaults. BadRequest names file, section and key."""
    values: dict[str, Any] = {} if path is None else read_toml(path)
    sections = get_type_hints(LiveConfig)
    known = [f.name for f in fields(LiveConfig)]
    for section, content in values.items():
        if section not in known:
            raise BadRequest(f"{path}: unknown section [{section}], {nearest(section, known)}")
        if not isinstance(content, dict):
            raise BadRequest(f"{path}: {section} = {content!r}, expected a section [{section}]")
    return LiveConfig(**{name: filled(sections[name], content, f"{path}: {name}") for name, content in values.items()})
