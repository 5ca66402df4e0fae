"""The control table as data: what the facts about Reachy Mini say about it, and that it is consistent in itself."""
import math
from itertools import pairwise

import pytest

from calibration.body_model import JOINTS, reachy_mini
from firmware_bridge.registers import BY_NAME, OVERLOAD, TABLE, TABLE_BYTES, VOLTAGE, error_words, to_rad, to_ticks
from firmware_bridge.servo_watch import LOOK, Telemetry


def test_registers_do_not_overlap_and_fit_the_table():
    assert all(a.address + a.size <= b.address for a, b in pairwise(TABLE))
    assert TABLE[-1].address + TABLE[-1].size <= TABLE_BYTES
    assert len(BY_NAME) == len(TABLE)


@pytest.mark.parametrize("name, address, size", [
    ("homing_offset", 20, 4), ("shutdown", 63, 1), ("torque_enable", 64, 1), ("hardware_error", 70, 1),
    ("position_p_gain", 84, 2), ("bus_watchdog", 98, 1), ("profile_velocity", 112, 4), ("goal_position", 116, 4),
    ("present_current", 126, 2), ("present_position", 132, 4), ("present_input_voltage", 144, 2),
    ("present_temperature", 146, 1)])
def test_addresses_of_the_manual(name, address, size):
    assert (BY_NAME[name].address, BY_NAME[name].size) == (address, size)


def test_a_block_picks_its_registers_out_of_one_read():
    data = bytearray(LOOK.size)
    for name, value in (("hardware_error", 0x21), ("goal_position", -5), ("present_position", 3000),
                        ("present_temperature", 41)):
        register = BY_NAME[name]
        at = register.address - LOOK.address
        data[at:at + register.size] = register.pack(value)
    seen = Telemetry(*LOOK.unpack(bytes(data)))
    assert (seen.hardware_error, seen.goal_position, seen.present_position, seen.present_temperature) == (
        0x21, -5, 3000, 41)
    assert LOOK.address == 64 and LOOK.size == 83


def test_ticks_and_angles_are_inverse_and_agree_with_the_joint_limits():
    assert all(to_ticks(to_rad(ticks)) == ticks for ticks in range(-5000, 9000, 7))
    assert to_rad(2048) == 0 and to_rad(4096) == pytest.approx(math.pi)
    body = reachy_mini()
    for servo in body.servos:
        joint = JOINTS.index(servo.joint)
        if servo.joint.startswith("stewart"):
            assert to_rad(servo.limit_ticks[0]) == pytest.approx(body.lower[joint], abs=2e-3)
            assert to_rad(servo.limit_ticks[1]) == pytest.approx(body.upper[joint], abs=2e-3)


def test_error_bits_in_words():
    assert error_words(VOLTAGE | OVERLOAD) == "supply voltage, overload"
    assert error_words(0x42) == "bits 0x42"
