"""A XVF3800 microphone array by its control bytes, with faults: for tests, and for work without the board.

Behaves as the firmware does on endpoint 0: vendor requests to the device only, a status byte before the values of a
read, a stall for what it does not know, gains back to what is in flash after a restart.
"""
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from firmware_bridge.array_commands import BUSY, COMMANDS, FORMATS, GOOD, GPO_PINS, READ, Value, unpacked

VENDOR_IN, VENDOR_OUT = 0xC0, 0x40     # bmRequestType: vendor, device, and the direction
BY_NUMBER = {(command.resource, command.command): name for name, command in COMMANDS.items()}
LINE_M = (-0.0495, 0.0, 0.0, -0.0165, 0.0, 0.0, 0.0165, 0.0, 0.0, 0.0495, 0.0, 0.0)   # mic 0 at the right: -x
FACTORY: dict[str, tuple[Value, ...]] = {
    "VERSION": (2, 1, 4), "AEC_NUM_MICS": (4,), "AEC_MIC_ARRAY_TYPE": (1,), "AEC_MIC_ARRAY_GEO": LINE_M,
    "AEC_AZIMUTH_VALUES": (1.5, 1.6, 1.57, 1.57), "AEC_SPENERGY_VALUES": (0.0, 0.0, 0.0, 0.0),
    "AEC_AECCONVERGED": (1,), "AUDIO_MGR_MIC_GAIN": (10.0,), "AUDIO_MGR_REF_GAIN": (1.0,),
    "AUDIO_MGR_OP_L": (8, 0), "AUDIO_MGR_OP_R": (7, 3), "AUDIO_MGR_SYS_DELAY": (12,),
    "GPO_READ_VALUES": (0, 0, 0, 1, 0), "LED_EFFECT": (0,), "DOA_VALUE_RADIANS": (1.5708, 0.0),
}


class Stall(Exception):
    """The device does not do that: a protocol stall."""


class Silence(Exception):
    """The device does not answer."""


@dataclass
class EmulatedArray:
    """One board. Counters of faults run down with each transfer that they hit; -1: for ever."""

    vendor: int = 0x38FB
    product: int = 0x1001
    values: dict[str, tuple[Value, ...]] = field(default_factory=lambda: dict(FACTORY))
    flash: dict[str, tuple[Value, ...]] = field(default_factory=lambda: dict(FACTORY))
    busy: int = 0              # reads that are answered `busy`
    silent: int = 0            # transfers that are not answered
    short: int = 0             # reads that lose their last byte
    deaf: int = 0              # writes that are acknowledged and not done
    lacks: Sequence[str] = ()  # commands that this firmware does not know
    restarts: int = 0
    transfers: int = 0

    def control(self, request_type: int, request: int, value: int, index: int, data: bytes | int) -> bytes:
        """One control transfer; data: to write, or the length to read. The answer of a read."""
        self.transfers += 1
        if self._hit("silent"):
            raise Silence
        reads = request_type == VENDOR_IN
        name = BY_NUMBER.get((index, value & ~READ))
        ours = request == 0 and request_type in (VENDOR_IN, VENDOR_OUT) and bool(value & READ) == reads
        if not ours or name is None or name in self.lacks:
            raise Stall
        access = COMMANDS[name].access
        if ("r" if reads else "w") not in access:
            raise Stall
        if reads:
            assert isinstance(data, int)
            return self._answer(name)[:data]
        assert isinstance(data, bytes)
        if len(data) != COMMANDS[name].answer_bytes - 1:
            raise Stall
        if not self._hit("deaf"):
            self._do(name, unpacked(name, b"\0" + data))
        return b""

    def hears(self, angle: float, speech: bool) -> None:
        """The direction register from now on."""
        self.values["DOA_VALUE_RADIANS"] = (angle, float(speech))

    def restart(self) -> None:
        """As after REBOOT or a pulled plug."""
        self.restarts += 1
        self.values = dict(self.flash)

    def _hit(self, fault: str) -> bool:
        left = getattr(self, fault)
        if left > 0:
            setattr(self, fault, left - 1)
        return left != 0

    def _answer(self, name: str) -> bytes:
        command = COMMANDS[name]
        if self._hit("busy"):
            return bytes([BUSY]) + bytes(command.answer_bytes - 1)
        whole = bytes([GOOD]) + _bytes(name, self.values[name])
        return whole[:-1] if self._hit("short") else whole

    def _do(self, name: str, values: Sequence[Value]) -> None:
        if name == "SAVE_CONFIGURATION":
            self.flash = dict(self.values)
        elif name == "REBOOT":
            self.restart()
        elif name == "GPO_WRITE_VALUE" and values[0] in GPO_PINS:
            levels = list(self.values["GPO_READ_VALUES"])
            levels[GPO_PINS.index(int(values[0]))] = values[1]
            self.values["GPO_READ_VALUES"] = tuple(levels)
        elif name in self.values:
            self.values[name] = tuple(values)


def _bytes(name: str, values: Sequence[Value]) -> bytes:
    """As array_commands.packed, for commands that can only be read too, and for numbers that are not finite."""
    command = COMMANDS[name]
    return struct.pack(f"<{command.count}{FORMATS[command.kind]}", *values)
