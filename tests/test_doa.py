"""The direction of a voice: static, turning, over motors and echo, two talkers, and when it must be silent."""
import numpy as np
import pytest

from calibration.frames import direction_vector, wrapped
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ
from perception.audio.doa import Direction
from tests.direction_scenes import CIRCLE, LINE, Scene, band, detected, diffuse, near, talking, voice, wave


def error_deg(bearing, azimuth: float, mirror_counts: bool = False) -> float:
    candidates = [bearing.azimuth] + ([bearing.mirror] if mirror_counts and bearing.ambiguous else [])
    return float(np.rad2deg(min(abs(wrapped(c - azimuth)) for c in candidates)))


def spoken(scene: Scene, mics=LINE) -> list:
    return [b for b in scene.bearings(Direction(mics)) if b is not None]


@pytest.mark.parametrize("azimuth_deg", [0, 35, -65, 140, -160])
def test_a_line_at_rest_tells_the_angle_and_says_that_front_and_back_are_not_decided(azimuth_deg):
    azimuth = np.deg2rad(azimuth_deg)
    found = spoken(talking(azimuth_deg + 500, azimuth))
    late = found[len(found) // 3:]
    assert np.mean([error_deg(b, azimuth, mirror_counts=True) for b in late]) < 10
    assert all(b.ambiguous for b in late)
    assert all(abs(wrapped(b.mirror - (np.pi - b.azimuth))) < np.deg2rad(6) for b in late)


def test_on_the_axis_of_the_line_there_is_no_mirror():
    found = spoken(talking(7, np.pi / 2, elevation=0.1))
    late = found[len(found) // 3:]
    assert np.mean([error_deg(b, np.pi / 2) for b in late]) < 10
    assert np.mean([not b.ambiguous for b in late]) > 0.9


@pytest.mark.parametrize("azimuth_deg", [20, 160, -120])
def test_a_turning_head_decides_front_and_back(azimuth_deg):
    azimuth = np.deg2rad(azimuth_deg)
    found = spoken(talking(azimuth_deg + 900, azimuth, sweep=0.7))
    late = found[len(found) // 2:]
    assert np.mean([not b.ambiguous and error_deg(b, azimuth) < 10 for b in late]) > 0.9


@pytest.mark.parametrize("azimuth_deg", [10, 100, 190, 300])
def test_a_circle_of_microphones_needs_no_turn(azimuth_deg):
    azimuth = np.deg2rad(azimuth_deg)
    found = spoken(talking(azimuth_deg, azimuth, mics=CIRCLE), CIRCLE)
    late = found[len(found) // 3:]
    assert np.mean([not b.ambiguous and error_deg(b, azimuth) < 10 for b in late]) > 0.9


def test_first_bearing_comes_with_the_belief_and_is_right():
    scene = talking(3, 0.6, snr_db=20)
    bearings = scene.bearings(Direction(LINE))
    believed = int(np.argmax(scene.speech > 0.5))
    assert bearings[believed - 1] is None
    assert error_deg(bearings[believed + 1], 0.6, mirror_counts=True) < 10


def test_a_weak_belief_is_enough_when_the_sound_comes_from_one_side():
    scene = talking(3, 0.6, snr_db=20)
    scene.speech[:] = np.where(scene.speech > 0.5, 0.2, 0.03)
    first = next(b for b in scene.bearings(Direction(LINE)) if b is not None)
    assert 1.0 < first.t < 1.2 and error_deg(first, 0.6, mirror_counts=True) < 10


def test_a_weak_belief_in_noise_from_everywhere_names_no_direction():
    n = 6 * SAMPLE_RATE_HZ
    noise = 0.003 * diffuse(np.random.default_rng(61), n, LINE)
    assert spoken(Scene(noise, np.full(n // BLOCK, 0.2), np.zeros(n // BLOCK))) == []


def test_nothing_is_said_while_nobody_speaks_and_soon_after_the_voice_ends():
    scene = talking(4, 0.6)
    scene.speech[:] = detected(scene.residual.shape[1], 1.0, 1.8)
    last = np.flatnonzero(scene.speech > 0.5)[-1]
    bearings = scene.bearings(Direction(LINE))
    assert all(b is None for b in bearings[:100])
    assert all(b is None for b in bearings[last + 26:])


def test_one_microphone_has_no_direction():
    scene = talking(5, 0.6, mics=LINE[:1])
    assert spoken(scene, LINE[:1]) == []


def test_a_new_talker_takes_over():
    first, second = talking(11, -0.8, seconds=4.0), talking(12, 0.7, seconds=4.0, start=2.5)
    half = int(2.3 * SAMPLE_RATE_HZ)
    first.residual[:, half:] = 0
    scene = Scene(first.residual + second.residual, first.speech, first.yaw)
    bearings = scene.bearings(Direction(LINE))
    assert error_deg(bearings[220], -0.8, mirror_counts=True) < 10
    assert np.mean([error_deg(b, 0.7, mirror_counts=True) < 10 for b in bearings[320:]]) > 0.9


def test_motors_louder_than_the_voice_do_not_draw_the_bearing_to_themselves():
    scene = talking(21, 1.0, seconds=4.0, start=2.0)
    rng = np.random.default_rng(22)
    n = scene.residual.shape[1]
    speed = np.clip(0.5 + 1.5 * np.sin(2 * np.pi * 0.9 * np.arange(n) / SAMPLE_RATE_HZ), 0, None)
    noise = near(band(rng, n, 500, 3000) * speed, np.array([0.0, -0.04, 0.05]), LINE)
    scene.residual += 0.03 * noise / noise.std()
    motors = speed[BLOCK - 1::BLOCK, None] ** 2
    told = Scene(scene.residual, scene.speech, scene.yaw, motors=motors)
    assert np.mean([error_deg(b, 1.0, mirror_counts=True) < 12 for b in spoken(told)[60:]]) > 0.9


def test_left_over_echo_does_not_draw_the_bearing_to_the_loudspeaker():
    scene = talking(31, -1.1, seconds=4.0, start=2.0)
    rng = np.random.default_rng(32)
    n = scene.residual.shape[1]
    echo = near(voice(rng, n / SAMPLE_RATE_HZ, 190.0)[:n], np.array([0.03, 0.0, -0.09]), LINE)
    echo *= 0.05 / echo.std()
    scene = Scene(scene.residual + 0.15 * np.roll(echo, 3, axis=1), scene.speech, scene.yaw, echo=echo)
    assert np.mean([error_deg(b, -1.1, mirror_counts=True) < 10 for b in spoken(scene)[60:]]) > 0.85


def test_a_motor_that_was_never_heard_alone_leaves_the_bearing_where_it_was():
    scene = talking(41, 0.9, seconds=4.0)
    rng = np.random.default_rng(42)
    n, begin = scene.residual.shape[1], 2 * SAMPLE_RATE_HZ
    noise = near(band(rng, n, 500, 3000), np.array([0.0, 0.0, -0.08]), LINE)
    noise[:, :begin] = 0
    scene.residual += 0.05 * noise / noise[:, begin:].std()
    scene.motors = np.zeros((len(scene.speech), 1))
    scene.motors[200:] = 3.0
    bearings = scene.bearings(Direction(LINE))
    assert max(error_deg(b, 0.9, mirror_counts=True) for b in bearings[200:]) < 12


@pytest.mark.parametrize("value", [0.0, 1.0, 1e-20])
def test_strange_sound_gives_finite_bearings(value):
    n = SAMPLE_RATE_HZ
    scene = Scene(np.full((4, n), value), detected(n, 0.2, 1.0), np.zeros(n // BLOCK))
    for bearing in spoken(scene):
        assert np.isfinite([bearing.azimuth, bearing.spread]).all()


def test_the_bearing_is_taken_with_the_pose_of_its_own_sound():
    """A head that turns at 100 deg/s while somebody speaks from the side: no lag to either side."""
    rng = np.random.default_rng(51)
    errors = []
    for turn in (1, -1):
        n = 3 * SAMPLE_RATE_HZ
        yaw = turn * np.deg2rad(60) * np.sin(2 * np.pi * 0.27 * np.arange(n) / SAMPLE_RATE_HZ)
        sound = np.concatenate([np.zeros(SAMPLE_RATE_HZ // 2), voice(rng, 2.5)])[:n]
        heard = wave(sound, direction_vector(0.3, 0.2), CIRCLE, yaw) + 0.05 * rng.standard_normal((4, n))
        found = spoken(Scene(0.01 * heard, detected(n, 0.5, 3.0), yaw[BLOCK - 1::BLOCK]), CIRCLE)
        errors.append(np.rad2deg(np.mean([wrapped(b.azimuth - 0.3) for b in found[30:120]])))
    assert max(np.abs(errors)) < 3
