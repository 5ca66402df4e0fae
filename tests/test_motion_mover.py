"""The whole of motion: starts, holds, modes, breathing, gestures, and where the head is said to be."""
import math
from itertools import combinations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.body_model import ANTENNAS, JOINTS, STEWART, reachy_mini
from motion.antennas import UPRIGHT
from motion.intent import Gaze, Mood, MotionIntent
from motion.kinematics import WholeBody
from tests.motion_scenes import SILENCE, Measured, mover, run, scene, ticks

MODEL = reachy_mini()
LISTEN = {"mode": "listen", "gaze": Gaze(0.6, 0.1), "urgency": 1.0}


def speeds(motion):
    """(n - 1, 9) deg/s of the joints."""
    return np.abs(np.diff(np.degrees(motion.joints), axis=0)) * 100


# F44: enabling torque snapped the head to an old goal.
@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.lists(st.floats(-0.35, 0.35), min_size=9, max_size=9), st.floats(-2.9, 2.9))
def test_the_first_goals_are_the_measured_joints(moved, azimuth):
    found = WholeBody(MODEL).joints(np.array([0, 0, 0, 0, 0, 0, 0, -0.17, 0.17])) + moved
    motion = run(ticks(0.3, mode="listen", gaze=Gaze(azimuth), urgency=1.0), first=Measured(0.0, found))
    assert np.max(np.abs(motion.joints[:5] - found)) < math.radians(0.1)
    assert np.max(speeds(motion)) < 150


def test_a_limp_head_beyond_its_limits_is_lifted_gently():
    limp = np.array([0.5, -0.984816, 1.262466, -0.243903, 0.205553, -1.236389, 1.003223, -3.05, 3.05])
    motion = run(ticks(5, mode="listen", gaze=Gaze(1.5, 0.2), urgency=1.0), first=Measured(0.0, limp))
    assert np.max(np.abs(motion.joints[0] - limp)) < math.radians(0.1)
    assert motion.derivative(1).max() < 160
    assert motion.derivative(2).max() < 800
    assert motion.derivative(3).max() < 1e4
    assert np.all(motion.joints[200:] >= MODEL.lower)
    assert np.all(motion.joints[200:] <= MODEL.upper)
    assert motion.sight[-1] == pytest.approx(np.degrees([1.5, 0.2]), abs=1e-6)


def test_a_silent_servo_keeps_its_goal_and_the_others_set_out_from_where_they_are():
    found = WholeBody(MODEL).joints(np.zeros(9))
    found[JOINTS.index("stewart_3")] = np.nan
    found[0] = 0.4
    motion = run(ticks(3, **LISTEN), first=Measured(0.0, found))
    assert motion.joints[0, 0] == pytest.approx(0.4, abs=1e-3)
    assert np.isfinite(motion.joints).all()
    assert motion.sight[-1] == pytest.approx(np.degrees([0.6, 0.1]), abs=1e-6)


def test_going_on_from_where_someone_moved_the_joints():
    body = mover()
    before = run(ticks(2, **LISTEN), body=body)
    moved = before.joints[-1] + np.radians([20, 5, -5, 5, -5, 5, -5, 20, 20])
    body.start_from(Measured(2.0, moved))
    after = run(ticks(4, 2.0, **LISTEN), body=body)
    assert np.max(np.abs(after.joints[:3] - moved)) < math.radians(0.1)
    assert after.derivative(1).max() < 100
    assert after.sight[-1] == pytest.approx(np.degrees([0.6, 0.1]), abs=1e-6)


@pytest.mark.parametrize("when", [0.1, 0.25, 0.6, 2.0])
def test_hold_still_brakes_to_rest_and_goes_on(when):
    turn = {"mode": "idle", "gaze": Gaze(1.8, 0.2), "urgency": 1.0}
    motion = run(scene({"s": when, **turn}, {"s": 1.0, **turn, "hold_still": True}, {"s": 3, **turn, "mode": "listen"}))
    start = round(when * 100)
    assert np.all(speeds(motion)[start + 36:start + 99] == 0)
    assert motion.derivative(2).max() < 800
    assert motion.derivative(3).max() < 1e4
    assert motion.sight[-1] == pytest.approx(np.degrees([1.8, 0.2]), abs=1e-6)


def test_still_is_still_whatever_is_asked():
    noise = np.random.default_rng(0).standard_normal(160)
    motion = run(scene({"s": 1, **LISTEN}, {"s": 2, "mode": "still", "gaze": Gaze(-2.0)}),
                 lambda i: noise if i < 150 else SILENCE)
    assert np.all(speeds(motion)[140:] == 0)


# F46: a second dance over a long one made violent motion; no stop existed.
def test_overlapping_gestures_then_still_then_park():
    wanted = [*ticks(0.4, **LISTEN), MotionIntent(0.4, gesture="shake", **LISTEN), *ticks(0.3, 0.41, **LISTEN)]
    wanted += [MotionIntent(0.71, gesture="nod", **LISTEN), MotionIntent(0.72, gesture="tilt", **LISTEN)]
    wanted += ticks(0.2, 0.73, **LISTEN) + ticks(0.6, 0.93, mode="still") + ticks(4, 1.53, mode="park")
    motion = run(wanted)
    assert motion.derivative(1).max() < 120
    assert motion.derivative(2).max() < 700
    assert motion.derivative(3).max() < 1.1e4
    assert np.all(speeds(motion)[-100:] < 1e-9)
    parked = WholeBody(MODEL).joints(np.array([0, *MODEL.sleep_position - [0, 0, MODEL.rest_height], 0, 0, 0, 0, 0]))
    assert motion.joints[-1, STEWART] != pytest.approx(parked[STEWART], abs=0.01)   # it lies with its nose down
    assert motion.joints[-1, ANTENNAS] == pytest.approx(MODEL.sleep_antennas)
    assert motion.position[-1] == pytest.approx(MODEL.sleep_position, abs=1e-6)
    assert math.degrees(motion.rpy[-1, 1]) == pytest.approx(24.4, abs=0.1)
    assert motion.rpy[-1, 2] == pytest.approx(0.0, abs=1e-9)


def test_breathing_lifts_the_head_and_leaves_the_sight_alone():
    motion = run(ticks(12, mode="listen", gaze=Gaze(0.4, 0.1), urgency=1.0))
    assert np.ptp(motion.position[300:, 2]) > 0.003
    assert np.ptp(motion.sight[300:], axis=0) == pytest.approx([0, 0], abs=1e-9)
    assert np.ptp(np.degrees(motion.rpy[300:, 0])) < 1.0


def test_breathing_goes_on_at_the_edge_of_the_workspace():
    motion = run(ticks(12, mode="idle", gaze=Gaze(0.0, 1.5), urgency=1.0))
    assert np.ptp(motion.position[500:, 2]) > 0.004


def test_quick_looks_belong_to_idle():
    idle, listen = (run(ticks(20, mode=mode, gaze=Gaze(0.3), urgency=1.0)).sight[200:, 0]
                    for mode in ("idle", "listen"))
    assert np.ptp(listen) == pytest.approx(0.0, abs=1e-9)
    assert np.ptp(idle) > 5
    assert np.median(idle) == pytest.approx(math.degrees(0.3), abs=0.5)
    assert np.max(np.abs(idle - math.degrees(0.3))) < 11


@pytest.mark.parametrize(("gesture", "axis"), [("nod", 1), ("shake", 2), ("tilt", 0)])
def test_a_gesture_is_seen_and_leaves_no_trace(gesture, axis):
    wanted = [*ticks(1, **LISTEN), MotionIntent(1.0, gesture=gesture, **LISTEN), *ticks(3, 1.01, **LISTEN)]
    plain = run(ticks(4.01, **LISTEN))
    difference = np.degrees(run(wanted).rpy - plain.rpy)
    assert np.ptp(difference[:, axis]) > 6
    assert np.ptp(np.delete(difference, axis, axis=1)) == pytest.approx(0, abs=1e-9)
    assert difference[-1] == pytest.approx([0, 0, 0], abs=1e-9)


@pytest.mark.parametrize("mode", ["idle", "listen", "speak"])
def test_no_two_moods_look_alike_and_the_sight_stays(mode):
    """14 deg of an antenna, or what else is seen as well from a metre away: 4 deg of roll, 7 mm of height."""
    moody = [run(ticks(2.5, **{**LISTEN, "mode": mode}, mood=m)) for m in get_args(Mood)]
    looks = [np.array([*np.degrees(m.joints[-1, ANTENNAS]) / 14, np.degrees(m.rpy[-1, 0]) / 4,
                       m.position[-1, 2] / 0.007]) for m in moody]
    assert min(np.max(np.abs(a - b)) for a, b in combinations(looks, 2)) > 0.99
    for m in moody:
        assert m.derivative(1).max() <= 200
        assert mode == "idle" or m.sight[-1] == pytest.approx(moody[0].sight[-1], abs=1e-9)


def test_antennas_never_rest_upright_and_do_not_shake():
    for mode in ("idle", "listen", "speak"):
        for mood in get_args(Mood):
            antennas = run(ticks(4, mode=mode, mood=mood)).joints[150:, ANTENNAS]
            assert np.min(np.abs(antennas)) > UPRIGHT - math.radians(2.1)    # breathing included
            turns = np.sum(np.abs(np.diff(np.sign(np.diff(antennas, axis=0)), axis=0)) > 1, axis=0)
            assert np.max(turns) <= 2      # at most a breath's turning points in 2.5 s


def test_every_change_of_mode_is_continuous():
    rng = np.random.default_rng(2)
    names = ["idle", "listen", "speak", "still", "sleep", "park"]
    parts = [{"s": rng.uniform(0.1, 1.6), "mode": name, "gaze": Gaze(rng.uniform(-1, 1), 0.1)} for name in names * 6]
    rng.shuffle(parts)
    motion = run(scene(*parts))
    assert motion.derivative(2).max() < 800
    assert motion.jerk_50hz().max() < 1.2e4


@pytest.mark.parametrize("sleeping", ["sleep", "park"])
def test_waking_up_is_drowsy_unless_someone_calls(sleeping):
    aside = {"mode": "listen", "gaze": Gaze(1.3, 0.5), "urgency": 1.0}
    drowsy, called = (run(scene({"s": 3, **aside}, {"s": 3, "mode": sleeping}, {"s": 4, **aside, **wish}))
                      for wish in ({"urgency": 0.0}, {"gaze": Gaze(-0.6)}))
    assert np.max(np.abs(np.diff(drowsy.sight[600:, 0]))) * 100 < 70      # without it: 74
    assert drowsy.sight[-1] == pytest.approx(np.degrees([1.3, 0.5]), abs=1e-6)
    assert np.argmax(np.abs(called.sight[600:, 0] + math.degrees(0.6)) < 5) < 80
    assert np.max(speeds(called)) <= 150


def test_same_seed_same_motion_and_another_seed_another():
    wanted = ticks(4, mode="idle")
    assert np.array_equal(run(wanted, body=mover(1)).joints, run(wanted, body=mover(1)).joints)
    assert not np.array_equal(run(wanted, body=mover(1)).joints, run(wanted, body=mover(2)).joints)


def test_commanded_velocity_is_that_of_the_goals():
    body, before = mover(), None
    for intent in ticks(0.5, **LISTEN):
        goal = body.step(intent.t, intent, SILENCE, None)
        if before is not None:
            assert goal.velocity == pytest.approx((goal.position - before) / 0.01, abs=1e-9)
        before = goal.position
        assert body.commanded_velocity is goal.velocity
        assert not goal.position.flags.writeable


def test_the_head_is_where_it_was_measured():
    body = mover()
    motion = run(ticks(0.5, **LISTEN), body=body)
    lagging = motion.joints[-10]
    pose = body.head_pose(Measured(0.48, lagging))
    assert pose.t == 0.48
    assert pose.rpy == pytest.approx(motion.rpy[-10], abs=1e-8)
    assert pose.position == pytest.approx(motion.position[-10], abs=1e-8)
    assert body.head_pose(None) is pose          # not the commanded one, which is ahead
    run(ticks(0.5, 0.5, **LISTEN), body=body)
    assert body.head_pose(None).t == pytest.approx(1.0)       # stale now; goals are reached at the end of their tick


def test_a_silent_servo_does_not_hide_the_head():
    body = mover()
    motion = run(ticks(1, **LISTEN), body=body)
    reading = motion.joints[-1].copy()
    reading[[0, 4]] = np.nan
    assert body.head_pose(Measured(1.0, reading)).rpy == pytest.approx(motion.rpy[-1], abs=1e-6)
    torn = np.array([0.3, 1.3, 1.2, -0.8, -1.3, -1.2, -1.3, 0, 0])    # arms that no head fits
    assert body.head_pose(Measured(1.01, torn)).rpy == pytest.approx(motion.rpy[-1], abs=1e-6)
