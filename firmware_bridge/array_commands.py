"""Control commands of a XMOS XVF3800 microphone array as data, and their bytes. Pure, no I/O.

A command is a vendor control transfer to the device, request 0: wIndex is the resource, wValue the command, with bit 7
set to read. A write carries the packed values; a read answers one status byte and then the values, little endian.

Numbers: XMOS XVF3800 User Guide v3.2.1, Appendix "Control Commands"; resource 20 (LEDs, pins, direction) is the board
maker's (Seeed reSpeaker XVF3800, `xvf_host`), which the audio board of Reachy Mini shares.
"""
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["uint8", "char", "int32", "uint32", "float", "radians"]
Access = Literal["r", "w", "rw"]
Value = int | float

GOOD, BUSY = 0, 64           # status bytes of a read; BUSY: ask again
READ = 0x80                  # bit of wValue
FORMATS: dict[Kind, str] = {"uint8": "B", "char": "B", "int32": "i", "uint32": "I", "float": "f", "radians": "f"}
TOLERANCE = 1e-5             # relative, of a float that was written and read back: float32 keeps 6e-8


@dataclass(frozen=True, slots=True)
class Command:
    """One command. count: values, not bytes."""

    resource: int
    command: int
    kind: Kind
    count: int
    access: Access
    meaning: str

    @property
    def answer_bytes(self) -> int:
        """Of a read: the status byte and the values."""
        return 1 + struct.calcsize(f"<{self.count}{FORMATS[self.kind]}")


COMMANDS: dict[str, Command] = {
    "VERSION": Command(48, 0, "uint8", 3, "r", "firmware: major, minor, patch"),
    "REBOOT": Command(48, 7, "uint8", 1, "w", "1: restart; the device comes back under another address"),
    "SAVE_CONFIGURATION": Command(48, 9, "uint8", 1, "w", "1: write the present values to flash"),
    "AEC_NUM_MICS": Command(33, 71, "int32", 1, "r", "microphones that the canceller gets"),
    "AEC_MIC_ARRAY_TYPE": Command(33, 73, "int32", 1, "r", "1 line, 2 square"),
    "AEC_MIC_ARRAY_GEO": Command(33, 74, "float", 12, "r", "x, y, z of each microphone, m, in the array's own axes"),
    "AEC_AZIMUTH_VALUES": Command(33, 75, "radians", 4, "r", "beam 1, beam 2, free beam, chosen beam"),
    "AEC_SPENERGY_VALUES": Command(33, 80, "float", 4, "r", "speech energy of the same beams; 0: no speech"),
    "AEC_AECCONVERGED": Command(33, 3, "int32", 1, "r", "1: the canceller has converged"),
    "AUDIO_MGR_MIC_GAIN": Command(35, 0, "float", 1, "rw", "factor on the microphones before the canceller"),
    "AUDIO_MGR_REF_GAIN": Command(35, 1, "float", 1, "rw", "factor on the reference before the canceller"),
    "AUDIO_MGR_OP_L": Command(35, 15, "uint8", 2, "rw", "what the left channel carries: category, source"),
    "AUDIO_MGR_OP_R": Command(35, 19, "uint8", 2, "rw", "what the right channel carries: category, source"),
    "AUDIO_MGR_SYS_DELAY": Command(35, 26, "int32", 1, "rw", "samples between reference and microphones"),
    "GPO_READ_VALUES": Command(20, 0, "uint8", 5, "r", "levels of the output pins 11, 30, 31, 33, 39"),
    "GPO_WRITE_VALUE": Command(20, 1, "uint8", 2, "w", "pin, level"),
    "LED_EFFECT": Command(20, 12, "uint8", 1, "rw", "0 off, 1 breath, 2 rainbow, 3 one colour, 4 direction"),
    "DOA_VALUE_RADIANS": Command(20, 19, "radians", 2, "r", "angle, 1 while somebody speaks"),
}
GPO_PINS = (11, 30, 31, 33, 39)   # in the order of GPO_READ_VALUES
MUTE_PIN = 30                     # high: microphones muted, red LED (Seeed wiki, "GPIO via XIAO ESP32-S3")
LED_DIRECTION = 4                 # the effect without which some firmware stops computing the angle (F08)
GAIN_RANGE = (0.0, 1000.0)        # of both gains; Seeed ships 10 for the microphones, more than 60 dB is a slip
BEFORE_GAIN = (1, 2)              # output categories that carry microphones before their gain (XMOS table 3.2)


def packed(name: str, values: Sequence[Value]) -> bytes:
    """The bytes of a write; ValueError for values that the command cannot carry."""
    command = COMMANDS[name]
    if "w" not in command.access:
        raise ValueError(f"{name}: can only be read")
    if len(values) != command.count:
        raise ValueError(f"{name}: {len(values)} values, expected {command.count}")
    if any(not math.isfinite(value) for value in values):
        raise ValueError(f"{name}: {list(values)}, expected finite numbers")
    if command.kind not in ("float", "radians"):
        if any(value != int(value) for value in values):
            raise ValueError(f"{name}: {list(values)}, expected whole numbers")
        values = [int(value) for value in values]
    try:
        return struct.pack(f"<{command.count}{FORMATS[command.kind]}", *values)
    except (struct.error, OverflowError) as error:
        raise ValueError(f"{name}: {list(values)}: {error}") from error


def unpacked(name: str, data: bytes) -> tuple[Value, ...]:
    """The values behind the status byte of a whole answer."""
    command = COMMANDS[name]
    return struct.unpack(f"<{command.count}{FORMATS[command.kind]}", data[1:])


def agree(name: str, wanted: Sequence[Value], found: Sequence[Value]) -> bool:
    """Values that were read back are those that were written, as far as their format keeps them."""
    if COMMANDS[name].kind not in ("float", "radians"):
        return list(wanted) == list(found)
    return all(math.isclose(w, f, rel_tol=TOLERANCE, abs_tol=1e-9) for w, f in zip(wanted, found, strict=True))
