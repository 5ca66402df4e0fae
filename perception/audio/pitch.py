"""How periodic some signals are, at the pitches of voices (70-400 Hz)."""
import numpy as np
from numpy.typing import NDArray
from scipy import fft

from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples

FRAME = 4 * BLOCK                   # 40 ms: almost three periods at 70 Hz
SHORTEST, LONGEST = SAMPLE_RATE_HZ // 400, SAMPLE_RATE_HZ // 70
RANGES = 12                         # of pitch, 0.21 octaves each, whose strengths are told apart
_LAGS = np.arange(SHORTEST, LONGEST + 1)
_STARTS = np.searchsorted(_LAGS, np.geomspace(SHORTEST, LONGEST + 1, RANGES + 1)[:-1])
_WINDOW = np.hanning(FRAME + 2)[1:-1].astype(np.float32)
_HERTZ = np.arange(FRAME // 2 + 1) * SAMPLE_RATE_HZ / FRAME
_USED = slice(int(np.argmax(_HERTZ > 80)), int(np.argmax(_HERTZ >= 1600)))   # harmonics are strong and resolved


def _to_lags() -> NDArray[np.float32]:
    """(bins, lags): from power to autocorrelation, by the lag's share that the window itself has.

    Circular: the longest lag folds onto 412 samples, where the windowed frame has hardly any correlation left."""
    cosine = np.cos(2 * np.pi * np.outer(np.arange(FRAME // 2 + 1)[_USED], _LAGS) / FRAME)
    own = fft.irfft(np.abs(fft.rfft(_WINDOW, 2 * FRAME)) ** 2)[:LONGEST + 1]
    return (cosine / (own / own[0])[SHORTEST:]).astype(np.float32)


_TO_LAGS = _to_lags()


class Pitch:
    """Periodicity of several signals."""

    def __init__(self, signals: int):
        self._frame = np.zeros((signals, FRAME), np.float32)

    def take(self, *blocks: Samples) -> None:
        """The newest block (160,) of each signal."""
        self._frame[:, :-BLOCK] = self._frame[:, BLOCK:]
        for frame, block in zip(self._frame, blocks, strict=True):
            frame[-BLOCK:] = block

    def measure(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Of the newest 40 ms: strength (signals,) 0..1, pitch (signals,) Hz, strengths (RANGES,) of the first signal
        by range of pitch, high to low."""
        spectra = fft.rfft(self._frame * _WINDOW, axis=1)[:, _USED]
        power = spectra.real**2 + spectra.imag**2
        normal = power @ _TO_LAGS / (power.sum(axis=1, keepdims=True) + 1e-12)
        best = normal.argmax(axis=1)
        strength = normal[np.arange(best.size), best]
        ranges = np.maximum.reduceat(normal[0], _STARTS)
        return (np.minimum(np.maximum(strength, 0), 1), (SAMPLE_RATE_HZ / (best + SHORTEST)).astype(np.float32),
                np.minimum(np.maximum(ranges, -1), 1))
