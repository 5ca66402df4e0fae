"""The servo process under signals that it does not expect, on a line that is not there. Waits for outcomes only."""
import os
import select
import signal
import time
from collections.abc import Callable

import pytest

from calibration.body_model import reachy_mini
from firmware_bridge.servo_bus import ServoBus
from robot.bodies.joint_process import JointProcess
from robot.bodies.pose_track import parked
from robot.bodies.serial_port import SerialPort
from robot.bodies.servo_child import ServoSetup
from robot.bodies.servo_loop import PART

LIMIT_S = 60.0             # a busy machine is slow; a hanging test must end


@pytest.fixture
def process(tmp_path):
    body = reachy_mini()
    setup = ServoSetup(time.monotonic(), device=str(tmp_path / "absent"), servos=body.servos, park=parked(body))
    process = JointProcess.start("robot.bodies.servo_child", PART, setup)
    yield process
    process.close()


def readings(process: JointProcess, enough: Callable[[], bool]) -> int:
    """Reads at each bell until `enough`; returns the count of readings."""
    end, count = time.monotonic() + LIMIT_S, 0
    while not enough():
        assert time.monotonic() < end, f"not within {LIMIT_S} s"
        select.select([process.fileno()] if process.fileno() >= 0 else [], [], [], 0.05)
        count += process.read() is not None
    return count


def reads(process: JointProcess, wanted: int) -> None:
    for _ in range(wanted):
        before = process._read
        readings(process, lambda before=before: process._read != before)


def test_one_that_stands_still_is_told_ended_and_replaced(process):
    reads(process, 1)
    process.health()
    first = process.pid
    os.kill(first, signal.SIGSTOP)
    readings(process, lambda: process.deaths == 1)
    told = [(line.part, line.level) for line in process.health()]
    assert (PART, "gone") in told and not os.path.exists(f"/proc/{first}")
    reads(process, 1)
    assert process.pid not in (None, first) and process.deaths == 1


def test_one_that_stands_still_for_a_moment_goes_on(process):
    reads(process, 1)
    first = process.pid
    os.kill(first, signal.SIGSTOP)
    os.kill(first, signal.SIGCONT)
    reads(process, 5)
    assert process.pid == first and process.deaths == 0


def test_a_closed_terminal_and_ctrl_c_do_not_end_it(process):
    """Both reach the whole foreground group; the head is laid down first, when the mind's process hangs up."""
    reads(process, 1)
    for number in (signal.SIGHUP, signal.SIGINT):
        os.kill(process.pid, number)
    reads(process, 5)
    assert process.deaths == 0


def test_a_line_that_another_program_holds_is_told_as_that():
    master, slave = os.openpty()
    first, second = (SerialPort(os.ttyname(slave)) for _ in range(2))
    for port in (first, second):
        port.write(b"\xff")
    assert first.trouble == "" and second.trouble == f"{second.device}: another program holds this line"
    bus = ServoBus(second, reachy_mini().servos, parked(reachy_mini()))
    told = [line for index in range(100) for line in bus.exchange(index * 0.01, None)[1]]
    assert [line.reason for line in told if line.level == "gone"] == [f"no servo answers: {second.trouble}"]
    for port in (first, second):
        port.close()
    os.close(master)
    os.close(slave)
