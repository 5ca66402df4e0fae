"""Nine emulated servos as bodies: registers that move joints, and what the world does to them. Time by `step`."""
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibration.body_model import JOINTS, Servo
from calibration.frames import Array
from firmware_bridge.emulator.dynamics import Dynamics
from firmware_bridge.emulator.fake_servo import FakeServo
from firmware_bridge.emulator.faults import Faults
from firmware_bridge.emulator.wear import Wear
from firmware_bridge.packets import BROADCAST
from firmware_bridge.registers import (
    BY_NAME,
    CENTRE_TICKS,
    MODELS,
    RAD_PER_TICK,
    RAD_S_PER_UNIT,
    WATCHDOG_TRIPPED,
    WATCHDOG_UNIT_S,
)

REBOOT_S = 0.35                 # silent after a reboot
JOINT_SPEED = 8.0               # rad/s, the URDF's limit of the platform joints
DROOP_RAD = math.radians(1.5)   # standing error of a platform arm under the head's weight at P gain 300
# Where joints sink without torque: the IK of the sleep pose (shared facts), a little lower than a parked head. Odd arms
# sink to smaller angles, even ones to larger. Antennas hang, the body stays.
LIMP_RAD = dict(zip(JOINTS, np.radians([math.nan, -13.0, 51.0, -10.0, 8.0, -50.0, 13.0, -170.0, 170.0]), strict=True))
POSITION, GOAL = BY_NAME["present_position"], BY_NAME["goal_position"]
PRESENT = range(BY_NAME["realtime_tick"].address, BY_NAME["present_temperature"].address + 1)


def model_of(joint: str) -> int:
    """Model number of a Reachy Mini joint's servo (its hardware page)."""
    return 1240 if joint == "body_yaw" else 1190 if joint.endswith("antenna") else 1200


def _sinks(joint: str) -> float:
    """Which way gravity pulls a joint: -1, 0 or 1."""
    return 0.0 if not joint.startswith("stewart") else -1.0 if int(joint[-1]) % 2 else 1.0


class ServoBank:
    """positions: (n,) rad in the order of `servos`; default limp, as a robot is found."""

    def __init__(self, servos: Sequence[Servo], positions: Array | None = None, supply_v: float = 6.9,
                 shutdown_mask: int = 52):
        self.servos = [FakeServo(servo, MODELS[model_of(servo.joint)], shutdown_mask) for servo in servos]
        self.by_id = {fake.id: index for index, fake in enumerate(self.servos)}
        self.joints = tuple(servo.joint for servo in servos)
        limp = np.array([LIMP_RAD[joint] for joint in self.joints])
        start = np.where(np.isfinite(limp), limp, 0.0) if positions is None else np.array(positions, float)
        speed = np.array([min(JOINT_SPEED, fake.model.no_load_speed) for fake in self.servos])
        self._droop = np.array([_sinks(joint) for joint in self.joints]) * DROOP_RAD
        self.dynamics = Dynamics.at_rest(start, self._droop, limp, speed)
        self.wear = Wear(len(self.servos), supply_v)
        self.time = 0.0                  # s since switched on
        self.powered = True
        self.heard_at = 0.0              # s, when the last instruction packet came
        self._back_at = [-1.0] * len(self.servos)       # s, when a rebooting servo answers again
        self._shift = [0] * len(self.servos)            # ticks by which a homing offset is wrong
        self._ticks: list[int] = []                     # encoders, read once between two steps
        self.power(True)

    # what the room and tests see -----------------------------------------------------------------------------------

    def true_positions(self) -> Array:
        """(n,) rad, the joints as they are, without encoder steps."""
        return self.dynamics.position.copy()

    def true_velocities(self) -> Array:
        """(n,) rad/s."""
        return self.dynamics.velocity.copy()

    def goals(self) -> Array:
        """(n,) rad, the goal registers."""
        return np.array([(fake.goal_ticks - CENTRE_TICKS) * RAD_PER_TICK for fake in self.servos])

    def torques(self) -> tuple[bool, ...]:
        """(n,) torque_enable."""
        return tuple(fake.torque for fake in self.servos)

    # what can happen to them ---------------------------------------------------------------------------------------

    def fault(self, servo: int, **changes) -> None:
        """Changes the faults of one servo (by id), or of all with id 254: `fault(13, silent=True)`."""
        for index in self._named(servo):
            self.set_faults(index, replace(self.servos[index].faults, **changes))

    def set_faults(self, index: int, faults: Faults) -> None:
        was, self.servos[index].faults = self.servos[index].faults, faults
        if faults.unplugged != was.unplugged:
            self._start(index)
        self.obey(index)

    def latch(self, servo: int, bits: int) -> None:
        """A hardware error of one servo, or of all with id 254."""
        for index in self._named(servo):
            self.servos[index].latch(bits)
            self.obey(index)

    def push(self, joint: str, angle: float) -> None:
        """Moves a joint by hand to an angle (rad)."""
        index = self.joints.index(joint)
        self.dynamics.position[index], self.dynamics.velocity[index] = angle, 0.0
        self._ticks = []

    def grip(self, joint: str, held: bool = True) -> None:
        """Someone holds a joint where it is, or lets go."""
        self.dynamics.gripped[self.joints.index(joint)] = held

    def power(self, on: bool) -> None:
        """The supply of all servos."""
        self.powered = on
        for index in range(len(self.servos)):
            self._start(index)

    def step(self, dt: float) -> None:
        """Time passes (s): watchdogs, heat, overload, and motion."""
        self.time += dt
        if self.time - self.heard_at > WATCHDOG_UNIT_S:
            self._check_watchdogs()
        if self.wear.due(dt) and self.wear.step(self.dynamics.pull(), self.servos):
            for index in range(len(self.servos)):
                self.obey(index)
        self.dynamics.step(dt)
        self._ticks = []

    def _check_watchdogs(self) -> None:
        for index, fake in enumerate(self.servos):
            units = fake.watchdog
            if fake.torque and 0 < units < WATCHDOG_TRIPPED and self.time - self.heard_at > units * WATCHDOG_UNIT_S:
                fake.trip_watchdog()
                self.dynamics.goal[index] = self.dynamics.position[index]   # stops where it is
                self.dynamics.droop[index] = 0.0

    # what instructions do ------------------------------------------------------------------------------------------

    def listens(self, index: int) -> bool:
        return self.powered and self._back_at[index] <= self.time and not self.servos[index].faults.unplugged

    def read(self, index: int, address: int, size: int) -> tuple[int, bytes]:
        fake = self.servos[index]
        if address == POSITION.address and size == POSITION.size:      # every tick
            return 0, POSITION.pack(self._encoder(index))
        if address < PRESENT.stop and address + size > PRESENT.start:
            self._measure(index, fake)
        return fake.read(address, size)

    def write(self, index: int, address: int, data: bytes) -> int:
        fake = self.servos[index]
        error = fake.write(address, data)
        if address == GOAL.address and not error:      # every tick
            self.dynamics.goal[index] = self._angle(index)
        elif not error:
            self.obey(index)
        return error

    def reboot(self, index: int) -> None:
        self._back_at[index] = self.time + REBOOT_S
        self.wear.forget(index)
        self._start(index)

    def obey(self, index: int) -> None:
        """The motor does what the registers say."""
        fake, motion = self.servos[index], self.dynamics
        self._shift[index] = fake.get("homing_offset") - fake.zero_ticks
        motion.held[index] = fake.torque and not fake.faults.dead_motor and self.powered
        motion.gain[index] = fake.get("position_p_gain")
        profile = fake.get("profile_velocity") * RAD_S_PER_UNIT
        motion.top_speed[index] = min(JOINT_SPEED, fake.model.no_load_speed, profile or math.inf)
        if fake.watchdog != WATCHDOG_TRIPPED:
            motion.goal[index], motion.droop[index] = self._angle(index), self._droop[index]
        self._ticks = []

    def _start(self, index: int) -> None:
        self.servos[index].reboot(self._encoder(index))
        self.obey(index)

    def _named(self, servo: int) -> list[int]:
        return [index for index, fake in enumerate(self.servos) if servo in (fake.id, BROADCAST)]

    def _angle(self, index: int) -> float:
        return (self.servos[index].goal_ticks - CENTRE_TICKS - self._shift[index]) * RAD_PER_TICK

    def _encoder(self, index: int) -> int:
        if not self._ticks:
            self._ticks = [int(x) for x in np.rint(self.dynamics.position / RAD_PER_TICK).tolist()]
        return self._ticks[index] + CENTRE_TICKS + self._shift[index]

    def _measure(self, index: int, fake: FakeServo) -> None:
        """Present values into the table."""
        velocity = float(self.dynamics.velocity[index])
        fake.set("present_position", self._encoder(index))
        fake.set("present_velocity", round(velocity / RAD_S_PER_UNIT))
        fake.set("realtime_tick", int(self.time * 1000) % 32768)
        fake.set("moving", int(abs(velocity) > 0.05))
        fake.set("present_current", self.wear.current_ma(float(self.dynamics.pull()[index])))
        fake.set("present_input_voltage", round(self.wear.supply_v * 10))
        fake.set("present_temperature", self.wear.temperature_c(index, fake))
