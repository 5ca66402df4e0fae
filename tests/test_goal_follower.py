"""Goals to the servos stay continuous for any goals from the mind."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.bus_settings import BusSettings
from firmware_bridge.follow_check import FollowCheck
from firmware_bridge.goal_follower import GoalFollower
from firmware_bridge.health_changes import HealthChanges

STEADY = settings(deadline=None, derandomize=True, max_examples=40)
LIMIT = np.full(9, 2.0)
DT = 0.01
SETTINGS = BusSettings()

angle = st.floats(-3.0, 3.0)
wild = st.one_of(angle, st.sampled_from([np.nan, np.inf, -np.inf, 1e12]))
piece = st.one_of(st.none(), st.lists(wild, min_size=9, max_size=9).map(np.array))


def follower() -> GoalFollower:
    return GoalFollower(SETTINGS, -LIMIT, LIMIT)


@STEADY
@given(st.lists(st.tuples(piece, st.integers(1, 40)), min_size=1, max_size=6), st.floats(0.2, 1.0))
def test_no_goals_make_a_jump(pieces, scale):
    """Constant goals, holding, and nonsense: no step is larger than a catch-up on top of a goal's own."""
    one, t = follower(), 0.0
    for joint in range(9):
        one.begin(t, joint, 0.1 * joint)
    before = one.sent.copy()
    largest = SETTINGS.top_speed_rad_s + SETTINGS.catch_up_rad_s
    for goal, ticks in pieces:
        for _ in range(ticks):
            t += DT
            sent = one.hold(t) if goal is None else one.follow(t, goal, scale)
            assert np.isfinite(sent).all()
            assert np.abs(sent - before).max() <= largest * DT + 1e-9
            before = sent.copy()


@STEADY
@given(st.lists(angle, min_size=9, max_size=9), st.lists(st.floats(-1.9, 1.9), min_size=9, max_size=9))
def test_it_arrives_where_the_mind_wants_it(start, goal):
    one, goal = follower(), np.array(goal)
    for joint in range(9):
        one.begin(0.0, joint, start[joint])
    t = 0.0
    for _ in range(1100):
        t += DT
        sent = one.follow(t, goal, 1.0)
    np.testing.assert_array_equal(sent, goal)


def test_goals_beyond_the_limits_end_at_them_and_a_joint_that_began_outside_comes_in():
    one, goal = follower(), np.full(9, 3.0)
    for joint in range(9):
        one.begin(0.0, joint, 2.5 if joint == 3 else 1.0)
    path = np.array([one.follow(k * DT, goal, 1.0) for k in range(300)])
    np.testing.assert_array_equal(path[-1], 2.0)
    assert np.delete(path, 3, axis=1).max() <= 2.0
    fast = np.array([one.follow(3 + k * DT, np.full(9, 2.0 - 2.5 * k * DT), 1.0) for k in range(60)])
    back = np.array([one.follow(3.6 + k * DT, np.full(9, 0.5 + 4.0 * k * DT), 1.0) for k in range(100)])
    assert back.max() <= 2.0 and fast.min() >= -2.0


def test_within_limits_goals_pass_unchanged_from_the_first_one_on():
    one = follower()
    path = [np.full(9, 0.8 * np.cos(k * 0.03)) for k in range(300)]      # from rest, 412 deg/s^2
    for joint in range(9):
        one.begin(0.0, joint, path[0][joint])
    for k, goal in enumerate(path):
        np.testing.assert_array_equal(one.follow(k * DT, goal, 1.0), goal)


def test_a_joint_that_begins_again_starts_where_it_is():
    one = follower()
    for joint in range(9):
        one.begin(0.0, joint, 0.5)
    for k in range(50):
        one.follow(k * DT, np.full(9, 0.5), 1.0)
    one.begin(0.49, 3, -0.7)
    sent = one.follow(0.5, np.full(9, 0.5), 1.0)
    assert sent[3] == pytest.approx(-0.7, abs=1e-3) and set(np.delete(sent, 3)) == {0.5}


@pytest.mark.parametrize("gap", [0.04, 0.11, 0.5])
def test_after_a_pause_it_goes_on_from_where_the_joints_stopped(gap):
    one = follower()
    for joint in range(9):
        one.begin(0.0, joint, -1.0)
    for k in range(40):
        before = one.follow(k * DT, np.full(9, -1.0 + 2.0 * k * DT), 1.0)
    t = 39 * DT + gap
    assert np.abs(one.follow(t, np.full(9, -1.0 + 2.0 * t), 1.0) - before).max() < 1e-9
    after = one.follow(t + DT, np.full(9, -1.0 + 2.0 * (t + DT)), 1.0)
    assert np.abs(after - before).max() < 2.0 * DT * 1.05


def test_a_joint_that_has_not_begun_gets_no_goal():
    one = follower()
    one.begin(0.0, 4, 0.2)
    for k in range(3):
        sent = one.follow((k + 1) * DT, np.zeros(9), 1.0)
        assert np.isfinite(sent).tolist() == [False] * 4 + [True] + [False] * 4


def test_the_way_back_is_smooth_and_platform_joints_arrive_together():
    one, path = follower(), []
    for joint in range(9):
        one.begin(0.0, joint, 0.0)
    one.hold(0.0)
    goal = np.array([0.0, 1.0, -0.5, 0.2, 0.1, -1.0, 0.7, 0.3, 0.3])
    for k in range(400):
        path.append(one.follow((k + 1) * DT, goal, 1.0).copy())
    speed = np.diff(path, axis=0) / DT
    assert np.abs(speed).max() <= SETTINGS.catch_up_rad_s * 1.01
    assert np.abs(np.diff(speed, axis=0)).max() / DT < 9.0          # rad/s^2: no jerk at either end
    arrived = [int(np.argmax(np.abs(np.array(path)[:, j] - goal[j]) < 1e-9)) for j in range(1, 7)]
    assert len(set(arrived)) == 1


@pytest.mark.parametrize("pause", [0.0, 0.2])
def test_a_goal_that_jumps_is_approached_softly_also_after_a_pause_on_the_way(pause):
    one, path, t = follower(), [], 0.0
    for joint in range(9):
        one.begin(0.0, joint, 0.0)
    one.follow(0.0, np.zeros(9), 1.0)
    for k in range(300):
        t += DT + (pause if k == 40 else 0.0)
        path.append(one.follow(t, np.full(9, 1.0), 1.0).copy())
    speed = np.diff(path, axis=0) / DT
    assert speed.max() <= SETTINGS.catch_up_rad_s * 1.01 and speed.min() >= 0
    assert speed[39].max() == 0 or not pause
    np.testing.assert_array_equal(path[-1], 1.0)


def motion(kind: int, size: float, t: float) -> np.ndarray:
    """Goals (9,) rad as motion makes them, within 200 deg/s and 1,100 deg/s^2."""
    if kind == 0:
        return np.full(9, size)
    return size * np.sin(4.0 * t + np.arange(9))


@STEADY
@given(st.lists(st.tuples(st.sampled_from(["follow", "hold", "pause", "other"]), st.floats(-0.85, 0.85),
                          st.integers(1, 60)), min_size=1, max_size=10), st.floats(0.25, 1.0), st.booleans())
def test_whatever_the_order_speed_and_acceleration_stay_within_limits(orders, scale, jitter):
    """Stops in mid-motion, releases while the mind moves, pauses, and a mind that begins anew elsewhere."""
    one, t, kind, size = follower(), 0.0, 1, 0.5
    for joint in range(9):
        one.begin(0.0, joint, 0.0)
    path, times = [one.sent.copy()] * 2, [-DT, 0.0]
    for order, number, ticks in orders:
        if order == "other":
            kind, size = int(number > 0), number
        elif order == "pause":
            t += 0.03 + abs(number)
            path, times = [one.sent.copy()] * 2, [t - DT, t]
        for k in range(ticks):
            t += DT + (0.004 * (-1) ** k if jitter else 0.0)
            path.append((one.hold(t) if order == "hold" else one.follow(t, motion(kind, size, t), scale)).copy())
            times.append(t)
        dt = np.diff(times)
        speed = np.diff(path, axis=0) / dt[:, None]
        assert np.abs(speed).max() <= SETTINGS.top_speed_rad_s + 1e-9
        assert (np.abs(np.diff(speed, axis=0)).max(axis=1) <= SETTINGS.top_rad_s2 * (dt[1:] + dt[:-1]) / 2 + 1e-9).all()


@STEADY
@given(st.floats(-0.8, 0.8), st.floats(0.0, 1.5), st.floats(0.0, 0.5))
def test_let_go_after_a_stop_it_is_back_with_the_mind_in_two_seconds(size, when, held):
    one, t = follower(), 0.0
    for joint in range(9):
        one.begin(0.0, joint, motion(1, size, 0.0)[joint])
    while t < when + 1.0:
        t += DT
        one.follow(t, motion(1, size, t), 1.0)
    while t < when + 1.0 + held:
        t += DT
        one.hold(t)
    back = t + 2.0
    while t < back:
        t += DT
        sent = one.follow(t, motion(1, size, t), 1.0)
    np.testing.assert_array_equal(sent, motion(1, size, t))


def test_warm_servos_slow_every_goal():
    one = follower()
    for joint in range(9):
        one.begin(0.0, joint, 0.0)
    sent = [one.follow(k * DT, np.full(9, 3.5 * k * DT), 0.25).copy() for k in range(60)]
    assert np.abs(np.diff(sent, axis=0)).max() <= SETTINGS.top_speed_rad_s * 0.25 * DT + 1e-12


def test_what_warm_servos_fell_behind_is_caught_up_softly():
    one, path = follower(), []
    for joint in range(9):
        one.begin(0.0, joint, 0.0)
    for k in range(300):
        goal = np.full(9, min(3.5 * k * DT, 1.5))
        path.append(one.follow(k * DT, goal, 0.25 if k < 50 else 1.0).copy())
    assert path[49][0] < 0.6
    speed = np.diff(path, axis=0) / DT
    assert speed[50:].max() <= SETTINGS.catch_up_rad_s * 1.01
    np.testing.assert_allclose(path[-1], 1.5)


def test_an_emergency_stop_decelerates_evenly_and_stays():
    one = follower()
    for joint in range(9):
        one.begin(0.0, joint, -1.5)
    for k in range(80):
        one.follow(k * DT, np.full(9, 3.0 * k * DT - 1.5), 1.0)
    at = one.sent.copy()
    path = [one.hold(0.79 + (k + 1) * DT).copy() for k in range(100)]
    way = path[-1] - at
    assert way == pytest.approx(3.0 ** 2 / (2 * SETTINGS.top_rad_s2), rel=0.15)
    np.testing.assert_array_equal(path[-1], path[-20])


@STEADY
@given(st.lists(st.floats(-3, 3), min_size=9, max_size=9), st.floats(-0.065, 0.065))
def test_what_stays_near_its_goals_is_never_lost(goal, off):
    check, goal = FollowCheck(9, SETTINGS), np.array(goal)
    for k in range(100):
        assert check.step(k * DT, goal, goal + off, np.ones(9, bool))[1] == []


def test_what_stays_away_is_lost_after_300_ms_and_told_again_after_another():
    check, goal, measured = FollowCheck(9, SETTINGS), np.zeros(9), np.zeros(9)
    measured[[2, 5]] = 0.3
    armed = np.ones(9, bool)
    armed[5] = False
    lost = [k for k in range(100) if check.step(k * DT, goal, measured, armed)[1] == [2]]
    assert lost == [30, 60, 90]
    measured[2] = np.nan
    assert all(check.step(1 + k * DT, goal, measured, armed)[1] == [] for k in range(100))


def test_answers_that_do_not_come_let_no_goal_run_away():
    check, armed, silent = FollowCheck(9, SETTINGS), np.ones(9, bool), np.full(9, np.nan)
    check.step(0.0, np.zeros(9), np.zeros(9), armed)
    for k in range(1, 40):
        away, lost = check.step(k * DT, np.full(9, 0.01 * k), silent, armed)
        assert lost == []                                # told only of a joint that was heard
    assert away == pytest.approx(0.01 * (40 - SETTINGS.lag_ticks))


def test_trouble_is_told_once_and_over_when_it_stayed_away():
    book = HealthChanges()
    for k in range(50):
        book.begins(k * DT, "servo_13", "fault", "gone", f"seen {k}")
        book.begins(k * DT, "servo_13", "warm", "degraded", "warm")
    told = book.changes(0.5)
    assert [(line.level, line.reason) for line in told] == [("gone", "seen 0"), ("gone", "warm")]
    book.ends(0.5, "servo_13", "fault", 2.0)
    book.begins(1.0, "servo_13", "fault", "gone", "again")
    assert book.changes(9.0) == ()
    book.ends(10.0, "servo_13", "fault", 2.0)
    book.ends(10.0, "servo_13", "warm", 2.0)
    assert book.changes(11.9) == ()
    (line,) = book.changes(12.0)
    assert line.level == "ok" and book.changes(13.0) == () and not book.any_standing
