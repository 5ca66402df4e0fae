"""A servo that gets hot, from the emulator's byte through pty and servo process to what the mind reads."""
import numpy as np
import pytest

from firmware_bridge.bus_settings import BusSettings
from robot.bodies.servo_loop import LoopSettings
from tests.bus_bench import PARK
from tests.conformance import test_bus_process as rig
from tests.conformance.test_bus_process import Mind, emulator, link, mind  # noqa: F401

SETTINGS = BusSettings()


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr(rig, "HASTY", LoopSettings(deadman_s=1.0, park_after_s=1.5, hot_park_s=0.2))


def test_a_servo_slows_the_robot_from_55_degrees_parks_it_at_65_and_lets_it_up_below_60(emulator, mind):  # noqa: F811
    mind.until(Mind.upright)
    emulator.say("fault 12 hot=54")
    mind.until(lambda m: mind.reading.speed_scale == 1.0 and not m.reading.park)
    emulator.say("fault 12 hot=60")
    mind.until(lambda m: m.reading.speed_scale < 1.0)
    assert mind.reading.speed_scale == pytest.approx(1 - (1 - SETTINGS.slowest) / 2)
    assert not mind.reading.park and all(mind.reading.torque) and mind.heard("servo_12", "degraded")
    emulator.say("fault 12 hot=64")
    mind.until(lambda m: m.reading.speed_scale < 0.4)
    assert not mind.reading.park
    emulator.say("fault 12 hot=65")
    mind.until(lambda m: m.reading.park)                       # asked for; this mind does not listen,
    mind.until(lambda m: not any(m.reading.torque))            # so the process parks by itself and lets go
    assert np.abs(np.array(emulator.state()["position_rad"])[1:7] - PARK[1:7]).max() < np.radians(7)
    emulator.say("fault 12 hot=61")
    mind.until(lambda m: m.reading.speed_scale > 0.5)
    assert mind.reading.park                                   # not before it is cool
    emulator.say("fault 12 hot=0")
    mind.until(lambda m: not m.reading.park and m.upright())
    assert mind.reading.speed_scale == 1.0
