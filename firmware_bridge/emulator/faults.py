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


NO_FAULTS = Faults()


def with_fault(faults: Faults, text: str) -> Faults:
    """Faults changed by words such as `silent`, `delay_s=0.02`, `silent=0`."""
    name, _, value = text.strip().partition("=")
    known = [field.name for field in fields(Faults)]
    if name not in known:
        raise UnknownFault(f"fault {name!r}: expected one of {', '.join(known)}")
    try:
        number = float(value) if value else 1.0
    except ValueError as trouble:
        raise UnknownFault(f"fault {name}={value!r}: expected a number") from trouble
    changes: dict[str, Any] = {name: bool(number) if isinstance(getattr(faults, name), bool) else number}
    return replace(faults, **changes)
