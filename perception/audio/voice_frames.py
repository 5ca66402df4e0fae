"""What 40 ms of a voice are like, every 10 ms: level, periodicity, pitch, and where in the spectrum it lies.

Periodicity is the highest peak of the autocorrelation over that of the window itself (Boersma, "Accurate short-term
analysis of the fundamental frequency and the harmonics-to-noise ratio of a sampled sound", IFA Proceedings 17, 1993).
"""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples

FRAME = 4 * BLOCK                   # 40 ms: almost three periods at 70 Hz
SIZE = 2 * FRAME
SHORTEST, LONGEST = SAMPLE_RATE_HZ // 400, SAMPLE_RATE_HZ // 70
QUIETEST = 1e-8                     # power: -80 dBFS, under any microphone's noise

Values = NDArray[np.float64]
Indices = NDArray[np.intp]

_WINDOW = np.hanning(FRAME + 2)[1:-1].astype(np.float32)
_HERTZ = np.arange(SIZE // 2 + 1) * SAMPLE_RATE_HZ / SIZE
_VOICE = (_HERTZ > 70) & (_HERTZ < 3500)       # breath hides the harmonics of a breathy voice from about 1.5 kHz on
_LOW = _HERTZ < 2000                           # open throats sigh below, hissing teeth above


def _own_correlation() -> NDArray[np.float32]:
    own = fft.irfft(np.abs(fft.rfft(_WINDOW, SIZE)) ** 2, SIZE)[:LONGEST + 1]
    return (own / own[0]).astype(np.float32)


_OWN = _own_correlation()


@dataclass(frozen=True, slots=True)
class VoiceFrames:
    """Of n frames, each (n,)."""

    level: Values        # dBFS
    strength: Values     # 0..1 periodicity at 70-400 Hz
    pitch: Values        # Hz, of the strongest period
    low: Values          # 0..1 share of the power below 2 kHz


class Batch:
    """Some frames of sound (FRAME - BLOCK + n BLOCK,), the last of which ends with it; all but their level is worked
    out when somebody asks: in silence nobody does, and it is most of the work."""

    def __init__(self, sound: Samples):
        self._sound = sound.copy()
        self.level = 10 * np.log10(np.mean(framed(sound).astype(np.float64) ** 2, axis=1) + QUIETEST)
        self._frames: VoiceFrames | None = None

    def measured(self) -> VoiceFrames:
        if self._frames is None:
            self._frames = voice_frames(self._sound, self.level)
        return self._frames


def framed(sound: Samples) -> Samples:
    """(FRAME - BLOCK + n BLOCK,) -> (n, FRAME)"""
    return np.lib.stride_tricks.sliding_window_view(sound, FRAME)[::BLOCK]


def voice_frames(sound: Samples, level: Values) -> VoiceFrames:
    """sound (FRAME - BLOCK + n BLOCK,), level (n,) -> n frames, the last of which ends with the sound."""
    frames = framed(sound)
    spectra = fft.rfft(frames * _WINDOW, SIZE, axis=1)
    power = spectra.real**2 + spectra.imag**2
    correlation = fft.irfft(power * _VOICE, SIZE, axis=1)[:, :LONGEST + 1] / _OWN
    normal = correlation[:, SHORTEST:] / (correlation[:, :1] + 1e-12)
    # a period fits twice and thrice as well: the shortest of those that fit almost best is the pitch
    best = normal.max(axis=1)
    peaks = np.zeros_like(normal, bool)
    peaks[:, 1:-1] = (normal[:, 1:-1] >= normal[:, :-2]) & (normal[:, 1:-1] >= normal[:, 2:])
    fits = np.argmax(peaks & (normal >= 0.9 * best[:, None]), axis=1)
    strength = np.clip(normal[np.arange(len(normal)), fits], 0.0, 1.0)
    low = (power @ _LOW) / (power.sum(axis=1) + 1e-12)
    return VoiceFrames(level, strength.astype(float), SAMPLE_RATE_HZ / (fits + SHORTEST), low.astype(float))


def joined(parts: list[Batch]) -> VoiceFrames:
    return VoiceFrames(*(np.concatenate([getattr(part.measured(), name) for part in parts])
                         for name in ("level", "strength", "pitch", "low")))


def smoothed(values: Values, frames: int) -> Values:
    """Moving mean, ends held."""
    padded = np.pad(values, (frames // 2, frames - 1 - frames // 2), mode="edge")
    return np.convolve(padded, np.full(frames, 1 / frames), "valid")


def soft(value: float, middle: float, width: float) -> float:
    """0..1: 1/2 at `middle`, rising with `value` when width > 0, falling when width < 0."""
    return float(1 / (1 + np.exp(-np.clip((value - middle) / width, -30, 30))))
