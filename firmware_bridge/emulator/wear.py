"""What work does to emulated servos: current, heat, overload, and the supply voltage's limits."""
from collections.abc import Sequence

import numpy as np

from calibration.frames import Array
from firmware_bridge.emulator.fake_servo import FakeServo
from firmware_bridge.registers import OVERHEAT, OVERLOAD, VOLTAGE

ROOM_C = 26.0
HEAT_C = 9.0               # deg C above the room with torque on and nothing to pull
HEAT_C_PER_RAD = 250.0     # deg C more for each rad that the motor pulls: 1.5 degrees of droop make 6.5
HEAT_TAU_S = 240.0         # s, a small plastic case
CURRENT_MA_PER_RAD = 4000  # near the stall current at 25 degrees of error
STALL_MA = 1750
STALL_RAD = 0.2            # rad off its goal counts as stalled
STALL_S = 1.5              # s of stall until the overload error
OVERLOAD_FAULT_S = 0.5     # s of torque until the injected overload
PERIOD_S = 0.1             # s between two looks; heat is slow


class Wear:
    """Slow state of n servos. `step` returns True when it latched an error."""

    def __init__(self, count: int, supply_v: float):
        self.supply_v = supply_v
        self._heat = np.full(count, ROOM_C)
        self._stalled = np.zeros(count)       # s
        self._torqued = np.zeros(count)       # s since torque came on
        self._since = 0.0

    def due(self, dt: float) -> bool:
        """Counts time (s); True when it is worth a step."""
        self._since += dt
        return self._since >= PERIOD_S

    def step(self, pull: Array, servos: Sequence[FakeServo]) -> bool:
        dt, self._since = self._since, 0.0
        torque = np.array([servo.torque for servo in servos])
        load = np.abs(pull)
        target = ROOM_C + torque * (HEAT_C + HEAT_C_PER_RAD * np.minimum(load, 0.35))
        self._heat += (target - self._heat) * (1 - np.exp(-dt / HEAT_TAU_S))
        self._stalled = np.where(torque & (load > STALL_RAD), self._stalled + dt, 0.0)
        self._torqued = np.where(torque, self._torqued + dt, 0.0)
        latched = [self._latch(index, servo) for index, servo in enumerate(servos)]
        return any(latched)

    def forget(self, index: int) -> None:
        """A reboot: the stall counter starts anew, heat stays."""
        self._stalled[index] = self._torqued[index] = 0.0

    def current_ma(self, pull: float) -> int:
        return int(min(max(pull * CURRENT_MA_PER_RAD, -STALL_MA), STALL_MA))

    def temperature_c(self, index: int, servo: FakeServo) -> int:
        injected = servo.faults.temperature_c
        return round(self._heat[index] if injected is None else injected)

    def _latch(self, index: int, servo: FakeServo) -> bool:
        bits = 0
        if self._stalled[index] > STALL_S or (servo.faults.overload and self._torqued[index] > OVERLOAD_FAULT_S):
            bits |= OVERLOAD
        if self.temperature_c(index, servo) > servo.get("temperature_limit"):
            bits |= OVERHEAT
        if not servo.get("min_voltage_limit") <= round(self.supply_v * 10) <= servo.get("max_voltage_limit"):
            bits |= VOLTAGE
        new = bits & ~servo.error_bits
        if new:
            servo.latch(new)
        return bool(new)
