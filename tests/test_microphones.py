"""Bad microphones and references: kept usable as far as possible, told with what to do, and taken back when mended."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perception.audio.block import BLOCK, BLOCK_S, AudioBlock
from perception.audio.microphones import Microphones
from tests.hearing_sounds import RATE, echo_of, hiss, talking

SECONDS = 15
BAD = slice(2 * RATE, 8 * RATE)
SILENT = np.zeros(BLOCK, np.float32)


def good(mics=4):
    """The same voice at all microphones, as below 1 kHz on a small array, and a little hiss."""
    voice = np.tile(talking(3, 3.0), SECONDS // 3) * 0.2
    return np.tile(voice, (mics, 1)) + hiss(2, mics, voice.size, 1e-3)


def checked(sound, reference=None, gaps=(), speaks=None):
    """(sound out (M, n), usable (blocks, M), [(s, part, level)], reasons)"""
    microphones, out, usable, told, reasons = Microphones(len(sound)), [], [], [], []
    for number in range(sound.shape[1] // BLOCK):
        part = slice(number * BLOCK, (number + 1) * BLOCK)
        far = SILENT if reference is None else reference[part]
        block = AudioBlock((number + 1) * BLOCK_S, sound[:, part], far, number in gaps)
        done = microphones.step(block, speaks)
        out.append(done.mics)
        usable.append(done.usable)
        told += [(round(h.t, 2), h.part, h.level) for h in done.health]
        reasons += [h.reason for h in done.health if h.level != "ok"]
    return np.concatenate(out, axis=1), np.array(usable), told, reasons


def spoil(sound, fault):
    if fault == "dead":
        sound[1, BAD] = 0
    elif fault == "stuck":
        sound[1, BAD] = 0.25
    elif fault == "nan":
        sound[1, BAD.start:BAD.stop:50] = np.nan
    elif fault == "clips":
        sound[1, BAD] = np.clip(sound[1, BAD] * 300, -1, 1)
    elif fault == "deaf":
        sound[1, BAD] *= 1e-4
    elif fault == "inverted":
        sound[1, BAD] *= -1
    else:
        sound[1, BAD] += 0.1


@pytest.mark.parametrize(("fault", "level", "left_out"), [
    ("dead", "gone", True), ("stuck", "gone", True), ("nan", "degraded", True), ("clips", "degraded", True),
    ("deaf", "degraded", True), ("inverted", "degraded", False), ("offset", "degraded", False)])
def test_a_fault_is_told_once_and_taken_back(fault, level, left_out):
    sound = good()
    spoil(sound, fault)
    out, usable, told, reasons = checked(sound)
    assert [(part, how) for _, part, how in told] == [("microphone_1", level), ("microphone_1", "ok")]
    assert 2 < told[0][0] < 7.5 and 8 < told[1][0] < 14
    assert ":" in reasons[0]                    # what it is, and what to do
    assert np.isfinite(out).all() and usable[:, [0, 2, 3]].all()
    assert usable[780, 1] != left_out and usable[-1, 1]


def test_an_inverted_microphone_is_turned_over():
    sound = good()
    sound[2] *= -1
    out, *_ = checked(sound)
    late = slice(5 * RATE, None)
    assert np.corrcoef(out[2, late], out[0, late])[0, 1] > 0.9


def test_an_offset_is_taken_off():
    sound = good() + np.float32(0.2)
    out, usable, _, _ = checked(sound)
    assert np.abs(out[:, 8 * RATE:].mean(axis=1)).max() < 0.005 and usable.all()


def test_nobody_is_turned_over_without_a_majority_or_a_common_sound():
    two = good(2)
    two[1] *= -1
    for sound in (two, hiss(4, 4, 6 * RATE, 0.01)):
        assert not checked(sound)[2]


def test_all_dead_is_told_of_the_array():
    """F34: by the signal, whatever the card says of itself."""
    sound = good()
    sound[:, BAD] = 0
    told = checked(sound)[2]
    assert ("microphones", "gone") in [(part, level) for _, part, level in told]
    assert told[-1][2] == "ok" and len(told) == 10


def test_lost_sound_is_told_and_forgotten():
    told = checked(good(), gaps=range(200, 500, 10))[2]
    assert [(part, level) for _, part, level in told] == [("microphones", "degraded"), ("microphones", "ok")]


def test_speaking_without_reference_is_told():
    reference = talking(1, 6.0)
    sound = echo_of(reference, 0.1)
    assert checked(sound, reference, speaks=True)[2] == []
    assert checked(sound, None, speaks=None)[2] == []
    _, _, told, reasons = checked(sound, None, speaks=True)
    assert [(part, level) for _, part, level in told] == [("reference", "gone")] and "output" in reasons[0]


def test_silence_stays_silence():
    out, *_ = checked(np.zeros((4, 3 * RATE), np.float32))
    assert not out.any()


@settings(deadline=None, max_examples=15, derandomize=True)
@given(st.lists(st.sampled_from([0.0, 1.0, -1.0, 1e30, -1e-30, np.nan, np.inf, -np.inf, 0.1]), min_size=4, max_size=40),
       st.integers(1, 8), st.integers(0, 2**31))
def test_whatever_comes_in_what_goes_out_is_finite(values, mics, seed):
    rng = np.random.default_rng(seed)
    microphones = Microphones(mics)
    for number in range(25):
        mics_sound = rng.choice(values, (mics, BLOCK)).astype(np.float32)
        block = AudioBlock(number * BLOCK_S, mics_sound, rng.choice(values, BLOCK).astype(np.float32))
        done = microphones.step(block)
        assert np.isfinite(done.mics).all() and np.abs(done.mics).max() <= 2 and done.usable.shape == (mics,)
        assert np.isfinite(done.reference).all()
