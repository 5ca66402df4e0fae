"""Turning: who leads, how soon, how smooth, and never through the back."""
import math

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from motion.intent import Gaze
from tests.motion_scenes import mover, run, scene, ticks

FIND = (Phase.explicit, Phase.generate)


def look(degrees, elevation=0.0, **wish):
    return {"mode": "listen", "gaze": Gaze(math.radians(degrees), math.radians(elevation)), "urgency": 1.0, **wish}


def turn(degrees, seconds=2.0, **wish):
    return run(ticks(seconds, **look(degrees, **wish)))


def faced(motion, degrees, within=5.0, start=0.0):
    """s from `start` until the line of sight is within so many degrees of the azimuth."""
    error = np.abs((motion.sight[:, 0] - degrees + 180) % 360 - 180)
    hits = np.flatnonzero((error <= within) & (motion.t >= start))
    return motion.t[hits[0]] - start if len(hits) else math.inf


@pytest.mark.parametrize(("degrees", "seconds"), [(30, 0.32), (-30, 0.32), (90, 0.55), (-90, 0.55), (150, 0.8)])
def test_a_call_is_faced_soon_and_not_overshot(degrees, seconds):
    motion = turn(degrees)
    assert faced(motion, degrees) <= seconds
    assert np.max(motion.sight[:, 0] * np.sign(degrees)) <= abs(degrees) + 1e-6
    assert motion.sight[-1] == pytest.approx([degrees, 0], abs=1e-6)


def test_the_head_leads_and_the_body_follows():
    motion = turn(90)
    head = np.degrees(motion.rpy[:, 2] - motion.body)
    assert np.argmax(head > 20) < np.argmax(np.degrees(motion.body) > 20)
    assert head.max() > 35
    assert head[-1] < 15
    still = faced(motion, 90, within=0.05)
    # the body still turned while the sight rested
    assert np.degrees(motion.body[-1] - motion.body[round(still * 100)]) > 5


def test_a_small_turn_is_the_heads_alone():
    assert np.max(np.abs(turn(25).body)) == 0.0


def test_peak_speed_grows_with_the_size_of_a_look():
    peaks = [np.max(np.abs(np.diff(turn(size).sight[:, 0]))) for size in (3, 6, 12, 24)]
    assert np.all(np.diff(np.log(peaks)) > 0.5)


def test_a_calm_turn_is_slower_than_an_urgent_one():
    assert faced(turn(60, urgency=0.0), 60) > 1.5 * faced(turn(60), 60)


@pytest.mark.parametrize("urgency", [0.0, 0.2])
@pytest.mark.parametrize(("degrees", "elevation"), [(30, 45), (90, 0), (150, -30)])
def test_the_calm_manner_is_calm(urgency, degrees, elevation):
    motion = turn(degrees, elevation=elevation, urgency=urgency)
    assert motion.derivative(1).max() <= 120
    assert motion.derivative(2).max() <= 700


def test_nobody_looks_around_on_the_way_to_a_target():
    """Whatever the seed draws, in idle too: the turn is neither hurried nor led astray."""
    wanted = ticks(1.5, **look(20, mode="idle")) + ticks(2.5, 1.5, **look(140, urgency=0.0, mode="idle"))
    for seed in range(12):
        motion = run(wanted, body=mover(seed))
        assert np.max(np.diff(motion.sight[150:, 0])) * 100 < 105, seed
        assert faced(motion, 140, start=1.5) < 1.65, seed


@pytest.mark.parametrize("degrees", [0, 50, 110, -77])
def test_quick_looks_are_quick_wherever_the_body_stands(degrees):
    azimuth = run(ticks(15.0, **look(degrees, mode="idle"))).sight[250:, 0]
    assert np.max(np.abs(np.diff(azimuth))) * 100 > 3.3 * np.max(np.abs(azimuth - degrees))     # 1/s; turns have 2


def test_from_one_side_of_the_back_to_the_other_by_the_front():
    motion = run(scene({"s": 3, **look(120)}, {"s": 3, **look(-120)}))
    after = motion.body[300:]
    assert after[0] > 1.5
    assert after[-1] < -1.5
    assert np.any(np.abs(after) < 0.05)
    assert np.max(np.abs(motion.body)) < 2.793
    assert np.max(np.abs(motion.rpy[:, 2])) < math.radians(125)


def test_a_call_from_the_other_side_of_the_back_is_faced_in_time():
    for before, call in ((149, -138), (140, -140), (149, -149), (120, -170), (129, -130), (169, -138.5), (180, -138.9)):
        motion = run(scene({"s": 3, **look(before)}, {"s": 3, **look(call)}))
        assert faced(motion, call, start=3.0) <= 1.38, call      # the bench asks for 1.45
        assert motion.derivative(1).max() <= 200
        assert np.max(np.abs(motion.body)) < 2.793
        assert np.max(np.abs(motion.rpy[:, 2] - motion.body)) <= math.radians(65)


def test_someone_who_stands_behind_and_sways_makes_no_one_spin():
    where = [179 + 4 * math.sin(i / 60) for i in range(1500)]
    motion = run([i for k, w in enumerate(where) for i in ticks(0.01, k * 0.01, **look((w + 180) % 360 - 180))])
    assert np.ptp(motion.body[300:]) < math.radians(10)


def test_a_walker_is_followed_closely():
    motion = run([i for k in range(600) for i in ticks(0.01, k * 0.01, **look(-40 + 0.15 * k, urgency=0.5))])
    target = -40 + 0.15 * np.arange(600)
    assert np.max(np.abs(motion.sight[150:, 0] - target[150:])) < 4.0     # 15 deg/s, 0.18 s behind


def test_the_sight_goes_straight():
    motion = turn(40, elevation=20)
    across, up = motion.sight[:, 0] / 40, motion.sight[:, 1] / 20
    assert np.max(np.abs(across - up)) < 0.01


@settings(max_examples=8, deadline=None, derandomize=True, phases=FIND)
@given(st.floats(-170, 170), st.floats(-30, 45), st.floats(0.3, 3.0))
def test_with_its_distance_known_a_point_is_looked_at_from_where_the_head_is(azimuth, elevation, distance):
    target = Gaze(math.radians(azimuth), math.radians(elevation), distance)
    motion = run(ticks(3.0, mode="listen", gaze=target, urgency=1.0))
    a, e = target.azimuth, target.elevation
    point = distance * np.array([math.cos(a) * math.cos(e), math.sin(a) * math.cos(e), math.sin(e)])
    line = point - (motion.position[-1] - [0, 0, 0.177])
    a, e = motion.rpy[-1, 2], -motion.rpy[-1, 1]
    sight = np.array([math.cos(a) * math.cos(e), math.sin(a) * math.cos(e), math.sin(e)])
    held = abs(azimuth) < 2 and abs(elevation) < 2      # a smaller change than that is the same target
    assert sight @ line / np.linalg.norm(line) > math.cos(math.radians(2.0 if held else 0.4))


@settings(max_examples=6, deadline=None, derandomize=True, phases=FIND)
@given(st.floats(-178, 178), st.floats(-80, 80), st.floats(0, 1))
def test_left_and_right_are_mirrored(azimuth, elevation, urgency):
    one, other = (run(ticks(1.2, **look(side * azimuth, elevation, urgency=urgency))) for side in (1, -1))
    # the published geometry is rounded to 1e-7 and not quite mirrored, and the limiter looks at its joints
    assert one.body == pytest.approx(-other.body, abs=3e-5)
    assert one.rpy[:, 1:] == pytest.approx(other.rpy[:, 1:] * [1, -1], abs=3e-5)
