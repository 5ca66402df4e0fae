"""Arrays that give an angle and a speech flag: frames, front and back, and a register that stands still."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.frames import HeadPose, wrapped
from perception.audio.array_register import ArrayRegister, Reading
from perception.pose_history import PoseHistory
from tests.direction_scenes import CIRCLE, LINE

PERIOD = 0.1


def angle_of(azimuth: float, yaw: float, line: bool) -> float:
    """What the array's register says of a voice at eye level: 0 left, pi/2 in front, pi right."""
    off = wrapped(azimuth - yaw)
    return float(np.arccos(np.sin(off))) if line else float((np.pi / 2 - off) % (2 * np.pi))


def listened(azimuth, *, mics=LINE, seconds=2.0, yaw=lambda t: 0.0, jitter=0.05, flag=True, voice=True, register=None,
             start=0.0, frozen=None):
    """Steps of a register through speech from azimuth, as (bearing, health)."""
    register = register or ArrayRegister(mics)
    rng, poses, out = np.random.default_rng(3), PoseHistory(), []
    for k in range(round(seconds / PERIOD)):
        t = start + (k + 1) * PERIOD
        for at in np.arange(t - PERIOD, t, 0.01):
            poses.add(at, HeadPose(at, np.zeros(3), np.array([0.0, 0.0, yaw(at)]), 0.0))
        angle = angle_of(azimuth, yaw(t - 0.1), mics is LINE) + jitter * rng.standard_normal()
        angle = np.clip(angle, 0, np.pi) if mics is LINE else angle % (2 * np.pi)
        out.append(register.step(t, Reading(t, float(angle) if frozen is None else frozen, flag), voice, poses))
    return out


def off_deg(bearing, azimuth) -> float:
    nearest = [bearing.azimuth] + ([bearing.mirror] if bearing.ambiguous else [])
    return float(np.rad2deg(min(abs(wrapped(a - azimuth)) for a in nearest)))


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.floats(-3.1, 3.1), st.floats(-0.8, 0.8))
def test_a_line_gives_the_angle_and_its_mirror_in_base_axes(azimuth, yaw):
    bearing, _ = listened(azimuth, yaw=lambda t: yaw)[-1]
    side = abs(np.cos(azimuth - yaw)) < 0.5            # near the axis a cosine tells angles badly
    assert off_deg(bearing, azimuth) < (20 if side else 10)


@pytest.mark.parametrize("azimuth", [0.4, 2.7, -2.2])
def test_a_small_turn_decides_front_and_back(azimuth):
    before, _ = listened(azimuth)[-1]
    after, _ = listened(azimuth, yaw=lambda t: 0.35 * min(1.0, t / 1.0), seconds=2.5)[-1]
    assert before.ambiguous
    assert not after.ambiguous and off_deg(after, azimuth) < 10


@pytest.mark.parametrize("azimuth", [0.4, 2.7, -2.2])
def test_a_circle_needs_no_turn(azimuth):
    bearing, _ = listened(azimuth, mics=CIRCLE)[-1]
    assert not bearing.ambiguous and off_deg(bearing, azimuth) < 10


def test_no_bearing_without_speech_or_against_our_own_detector():
    assert all(bearing is None for bearing, _ in listened(0.3, flag=False))
    assert all(bearing is None for bearing, _ in listened(0.3, voice=False))


def test_an_angle_that_stands_still_through_speech_is_reported_and_not_believed():
    steps = listened(0.3, frozen=1.27, seconds=10.0)
    reports = [health for _, health in steps if health is not None]
    assert [h.level for h in reports] == ["degraded"] and 7.5 < reports[0].t < 9.0
    assert steps[-1][0] is None and steps[20][0] is not None


def test_a_frozen_flag_is_found_by_the_voice_that_our_own_detector_hears():
    assert [h.level for _, h in listened(0.3, frozen=1.27, flag=False, voice=True, seconds=10.0) if h] == ["degraded"]


def test_an_angle_that_ignores_a_turn_of_the_head_is_found_sooner():
    steps = listened(0.3, frozen=1.27, yaw=lambda t: 0.5 * t, seconds=2.0)
    assert [h.level for _, h in steps if h] == ["degraded"]


def test_standing_still_in_silence_is_as_it_should_be():
    steps = listened(0.3, frozen=1.27, flag=False, voice=False, seconds=20.0, yaw=lambda t: 0.3 * np.sin(t))
    assert all(health is None for _, health in steps)


def test_a_register_that_moves_again_is_believed_again():
    register = ArrayRegister(LINE)
    listened(0.3, frozen=1.27, seconds=10.0, register=register)
    steps = listened(0.3, seconds=2.0, register=register, start=10.0)
    assert [h.level for _, h in steps if h] == ["ok"]
    assert off_deg(steps[-1][0], 0.3) < 10


@pytest.mark.parametrize("angle", [np.nan, np.inf, -3.0, 1e9])
def test_an_angle_that_is_none_is_reported_and_not_believed(angle):
    steps = listened(0.3, frozen=angle, seconds=0.5)
    assert all(bearing is None for bearing, _ in steps)
    assert [h.level for _, h in steps if h] == ["degraded"] and "out of range" in steps[0][1].reason


def test_an_array_that_does_not_answer_is_gone_and_comes_back():
    register, poses = ArrayRegister(LINE), PoseHistory()
    listened(0.3, seconds=1.0, register=register)
    silent = [register.step(1.0 + (k + 1) * PERIOD, None, True, poses) for k in range(20)]
    assert all(bearing is None for bearing, _ in silent)
    assert [h.level for _, h in silent if h] == ["gone"]
    assert [h.level for _, h in listened(0.3, seconds=0.5, register=register, start=3.0) if h] == ["ok"]
