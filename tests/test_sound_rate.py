"""Any device rate behind 16 kHz: pitch, duration and level stay, however the sound is cut."""
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot.bodies.sound_rate import BETA, PASS, STOP, Cutter, RateConverter

RATES = (8000, 11025, 16000, 22050, 44100, 48000, 96000)


def tone(rate_hz: int, hertz: float, seconds: float = 0.5) -> np.ndarray:
    return np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate_hz)) / rate_hz).astype(np.float32)[None]


@pytest.mark.parametrize("rate_hz", RATES)
@pytest.mark.parametrize("outwards", [False, True])
def test_a_tone_stays_in_place_and_level(rate_hz, outwards):
    """F39: any rate of a device stands behind 16 kHz, both ways."""
    source, target = (16000, rate_hz) if outwards else (rate_hz, 16000)
    out = RateConverter(1, source, target).step(tone(source, 1000.0))
    wanted = tone(target, 1000.0)[:, :out.shape[1]]
    assert 0.49 < out.shape[1] / target <= 0.5
    steady = np.s_[0, target // 50:]
    assert np.square(out[steady] - wanted[steady]).mean() < 1e-6 * np.square(wanted[steady]).mean()   # 60 dB


def test_what_16_khz_cannot_carry_is_taken_out():
    out = RateConverter(1, 48000, 16000).step(tone(48000, 9500.0))
    assert np.abs(out[0, 400:]).max() < 1e-3


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.sampled_from(RATES), st.lists(st.integers(1, 700), min_size=1, max_size=8), st.booleans())
def test_cuts_change_nothing(rate_hz, cuts, outwards):
    sound = np.random.default_rng([1, rate_hz]).standard_normal((2, sum(cuts))).astype(np.float32)
    rates = (16000, rate_hz) if outwards else (rate_hz, 16000)
    whole = RateConverter(2, *rates).step(sound)
    converter, at, parts = RateConverter(2, *rates), 0, []
    for cut in cuts:
        parts.append(converter.step(sound[:, at:at + cut]))
        at += cut
    assert np.allclose(np.concatenate(parts, axis=1), whole, atol=1e-6)


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.lists(st.integers(0, 900), min_size=1, max_size=10))
def test_blocks_are_cut_without_loss(cuts):
    sound = np.arange(2 * sum(cuts), dtype=np.float32).reshape(2, -1)
    cutter, at, blocks = Cutter(2), 0, []
    for cut in cuts:
        blocks += cutter.step(sound[:, at:at + cut])
        at += cut
    assert len(blocks) == sum(cuts) // 160 and all(block.shape == (2, 160) for block in blocks)
    if blocks:
        assert (np.concatenate(blocks, axis=1) == sound[:, :160 * len(blocks)]).all()


@pytest.mark.parametrize("rates", [(44100, 16000), (16000, 44100), (48000, 16000), (8000, 16000)])
def test_the_filter_is_the_textbook_one(rates):
    from scipy.signal import firwin

    converter = RateConverter(1, *rates)
    up, lower = converter._up, min(1.0, rates[1] / rates[0])
    bank = converter._bank
    flat = bank[:, ::-1].T.reshape(-1) / up
    expected = firwin(len(flat) + 1, (PASS + STOP) * lower, window=("kaiser", BETA), fs=2.0 * up)[:-1]
    np.testing.assert_allclose(flat, expected, atol=1e-8)


def test_a_converter_loads_nothing_heavy():
    """The sound process makes one under real-time priority, which ends it after half a second without a pause."""
    code = ("import sys; from robot.bodies.sound_rate import RateConverter; RateConverter(4, 44100, 16000);"
            "print([name for name in sys.modules if name.startswith('scipy.')])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
