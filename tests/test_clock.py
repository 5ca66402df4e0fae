"""Deadlines of ticks."""
import pytest

from robot.clock import LiveClock, VirtualClock


class Time:
    """A monotonic clock that only sleeping and the test move."""

    def __init__(self):
        self.now = 100.0

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def time():
    return Time()


def live(time, **settings) -> LiveClock:
    return LiveClock(100.0, now_s=lambda: time.now, sleep=time.sleep, **settings)


def test_deadlines_are_absolute(time):
    clock = live(time)
    assert clock.wait(5) == 0.05 and time.now == pytest.approx(100.05)
    time.now += 0.034                                     # a slow tick
    assert clock.wait(6) == 0.06 and clock.lateness(6) == pytest.approx(0.024)
    assert clock.wait(7) == 0.07 and clock.wait(9) == 0.09
    assert time.now == pytest.approx(100.09)


def test_missed_ticks_are_lived_through_unless_devices_say_otherwise(time):
    patient, real = live(time), live(time, most_late=0.1)
    time.now += 2.0
    assert patient.wait(1) == 0.01 and patient.lateness(1) == pytest.approx(1.99)
    assert real.wait(1) == pytest.approx(2.0) and real.lateness(1) == pytest.approx(0.0, abs=0.01)
    assert real.wait(2) == pytest.approx(2.01) and time.now == pytest.approx(102.01)


def test_a_little_late_is_caught_up(time):
    clock = live(time, most_late=0.1)
    time.now += 0.09
    assert clock.wait(1) == 0.01 and clock.wait(2) == 0.02
    assert clock.wait(20) == 0.2 and time.now == pytest.approx(100.2)


def test_a_virtual_clock_counts():
    assert VirtualClock().wait(250) == 2.5 and VirtualClock().lateness(250) == 0.0
