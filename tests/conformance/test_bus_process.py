"""The real servo process on a real pty against the emulator program. Waits on readiness, bounded, for outcomes only."""
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest

from firmware_bridge.bus_settings import BusSettings
from motion.intent import JointGoal, MotionIntent
from motion.mover import Mover
from robot.bodies.joint_process import JointProcess
from robot.bodies.serial_port import SerialPort
from robot.bodies.servo_child import ServoSetup
from robot.bodies.servo_loop import PART, LoopSettings
from robot.safety import Safety
from tests.bus_bench import BODY, NEUTRAL, PARK

LIMIT_S = 60.0             # a busy machine is slow; a hanging test must end
# On a busy machine the emulator answers late: patience instead of trouble. Catching up is quick, to save the test time.
PATIENT = BusSettings(answer_s=0.2, retry_s=0.2, silent_ticks=25, silence_s=1.0, watchdog_units=100,
                      catch_up_rad_s=6.0, catch_up_min_s=0.2)
HASTY = LoopSettings(deadman_s=1.0, park_after_s=1.5)


class EmulatorProgram:
    """`python -m firmware_bridge.emulator` with its command line and its standard input."""

    def __init__(self, *arguments: str):
        self.program = subprocess.Popen([sys.executable, "-m", "firmware_bridge.emulator", *arguments],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.path = self.line()

    def line(self) -> str:
        assert select.select([self.program.stdout], [], [], LIMIT_S)[0]
        return self.program.stdout.readline().decode().strip()

    def say(self, command: str) -> None:
        self.program.stdin.write(command.encode() + b"\n")
        self.program.stdin.flush()

    def state(self) -> dict:
        self.say("state")
        return json.loads(self.line())

    def close(self) -> None:
        self.program.kill()
        self.program.wait()
        self.program.stdin.close()
        self.program.stdout.close()


class Mind:
    """Sends a goal whenever the servo process rings, and keeps what it tells."""

    def __init__(self, process: JointProcess):
        self.process, self.told, self.reading = process, [], None

    def until(self, outcome: Callable[["Mind"], bool], goal=NEUTRAL) -> None:
        end = time.monotonic() + LIMIT_S
        while not outcome(self):
            assert time.monotonic() < end, f"not within {LIMIT_S} s; {self.told} {self.reading}"
            watched = [self.process.fileno()] if self.process.fileno() >= 0 else []
            select.select(watched, [], [], 0.05)
            self.reading = self.process.read() or self.reading
            self.told += self.process.health()
            if goal is not None and self.reading is not None:
                self.process.write(JointGoal(time.monotonic() - self.process.setup.start, goal, np.zeros(9)))

    def upright(self, within_deg: float = 3.0) -> bool:
        return self.reading is not None and all(self.reading.torque) and bool(
            (np.abs(self.reading.position - NEUTRAL) < np.radians(within_deg)).all())

    def heard(self, part: str, level: str) -> bool:
        return any((line.part, line.level) == (part, level) for line in self.told)


@pytest.fixture
def link(tmp_path):
    return tmp_path / "bus"


@pytest.fixture
def emulator(link):
    program = EmulatorProgram("--link", str(link))
    yield program
    program.close()


@pytest.fixture
def mind(link):
    setup = ServoSetup(time.monotonic(), device=str(link), servos=BODY.servos, park=PARK, bus=PATIENT, loop=HASTY)
    process = JointProcess.start("robot.bodies.servo_child", PART, setup)
    yield Mind(process)
    process.close()


def test_the_servo_process_from_waking_to_parking(emulator, mind):
    mind.until(Mind.upright)

    os.kill(mind.process.pid, signal.SIGKILL)                    # the child dies: noticed, started again, no jump
    mind.until(lambda m: m.heard("servo_process", "gone"))
    assert all(emulator.state()["torque"])                       # the servos hold meanwhile
    mind.reading = None
    mind.until(Mind.upright)
    assert mind.process.deaths == 1

    emulator.say("fault 13 unplugged")                           # one servo
    mind.until(lambda m: m.heard("servo_13", "gone") and np.isnan(m.reading.position[3]))
    emulator.say("fault 13 unplugged=0")
    mind.until(lambda m: m.heard("servo_13", "ok") and m.upright())

    mind.until(lambda m: not any(m.reading.torque), goal=None)   # the mind says nothing: held, parked, let go
    state = emulator.state()
    assert not any(state["torque"])
    assert np.abs(np.array(state["position_rad"])[1:7] - PARK[1:7]).max() < np.radians(7)
    mind.until(Mind.upright)

    mind.process.close()                                         # and closing parks too
    state = emulator.state()
    assert not any(state["torque"])
    assert np.abs(np.array(state["position_rad"])[1:7] - PARK[1:7]).max() < np.radians(7)


def test_a_device_that_comes_late_and_goes_is_opened_again(mind, link):
    mind.until(lambda m: m.heard("servo_bus", "gone"))           # no device yet: told, nothing crashed
    first = EmulatorProgram("--link", str(link))
    mind.until(Mind.upright)
    first.close()                                                # unplugged
    mind.until(lambda m: np.isnan(m.reading.position).all())
    second = EmulatorProgram("--link", str(link))
    mind.until(Mind.upright)
    assert mind.process.deaths == 0
    mind.process.close()
    second.close()


def test_a_limp_robot_is_lifted_by_the_mind_itself_and_nothing_is_refused(emulator, mind):
    mover, safety, refused = Mover(BODY, np.random.default_rng(0)), Safety(BODY), []
    safety.check(mover.step(0.0, MotionIntent(0.0), np.zeros(0), None))      # a tick before anything was measured

    def outcome(m: Mind) -> bool:
        reading = m.reading
        if reading is not None:
            t = time.monotonic() - m.process.setup.start
            mover.head_pose(reading)
            goal, told = safety.check(mover.step(t, MotionIntent(t), np.zeros(0), reading), reading)
            refused.extend(told)
            m.process.write(goal)
        return m.upright(within_deg=12.0)      # it breathes and looks around

    mind.until(outcome, goal=None)
    assert refused == []


def test_an_idle_servo_process_ends_with_its_parent(mind):
    mind.until(lambda m: m.reading is not None, goal=None)
    child = os.pidfd_open(mind.process.pid)
    mind.process.close()
    assert select.select([child], [], [], LIMIT_S)[0]
    os.close(child)


def test_the_serial_port_on_a_pty():
    master, slave = os.openpty()
    port = SerialPort(os.ttyname(slave))
    assert port.read(4, 0.0) == b"" and port.trouble
    port.write(b"hello")
    assert not port.trouble
    assert select.select([master], [], [], LIMIT_S)[0] and os.read(master, 16) == b"hello"
    os.write(master, b"world!")
    assert port.read(4, LIMIT_S) == b"worl" and port.read(4, 0.0) == b"d!"
    os.close(master)
    os.close(slave)
    port.read(4, 0.0)
    port.write(b"anyone?")
    assert port.trouble and port.read(4, 0.0) == b""
    port.close()


def test_the_emulator_program_says_what_it_does_not_understand(emulator):
    emulator.program.stdin.write(b"dance\nfault 13 tired\npush nowhere 3\n")
    assert emulator.state()["joints"][0] == "body_yaw"
