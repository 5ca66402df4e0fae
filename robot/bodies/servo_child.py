"""The servo process's own program: `python -m robot.bodies.servo_child FD`. Started by servo_process, not by hand.

Real time: absolute deadlines, SCHED_FIFO where the system allows it, no garbage collection of what was there at the
start. The parent hangs up or dies: the robot is parked first.
"""
import gc
import json
import mmap
import os
import signal
import socket
import struct
import sys
import time
from dataclasses import dataclass

import numpy as np

from calibration.body_model import JOINTS, Servo
from calibration.frames import Array, frozen
from calibration.health import Health
from firmware_bridge.bus_settings import BusSettings
from firmware_bridge.joint_reading import JointReading
from firmware_bridge.servo_bus import BUS, ServoBus
from motion.intent import JointGoal
from robot.bodies.latest import LatestValue
from robot.bodies.serial_port import SerialPort
from robot.bodies.servo_loop import PART, LoopSettings, ServoLoop
from robot.channel import Channel

N = len(JOINTS)
GOAL = struct.Struct(f"<d{N}d{N}d?")               # t, position, velocity, torque
READING = struct.Struct(f"<d{N}d{N}?d?dd")         # t, position, torque, speed scale, park, cycle s, lateness s
SLOTS = (256, 512, 8192)                           # bytes: goals, readings, health
PRIORITY = 40                                      # SCHED_FIFO: above ordinary work, below the sound card's threads
CLOSING_S = 10.0                                   # s to park before the process ends anyway; the servos hold


@dataclass(frozen=True)
class Setup:
    """What the parent tells its child first."""

    device: str
    servos: tuple[Servo, ...]
    park: Array                  # (9,) rad
    start: float                 # s, monotonic clock at t = 0 of the run
    bus: BusSettings
    loop: LoopSettings
    memory: int                  # file descriptor of the shared memory
    standing: tuple[Health, ...] = ()    # trouble that a child before this one told


def slots(memory: mmap.mmap) -> tuple[LatestValue, LatestValue, LatestValue]:
    """Goals, readings and health in the shared memory."""
    starts = np.cumsum((0, *SLOTS)).tolist()
    goals, readings, health = (LatestValue(memory, at, size) for at, size in zip(starts, SLOTS, strict=False))
    return goals, readings, health


def packed_goal(goal: JointGoal) -> bytes:
    return GOAL.pack(goal.t, *goal.position.tolist(), *goal.velocity.tolist(), goal.torque)


def unpacked_goal(data: bytes) -> JointGoal:
    t, *numbers, torque = GOAL.unpack(data)
    return JointGoal(t, frozen(numbers[:N]), frozen(numbers[N:]), torque)


def packed_reading(reading: JointReading, cycle: float, late: float) -> bytes:
    return READING.pack(reading.t, *reading.position.tolist(), *reading.torque, reading.speed_scale, reading.park,
                        cycle, late)


def unpacked_reading(data: bytes) -> tuple[JointReading, float, float]:
    """The reading, the seconds its bus cycle took, and how late it began."""
    t, *rest = READING.unpack(data)
    reading = JointReading(t, frozen(rest[:N]), tuple(rest[N:2 * N]), rest[2 * N], rest[2 * N + 1])
    return reading, rest[2 * N + 2], rest[2 * N + 3]


class HealthTable:
    """The state of each part that ever changed, with a count, in one slot."""

    def __init__(self, slot: LatestValue):
        self._slot = slot
        self._parts: dict[str, tuple[int, float, str, str]] = {}

    def add(self, changes: tuple[Health, ...]) -> None:
        for change in changes:
            count = self._parts.get(change.part, (0,))[0] + 1
            self._parts[change.part] = (count, change.t, change.level, change.reason[:160])
        if changes:
            self._slot.write(json.dumps(self._parts).encode())


class ServoChild:
    """Runs a ServoLoop against the clock."""

    def __init__(self, setup: Setup, parent: socket.socket):
        self.setup, self.parent = setup, parent
        self.goals, self.readings, table = slots(mmap.mmap(setup.memory, sum(SLOTS)))
        self.health = HealthTable(table)
        self.port = SerialPort(setup.device, setup.bus.baud)
        bus = ServoBus(self.port, setup.servos, setup.park, setup.bus)
        for trouble in setup.standing:
            bus.health.inherit(trouble, "silence" if trouble.part == BUS else "torque")
        self.loop = ServoLoop(bus, setup.loop)
        self._seen = self.goals.read()[0]      # a goal from before a restart is not new

    def run(self) -> None:
        period, start = self.setup.loop.period_s, self.setup.start
        self.health.add((Health(time.monotonic() - start, PART, "ok", real_time()),))
        due = time.monotonic()
        closing_at = None
        while not self.loop.finished:
            due += period
            wait = due - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            elif wait < -period:
                due -= wait             # too late to catch up: drop the ticks that were missed
            now = time.monotonic()
            self._tick(now - start, now - due)
            if self.loop.closing:
                closing_at = closing_at or due
                if due - closing_at > CLOSING_S:
                    break
        self.port.close()

    def _tick(self, t: float, late: float) -> None:
        count, data = self.goals.read()
        if count not in (0, self._seen):
            self._seen = count
            self.loop.hear(t, unpacked_goal(data))
        reading, health = self.loop.step(t)
        self.readings.write(packed_reading(reading, time.monotonic() - self.setup.start - t, late))
        self.health.add(health)
        self._ring()

    def _ring(self) -> None:
        """Tells the parent that there is something new, and hears when it hung up."""
        try:
            self.parent.send(b"\0")
        except BlockingIOError:
            pass                        # it does not look; the newest value waits for it
        except OSError:
            self.loop.closing = True


def real_time() -> str:
    """Asks for real-time priority; says in words what came of it."""
    gc.collect()
    gc.freeze()
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except PermissionError:
        return "runs with ordinary priority: the system allows no SCHED_FIFO (LimitRTPRIO of the service)"
    return "runs with real-time priority"


def main() -> None:
    parent = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # a Ctrl-C is the parent's to answer
    channel = Channel(parent)
    setups: list[Setup] = []
    while not setups and not channel.closed:
        channel.wait(None)
        setups = channel.receive()
    if setups:
        child = ServoChild(setups[0], parent)
        signal.signal(signal.SIGTERM, lambda *_: setattr(child.loop, "closing", True))
        child.run()


if __name__ == "__main__":
    main()
