"""What the mind's process and a joint process share: the newest goal, order, reading, health and array reading."""
import mmap
import struct
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from calibration.body_model import JOINTS
from calibration.frames import frozen
from calibration.health import Health
from firmware_bridge.joint_reading import JointReading
from motion.intent import JointGoal
from perception.audio.array_register import Reading as ArrayReading
from robot.bodies.latest import LatestValue

N = len(JOINTS)
GOAL = struct.Struct(f"<d{N}d{N}d?")               # t, position, velocity, torque
ORDERS = struct.Struct("<?")                       # emergency stop
READING = struct.Struct(f"<d{N}d{N}?d?dd")         # t, position, torque, speed scale, park, cycle s, lateness s
BEARING = struct.Struct("<dd?")                    # t, angle, speech
SIZES = (256, 64, 512, 8192, 64)                   # bytes of each slot


@dataclass(frozen=True)
class JointSetup:
    """What a joint process is told first; each kind adds its own fields."""

    start: float                         # s, monotonic clock at t = 0 of the run
    memory: int = -1                     # file descriptor of the shared memory, filled in by the parent
    standing: tuple[Health, ...] = ()    # trouble that a process before this one told, filled in by the parent


class Slots(NamedTuple):
    """The shared memory, slot by slot."""

    goals: LatestValue
    orders: LatestValue
    readings: LatestValue
    health: LatestValue
    bearings: LatestValue


def slots(memory: mmap.mmap) -> Slots:
    starts = np.cumsum((0, *SIZES)).tolist()
    return Slots(*(LatestValue(memory, at, size) for at, size in zip(starts, SIZES, strict=False)))


def packed_goal(goal: JointGoal) -> bytes:
    return GOAL.pack(goal.t, *goal.position.tolist(), *goal.velocity.tolist(), goal.torque)


def unpacked_goal(data: bytes) -> JointGoal:
    t, *numbers, torque = GOAL.unpack(data)
    return JointGoal(t, frozen(numbers[:N]), frozen(numbers[N:]), torque)


def packed_reading(reading: JointReading, cycle: float, late: float) -> bytes:
    """cycle, late: s, how long the exchange took and how late it began."""
    return READING.pack(reading.t, *reading.position.tolist(), *reading.torque, reading.speed_scale, reading.park,
                        cycle, late)


def unpacked_reading(data: bytes) -> tuple[JointReading, float, float]:
    """The reading, the seconds its exchange took, and how late it began."""
    t, *rest = READING.unpack(data)
    reading = JointReading(t, frozen(rest[:N]), tuple(rest[N:2 * N]), rest[2 * N], rest[2 * N + 1])
    return reading, rest[2 * N + 2], rest[2 * N + 3]


def packed_bearing(reading: ArrayReading) -> bytes:
    return BEARING.pack(reading.t, reading.angle, reading.speech)


def unpacked_bearing(data: bytes) -> ArrayReading:
    return ArrayReading(*BEARING.unpack(data))
