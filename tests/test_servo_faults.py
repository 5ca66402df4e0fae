"""Faults of servos as other people's robots had them: told once, mended by rule, and only the joint itself is lost."""
import numpy as np
import pytest

from firmware_bridge import packets
from firmware_bridge.bus_settings import BusSettings
from firmware_bridge.registers import OVERLOAD, VOLTAGE
from tests.bus_bench import BODY, NEUTRAL, STEP_DEG, Bench, joint, nodding, swinging, woken


def test_voltage_faults_of_all_servos_are_told_and_mended_one_at_a_time():
    """Field log F48: servos latched voltage faults on battery and nobody was told."""
    bench = woken(shutdown_mask=53)
    began = bench.t
    bench.emulator.latch(packets.BROADCAST, VOLTAGE)
    starting = []
    for _ in range(1200):
        bench.run(0.01)
        starting.append(sum(watch.phase == "rebooting" for watch in bench.bus.watches))
    for servo in range(10, 19):
        assert bench.first(f"servo_{servo}") - began < 1.0
        assert "supply voltage" in bench.lines(f"servo_{servo}")[0].reason
    assert max(starting) == 1 and bench.bus.statistics.reboots == 9
    assert all(bench.reading.torque)
    assert max(bench.torque_on_errors) <= 0.5 and max(bench.steps) < STEP_DEG
    bench.run(12.0)
    assert [line.level for line in bench.lines("servo_13")] == ["gone", "ok"]


def test_errors_latched_before_anybody_asks_for_torque_are_told_within_a_second():
    """Field log F48: 0x01 latched on all servos with torque off; told, and rebooted one at a time."""
    bench = Bench(shutdown_mask=53)
    bench.emulator.latch(packets.BROADCAST, VOLTAGE)
    rebooting = []
    for _ in range(900):
        bench.run(0.01, None)
        rebooting.append(sum(watch.phase == "rebooting" for watch in bench.bus.watches))
    assert all(bench.first(f"servo_{servo}") < 1.0 for servo in range(10, 19))
    assert max(rebooting) == 1 and bench.bus.statistics.reboots == 9
    assert not any(fake.error_bits for fake in bench.emulator.servos) and not any(bench.emulator.torques())
    bench.run(5.0)
    assert all(bench.reading.torque) and max(bench.torque_on_errors) <= 0.5


def test_the_servo_s_own_voltage_alarm_below_7_8_v_is_no_trouble():
    bench = woken(supply_v=7.4)          # the alert bit is in every status
    bench.run(2.0)
    assert bench.bus.statistics.alerts > 1000
    assert np.isfinite(bench.reading.position).all() and not bench.told
    bench.emulator.latch(13, OVERLOAD)           # and it hides no other error
    bench.run(1.2)
    assert bench.first("servo_13") > 0


def test_an_empty_battery_is_told():
    bench = woken()
    bench.emulator.wear.supply_v = 5.8
    bench.run(1.2)
    assert "supply 5.8 V" in bench.lines("servo_bus")[0].reason


def test_a_standing_overload_is_told_once_and_the_others_go_on():
    """Field log F49: one joint reported overload 52 times a minute for hours. Pauses are a tenth here."""
    three = tuple(servo for servo in BODY.servos if servo.id in (12, 13, 14))
    quicker = BusSettings(retry_after_s=(0.5, 1.0, 6.0, 60.0), forgiven_s=60.0, stall_s=1.0)
    bench = Bench(three, dt=0.1, settings=quicker)
    bench.emulator.fault(13, overload=True)
    bench.run(200.0, nodding)
    assert [line.level for line in bench.lines("servo_13")] == ["gone"]
    assert len(bench.told) == 1
    assert 3 <= bench.bus.statistics.reboots <= 8
    assert bench.reading.torque[2] and bench.reading.torque[4]
    assert np.degrees(abs(bench.reading.position[4] - nodding(bench.t)[4])) < 6
    bench.emulator.fault(13, overload=False)
    bench.run(80.0, nodding)
    assert bench.reading.torque[3] and bench.lines("servo_13")[-1].level == "ok"


def test_an_overload_that_comes_back_for_eleven_hours_fills_no_log():
    """Field log F49, at the field's own length and pauses; a tick is two seconds, so that it takes one here."""
    two = tuple(servo for servo in BODY.servos if servo.id in (13, 14))
    coarse = BusSettings(stall_s=5.0, watchdog_units=0x7F, retry_after_s=(4.0, 10.0, 60.0, 600.0), look_period_s=60.0)
    bench = Bench(two, dt=2.0, settings=coarse, positions=NEUTRAL[[3, 4]])
    bench.emulator.dynamics.limp[:] = NEUTRAL[[3, 4]]              # such coarse steps would take its way up for a stall
    bench.emulator.fault(13, overload=True)
    for _ in range(11):
        bench.run(3600.0)
        del bench.readings[:-1]
    assert [line.level for line in bench.lines("servo_13")] == ["gone"] and len(bench.told) == 1
    assert 60 <= bench.bus.statistics.reboots <= 75                # one in ten minutes
    assert bench.reading.torque[4] and abs(bench.reading.position[4] - NEUTRAL[4]) < np.radians(3)


def test_a_silent_servo_costs_its_joint_and_all_silent_cost_no_process():
    """Field log F50: motors that stopped answering took the control loop down."""
    bench = woken()
    bench.run(1.0, nodding)
    bench.emulator.fault(13, unplugged=True)
    bench.run(1.0, nodding)
    silent = joint("stewart_3")
    assert np.isnan(bench.reading.position[silent])
    assert np.isfinite(np.delete(bench.reading.position, silent)).all()
    assert sum(bench.reading.torque) == 8
    (line,) = bench.told
    assert (line.part, line.level) == ("servo_13", "gone") and "stewart_3 does not answer" in line.reason
    bench.emulator.fault(packets.BROADCAST, unplugged=True)
    bench.run(1.0, nodding)
    assert np.isnan(bench.reading.position).all() and not any(bench.reading.torque)
    assert [told.part for told in bench.told] == ["servo_13", "servo_bus"]
    bench.emulator.fault(packets.BROADCAST, unplugged=False)
    bench.run(8.0, nodding)
    assert all(bench.reading.torque)
    assert max(bench.torque_on_errors) <= 0.5 and max(bench.steps) < STEP_DEG
    assert {told.part: told.level for told in bench.told} == {"servo_13": "ok", "servo_bus": "ok"}


def test_behind_a_silent_servo_the_others_are_still_read():
    bench = woken(chain_breaks=True)
    bench.emulator.fault(12, silent=True)
    bench.run(0.5, nodding)
    for reading in bench.readings[-30:]:
        assert np.isfinite(np.delete(reading.position, 2)).all()


def test_torque_that_does_not_come_on_is_told():
    """Field log F53: with torque off, moves were accepted as successful and all looked healthy."""
    bench = Bench()
    bench.emulator.fault(packets.BROADCAST, torque_stays_off=True)
    bench.run(2.0)
    assert not any(bench.reading.torque)
    for servo in range(10, 19):
        assert bench.first(f"servo_{servo}") < 2.0
    bench.emulator.fault(packets.BROADCAST, torque_stays_off=False)
    bench.run(30.0)
    assert all(bench.reading.torque) and max(bench.torque_on_errors) <= 0.5
    assert all(bench.lines(f"servo_{servo}")[-1].level == "ok" for servo in range(10, 19))


def test_a_motor_without_force_is_told_although_its_registers_look_well():
    bench = woken()
    bench.emulator.fault(14, dead_motor=True)
    began = bench.t
    bench.run(2.0, nodding)
    assert bench.first("servo_14", "degraded") - began < 2.0
    assert "does not follow" in bench.lines("servo_14")[0].reason


def test_torque_that_goes_off_by_itself_comes_back_from_where_the_joint_is():
    bench = woken()
    bench.emulator.servos[2].reboot(2048)        # a brown-out: RAM empty, no error
    bench.emulator.obey(2)
    bench.run(4.0)
    assert all(bench.reading.torque) and max(bench.torque_on_errors) <= 0.5
    assert [line.level for line in bench.lines("servo_12")][:1] == ["gone"]
    assert "by itself" in bench.lines("servo_12")[0].reason


def test_a_joint_held_by_hand_is_yielded_to():
    bench = woken()
    bench.emulator.grip("body_yaw")
    bench.run(4.0, swinging)
    assert all(bench.emulator.torques())         # no overload: it does not fight
    off = np.degrees(abs(bench.emulator.goals()[0] - bench.emulator.true_positions()[0]))
    assert off < 8
    bench.emulator.grip("body_yaw", False)
    bench.steps.clear()
    bench.run(10.0, swinging)
    assert max(bench.steps) < 2.5
    assert [line.level for line in bench.lines("servo_10")] == ["degraded", "ok"]
    assert np.degrees(abs(bench.reading.position[0] - swinging(bench.t)[0])) < 5


def test_an_error_is_told_at_its_alert_not_at_the_next_regular_look():
    bench = woken()
    bench.run(0.05)
    for servo in (11, 15, 18):
        began = bench.t
        bench.emulator.latch(servo, OVERLOAD)
        bench.run(0.2)
        assert bench.first(f"servo_{servo}") - began < 0.1


def test_a_joint_that_was_held_when_it_lost_its_torque_is_well_again_afterwards():
    bench = woken()
    bench.emulator.grip("body_yaw")
    bench.run(2.0, swinging)
    assert bench.lines("servo_10")[-1].level == "degraded"
    bench.emulator.latch(10, OVERLOAD)
    bench.run(0.3, swinging)
    bench.emulator.grip("body_yaw", False)
    bench.run(16.0)
    assert all(bench.reading.torque) and bench.lines("servo_10")[-1].level == "ok"


def test_a_fast_move_is_not_taken_for_lost_torque():
    bench = woken()
    bench.run(6.0, lambda t: NEUTRAL + np.eye(9)[0] * np.radians(60) * np.sin(2 * np.pi * 0.5 * t))   # 188 deg/s
    assert not bench.told


def test_heat_slows_then_parks_and_is_told_once():
    bench = woken()
    bench.emulator.fault(12, temperature_c=60.0)
    bench.run(3.0)
    assert bench.reading.speed_scale == pytest.approx(0.625)
    assert not bench.reading.park
    bench.emulator.fault(12, temperature_c=66.0)
    bench.run(3.0, swinging)
    assert bench.reading.park and bench.reading.speed_scale == pytest.approx(0.25)
    assert max(bench.steps[-100:]) < 240 * 0.25 * 0.01 + 0.2      # whatever the mind asks
    bench.emulator.fault(12, temperature_c=62.0)
    bench.run(2.0)
    assert bench.reading.park                                     # until it is cool
    bench.emulator.fault(12, temperature_c=50.0)
    bench.run(5.0)
    assert not bench.reading.park and bench.reading.speed_scale == 1.0
    assert [(line.level, "park" in line.reason) for line in bench.lines("servo_12")] == [
        ("degraded", False), ("degraded", True), ("ok", False)]


def test_an_overheated_servo_cools_before_it_is_rebooted():
    bench = woken()
    bench.emulator.fault(12, temperature_c=75.0)
    bench.run(12.0)
    assert bench.bus.statistics.reboots == 0 and bench.lines("servo_12")[-1].level == "gone"
    bench.emulator.fault(12, temperature_c=40.0)
    bench.run(12.0)
    assert bench.bus.statistics.reboots == 1 and all(bench.reading.torque)
