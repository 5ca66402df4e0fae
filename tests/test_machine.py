"""Reading the machine: from a written /proc, from the real one, and from a process that is killed."""
import os
import select
import signal
import subprocess
import sys
import time

import pytest

from robot.bodies.watched import WatchedBody
from robot.service.machine import PAGE, Machine
from robot.service.vitals import Vitals
from robot.service.vitals_process import VitalsProcess
from robot.tick import Inputs, Outputs


def stat(pid: int, name: str, parent: int, user: int, system: int) -> str:
    return f"{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {user} {system} 0 0 20 0 1 0 0 0 0\n"


@pytest.fixture
def machine(tmp_path):
    """A small computer with a mind (40), its engine (41), a voice program of that (42), and a stranger (50)."""
    proc, sys_ = tmp_path / "proc", tmp_path / "sys"
    files = {
        "loadavg": "3.00 1.0 1.0 2/300 99\n", "meminfo": "MemTotal: 4000 kB\nMemFree: 10 kB\nMemAvailable: 1000 kB\n",
        "pressure/cpu": "some avg10=12.50 avg60=0 avg300=0 total=1\nfull avg10=0 avg60=0 avg300=0 total=0\n",
        "pressure/memory": "some avg10=1.00 avg60=0 avg300=0 total=1\n", "40/cgroup": "0::/robot.service\n",
        "40/stat": stat(40, "python", 1, 100, 50), "41/stat": stat(41, "odd) (name", 40, 10, 0),
        "42/stat": stat(42, "flite", 41, 0, 0), "50/stat": stat(50, "other", 1, 0, 0),
        "40/statm": "900 100 5\n", "41/statm": "900 200 5\n", "42/statm": "9 3 5\n",
        "41/cmdline": "/usr/bin/python\0-m\0robot.worker_child\0007\0robot.engine_start:embedded\0",
        "42/cmdline": "/usr/bin/flite\0-t\0hello\0", "41/fd/0": "", "41/fd/1": "",
    }
    for name, text in files.items():
        (proc / name).parent.mkdir(parents=True, exist_ok=True)
        (proc / name).write_text(text)
    for zone, milli in ((0, "61250\n"), (1, "-274000\n"), (2, "48000\n")):
        (sys_ / f"class/thermal/thermal_zone{zone}").mkdir(parents=True)
        (sys_ / f"class/thermal/thermal_zone{zone}/temp").write_text(milli)
    return Machine(40, proc, sys_, cores=2)


def test_a_machine_is_read(machine):
    seen = machine.sample(10.0)
    assert (seen.cpu_wait, seen.load, seen.memory, seen.memory_wait, seen.temperature) == (
        0.125, 1.5, 0.75, 0.01, 61.25)
    assert [(p.name, p.rss, p.fds) for p in seen.processes] == [
        ("mind", 100 * PAGE, 0), ("embedded", 200 * PAGE, 2), ("flite", 3 * PAGE, 0)]
    ticks = os.sysconf("SC_CLK_TCK")
    (machine.proc / "40/stat").write_text(stat(40, "python", 1, 100 + ticks, 50))
    assert [p.cpu for p in machine.sample(12.0).processes] == [pytest.approx(0.5), 0.0, 0.0]


def test_a_service_with_a_limit_of_its_own_is_as_full_as_that(machine):
    group = machine.sys / "fs/cgroup/robot.service"
    group.mkdir(parents=True)
    for name, text in (("max", "1000\n"), ("current", "950\n"), ("stat", "anon 800\ninactive_file 50\n")):
        (group / f"memory.{name}").write_text(text)
    assert machine.sample(0.0).memory == pytest.approx(0.9)
    (group / "memory.max").write_text("max\n")
    assert machine.sample(1.0).memory == 0.75


def test_a_neighbour_that_waits_is_not_the_services_strain(machine):
    group = machine.sys / "fs/cgroup/robot.service"
    group.mkdir(parents=True)
    (group / "cpu.pressure").write_text("some avg10=3.00 avg60=0 avg300=0 total=1\n")
    seen = machine.sample(0.0)
    assert (seen.cpu_wait, seen.memory_wait) == (0.03, 0.01)
    (machine.proc / "40/cgroup").write_text("0::/\n")        # the root group: its files are the machine's
    assert machine.sample(1.0).cpu_wait == 0.125


def test_what_a_system_does_not_tell_is_none(tmp_path):
    assert Machine(1, tmp_path, tmp_path).sample(3.0) == Vitals(3.0)


def test_this_machine_tells_of_itself_and_of_a_child():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        seen = Machine(os.getpid()).sample(0.0)
    finally:
        child.communicate(b"\n")
    assert seen.processes[0].name == "mind" and len(seen.processes) >= 2
    assert seen.processes[0].rss > 10e6 and seen.processes[0].fds > 2 and 0 < seen.memory < 1


class Rest:
    """A body that has nothing to say."""

    def __init__(self):
        self.calls = []

    def read(self, index, t):
        return Inputs(index, t)

    def write(self, t, outputs):
        self.calls.append(outputs)

    def stop(self, stopped):
        self.calls.append(stopped)

    def close(self):
        self.calls.append("closed")


def until(process: VitalsProcess, body: WatchedBody, wanted):
    """Ticks until an input is wanted; waits for the child's socket, or for its restart."""
    for index in range(2000):
        inputs = body.read(index, 0.0)
        if wanted(inputs):
            return inputs
        select.select([c] if (c := process.child.connection) else [], [], [], 0.02 if c is None else 10)
    pytest.fail("it never came")


def test_samples_come_from_a_process_that_is_started_again_when_it_dies():
    process = VitalsProcess(time.monotonic())
    body = WatchedBody(Rest(), process)
    try:
        first = until(process, body, lambda inputs: inputs.vitals).vitals
        assert "vitals" in [p.name for p in first.processes] and first.t >= 0
        os.kill(process.child.pid, signal.SIGKILL)
        gone = until(process, body, lambda inputs: inputs.health).health
        assert [(h.part, h.level) for h in gone] == [("vitals_process", "gone")]
        back = until(process, body, lambda inputs: inputs.health)
        assert [(h.part, h.level) for h in back.health] == [("vitals_process", "ok")]
        body.write(0.0, Outputs())
        body.stop(True)
    finally:
        body.close()
    assert body.rest.calls == [Outputs(), True, "closed"] and process.child.pid is None
