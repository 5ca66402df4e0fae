"""One emulated servo: its control table and what instructions do to it. No time, no motion, no wires."""
import struct

from calibration.body_model import Servo
from firmware_bridge import packets
from firmware_bridge.emulator.faults import NO_FAULTS, Faults
from firmware_bridge.registers import (
    BY_ADDRESS,
    BY_NAME,
    EEPROM_END,
    GOALS_LOCKED_BY_WATCHDOG,
    POSITION_MODE,
    TABLE,
    TABLE_BYTES,
    WATCHDOG_TRIPPED,
    Model,
    Register,
)

FIRMWARE_VERSION = 46
_GOAL, _TORQUE, _ERROR, _WATCHDOG = (BY_NAME[n].address for n in (
    "goal_position", "torque_enable", "hardware_error", "bus_watchdog"))
_LOCKED = frozenset(BY_NAME[name].address for name in GOALS_LOCKED_BY_WATCHDOG)
_MODE, _LIMITS = BY_NAME["operating_mode"].address, BY_NAME["max_position_limit"].address   # highest, then lowest
_SHUTDOWN, _LEVEL = BY_NAME["shutdown"].address, BY_NAME["status_return_level"].address


class FakeServo:
    """Registers with the semantics of the data sheet: locks, ranges, latched errors, shutdown, watchdog, reboot."""

    def __init__(self, servo: Servo, model: Model, shutdown_mask: int):
        self.id, self.model = servo.id, model
        self.faults: Faults = NO_FAULTS
        self.zero_ticks = servo.homing_offset_ticks     # the horn is mounted so that this offset is right
        self.table = bytearray(TABLE_BYTES)
        for register in TABLE:
            self._put(register, model.initial.get(register.name, register.initial))
        low, high = servo.limit_ticks
        for name, value in (("model_number", model.number), ("firmware_version", FIRMWARE_VERSION), ("id", servo.id),
                            ("baud_rate", 3), ("return_delay_time", 0), ("operating_mode", POSITION_MODE),
                            ("homing_offset", servo.homing_offset_ticks), ("min_position_limit", low),
                            ("max_position_limit", high), ("shutdown", shutdown_mask)):
            self._put(BY_NAME[name], value)
        self._registered: tuple[int, bytes] | None = None

    # state that the bus and the motor look at ----------------------------------------------------------------------

    @property
    def torque(self) -> bool:
        return self.table[_TORQUE] == 1

    @property
    def error_bits(self) -> int:
        return self.table[_ERROR]

    @property
    def watchdog(self) -> int:
        """0 off, 1-127 units of 20 ms, 255 tripped."""
        return self.table[_WATCHDOG]

    @property
    def goal_ticks(self) -> int:
        return struct.unpack_from("<i", self.table, _GOAL)[0]

    @property
    def in_shutdown(self) -> bool:
        return bool(self.table[_ERROR] & self.table[_SHUTDOWN])

    def get(self, name: str) -> int:
        register = BY_NAME[name]
        raw = self.table[register.address:register.address + register.size]
        return int.from_bytes(raw, "little", signed=register.signed)

    def set(self, name: str, value: int) -> None:
        """Changes a register as the servo itself does, without asking whether a master may."""
        self._put(BY_NAME[name], value)

    def latch(self, bits: int) -> None:
        """A hardware error happens; those in the shutdown mask take the torque away."""
        self.table[_ERROR] |= bits
        if self.in_shutdown:
            self.table[_TORQUE] = 0

    def trip_watchdog(self) -> None:
        self.table[_WATCHDOG] = WATCHDOG_TRIPPED

    def reboot(self, position_ticks: int) -> None:
        """RAM starts anew; EEPROM stays."""
        for register in TABLE:
            if register.address >= EEPROM_END:
                self._put(register, self.model.initial.get(register.name, register.initial))
        self._put(BY_NAME["goal_position"], position_ticks)
        self._registered = None

    # instructions --------------------------------------------------------------------------------------------------

    def answers(self, instruction: int) -> bool:
        """Status return level: 0 only ping, 1 reads too, 2 everything."""
        level = self.table[_LEVEL]
        reads = (packets.READ, packets.SYNC_READ, packets.BULK_READ)
        return instruction == packets.PING or level == 2 or (level == 1 and instruction in reads)

    def read(self, address: int, size: int) -> tuple[int, bytes]:
        if not 0 < size <= TABLE_BYTES - address:
            return packets.NO_ACCESS, b""
        return 0, bytes(self.table[address:address + size])

    def write(self, address: int, data: bytes) -> int:
        """Writes whole registers, all or none; 0 or why not."""
        whole = BY_ADDRESS.get(address)
        if whole is not None and whole.size == len(data):
            error = self._refusal(whole, data)
            if not error:
                self._store(whole, data)
            return error
        parts, at = [], 0
        while at < len(data):
            register = BY_ADDRESS.get(address + at)
            if register is None:
                return packets.NO_ACCESS
            if register.size > len(data) - at:
                return packets.BAD_LENGTH
            part = data[at:at + register.size]
            if error := self._refusal(register, part):
                return error
            parts.append((register, part))
            at += register.size
        for register, part in parts:
            self._store(register, part)
        return 0

    def register_write(self, address: int, data: bytes) -> int:
        self._registered = address, data
        self._put(BY_NAME["registered_instruction"], 1)
        return 0

    def action(self) -> int:
        if self._registered is None:
            return packets.BAD_INSTRUCTION
        (address, data), self._registered = self._registered, None
        self._put(BY_NAME["registered_instruction"], 0)
        return self.write(address, data)

    def _refusal(self, register: Register, data: bytes) -> int:
        if not register.writable or (register.address < EEPROM_END and self.torque):
            return packets.NO_ACCESS
        value = int.from_bytes(data, "little", signed=register.signed)
        if register.low is not None and register.high is not None and not register.low <= value <= register.high:
            return packets.BAD_RANGE
        if self.watchdog == WATCHDOG_TRIPPED and (register.address in _LOCKED
                                                  or (register.address == _WATCHDOG and value != 0)):
            return packets.BAD_RANGE          # only a 0 clears it; whether hardware takes another number is not known
        if register.address == _GOAL and self.table[_MODE] == POSITION_MODE:
            high, low = struct.unpack_from("<ii", self.table, _LIMITS)
            if not low <= value <= high:
                return packets.OVER_LIMIT
        return 0

    def _store(self, register: Register, data: bytes) -> None:
        if register.address == _TORQUE and data != b"\0" and (self.in_shutdown or self.faults.torque_stays_off):
            return    # after a shutdown only a reboot brings the torque back
        self.table[register.address:register.address + register.size] = data

    def _put(self, register: Register, value: int) -> None:
        self.table[register.address:register.address + register.size] = register.pack(value)
