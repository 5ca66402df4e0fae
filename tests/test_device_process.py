"""A device in its own process: what it finds arrives, a death is told once and healed, the device is let go of."""
import select
import socket
import time

import pytest

from calibration.health import Health
from robot.bodies import device_process
from robot.bodies.array_worker import ArraySettings, array_process
from robot.bodies.device_child import DeviceSetup, serve
from robot.bodies.device_process import DeviceProcess
from robot.channel import Channel
from robot.service.vitals import VitalsConfig

PATIENCE_S = 60.0


def until(process: DeviceProcess, wanted):
    """Everything found until `wanted` is true of it."""
    found, end = [], time.monotonic() + PATIENCE_S
    while not wanted(found):
        assert time.monotonic() < end, f"not within {PATIENCE_S} s: {found}"
        if process.fileno() >= 0:
            select.select([process.fileno()], [], [], 0.05)
        found += process.poll()
    return found


@pytest.fixture
def process(tmp_path):
    made = DeviceProcess("part", DeviceSetup("tests.device_loops:Counting", str(tmp_path / "log"), time.monotonic()))
    yield made
    made.close()


def test_findings_arrive_in_order_on_the_clock_of_the_run(process):
    found = until(process, lambda f: len(f) >= 5)
    assert [count for count, _, _ in found[:5]] == [1, 2, 3, 4, 5]
    times = [t for _, _, t in found]
    assert times == sorted(times) and 0 <= times[0] < PATIENCE_S
    assert {pid for _, pid, _ in found} == {process.pid}


def test_orders_reach_it(process):
    until(process, lambda f: f)
    assert process.send("hello")
    until(process, lambda f: "hello" in f)


def test_a_death_is_told_once_and_healed(process):
    process.child.backoff_s = (0.0, 0.0)
    first = until(process, lambda f: f)[0][1]
    process.send("die")
    found = until(process, lambda f: any(isinstance(v, Health) and v.level == "ok" for v in f))
    told = [v for v in found if isinstance(v, Health)]
    assert [(h.part, h.level) for h in told] == [("part", "gone"), ("part", "ok")] and "status 7" in told[0].reason
    after = found[found.index(told[1]) + 1]
    assert after[0] == 1 and after[1] != first
    assert not process.child.deaths > 1


def test_one_that_dies_again_and_again_is_told_until_it_counts_as_failing_and_then_no_more(tmp_path):
    process = DeviceProcess("part", DeviceSetup("tests.device_loops:Broken", str(tmp_path / "log"), time.monotonic()))
    process.child.backoff_s = (0.0, 0.0)
    found = until(process, lambda f: process.child.deaths >= 6)
    process.close()
    assert [(h.part, h.level) for h in found] == [("part", "gone")] * VitalsConfig().deaths


def test_one_that_hangs_is_ended_and_begun_again(tmp_path, monkeypatch):
    monkeypatch.setattr(device_process, "HANGS_S", 0.2)
    monkeypatch.setattr(device_process, "BACKOFF_S", (0.0, 0.0))
    process = DeviceProcess("part", DeviceSetup("tests.device_loops:Hanging", str(tmp_path / "log"), time.monotonic()))
    found = until(process, lambda f: sum(not isinstance(v, Health) for v in f) >= 2)
    process.close()
    assert "said nothing for 0.2 s" in next(v for v in found if isinstance(v, Health)).reason


def test_the_device_is_let_go_of_at_the_end(process, tmp_path):
    until(process, lambda f: f)
    process.close()
    assert (tmp_path / "log").read_text() == "closed\n"


def test_the_loop_drops_what_it_missed_and_ends_with_its_parent():
    ours, theirs = socket.socketpair()
    parent, clock, stepped = Channel(ours), [0.0], []

    class Slow:
        period_s = 0.1

        def step(self, t, orders):
            stepped.append(round(t, 6))
            clock[0] += 0.35 if len(stepped) == 2 else 0.0     # one step takes three and a half periods
            if len(stepped) == 5:
                parent.connection.close()
            return []

        def close(self):
            stepped.append("closed")

    serve(Channel(theirs), Slow(), 0.0, lambda: clock[0], lambda s: clock.__setitem__(0, clock[0] + s))
    theirs.close()
    assert stepped == [0.0, 0.1, 0.45, 0.45, 0.55, "closed"]


def test_the_array_says_first_whether_it_is_there():
    process = array_process(ArraySettings(), time.monotonic())
    found = until(process, lambda f: f)
    process.close()
    assert isinstance(found[0], Health) and found[0].part == "array" and found[0].reason
