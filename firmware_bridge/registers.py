"""The control table of the small Dynamixels (XL330, XC330) as data.

Source: ROBOTIS e-manual, https://emanual.robotis.com/docs/en/dxl/x/xl330-m288/ , xl330-m077/ and xc330-m288/ (read
2025; the three tables have the same addresses and differ in the initial values kept in MODELS). All values are little
endian. Addresses below 64 are EEPROM: writable only while torque is off, kept without power. The rest is RAM: gone
after a reboot.
"""
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

TICKS_PER_TURN = 4096
CENTRE_TICKS = 2048                                   # the joint's zero
RAD_PER_TICK = 2 * math.pi / TICKS_PER_TURN
RAD_S_PER_UNIT = 0.229 * 2 * math.pi / 60             # velocity registers: 0.229 rev/min
WATCHDOG_UNIT_S = 0.02
WATCHDOG_TRIPPED = 255
EEPROM_END = 64

# bits of hardware_error and of the shutdown mask
VOLTAGE, OVERHEAT, ENCODER, SHOCK, OVERLOAD = 0x01, 0x04, 0x08, 0x10, 0x20
ERROR_WORDS = {VOLTAGE: "supply voltage", OVERHEAT: "overheating", ENCODER: "encoder", SHOCK: "electrical shock",
               OVERLOAD: "overload"}
POSITION_MODE = 3


@dataclass(frozen=True, slots=True)
class Register:
    """One entry of the control table. `scale` turns the raw number into `unit`."""

    name: str
    address: int
    size: int                     # bytes
    writable: bool
    initial: int = 0
    unit: str = ""
    scale: float = 1.0
    signed: bool = False
    low: int | None = None        # smallest and largest raw value that the servo accepts
    high: int | None = None

    @property
    def code(self) -> str:
        """struct code of the value."""
        letter = {1: "b", 2: "h", 4: "i"}[self.size]
        return letter if self.signed else letter.upper()

    def pack(self, raw: int) -> bytes:
        return raw.to_bytes(self.size, "little", signed=self.signed)


def _rw(name, address, size, initial=0, unit="", scale=1.0, signed=False, low=None, high=None) -> Register:
    return Register(name, address, size, True, initial, unit, scale, signed, low, high)


def _ro(name, address, size, unit="", scale=1.0, signed=False) -> Register:
    return Register(name, address, size, False, 0, unit, scale, signed)


TABLE: tuple[Register, ...] = (
    _ro("model_number", 0, 2),
    _ro("model_information", 2, 4),
    _ro("firmware_version", 6, 1),
    _rw("id", 7, 1, 1, low=0, high=252),
    _rw("baud_rate", 8, 1, 1, low=0, high=6),
    _rw("return_delay_time", 9, 1, 250, "s", 2e-6, low=0, high=254),
    _rw("drive_mode", 10, 1, 0, low=0, high=5),
    _rw("operating_mode", 11, 1, POSITION_MODE, low=0, high=16),
    _rw("secondary_id", 12, 1, 255),
    _rw("protocol_type", 13, 1, 2, low=2, high=22),
    _rw("homing_offset", 20, 4, 0, "rad", RAD_PER_TICK, signed=True),
    _rw("moving_threshold", 24, 4, 10, "rad/s", RAD_S_PER_UNIT, low=0, high=1023),
    _rw("temperature_limit", 31, 1, 70, "deg C", low=0, high=100),
    _rw("max_voltage_limit", 32, 2, 70, "V", 0.1, low=31, high=70),
    _rw("min_voltage_limit", 34, 2, 35, "V", 0.1, low=31, high=70),
    _rw("pwm_limit", 36, 2, 885, "%", 0.113, low=0, high=885),
    _rw("current_limit", 38, 2, 1750, "A", 1e-3, low=0, high=2352),
    _rw("velocity_limit", 44, 4, 445, "rad/s", RAD_S_PER_UNIT, low=0, high=2047),
    _rw("max_position_limit", 48, 4, 4095, "ticks", low=0, high=4095),
    _rw("min_position_limit", 52, 4, 0, "ticks", low=0, high=4095),
    _rw("startup_configuration", 60, 1, 0, low=0, high=3),
    _rw("pwm_slope", 62, 1, 140, "V/s", 1.977, low=1, high=255),
    _rw("shutdown", 63, 1, 53),
    _rw("torque_enable", 64, 1, 0, low=0, high=1),
    _rw("led", 65, 1, 0, low=0, high=1),
    _rw("status_return_level", 68, 1, 2, low=0, high=2),
    _ro("registered_instruction", 69, 1),
    _ro("hardware_error", 70, 1),
    _rw("velocity_i_gain", 76, 2, 1600, low=0, high=16383),
    _rw("velocity_p_gain", 78, 2, 180, low=0, high=16383),
    _rw("position_d_gain", 80, 2, 0, low=0, high=16383),
    _rw("position_i_gain", 82, 2, 0, low=0, high=16383),
    _rw("position_p_gain", 84, 2, 400, low=0, high=16383),
    _rw("feedforward_2nd_gain", 88, 2, 0, low=0, high=16383),
    _rw("feedforward_1st_gain", 90, 2, 0, low=0, high=16383),
    _rw("bus_watchdog", 98, 1, 0, "s", WATCHDOG_UNIT_S, low=0, high=127),   # reads 255 after it tripped
    _rw("goal_pwm", 100, 2, 885, "%", 0.113, signed=True),
    _rw("goal_current", 102, 2, 0, "A", 1e-3, signed=True),
    _rw("goal_velocity", 104, 4, 0, "rad/s", RAD_S_PER_UNIT, signed=True),
    _rw("profile_acceleration", 108, 4, 0, low=0, high=32767),              # 214.577 rev/min^2
    _rw("profile_velocity", 112, 4, 0, "rad/s", RAD_S_PER_UNIT, low=0, high=32767),   # 0: no limit
    _rw("goal_position", 116, 4, CENTRE_TICKS, "ticks", signed=True),
    _ro("realtime_tick", 120, 2, "s", 1e-3),
    _ro("moving", 122, 1),
    _ro("moving_status", 123, 1),
    _ro("present_pwm", 124, 2, "%", 0.113, signed=True),
    _ro("present_current", 126, 2, "A", 1e-3, signed=True),
    _ro("present_velocity", 128, 4, "rad/s", RAD_S_PER_UNIT, signed=True),
    _ro("present_position", 132, 4, "ticks", signed=True),
    _ro("velocity_trajectory", 136, 4, "rad/s", RAD_S_PER_UNIT, signed=True),
    _ro("position_trajectory", 140, 4, "ticks", signed=True),
    _ro("present_input_voltage", 144, 2, "V", 0.1),
    _ro("present_temperature", 146, 1, "deg C"),
    _ro("backup_ready", 147, 1),
)
TABLE_BYTES = 228                                     # indirect addresses and data fill 168-227
BY_NAME = {register.name: register for register in TABLE}
BY_ADDRESS = {register.address: register for register in TABLE}
GOALS_LOCKED_BY_WATCHDOG = ("goal_pwm", "goal_current", "goal_velocity", "goal_position")


@dataclass(frozen=True, slots=True)
class Model:
    """A servo model: what its table starts with where it differs from TABLE, and its speed."""

    name: str
    number: int
    no_load_speed: float          # rad/s at 6 V
    initial: dict[str, int] = field(default_factory=dict)


MODELS = {model.number: model for model in (
    Model("XL330-M288-T", 1200, 12.9),
    Model("XL330-M077-T", 1190, 38.9, {"velocity_limit": 1620, "velocity_i_gain": 400, "velocity_p_gain": 40,
                                       "position_i_gain": 400}),
    Model("XC330-M288-T", 1240, 10.2, {"velocity_limit": 350, "current_limit": 2352, "shutdown": 52,
                                       "velocity_p_gain": 50, "position_d_gain": 500, "position_p_gain": 1100}),
)}


@dataclass(frozen=True, slots=True)
class Block:
    """A run of registers read at once; `unpack` gives the values of `names` (raw numbers, in the given order)."""

    names: tuple[str, ...]
    address: int
    size: int
    layout: struct.Struct

    @classmethod
    def of(cls, names: Sequence[str]) -> "Block":
        """Names in the order of their addresses."""
        registers = [BY_NAME[name] for name in names]
        at, code = registers[0].address, "<"
        for register in registers:
            code += f"{register.address - at}x{register.code}"
            at = register.address + register.size
        return cls(tuple(names), registers[0].address, at - registers[0].address, struct.Struct(code))

    def unpack(self, data: bytes) -> tuple[int, ...]:
        return self.layout.unpack(data)


def to_rad(ticks: float) -> float:
    """Joint angle of a position register."""
    return (ticks - CENTRE_TICKS) * RAD_PER_TICK


def to_ticks(angle: float) -> int:
    """Position register of a joint angle."""
    return round(angle / RAD_PER_TICK) + CENTRE_TICKS


def error_words(bits: int) -> str:
    """The latched hardware error bits in plain words."""
    named = [word for bit, word in ERROR_WORDS.items() if bits & bit]
    unknown = bits & ~sum(ERROR_WORDS)
    return ", ".join(named + ([f"bits 0x{unknown:02x}"] if unknown else []))
