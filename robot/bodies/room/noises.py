"""Sounds of a room that are nobody's words, made from a seed: 16 kHz, active level 1."""
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt

from perception.audio.block import SAMPLE_RATE_HZ, Samples
from robot.bodies.room.voices import active_level, spoken

NoiseKind = Literal["knock", "cough", "music", "babble", "fan"]
USUAL_S: dict[NoiseKind, float] = {"knock": 0.7, "cough": 0.6, "music": 5.0, "babble": 5.0, "fan": 10.0}
USUAL_DB: dict[NoiseKind, float] = {"knock": 4.0, "cough": 6.0, "music": -6.0, "babble": -8.0, "fan": -14.0}
_BABBLE = ("the train was late again so we took the bus instead", "I would put the big table next to the window",
           "they said it might rain on the weekend", "did you see where I left my glasses this morning",
           "she has been learning the piano for about a year", "we should call them before it gets too late")


def made(kind: NoiseKind, for_s: float, rng: np.random.Generator) -> Samples:
    """`for_s` seconds of a noise, active level 1."""
    count = max(1, round(for_s * SAMPLE_RATE_HZ))
    makers = {"knock": _knock, "cough": _cough, "music": _music, "babble": _babble, "fan": _fan}
    samples = makers[kind](count, rng)[:count].astype(np.float32)
    level = active_level(samples)
    return samples / np.float32(level) if level > 0 else samples


def sigh(rng: np.random.Generator) -> Samples:
    """A breath let out: 1.1 to 1.6 s of noise shaped by an open throat, active level 1."""
    count = round(rng.uniform(1.1, 1.6) * SAMPLE_RATE_HZ)
    t = np.arange(count) / count
    noise = rng.standard_normal(count)
    shaped = sum(_band(noise, low, high) * gain for low, high, gain in
                 ((250, 700, 0.8), (900, 1700, 1.0), (2200, 3800, 0.35)))
    samples = (shaped * np.sin(np.pi * t ** 0.55) ** 2 * (1 - 0.5 * t)).astype(np.float32)
    return samples / np.float32(active_level(samples))


def _band(x: NDArray, low: float, high: float) -> NDArray:
    return sosfilt(butter(2, [low, high], "bandpass", fs=SAMPLE_RATE_HZ, output="sos"), x)


def _knock(count: int, rng: np.random.Generator) -> NDArray:
    """Knuckles on a door: two to four hits on a panel with a few modes."""
    out = np.zeros(count)
    modes = rng.uniform([90, 180, 400, 900], [150, 350, 800, 1800])
    start = 0.0
    for _ in range(rng.integers(2, 5)):
        t = np.arange(min(count, 2400)) / SAMPLE_RATE_HZ
        hit = sum(rng.uniform(0.4, 1.0) * np.exp(-t * f / 6) * np.sin(2 * np.pi * f * t) for f in modes)
        hit = hit + rng.standard_normal(t.size) * np.exp(-t * 900) * 0.5
        place = int(start * SAMPLE_RATE_HZ)
        room = max(0, min(t.size, count - place))
        out[place:place + room] += hit[:room] * rng.uniform(0.7, 1.0)
        start += rng.uniform(0.14, 0.24)
    return out


def _cough(count: int, rng: np.random.Generator) -> NDArray:
    """One or two bursts of breath through a wide throat."""
    out = np.zeros(count)
    for begin in (0.0, 0.32)[:rng.integers(1, 3)]:
        lasts = int(rng.uniform(0.16, 0.26) * SAMPLE_RATE_HZ)
        t = np.arange(lasts) / lasts
        noise = rng.standard_normal(lasts)
        burst = _band(noise, 350, 900) + 0.8 * _band(noise, 1100, 2600)
        burst *= np.minimum(1.0, t / 0.06) * np.exp(-4.0 * t)
        place = int(begin * SAMPLE_RATE_HZ)
        room = max(0, min(lasts, count - place))
        out[place:place + room] += burst[:room]
    return out


def _music(count: int, rng: np.random.Generator) -> NDArray:
    """Plucked chords of a minor scale over a bass, four notes a second."""
    out = np.zeros(count)
    scale = 220.0 * 2 ** (np.array([0, 3, 5, 7, 10, 12, 15, 17]) / 12)
    beat = SAMPLE_RATE_HZ // 4
    t = np.arange(SAMPLE_RATE_HZ) / SAMPLE_RATE_HZ
    for place in range(0, count, beat):
        low = [scale[rng.integers(0, 4)] / 2] if place // beat % 4 == 0 else []
        for pitch in [*rng.choice(scale, rng.integers(1, 3)), *low]:
            note = sum(np.exp(-t * (3 + 2 * k)) * np.sin(2 * np.pi * k * pitch * t) / k for k in (1, 2, 3, 4))
            room = min(t.size, count - place)
            out[place:place + room] += note[:room]
    return out


@cache
def _crowd() -> dict[str, tuple[Samples, ...]]:
    """voice: the sentences, active level 1."""
    talk = {voice: [spoken(words, voice) for words in _BABBLE] for voice in ("rms", "awb", "slt", "kal16")}
    return {voice: tuple(words / active_level(words) for words in said) for voice, said in talk.items()}


def _babble(count: int, rng: np.random.Generator) -> NDArray:
    """Four people who talk at once."""
    out = np.zeros(count)
    for said in _crowd().values():
        place = -int(rng.integers(0, SAMPLE_RATE_HZ))
        while place < count:
            words = said[rng.integers(len(said))]
            begin, end = max(place, 0), min(place + len(words), count)
            if end > begin:
                out[begin:end] += words[begin - place:end - place]
            place += len(words) + int(rng.uniform(0.05, 0.4) * SAMPLE_RATE_HZ)
    return out


def _fan(count: int, rng: np.random.Generator) -> NDArray:
    """Air and blades; blades pass 90 to 160 times a second. Starts and stops within half a second."""
    t = np.arange(count) / SAMPLE_RATE_HZ
    air = sosfilt(butter(1, 500, "lowpass", fs=SAMPLE_RATE_HZ, output="sos"), rng.standard_normal(count)) * 4
    pass_hz = rng.uniform(90, 160)
    blades = sum(np.sin(2 * np.pi * k * pass_hz * t + rng.uniform(0, 6.28)) * 0.5 / k for k in (1, 2, 3, 5))
    edge = np.clip(np.minimum(t, t[-1] - t) / 0.5, 0.0, 1.0)
    return (air + blades) * edge
