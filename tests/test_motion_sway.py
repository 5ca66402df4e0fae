"""Sway follows the voice: soon, only while it sounds, whatever the volume and however the blocks come."""
import numpy as np
import pytest

from motion.intent import Gaze
from motion.sway import Sway
from tests.motion_scenes import SILENCE, run, ticks

BLOCK = 160
SPEAK = {"mode": "speak", "gaze": Gaze(0.2, 0.0), "urgency": 1.0}


def syllables(seconds, level=0.1, seed=1):
    """Noise in syllables of 60-250 ms with pauses; (n,) at 16 kHz."""
    rng, parts = np.random.default_rng(seed), []
    while sum(map(len, parts)) < seconds * 16000:
        length = int(rng.uniform(0.06, 0.25) * 16000)
        parts += [rng.standard_normal(length) * np.hanning(length) * level * rng.uniform(0.4, 1),
                  np.zeros(int(rng.uniform(0.0, 0.15) * 16000))]
    return np.concatenate(parts)[:round(seconds * 16000)]


def blocks(samples, start=0):
    return lambda i: samples[max(0, (i - start) * BLOCK):max(0, (i - start + 1) * BLOCK)]


def head_speed(motion):
    """(n - 1,) deg/s, roll, pitch and yaw together."""
    return np.linalg.norm(np.diff(np.degrees(motion.rpy), axis=0), axis=1) * 100


def test_speed_follows_loudness_within_30_ms():
    voice = syllables(12)
    motion = run(ticks(14, **SPEAK), blocks(voice, 100))
    loud = np.sqrt(np.mean(voice.reshape(-1, BLOCK) ** 2, axis=1))
    speed = head_speed(motion)[99:]
    fit = [np.corrcoef(loud[:-40], speed[lag:lag + len(loud) - 40])[0, 1] for lag in range(40)]
    assert np.argmax(fit) <= 4      # speed is read between two ticks
    assert max(fit) > 0.6


def test_nothing_of_it_before_the_voice_and_little_after():
    motion = run(ticks(6, **SPEAK), blocks(syllables(2), 200))
    plain = run(ticks(6, **SPEAK))
    offset = np.degrees(motion.rpy - plain.rpy)
    assert np.all(offset[:200] == 0)            # causal
    assert np.sqrt(np.mean(np.sum(offset[220:400] ** 2, axis=1))) > 0.5
    assert np.max(np.abs(np.diff(offset[412:], axis=0))) * 100 < 2.5   # back to the middle, slowly
    assert np.max(np.abs(offset[-1])) < 0.3


def test_the_sight_stays_near_its_target():
    motion = run(ticks(8, **SPEAK), blocks(syllables(8)))
    assert np.max(np.abs(motion.sight[100:] - np.degrees([0.2, 0.0]))) < 1.2


def test_volume_does_not_matter():
    loud, quiet = (run(ticks(4, **SPEAK), blocks(syllables(4, level))).rpy for level in (0.3, 0.03))
    assert np.max(np.abs(loud - quiet)) < np.radians(0.25)     # the first syllable sets the volume


def test_bursty_blocks_do_not_shake_the_head():
    voice = syllables(6)
    even = run(ticks(6, **SPEAK), blocks(voice))
    bursts = run(ticks(6, **SPEAK), lambda i: voice[(i - 2) * BLOCK:(i + 1) * BLOCK] if i % 3 == 2 else SILENCE)
    assert bursts.derivative(2).max() < 1.6 * even.derivative(2).max()
    assert np.mean(head_speed(bursts)) == pytest.approx(np.mean(head_speed(even)), rel=0.35)


def test_broken_samples_are_silence():
    sway = Sway()
    for samples in (np.full(BLOCK, np.nan), np.full(BLOCK, np.inf), np.full(BLOCK, 1e200)):
        assert np.isfinite(sway.step(samples, 1.0)).all()
    fresh, voice = Sway(), syllables(1)
    for i in range(100):
        assert np.array_equal(sway.step(blocks(voice)(i), 1.0), fresh.step(blocks(voice)(i), 1.0))


def test_no_weight_no_sway():
    motion, plain = (run(ticks(3, mode="sleep"), voice) for voice in (blocks(syllables(3)), lambda _: SILENCE))
    assert np.array_equal(motion.joints, plain.joints)
