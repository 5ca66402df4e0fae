"""All settings of a mind in one frozen value: each stage's own config, gathered."""
import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dialogue.loop import DialogueConfig
from dialogue.touch import TouchConfig
from motion.mover import MotionConfig
from perception.audio.ears import EarsConfig
from perception.people import PeopleConfig
from perception.vision.eyes import EyesConfig
from robot.errors import BadRequest
from robot.safety import SafetyConfig
from robot.service.vitals import VitalsConfig
from robot.settings import filled

Positions = tuple[tuple[float, float, float], ...]


@dataclass(frozen=True, slots=True)
class MindConfig:
    """What a mind is built from. The same config and inputs give the same outputs to the bit."""

    seed: int = 1                        # of idle looks and small talk
    playback_delay_s: float | None = None  # nominal, from the hand-over to the loudspeaker to the microphones
    mic_positions_m: Positions | None = None   # raw channels, in `head`; None: the body's own
    ears: EarsConfig = field(default_factory=EarsConfig)
    eyes: EyesConfig = field(default_factory=EyesConfig)
    people: PeopleConfig = field(default_factory=PeopleConfig)
    dialogue: DialogueConfig = field(default_factory=DialogueConfig)
    touch: TouchConfig = field(default_factory=TouchConfig)
    motion: MotionConfig = field(default_factory=MotionConfig)
    safety: SafetyConfig = field(default_factory=SafetyConfig)
    vitals: VitalsConfig = field(default_factory=VitalsConfig)


def plain(config: Any) -> dict[str, Any]:
    """A config as a plain mapping, for a tape's header."""
    return {f.name: _plain(getattr(config, f.name)) for f in dataclasses.fields(config)}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return plain(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def header_of(config: MindConfig) -> dict[str, Any]:
    """What a tape must name so that its mind can be built again."""
    return {"mind": plain(config)}


def config_of(header: Mapping[str, Any], place: str) -> MindConfig:
    """The config that a tape's header names."""
    if not isinstance(header.get("mind"), Mapping):
        raise BadRequest(f"{place}: no section `mind`, expected a recording of this version")
    return filled(MindConfig, header["mind"], f"{place}.mind")


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as a mapping; BadRequest names file and line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadRequest(f"{path}: {error.strerror}, expected a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path}: {error}, expected TOML") from error
