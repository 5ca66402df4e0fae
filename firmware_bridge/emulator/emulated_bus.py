"""The emulated bus: nine servos on one wire, as a pure core. Bytes in, timed bytes out, time by `step`."""
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibration.body_model import JOINTS, Servo
from calibration.frames import Array
from firmware_bridge import packets
from firmware_bridge.emulator.dynamics import Dynamics
from firmware_bridge.emulator.fake_servo import FakeServo
from firmware_bridge.emulator.faults import Faults
from firmware_bridge.emulator.wear import Wear
from firmware_bridge.packets import Packet, PacketReader
from firmware_bridge.registers import (
    BY_NAME,
    CENTRE_TICKS,
    EEPROM_END,
    MODELS,
    RAD_PER_TICK,
    RAD_S_PER_UNIT,
    WATCHDOG_TRIPPED,
    WATCHDOG_UNIT_S,
)

Answer = tuple[float, bytes]    # s after the request left the master, bytes

BYTE_S = 1e-5                   # 10 bits at 1 Mbaud
TURNAROUND_S = 3e-5             # from a request to the answer's first byte at return delay 0
REBOOT_S = 0.35                 # silent after a reboot
JOINT_SPEED = 8.0               # rad/s, the URDF's limit of the platform joints
DROOP_RAD = math.radians(1.5)   # standing error of a platform arm under the head's weight at P gain 300
# Where the head sinks to without torque: the IK of the sleep pose (shared facts, reference/reachy-mini), a little lower
# than a parked one. Odd arms sink to smaller angles, even ones to larger. Antennas hang, the body stays.
LIMP_RAD = dict(zip(JOINTS, np.radians([math.nan, -13.0, 51.0, -10.0, 8.0, -50.0, 13.0, -170.0, 170.0]), strict=True))
_PRESENT, _LAST_PRESENT = BY_NAME["realtime_tick"].address, BY_NAME["present_temperature"].address
_GOAL = BY_NAME["goal_position"]


def model_of(joint: str) -> int:
    """Model number of a Reachy Mini joint's servo (its hardware page)."""
    return 1240 if joint == "body_yaw" else 1190 if joint.endswith("antenna") else 1200


class Emulator:
    """Servos that answer bytes and move. `feed` what the master sends, `step` the time, inject faults at any time.

    positions: (n,) rad in the order of `servos`; default limp, as a robot is found. seed: of the random faults.
    """

    def __init__(self, servos: Sequence[Servo], seed: int = 0, positions: Array | None = None,
                 supply_v: float = 6.9, shutdown_mask: int = 52):
        self.servos = [FakeServo(servo, MODELS[model_of(servo.joint)], shutdown_mask) for servo in servos]
        self.by_id = {fake.id: index for index, fake in enumerate(self.servos)}
        self.joints = tuple(servo.joint for servo in servos)
        limp = np.array([LIMP_RAD[joint] for joint in self.joints])
        sinks = np.array([_sinks(joint) for joint in self.joints])
        start = np.where(np.isfinite(limp), limp, 0.0) if positions is None else np.array(positions, float)
        speed = np.array([min(JOINT_SPEED, fake.model.no_load_speed) for fake in self.servos])
        self.dynamics = Dynamics.at_rest(start, sinks * DROOP_RAD, limp, speed)
        self.wear = Wear(len(self.servos), supply_v)
        self.time = 0.0                  # s since switched on
        self.chain_breaks = False        # servos behind a silent one in a sync read stay silent too
        self.powered = True
        self._heard = 0.0                # s, when the last instruction packet came
        self._back_at = np.full(len(self.servos), -1.0)   # s, when a rebooting servo answers again
        self._random = np.random.default_rng(seed)
        self._reader = PacketReader()
        for index, fake in enumerate(self.servos):
            fake.reboot(self._ticks(index))
            self._obey(index)

    # what the room and tests see -----------------------------------------------------------------------------------

    def true_positions(self) -> Array:
        """(n,) rad, the joints as they are, without encoder steps."""
        return self.dynamics.position.copy()

    def true_velocities(self) -> Array:
        """(n,) rad/s."""
        return self.dynamics.velocity.copy()

    def goals(self) -> Array:
        """(n,) rad, the goal registers."""
        return np.array([(f.goal_ticks - CENTRE_TICKS) * RAD_PER_TICK for f in self.servos])

    def torques(self) -> tuple[bool, ...]:
        return tuple(fake.torque for fake in self.servos)

    # what can happen to them ---------------------------------------------------------------------------------------

    def fault(self, servo: int, **changes) -> None:
        """Changes the faults of one servo (by id), or of all with id 254: `fault(13, silent=True)`."""
        for index, fake in enumerate(self.servos):
            if servo in (fake.id, packets.BROADCAST):
                self.set_faults(index, replace(fake.faults, **changes))

    def set_faults(self, index: int, faults: Faults) -> None:
        self.servos[index].faults = faults
        if faults.unplugged:
            self.servos[index].reboot(self._ticks(index))
        self._obey(index)

    def latch(self, servo: int, bits: int) -> None:
        """A hardware error of one servo, or of all with id 254."""
        for index, fake in enumerate(self.servos):
            if servo in (fake.id, packets.BROADCAST):
                fake.latch(bits)
                self._obey(index)

    def push(self, joint: str, angle: float) -> None:
        """Moves a joint by hand to an angle (rad)."""
        index = self.joints.index(joint)
        self.dynamics.position[index], self.dynamics.velocity[index] = angle, 0.0

    def grip(self, joint: str, held: bool = True) -> None:
        """Someone holds a joint where it is, or lets go."""
        self.dynamics.gripped[self.joints.index(joint)] = held

    def power(self, on: bool) -> None:
        """The supply of all servos."""
        self.powered = on
        for index, fake in enumerate(self.servos):
            fake.reboot(self._ticks(index))
            self._obey(index)

    # time ----------------------------------------------------------------------------------------------------------

    def step(self, dt: float) -> None:
        """Time passes (s): watchdogs, heat, overload, and motion."""
        self.time += dt
        if self.time - self._heard > WATCHDOG_UNIT_S:
            self._check_watchdogs()
        if self.wear.step(dt, self.dynamics.pull(), self.servos):
            for index in range(len(self.servos)):
                self._obey(index)
        self.dynamics.step(dt)

    def _check_watchdogs(self) -> None:
        for index, fake in enumerate(self.servos):
            units = fake.watchdog
            if fake.torque and 0 < units < WATCHDOG_TRIPPED and self.time - self._heard > units * WATCHDOG_UNIT_S:
                fake.trip_watchdog()
                self.dynamics.goal[index] = self.dynamics.position[index]   # stops where it is
                self.dynamics.droop[index] = 0.0

    # bytes ---------------------------------------------------------------------------------------------------------

    def feed(self, data: bytes) -> list[Answer]:
        """What comes back for bytes that the master sends: status packets and when their last byte is on the wire."""
        answers: list[Answer] = []
        elapsed = len(data) * BYTE_S
        for packet in self._reader.feed(data):
            if not self.powered or packet.instruction == packets.STATUS:
                continue
            self._heard = self.time
            for index, size, error, data_read in self._execute(packet):
                elapsed += self._respond(index, size, error, data_read, packet, elapsed, answers)
        return answers

    def _respond(self, index, size, error, data, packet, elapsed, answers) -> float:
        """Adds the status of one servo; returns the wire time it took."""
        fake = self.servos[index]
        faults = fake.faults
        if faults.silent or not self._listens(index) or not fake.answers(packet.instruction):
            return 0.0
        if fake.error_bits:
            error |= packets.ALERT
        answer = self._spoiled(packets.status(fake.id, error, data), faults)
        took = TURNAROUND_S + 2e-6 * fake.table[9] + faults.delay_s + len(answer) * BYTE_S
        answers.append((elapsed + took, answer))
        return took

    def _execute(self, packet: Packet):
        """Yields (index, size, error, data) of each servo that has to answer, in order."""
        instruction, parameters = packet.instruction, packet.parameters
        if instruction == packets.SYNC_WRITE:
            self._sync_write(parameters)
        elif instruction == packets.SYNC_READ and len(parameters) > 4:
            address, size = int.from_bytes(parameters[:2], "little"), int.from_bytes(parameters[2:4], "little")
            yield from self._chain((servo, address, size) for servo in parameters[4:])
        elif instruction == packets.BULK_READ:
            yield from self._chain((parameters[at], int.from_bytes(parameters[at + 1:at + 3], "little"),
                                    int.from_bytes(parameters[at + 3:at + 5], "little"))
                                   for at in range(0, len(parameters) - 4, 5))
        elif instruction == packets.BULK_WRITE:
            at = 0
            while at + 5 <= len(parameters):
                size = int.from_bytes(parameters[at + 3:at + 5], "little")
                self._write(parameters[at], int.from_bytes(parameters[at + 1:at + 3], "little"),
                            parameters[at + 5:at + 5 + size])
                at += 5 + size
        else:
            everyone = range(len(self.servos)) if packet.servo == packets.BROADCAST else ()
            for index in everyone or ([self.by_id[packet.servo]] if packet.servo in self.by_id else ()):
                if self._listens(index):
                    answer = self._single(index, instruction, parameters)
                    if packet.servo != packets.BROADCAST or instruction == packets.PING:
                        yield index, len(answer[1]), *answer

    def _chain(self, reads):
        """Statuses in the order asked; each servo waits for the one before it."""
        for servo, address, size in reads:
            index = self.by_id.get(servo)
            if index is None or self.servos[index].faults.silent or not self._listens(index):
                if self.chain_breaks:
                    return
                continue
            yield index, size, *self._read(index, address, size)

    def _single(self, index: int, instruction: int, parameters: bytes) -> tuple[int, bytes]:
        fake = self.servos[index]
        address = int.from_bytes(parameters[:2], "little")
        if instruction == packets.PING:
            return 0, fake.read(0, 2)[1] + fake.read(6, 1)[1]
        if instruction == packets.READ and len(parameters) == 4:
            return self._read(index, address, int.from_bytes(parameters[2:], "little"))
        if instruction == packets.WRITE and len(parameters) > 2:
            return self._write(fake.id, address, parameters[2:]), b""
        if instruction == packets.REG_WRITE and len(parameters) > 2:
            return fake.register_write(address, parameters[2:]), b""
        if instruction == packets.ACTION:
            error = fake.action()
            self._obey(index)
            return error, b""
        if instruction == packets.REBOOT:
            fake.reboot(self._ticks(index))
            self._back_at[index] = self.time + REBOOT_S
            self._obey(index)
            self.wear.forget(index)
            return 0, b""
        return packets.BAD_INSTRUCTION, b""

    def _sync_write(self, parameters: bytes) -> None:
        address, size = int.from_bytes(parameters[:2], "little"), int.from_bytes(parameters[2:4], "little")
        for at in range(4, len(parameters) - size, size + 1):
            self._write(parameters[at], address, parameters[at + 1:at + 1 + size])

    def _write(self, servo: int, address: int, data: bytes) -> int:
        index = self.by_id.get(servo)
        if index is None or not self._listens(index):
            return packets.NO_ACCESS
        fake = self.servos[index]
        error = fake.write(address, data)
        if address == _GOAL.address and not error:
            self.dynamics.goal[index] = self._angle(fake, fake.goal_ticks)
        elif not error:
            self._obey(index)
        return error

    def _read(self, index: int, address: int, size: int) -> tuple[int, bytes]:
        if address <= _LAST_PRESENT and address + size > _PRESENT:
            self._measure(index)
        return self.servos[index].read(address, size)

    # between registers and motion ----------------------------------------------------------------------------------

    def _listens(self, index: int) -> bool:
        return not self.servos[index].faults.unplugged and bool(self._back_at[index] <= self.time)

    def _angle(self, fake: FakeServo, ticks: int) -> float:
        return (ticks - CENTRE_TICKS - fake.get("homing_offset") + fake.zero_ticks) * RAD_PER_TICK

    def _ticks(self, index: int) -> int:
        fake = self.servos[index]
        return (round(self.dynamics.position[index] / RAD_PER_TICK) + CENTRE_TICKS
                + fake.get("homing_offset") - fake.zero_ticks)

    def _obey(self, index: int) -> None:
        """The motor does what the registers say."""
        fake, motion = self.servos[index], self.dynamics
        pulls = fake.torque and not fake.faults.dead_motor and self.powered
        motion.held[index] = pulls
        motion.gain[index] = fake.get("position_p_gain")
        profile = fake.get("profile_velocity") * RAD_S_PER_UNIT
        motion.top_speed[index] = min(JOINT_SPEED, fake.model.no_load_speed, profile or math.inf)
        if fake.watchdog != WATCHDOG_TRIPPED:
            motion.goal[index] = self._angle(fake, fake.goal_ticks)
            motion.droop[index] = _sinks(self.joints[index]) * DROOP_RAD

    def _measure(self, index: int) -> None:
        """Present values into the table."""
        fake, velocity = self.servos[index], self.dynamics.velocity[index]
        fake.set("present_position", self._ticks(index))
        fake.set("present_velocity", round(velocity / RAD_S_PER_UNIT))
        fake.set("realtime_tick", int(self.time * 1000) % 32768)
        fake.set("moving", int(abs(velocity) > 0.05))
        fake.set("present_current", self.wear.current_ma(index, self.dynamics.pull()[index]))
        fake.set("present_input_voltage", round(self.wear.supply_v * 10))
        fake.set("present_temperature", self.wear.temperature_c(index, fake))

    def _spoiled(self, answer: bytes, faults: Faults) -> bytes:
        """An answer with the random faults of its servo."""
        if faults.wrong_crc and self._random.random() < faults.wrong_crc:
            answer = answer[:-1] + bytes((answer[-1] ^ 0x5A,))
        if faults.dropped_byte and self._random.random() < faults.dropped_byte:
            at = int(self._random.integers(len(answer)))
            answer = answer[:at] + answer[at + 1:]
        if faults.garbage and self._random.random() < faults.garbage:
            answer = self._random.bytes(int(self._random.integers(1, 8))) + answer
        return answer


def _sinks(joint: str) -> float:
    """Which way gravity pulls a joint: -1, 0 or 1."""
    return 0.0 if not joint.startswith("stewart") else -1.0 if int(joint[-1]) % 2 else 1.0
