"""The link to the robot's daemon in virtual time: no goal of it ever jumps, whatever happens."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from robot.bodies import daemon_words as words
from robot.bodies.daemon_link import PART, DaemonLink
from tests.daemon_bench import LIMIT, NEAR, PUSHED, Bench, nodding, woken
from tests.daemon_stand_in import BODY, PARK, SDK_SLEEP, TICK_S, UPRIGHT, StandIn

angles = st.lists(st.floats(-0.3, 0.3), min_size=9, max_size=9)
event = st.one_of(
    st.tuples(st.just("goal"), angles), st.tuples(st.just("cut"), st.sampled_from([None, 1013, 1006])),
    st.tuples(st.just("restart"), angles), st.tuples(st.just("mode"), st.sampled_from(words.MODES)),
    st.tuples(st.just("pushed"), angles), st.tuples(st.just("move"), st.floats(-0.05, 0.05)),
    st.tuples(st.just("mute"), st.booleans()), st.tuples(st.just("dead"), st.integers(0, 8)),
    st.tuples(st.just("stop"), st.booleans()), st.tuples(st.just("mind"), st.booleans()))


def placed(offsets: list[float]) -> np.ndarray:
    """Joints with a pose of the head."""
    return UPRIGHT + np.array(offsets) * [1, *[0.4] * 6, 1, 1]


def happen(bench: Bench, kind: str, value, goal) -> object:
    if kind == "goal":
        return UPRIGHT + np.array(value)
    if kind == "cut":
        bench.cut(value)
    elif kind == "restart":
        bench.cut()
        bench.daemon = StandIn(placed(value))
    elif kind == "mode":
        bench.daemon.switch(value)
    elif kind == "pushed" and bench.daemon.mode != "enabled":
        bench.daemon.joints = placed(value)
    elif kind == "move":
        bench.daemon.move = lambda joints: np.clip(joints + value, BODY.lower, BODY.upper)
    elif kind == "mute":
        bench.mute = value
    elif kind == "dead":
        bench.daemon.dead[value] ^= True
    elif kind == "stop":
        bench.loop.stopped = value
    elif kind == "mind":
        return None if value else nodding
    return goal


@settings(deadline=None, derandomize=True, max_examples=6)
@given(st.lists(st.tuples(event, st.integers(1, 50)), min_size=3, max_size=8))
def test_no_goal_ever_jumps(events):
    bench = Bench()
    bench.run(1.5)
    goal: object = nodding
    for (kind, value), ticks in events:
        goal = happen(bench, kind, value, goal)
        bench.run(ticks * TICK_S, goal)
        assert bench.worst < LIMIT, (kind, value)
        assert bench.first_off < NEAR, (kind, value)
    bench.mute, bench.loop.stopped, bench.daemon.dead[:] = False, False, False
    bench.daemon.switch("enabled")
    bench.run(10.0)                                        # and when all is well again, the robot is where it should be
    assert all(bench.reading.torque)
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-3)
    assert bench.worst < LIMIT and bench.first_off < NEAR


# troubles of the field

def test_motors_that_are_off_are_asked_for_and_begin_where_they_were_pushed():                           # F44
    bench = Bench(StandIn(UPRIGHT + PUSHED, mode="disabled"))
    bench.run(0.3, None)
    assert bench.daemon.mode == "disabled" and not any(bench.reading.torque)     # nobody wants torque
    bench.run(1.0)
    assert bench.daemon.mode == "enabled" and bench.first_off < NEAR
    bench.daemon.switch("disabled")
    bench.daemon.joints = UPRIGHT - PUSHED
    bench.run(5.0)
    assert all(bench.reading.torque) and bench.first_off < NEAR and bench.worst < LIMIT
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-3)


def test_the_motors_get_a_moment_and_are_asked_once_where_their_mode_is_heard_late():
    bench = Bench(StandIn(UPRIGHT, mode="disabled"))
    bench.second_line, asked, say = False, [], bench.daemon.say
    bench.daemon.say = lambda text: (asked.append(bench.t) if "set_motor_mode" in text else None, say(text))
    bench.run(0.9)
    assert len(asked) == 1 and len(bench.daemon.targets) == 2       # where they are; and nothing more until they are on
    bench.second_line, on = True, bench.t
    while len(bench.daemon.targets) < 3:
        bench.run(TICK_S)
    assert bench.t - on >= bench.link.settings.settle_s and len(asked) == 1


def test_the_motors_stay_on_while_the_head_is_up():
    bench = woken()
    bench.run(1.0, UPRIGHT, torque=False)
    assert bench.daemon.mode == "enabled" and bench.link.torque_wanted


def test_a_daemon_that_keeps_its_motors_off_is_told_and_not_nagged():                                     # F53
    bench = woken()
    bench.daemon.obstinate = True
    bench.daemon.switch("disabled")
    asked = []
    say = bench.daemon.say
    bench.daemon.say = lambda text: (asked.append(text) if "set_motor_mode" in text else None, say(text))
    bench.run(2.0)
    assert bench.levels() == ["degraded"] and not any(bench.reading.torque)
    bench.run(75.0)
    assert len(asked) == 4 and bench.levels() == ["degraded"]


def test_goals_that_nothing_follows_are_told_within_two_seconds():                                        # F53
    bench = woken()
    bench.daemon.dead[:] = True                            # the mode says enabled, the servos say nothing
    bench.run(2.0, nodding)
    assert bench.levels() == ["degraded"] and "not followed" in bench.told[-1].reason
    assert not bench.reading.torque[0]                     # and nobody may believe that it looks anywhere
    bench.daemon.dead[:] = False
    bench.run(8.0, nodding)
    assert bench.levels() == ["degraded", "ok"] and all(bench.reading.torque)
    assert bench.worst < LIMIT


def test_one_joint_that_does_not_move_costs_that_joint():                                                # F50
    bench = woken()
    bench.daemon.dead[7] = True
    goal = UPRIGHT.copy()
    goal[[0, 7]] += 0.8
    bench.run(4.0, goal)
    np.testing.assert_allclose(bench.reading.position[:7], goal[:7], atol=1e-3)
    assert bench.reading.torque == tuple(joint != 7 for joint in range(9))
    assert abs(bench.daemon.targets[-1][7] - bench.reading.position[7]) < np.radians(6)      # no leap when it is let go


def test_a_move_of_the_daemon_is_ended_and_there_is_one_owner():                                          # F46
    bench = woken()
    bench.daemon.move = lambda joints: np.append(joints[0] + 0.03, joints[1:])
    stops = bench.daemon.stops
    bench.run(0.7)
    assert bench.daemon.move is None and bench.daemon.stops == stops + 1
    bench.run(4.0)
    assert bench.worst < LIMIT and bench.first_off < NEAR
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-3)
    assert bench.levels()[-1] == "ok"


def test_an_emergency_stop_holds_and_letting_go_is_slow():
    bench = woken()
    bench.run(1.0, nodding)
    bench.loop.stopped = True
    bench.run(0.5, nodding)
    held = bench.daemon.joints.copy()
    bench.run(1.0, nodding)
    np.testing.assert_allclose(bench.daemon.joints, held, atol=1e-9)
    bench.loop.stopped = False
    bench.run(4.0)
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-3)
    assert bench.worst < LIMIT


def test_parks_by_its_own_goals_and_only_then_lets_go():
    bench = woken()
    bench.run(2.0, nodding)
    yaw = bench.daemon.joints[0]
    bench.loop.closing = True
    for _ in range(500):
        bench.run(TICK_S)
        if bench.loop.finished:
            break
        assert bench.daemon.mode == "enabled"
    assert bench.loop.finished and bench.daemon.mode == "disabled" and bench.daemon.automatic_body_yaw
    np.testing.assert_allclose(np.degrees(bench.daemon.joints[1:7] - PARK[1:7]), 0, atol=6)
    assert abs(bench.daemon.joints[0] - yaw) < 0.1 and bench.worst < LIMIT


def test_a_mind_that_goes_leaves_it_holding_then_parked():
    bench = woken()
    bench.run(1.0, None)
    assert all(bench.reading.torque)
    bench.run(8.0, None)
    assert bench.daemon.mode == "disabled" and not any(bench.reading.torque)
    bench.run(6.0)
    assert all(bench.reading.torque) and bench.worst < LIMIT and bench.first_off < NEAR


# connections ---------------------------------------------------------------------------------------------------------

def test_a_half_open_line_is_noticed_within_a_second_and_heals():
    bench = woken()
    bench.mute = True
    bench.run(1.1)
    assert bench.levels() == ["gone"] and np.isnan(bench.reading.position).all() and not any(bench.reading.torque)
    bench.mute = False
    bench.run(9.0)
    assert bench.levels() == ["gone", "ok"] and all(bench.reading.torque) and bench.first_off < NEAR


def test_waits_grow_have_jitter_and_are_short_while_the_daemon_starts():                                  # F57
    def waits(code, seed):
        link, t, out = DaemonLink(BODY, PARK, np.random.default_rng(seed)), 0.0, []
        for _ in range(12):
            link.lost(t, code, "refused")
            out.append(link.retry_at - t)
            t = link.retry_at
        told = [line for line in link.exchange(t, None)[1] if line.part == PART]
        assert [line.level for line in told] == ["gone"]
        return np.array(out)
    assert waits(None, 1)[0] < 0.3 and 3.0 < waits(None, 1)[-1] < 6.6
    assert waits(1013, 1).max() < 1.4 and (waits(1013, 1) == waits(1013, 1)).all()
    assert (waits(None, 1) != waits(None, 2)).all()


def test_a_daemon_in_trouble_gets_no_goals_and_is_named():
    bench = woken()
    bench.daemon.state, bench.daemon.error = "error", "No response from the robot's motor for the last second."
    bench.run(1.5, nodding)
    assert bench.levels() == ["degraded"] and "No response" in bench.told[-1].reason
    sent = len(bench.daemon.targets)
    bench.run(1.0, nodding)
    assert len(bench.daemon.targets) == sent
    bench.daemon.joints = bench.daemon.target = bench.daemon.joints + 0.2       # whoever did that
    bench.daemon.state, bench.daemon.error = "running", None
    while len(bench.daemon.targets) == sent:
        bench.run(TICK_S)
    assert np.abs(bench.daemon.targets[-1] - bench.daemon.joints).max() < NEAR
    bench.run(6.0)
    assert bench.levels() == ["degraded", "ok"] and bench.first_off < NEAR and bench.worst < LIMIT


def test_where_nobody_can_be_asked_about_moves_the_joints_tell():
    bench = Bench()
    bench.answers = False
    bench.run(0.5)
    assert len(bench.daemon.targets) == 1                  # where they are: no more before the goals are known to count
    bench.link.moves(bench.t, None)
    bench.run(5.0)
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-6)


def test_the_sdk_sleep_pose_beyond_our_limits_is_left_no_faster_than_any_other():
    bench = Bench(StandIn(SDK_SLEEP))
    speeds, before = [], SDK_SLEEP
    for _ in range(250):
        bench.run(TICK_S)
        speeds.append(np.abs(bench.daemon.joints - before)[1:7].max() / TICK_S)
        before = bench.daemon.joints.copy()
    assert np.degrees(max(speeds)) < 91
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-3)
