"""The sound of the joints follows how they truly move."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.body_model import reachy_mini
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ
from robot.bodies.room.motor_noise import HIGHEST_HZ, MotorNoise, MotorNoiseConfig


def sounded(velocity, blocks: int, seed: int = 1, config: MotorNoiseConfig | None = None) -> np.ndarray:
    """(4, n) while the joints move with velocity(block) (9,)."""
    noise = MotorNoise(config or MotorNoiseConfig(), reachy_mini(), np.random.default_rng(seed))
    out = []
    for index in range(blocks):
        piece = noise.step(np.asarray(velocity(index), float))
        out.append(np.zeros((4, BLOCK)) if piece is None else piece)
    return np.concatenate(out, axis=1)


def one_joint(speed: float, joint: int = 1) -> np.ndarray:
    out = np.zeros(9)
    out[joint] = speed
    return out


def test_resting_joints_are_silent_and_a_moving_one_ends_in_silence():
    sound = sounded(lambda i: one_joint(1.0 if 10 <= i < 30 else 0.0), 60)
    assert not sound[:, :9 * BLOCK].any() and not sound[:, 40 * BLOCK:].any()
    assert sound[:, 15 * BLOCK:30 * BLOCK].std() > 1e-3


def test_a_joint_at_1_rad_s_has_the_configured_level():
    config = MotorNoiseConfig(spread_db=0.0)
    sound = sounded(lambda i: one_joint(1.0), 200, config=config)[:, 50 * BLOCK:]
    level = 10 * np.log10((sound ** 2).mean())
    assert level == pytest.approx(config.joint_dbfs, abs=4.0)     # the shell colours whine and friction differently


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(0, 8), st.floats(0.1, 2.0), st.integers(0, 50))
def test_faster_is_louder(joint, speed, seed):
    slow = sounded(lambda i: one_joint(speed, joint), 60, seed)[:, 20 * BLOCK:]
    fast = sounded(lambda i: one_joint(3 * speed, joint), 60, seed)[:, 20 * BLOCK:]
    assert fast.std() > slow.std()


def peak_hz(sound: np.ndarray) -> float:
    power = np.abs(np.fft.rfft(sound * np.hanning(sound.size))) ** 2
    return float(np.argmax(power) * SAMPLE_RATE_HZ / sound.size)


def test_the_whine_rises_with_speed():
    """All orders are of one shaft: the spectrum of a joint twice as fast is the same one an octave higher."""
    config = MotorNoiseConfig(friction_share=0.0)
    spectra = []
    for speed in (0.5, 1.0):
        sound = sounded(lambda i, v=speed: one_joint(v), 220, config=config)[0, 20 * BLOCK:]
        power = np.abs(np.fft.rfft(sound * np.hanning(sound.size))) ** 2
        spectra.append(np.flatnonzero(power > power.max() * 0.01) * SAMPLE_RATE_HZ / sound.size)
    slow, fast = spectra
    matched = [np.abs(2 * slow - line).min() < 4.0 for line in fast]
    assert np.mean(matched) > 0.6


def test_no_order_is_above_the_highest():
    config = MotorNoiseConfig(friction_share=0.0)
    sound = sounded(lambda i: one_joint(7.5), 120, config=config)[0, 20 * BLOCK:]
    power = np.abs(np.fft.rfft(sound * np.hanning(sound.size))) ** 2
    split = int((HIGHEST_HZ + 100) * sound.size / SAMPLE_RATE_HZ)
    assert power[split:].sum() < 1e-3 * power.sum()


def test_reversals_knock():
    """A slow swing: the play of the gears turns over just after each reversal, where the whine is weakest."""
    swing = lambda i: one_joint(0.4 * np.sin(2 * np.pi * i / 100))   # noqa: E731
    turning = np.s_[:, 52 * BLOCK:53 * BLOCK]            # there it is faster than MOVES again
    knocks = sounded(swing, 100)[turning]
    none = sounded(swing, 100, config=MotorNoiseConfig(knock_db=-80.0))[turning]
    assert knocks.std() > 2 * none.std()


def test_robots_differ_and_seeds_repeat():
    a, b, again = (sounded(lambda i: one_joint(1.0), 40, seed) for seed in (1, 2, 1))
    assert np.array_equal(a, again)
    assert np.corrcoef(*np.log([np.abs(np.fft.rfft(x[0, 10 * BLOCK:])) for x in (a, b)]))[0, 1] < 0.9


def test_a_knock_during_rest_needs_motion():
    trembling = sounded(lambda i: one_joint(0.01 * (-1) ** i), 50)
    assert np.abs(trembling).max() < 0.05 * np.abs(sounded(lambda i: one_joint(1.0), 50)).max()
