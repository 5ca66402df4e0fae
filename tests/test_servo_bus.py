"""The servo bus against the emulated servos: soft start, stopping, and what the wire does."""
import numpy as np
import pytest

from firmware_bridge import packets
from motion.intent import JointGoal
from tests.bus_bench import BODY, NEUTRAL, PARK, STEP_DEG, Bench, joint, nodding, swinging, woken

PLATFORM = [joint(f"stewart_{n}") for n in range(1, 7)]


# soft start ---------------------------------------------------------------------------------------------------------

def test_a_limp_robot_wakes_softly():
    bench = Bench()
    bench.run(4.5)
    assert not bench.told
    assert bench.reading.torque == (True,) * 9
    assert max(bench.torque_on_errors) <= 0.5
    assert max(np.degrees(np.abs(bench.emulator.true_velocities()))) < 2
    np.testing.assert_allclose(np.degrees(bench.reading.position - NEUTRAL), 0, atol=2.0)     # droop
    assert max(bench.steps) < 1.5        # deg in 10 ms


def test_joints_set_out_together_at_waking_and_after_a_pulled_cable():
    for pulled in (False, True):
        bench = Bench()
        if pulled:
            bench.run(4.5)
            bench.port.connected = False
            bench.run(2.0, PARK)
            bench.port.connected = True
        before, was = None, np.zeros(9, bool)
        for _ in range(200):
            bench.tick(JointGoal(bench.t, PARK if pulled else NEUTRAL, np.zeros(9)))
            sent, armed = bench.bus.follower.sent.copy(), np.array(bench.reading.torque)
            if before is not None and not armed.all():
                held = armed & was
                assert np.abs(sent - before)[held].max(initial=0.0) < 1e-4     # rad, a tenth of an encoder step
            before, was = sent, armed
        assert armed.all()


def test_joints_moved_by_hand_stay_where_they_are_when_torque_returns():
    """Field log F44: enabling torque snapped the head back to an old goal."""
    bench = woken()
    bench.run(4.0, PARK)
    bench.run(0.5, PARK, torque=False)
    assert not any(bench.emulator.torques())
    for name in ("body_yaw", "stewart_2", "left_antenna"):
        index = joint(name)
        bench.emulator.push(name, float(bench.emulator.true_positions()[index]) - np.radians(20))
    bench.torque_on_errors.clear()
    bench.steps.clear()
    bench.run(5.0, PARK)
    assert len(bench.torque_on_errors) == 9 and max(bench.torque_on_errors) <= 0.5
    assert max(bench.steps) < 1.5
    np.testing.assert_allclose(np.degrees(bench.reading.position - PARK), 0, atol=2.0)


def test_a_servo_whose_angle_is_not_known_gets_no_torque():
    bench = Bench()
    bench.run(0.5, None)
    bench.bus.care.arm(bench.t, bench.bus.watches[3], float("nan"))
    assert not any(bench.emulator.torques()) and bench.bus.watches[3].phase == "limp"


def test_a_joint_found_beyond_its_limits_comes_back_slowly():
    start = NEUTRAL.copy()
    start[1], start[2] = np.radians(-60.0), np.radians(80.0)      # the limits are -48 and 70 degrees
    bench = Bench(positions=start)
    bench.emulator.dynamics.limp[:] = start                       # it lies there and does not sink
    bench.run(9.0)
    assert all(bench.reading.torque) and not bench.told and max(bench.steps) < 1.5
    outside = np.array([reading.position[1] < np.radians(-48.5) for reading in bench.readings])
    path = np.degrees(np.array([reading.position[1] for reading in bench.readings]))
    assert outside[60] and not outside[-1]
    assert np.abs(np.diff(path))[outside[1:]].max() < 0.45        # 30 deg/s and one encoder step
    assert bench.emulator.servos[1].get("profile_velocity") == 0


@pytest.mark.parametrize("name, value", [("homing_offset", 0), ("operating_mode", 1)])
def test_a_servo_that_does_not_fit_the_body_gets_no_torque(name, value):
    bench = Bench()
    bench.emulator.servos[4].set(name, value)
    bench.emulator.obey(4)
    bench.run(3.0)
    assert bench.reading.torque == (True,) * 4 + (False,) + (True,) * 4
    (line,) = bench.told
    assert line.part == "servo_14" and line.level == "gone" and f"{name.replace('_', ' ')} {value}" in line.reason


# stopping -----------------------------------------------------------------------------------------------------------

def test_no_goal_means_decelerate_and_hold():
    bench = woken()
    bench.run(2.0, swinging)
    speed = np.degrees(bench.emulator.true_velocities()[0])
    at = np.degrees(bench.emulator.goals()[0])
    assert abs(speed) > 60
    bench.run(1.0, None)
    assert all(bench.emulator.torques())
    way = abs(np.degrees(bench.emulator.goals()[0]) - at)
    assert 0 < way < 1.3 * speed ** 2 / (2 * 1500) + 1.0
    assert abs(bench.emulator.true_velocities()[0]) < 0.01
    bench.run(3.0, swinging)                     # and it goes on without a jump
    assert max(bench.steps) < STEP_DEG


def test_torque_goes_off_only_when_the_head_lies():
    bench = woken()
    bench.run(1.0, NEUTRAL, torque=False)
    assert all(bench.emulator.torques())         # refused: it would fall
    bench.run(4.0, PARK)
    bench.run(0.2, PARK, torque=False)
    assert not any(bench.emulator.torques()) and not any(bench.reading.torque)
    bench.run(4.5, NEUTRAL)
    assert all(bench.reading.torque) and not bench.told


def test_a_head_that_cannot_be_measured_does_not_count_as_lying():
    bench = woken()
    bench.run(4.0, PARK)
    assert bench.bus.parked()
    bench.port.connected = False
    bench.run(0.5, PARK, torque=False)
    assert not bench.bus.parked()


def test_no_goal_beyond_a_limit_reaches_a_servo():
    bench = woken()
    bench.bus._send_goals(bench.t, NEUTRAL + 10.0)
    np.testing.assert_allclose(bench.emulator.goals(), bench.bus.follower.upper, atol=2e-3)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e9])
def test_goals_that_are_no_goals(bad):
    bench = woken()
    goal = NEUTRAL.copy()
    goal[3] = bad
    bench.run(1.0, goal)
    assert max(bench.steps) < STEP_DEG and all(bench.reading.torque)
    assert BODY.lower[3] - 0.1 <= bench.reading.position[3] <= BODY.upper[3] + 0.1


def test_a_restarted_mind_with_other_goals_makes_no_jump():
    bench = woken()
    other = NEUTRAL.copy()
    other[0], other[PLATFORM] = np.radians(60), np.radians([20, -20] * 3)
    bench.run(3.0, other)
    assert max(bench.steps) < 1.3
    np.testing.assert_allclose(np.degrees(bench.reading.position - other), 0, atol=2.0)


# the wire -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seconds", [0.05, 0.3, 2.0])
def test_a_pulled_cable_costs_no_jump(seconds):
    bench = woken()
    bench.run(0.5, nodding)
    bench.port.connected = False
    bench.run(seconds, nodding)
    bench.port.connected = True
    bench.run(6.0, nodding)
    assert all(bench.reading.torque)
    assert max(bench.torque_on_errors, default=0) <= 0.5 and max(bench.steps) < STEP_DEG
    assert [line.level for line in bench.lines("servo_bus")] in ([], ["gone", "ok"])
    assert len(bench.told) <= 2
    assert np.degrees(np.abs(bench.reading.position - nodding(bench.t))).max() < 5


def test_a_bus_that_appears_fifteen_seconds_late_is_waited_for_and_told_step_by_step():
    """Field log F56: started early at boot, with devices that are not there yet."""
    bench = Bench()
    bench.port.connected = False
    bench.run(15.0)
    assert [(line.part, line.level) for line in bench.told] == [("servo_bus", "gone")] and bench.told[0].t < 1.0
    assert not any(bench.reading.torque)
    bench.port.connected = True
    bench.run(4.5)
    assert all(bench.reading.torque) and max(bench.torque_on_errors) <= 0.5
    assert max(bench.steps) < 1.5 and [line.level for line in bench.told] == ["gone", "ok"]


def test_a_pause_of_the_process_costs_no_jump():
    bench = woken()
    bench.run(0.5, swinging)
    bench.port.advance(0.25)
    bench.t += 0.25
    trips = sum(servo.watchdog == 255 for servo in bench.emulator.servos)
    assert trips == 9
    bench.run(0.4, swinging)
    assert all(servo.watchdog == 10 for servo in bench.emulator.servos)      # noticed at once, not by the next look
    bench.run(4.0, swinging)
    assert all(bench.reading.torque) and max(bench.steps) < STEP_DEG and not bench.told


def test_a_watchdog_that_tripped_in_one_servo_is_found_and_cleared():
    bench = woken()
    bench.emulator.servos[2].trip_watchdog()
    bench.run(4.0, nodding)
    assert bench.bus.statistics.watchdog_trips == 1 and bench.emulator.servos[2].watchdog == 10
    assert all(bench.reading.torque) and np.degrees(abs(bench.reading.position[2] - nodding(bench.t)[2])) < 5
    assert max(bench.steps) < STEP_DEG


def test_noise_on_the_line_is_survived_by_second_tries():
    bench = woken(seed=5)
    bench.emulator.fault(packets.BROADCAST, wrong_crc=0.03, dropped_byte=0.03, garbage=0.05)
    bench.run(10.0, nodding)
    statistics = bench.bus.statistics
    heard = np.mean([np.isfinite(reading.position).mean() for reading in bench.readings[-1000:]])
    assert heard > 0.99 and statistics.retries > 100 and statistics.wrong_crc > 50
    assert not bench.told and all(bench.reading.torque)


def test_an_answer_to_the_tick_before_is_not_taken_for_a_new_one():
    bench = woken()
    bench.emulator.fault(18, delay_s=0.006)      # after the timeout, before the next request
    bench.run(0.04, nodding)
    assert all(np.isnan(reading.position[8]) for reading in bench.readings[-4:])
    assert bench.bus.statistics.late_bytes > 0


def test_answers_that_come_too_late_are_not_taken_for_others():
    bench = woken()
    bench.emulator.fault(18, delay_s=0.012)
    bench.run(3.0, nodding)
    assert bench.bus.statistics.late_bytes + bench.bus.statistics.unexpected > 0
    assert np.isfinite(bench.reading.position[:8]).all()
    truth = bench.emulator.true_positions()
    assert np.nanmax(np.degrees(np.abs(bench.reading.position - truth))) < 1.0
    assert all(line.part == "servo_18" for line in bench.told) and max(bench.steps) < STEP_DEG


def test_a_cycle_never_outlasts_its_tick():
    bench = woken(chain_breaks=True)
    cycles = []
    for fault in ({"silent": True}, {"wrong_crc": 1.0}, {"delay_s": 0.004}):
        for servo in (10, 13, 18):
            bench.emulator.fault(servo, **fault)
            for _ in range(60):
                bench.run(0.01, nodding)
                cycles.append(bench.port.cycle_s)
            bench.emulator.fault(servo, silent=False, wrong_crc=0.0, delay_s=0.0)
            bench.run(1.0, nodding)
    assert max(cycles) < 0.01


def test_a_servo_that_comes_and_goes_does_not_fill_the_log():
    bench = woken()
    for cycle in range(30):
        bench.emulator.fault(15, silent=cycle % 2 == 0)
        bench.run(0.7)
    assert len(bench.lines("servo_15")) <= 4


def test_every_servo_is_looked_at_once_a_second():
    bench = woken()
    seen: dict[int, list[float]] = {watch.id: [] for watch in bench.bus.watches}
    for _ in range(500):
        bench.run(0.01)
        for watch in bench.bus.watches:
            if not seen[watch.id] or watch.look_at != seen[watch.id][-1]:
                seen[watch.id].append(watch.look_at)
    assert all(np.diff(times).max() <= 1.0 for times in seen.values())


def test_the_same_run_twice_is_the_same_to_the_bit():
    def run() -> tuple[bytes, list]:
        bench = Bench(seed=9)
        bench.emulator.fault(packets.BROADCAST, wrong_crc=0.1, garbage=0.1)
        bench.run(3.0, nodding)
        return b"".join(reading.position.tobytes() for reading in bench.readings), bench.told

    assert run() == run()


def test_an_unarmed_bus_only_listens():
    bench = Bench()
    bench.run(1.0, None)
    assert not any(bench.emulator.torques()) and np.isfinite(bench.reading.position).all()
    reading, health = bench.bus.exchange(bench.t + 0.01, JointGoal(bench.t, NEUTRAL, np.zeros(9), torque=False))
    assert not health and not any(reading.torque)
    assert bench.bus.statistics.arms == 0
