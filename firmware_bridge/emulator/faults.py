"""What can be made to go wrong with an emulated servo."""
from dataclasses import dataclass, fields, replace
from typing import Any


class UnknownFault(ValueError):
    """A fault that the emulator does not know, or one badly written."""


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults of one servo. All off by default."""

    silent: bool = False               # never answers, but still obeys
    unplugged: bool = False            # neither hears nor answers; its torque is gone
    wrong_crc: float = 0.0             # probability a status
    dropped_byte: float = 0.0          # probability a status
    garbage: float = 0.0               # probability of noise before a status
    delay_s: float = 0.0               # s, added to every answer
    torque_stays_off: bool = False     # a write of 1 to torque_enable is acknowledged and ignored
    dead_motor: bool = False           # torque_enable reads 1, the motor does nothing
    temperature_c: float | None = None # deg C, instead of the thermal model
    overload: bool = False             # the overload bit latches half a second after each torque on

    def words(self) -> dict[str, Any]:
        """What is not as it should be."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}


NO_FAULTS = Faults()


SHORT = {"hot": ("temperature_c", 66.0), "slow": ("delay_s", 0.01)}     # words for a fault with its usual size
LARGEST = {"wrong_crc": 1.0, "dropped_byte": 1.0, "garbage": 1.0, "delay_s": 10.0, "temperature_c": 250.0}


def with_fault(faults: Faults, text: str) -> Faults:
    """Faults changed by words such as `silent`, `delay_s=0.02`, `hot`, `silent=0`; `none`: all are over."""
    word, equals, value = text.strip().partition("=")
    if word == "none" and not equals:
        return NO_FAULTS
    known = [field.name for field in fields(Faults)]
    name, usual = SHORT.get(word, (word, 1.0))
    if name not in known:
        raise UnknownFault(f"fault {word!r}: expected one of {', '.join((*known, *SHORT, 'none'))}")
    try:
        number = float(value) if equals else usual
    except ValueError as trouble:
        raise UnknownFault(f"fault {word}={value!r}: expected a number") from trouble
    if not 0.0 <= number <= LARGEST.get(name, 1.0):
        raise UnknownFault(f"fault {word}={value or usual}: expected 0 to {LARGEST.get(name, 1.0):g}")
    off = getattr(NO_FAULTS, name)                       # of the temperature: the thermal model's own again
    change: dict[str, Any] = {name: off if number == 0.0 else True if isinstance(off, bool) else number}
    return replace(faults, **change)
