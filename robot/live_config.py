"""The file of `talkover run --config`: one section a part, over the defaults; environment and credentials over it."""
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_type_hints

from dialogue.engines.chat_config import ChatConfig
from dialogue.engines.minicpm.config import MiniCpmConfig
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.memory_config import MemoryConfig
from dialogue.persona import PersonaConfig
from firmware_bridge.bus_settings import BusSettings
from robot.black_box.config import BoxConfig
from robot.bodies.array_worker import ArraySettings
from robot.bodies.camera_config import CameraDeviceConfig
from robot.bodies.daemon_link import LinkSettings
from robot.bodies.room.room import RoomConfig
from robot.bodies.servo_loop import LoopSettings
from robot.bodies.sound_config import SoundDeviceConfig
from robot.bodies.touch_worker import TouchSettings
from robot.config import MindConfig, read_toml
from robot.config_keys import keys_of
from robot.config_overlay import overlaid
from robot.errors import BadRequest
from robot.service.log import LogConfig
from robot.service.metrics_process import MetricsConfig
from robot.settings import filled, nearest

VERSION = 1                                  # of the file's format
MARK = "# This file ends with the line: # end"   # above in a file that `talkover config --default` wrote
END = "# end"


@dataclass(frozen=True, slots=True)
class RunConfig:
    """What the robot is; `talkover run --body` and `--engine` go before it."""

    body: Literal["simulated", "device", "reachy-daemon", "servo-bus"] = "simulated"   # what it lives in
    engine: Literal["embedded", "realtime", "minicpm", "chat", "scripted"] = "embedded"   # what answers
    senses: Literal["device", "simulated"] = "device"   # of reachy-daemon and servo-bus: sound card and camera, or the
                                                        # simulated room, whose head then turns with the real joints


@dataclass(frozen=True, slots=True)
class ServoBusConfig:
    """The robot's own servos on a serial line."""

    device: str = "/dev/ttyACM0"     # the USB board of a Reachy Mini; a path under /dev/serial/by-id never changes
    bus: BusSettings = field(default_factory=BusSettings)
    loop: LoopSettings = field(default_factory=LoopSettings)

    def __post_init__(self) -> None:
        if not self.device:
            raise ValueError("device: expected a path such as /dev/ttyACM0, found nothing")


@dataclass(frozen=True, slots=True)
class DaemonConfig:
    """The robot's own daemon (`reachy-mini-daemon`)."""

    host: str = "127.0.0.1"          # where it runs; over a network the robot moves late
    port: int = 8000                 # of its HTTP and WebSocket
    link: LinkSettings = field(default_factory=LinkSettings)
    loop: LoopSettings = field(default_factory=LoopSettings)

    def __post_init__(self) -> None:
        if not self.host or not 1 <= self.port <= 65535:
            raise ValueError(f"host, port: expected a name and 1 to 65535, found {self.host!r}, {self.port}")


@dataclass(frozen=True, slots=True)
class LiveConfig:
    """What a live run is built from."""

    run: RunConfig = field(default_factory=RunConfig)
    log: LogConfig = field(default_factory=LogConfig)
    box: BoxConfig = field(default_factory=BoxConfig)
    metrics: MetricsConfig = field(default_factory=MetricsConfig)
    sound: SoundDeviceConfig = field(default_factory=SoundDeviceConfig)
    camera: CameraDeviceConfig = field(default_factory=CameraDeviceConfig)
    servo_bus: ServoBusConfig = field(default_factory=ServoBusConfig)
    daemon: DaemonConfig = field(default_factory=DaemonConfig)
    array: ArraySettings = field(default_factory=ArraySettings)
    touch: TouchSettings = field(default_factory=TouchSettings)
    realtime: RealtimeConfig = field(default_factory=RealtimeConfig)
    minicpm: MiniCpmConfig = field(default_factory=MiniCpmConfig)
    chat: ChatConfig = field(default_factory=ChatConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    persona: PersonaConfig = field(default_factory=PersonaConfig)
    mind: MindConfig = field(default_factory=MindConfig)
    room: RoomConfig = field(default_factory=RoomConfig)


def read_live_config(path: Path | None, environment: Mapping[str, str] = os.environ) -> LiveConfig:
    """The sections of a TOML file over the defaults. BadRequest names file, section and key."""
    values = given_settings(path, environment)
    sections = get_type_hints(LiveConfig)
    known = [f.name for f in fields(LiveConfig)]
    for section, content in values.items():
        if section not in known and not isinstance(content, dict):
            owners = [f"[{name}]" for name in known if section in {f.name for f in fields(sections[name])}]
            where = f"below {' or '.join(owners)}" if owners else "below a section; talkover config --explain names all"
            raise BadRequest(f"{path}: {section} = {content!r} stands before the first section, expected it {where}")
        if section not in known:
            raise BadRequest(f"{path}: unknown section [{section}], {nearest(section, known)}")
        if not isinstance(content, dict):
            raise BadRequest(f"{path}: {section} = {content!r}, expected a section [{section}]")
    return LiveConfig(**{name: filled(sections[name], content, f"{path or 'environment'}: {name}")
                         for name, content in values.items()})


def given_settings(path: Path | None, environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """What file, environment and credentials set, as a mapping of sections."""
    values = {} if path is None else _whole(path)
    return overlaid(values, keys_of(LiveConfig()), environment)


def _whole(path: Path) -> dict[str, Any]:
    """A file that is not empty, not cut off and of this version."""
    values = read_toml(path)
    lines = path.read_text(encoding="utf-8").split("\n")
    if path.is_file() and not "".join(lines).strip():          # /dev/null is empty on purpose
        raise BadRequest(f"{path}: is empty, expected sections; to begin anew: talkover config --default")
    if MARK in lines and END not in lines:
        raise BadRequest(f"{path}: is cut off, expected {END!r} as its last line")
    version = values.pop("version", VERSION)
    if version != VERSION:
        raise BadRequest(f"{path}: version = {version!r}, expected {VERSION}")
    return values
