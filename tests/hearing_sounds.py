"""Small synthetic sounds for the tests of hearing. Seeded; nothing here pretends to be a room."""
import numpy as np
from scipy.signal import fftconvolve, lfilter

RATE = 16000
LINE = np.c_[np.zeros(4), (np.arange(4) - 1.5) * 0.033, np.zeros(4)]


def talking(seed: int, seconds: float, pitch_hz: float = 140.0) -> np.ndarray:
    """(n,) pulses through changing formants with a syllable rhythm, RMS 0.1: enough like a voice for cancellers."""
    rng = np.random.default_rng([11, seed])
    count = int(seconds * RATE)
    t = np.arange(count) / RATE
    phase = np.cumsum(pitch_hz * (1 + 0.15 * np.sin(2 * np.pi * 0.7 * t + rng.uniform(0, 6)))) / RATE
    source = (np.diff(np.floor(phase), prepend=0) > 0).astype(float) + 0.02 * rng.standard_normal(count)
    out = np.zeros(count)
    for begin in range(0, count, RATE // 5):
        part = slice(begin, begin + RATE // 5)
        sound = source[part]
        for hertz in (rng.uniform(300, 800), rng.uniform(900, 2300), rng.uniform(2400, 3500)):
            sound = lfilter([1], [1, -1.9 * np.cos(2 * np.pi * hertz / RATE), 0.9025], sound)
        out[part] = sound * (rng.uniform() < 0.85) * np.hanning(sound.size)
    return (0.1 * out / (out.std() + 1e-9)).astype(np.float32)


def echo_of(reference: np.ndarray, delay_s: float, mics: int = 4, seed: int = 3) -> np.ndarray:
    """(mics, n): the reference, late by delay_s, through decaying paths of 60 ms at a fifth of its level."""
    rng = np.random.default_rng([12, seed])
    taps = rng.standard_normal((mics, 960)) * np.exp(-np.arange(960) / 150)
    taps[:, 0] = 4
    late = np.concatenate([np.zeros(round(delay_s * RATE)), reference])[:reference.size]
    wet = np.stack([fftconvolve(late, row)[:late.size] for row in taps])
    return (0.02 * wet / (wet.std() + 1e-9)).astype(np.float32)


def hiss(seed: int, mics: int, count: int, rms: float) -> np.ndarray:
    return (rms * np.random.default_rng([13, seed]).standard_normal((mics, count))).astype(np.float32)
