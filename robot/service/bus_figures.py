"""How regular the bus is: nine emulated servos on a pty, our servo process, a busy machine beside it.

The emulator answers when a wire of 1 Mbaud would, and has real-time priority where the system allows it, because real
servos do not compete for the processor. The servo process is measured with and without that priority.
"""
import importlib.util
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calibration.body_model import JOINTS, reachy_mini
from firmware_bridge import packets
from firmware_bridge.bus_settings import BusSettings
from firmware_bridge.joint_reading import JointReading
from firmware_bridge.registers import BY_NAME
from firmware_bridge.servo_watch import LOOK
from motion.intent import JointGoal
from robot.bodies.joint_process import JointProcess
from robot.bodies.pose_track import parked
from robot.bodies.real_time import SERVO_PRIORITY
from robot.bodies.servo_child import ServoSetup
from robot.bodies.servo_loop import PART
from robot.service.bus_storm import HOSTILE_S, NEUTRAL, REALISTIC_S, Storm

BUSY = 2                   # processes that compute without a pause
LIMIT_S = 60.0             # s for a program to start, or for the servos to wake
MUST_MS = 3.0              # lateness of a cycle, p99 on a busy machine
STORM_S = 60.0             # s of storm between two looks at the result


@dataclass(frozen=True, slots=True)
class Cycles:
    """Bus cycles of one measurement; arrays (n,), s."""

    late: np.ndarray           # when each began after its deadline
    cycle: np.ndarray          # how long it took
    unseen: int                # of all: the bench was too late to see them
    failed: int                # of those seen: some servo's answer did not come
    total: int

    def line(self, name: str) -> str:
        def spread(values: np.ndarray) -> str:
            low, high, most = np.percentile(values * 1000, [50, 99, 100])
            return f"{low:7.3f} {high:7.3f} {most:7.3f}"
        counts = f"{self.unseen:5}  {self.failed:5}  {self.total:5}"
        return f"  {name:38}{spread(self.late)}   {spread(self.cycle)}   {counts}"


def bus_figures(seconds: float) -> Iterator[str]:
    """Lines of the table, one measurement after the other, each over so many seconds."""
    yield from wire_lines()
    yield (f"bus cycle of {len(JOINTS)} servos on a pty, every 10 ms, {seconds:g} s each; ms; load before: "
           f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    yield f"  {'':38}{'late p50     p99     max':>23}   {'cycle p50    p99     max':>23}   unseen failed  of all"
    priorities = (True, False) if real_time_allowed() else (False,)
    stock = importlib.util.find_spec("dynamixel_sdk") is not None
    for busy in (0, BUSY):
        for real_time in priorities:
            beside = f"{busy} busy processes" if busy else "idle"
            name = f"{beside}, {'SCHED_FIFO' if real_time else 'ordinary priority'}"
            with emulator() as path:
                yield ours(path, seconds, real_time, busy).line(name)
            if stock:
                with beside_busy(busy), emulator() as path:
                    yield theirs(path, seconds, real_time).line("  stock loop of the official SDK")
    if not stock:
        yield "  the stock loop is measured too where dynamixel-sdk is installed: pip install dynamixel-sdk"
    yield f"  must: late p99 <= {MUST_MS:g} ms on a busy machine"


def wire_lines() -> list[str]:
    """What the bytes of a cycle cost on a real line, without anybody's delay."""
    servos = [servo.id for servo in reachy_mini().servos]
    goals = len(packets.sync_write(BY_NAME["goal_position"].address, 4, [(servo, bytes(4)) for servo in servos]))
    ask = len(packets.sync_read(servos, BY_NAME["present_position"].address, 4))
    answers = len(servos) * (packets.STATUS_BYTES + 4)
    look = len(packets.read(servos[0], LOOK.address, LOOK.size)) + packets.STATUS_BYTES + LOOK.size
    byte_ms = 10_000 / BusSettings().baud
    total = (goals + ask + answers) * byte_ms
    return [f"a cycle on a wire of {BusSettings().baud} baud, calculated: goals {goals * byte_ms:.2f} ms, positions "
            f"{ask * byte_ms:.2f} + {answers * byte_ms:.2f} ms, together {total:.2f} ms; with a look at one servo "
            f"{total + look * byte_ms:.2f} ms"]


def ours(path: str, seconds: float, real_time: bool, busy: int) -> Cycles:
    """The servo process, fed and read once a cycle; measured from when all joints have torque."""
    body = reachy_mini()
    setup = ServoSetup(time.monotonic(), device=path, servos=body.servos, park=parked(body))
    process = JointProcess.start("robot.bodies.servo_child", PART, setup)
    try:
        if not any(all(reading.torque) for reading in _readings(process, LIMIT_S)):
            raise RuntimeError(f"the servos did not wake within {LIMIT_S:g} s")
        if not real_time and process.pid is not None:
            os.sched_setscheduler(process.pid, os.SCHED_OTHER, os.sched_param(0))
        with beside_busy(busy):
            seen = [(process.late_s, process.cycle_s, bool(np.isfinite(reading.position).all()))
                    for reading in _readings(process, seconds)]
        late, cycle, whole = np.array(seen).T
        total = round(seconds / setup.loop.period_s)
        return Cycles(late, cycle, max(total - len(seen), 0), int(len(seen) - whole.sum()), total)
    finally:
        process.close()


def _readings(process: JointProcess, seconds: float) -> Iterator[JointReading]:
    """Each reading seen while goals are sent."""
    end = time.monotonic() + seconds
    while (now := time.monotonic()) < end:
        descriptor = process.fileno()
        select.select([descriptor] if descriptor >= 0 else [], [], [], 0.05)
        reading = process.read()
        process.write(JointGoal(now - process.setup.start, NEUTRAL, np.zeros(len(JOINTS))))
        if reading is not None:
            yield reading


def theirs(path: str, seconds: float, real_time: bool) -> Cycles:
    """The official SDK's loop in a process of its own."""
    done = subprocess.run([sys.executable, "-m", "robot.service.bus_stock", path, str(seconds), str(int(real_time))],
                          stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    return Cycles(np.array(found["late"]), np.array(found["cycle"]), 0, found["failed"], len(found["late"]))


def real_time_allowed() -> bool:
    """Whether a process of ours may ask for SCHED_FIFO."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(SERVO_PRIORITY))
    except PermissionError:
        return False
    os.sched_setscheduler(0, *before)
    return True


@contextmanager
def emulator() -> Iterator[str]:
    """The emulator program; gives the path of its pty."""
    with tempfile.TemporaryDirectory(prefix="talkover-") as folder:
        link = Path(folder) / "servos"
        with subprocess.Popen([sys.executable, "-m", "firmware_bridge.emulator", "--link", link],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            try:
                if real_time_allowed():
                    os.sched_setscheduler(program.pid, os.SCHED_FIFO, os.sched_param(SERVO_PRIORITY + 1))
                assert program.stdout is not None
                if not select.select([program.stdout], [], [], LIMIT_S)[0]:
                    raise RuntimeError("the emulator did not start")
                yield str(link)
            finally:
                program.kill()


@contextmanager
def beside_busy(count: int) -> Iterator[None]:
    """So many processes that compute without a pause."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def fault_figures(hours: float, seed: int) -> Iterator[str]:
    """The storm at a realistic and at a hostile rate, so many simulated hours each."""
    for name, every in (("realistic", REALISTIC_S), ("hostile", HOSTILE_S)):
        storm, cpu = Storm(seed, every), time.process_time()
        while storm.t < hours * 3600:
            storm.run(min(STORM_S, hours * 3600 - storm.t))
        used = time.process_time() - cpu
        count, hours_done = sum(storm.faults.values()), storm.t / 3600
        yield f"faults at a {name} rate: {count} of {len(storm.faults)} kinds, in {hours_done:.2f} h"
        yield (f"  joint jumps {len(storm.joint_jumps)}, goal jumps {len(storm.goal_jumps)}, wrong torque-offs "
               f"{len(storm.torque_offs)}, crashes {len(storm.crashes)}")
        yield (f"  largest way of a joint in 50 ms beyond its goals {storm.largest:.1f} deg; torque came on "
               f"{storm.torque_ons} times; {len(storm.told)} health lines; returns of servos out of reach "
               f"{len(storm.out_of_reach)}")
        for what in (*storm.joint_jumps, *storm.goal_jumps, *storm.torque_offs, *storm.crashes)[:10]:
            yield f"  {what}"
        yield f"  {storm.t / used:.0f} x real time"
