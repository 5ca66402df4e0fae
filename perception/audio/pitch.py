"""How periodic some signals are, at the pitches of voices (70-400 Hz)."""
import numpy as np
from numpy.typing import NDArray
from scipy import fft

from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples

FRAME = 4 * BLOCK                   # 40 ms: almost three periods at 70 Hz
SIZE = 2 * FRAME
SHORTEST, LONGEST = SAMPLE_RATE_HZ // 400, SAMPLE_RATE_HZ // 70
_WINDOW = np.hanning(FRAME + 2)[1:-1].astype(np.float32)
_HERTZ = np.arange(SIZE // 2 + 1) * SAMPLE_RATE_HZ / SIZE
_VOICED = ((_HERTZ > 80) & (_HERTZ < 1600)).astype(np.float32)   # where harmonics are strong and resolved


def _own_correlation() -> NDArray[np.float32]:
    """The window's normalised autocorrelation at the searched lags."""
    power = np.abs(fft.rfft(_WINDOW, SIZE)) ** 2
    own = fft.irfft(power, SIZE)[:LONGEST + 1]
    return (own / own[0])[SHORTEST:]


_OWN = _own_correlation()


class Pitch:
    """Periodicity of several signals."""

    def __init__(self, signals: int):
        self._frame = np.zeros((signals, FRAME), np.float32)

    def step(self, block: Samples) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """block (signals, 160) -> strength (signals,) 0..1 and pitch (signals,) Hz."""
        self._frame[:, :-BLOCK] = self._frame[:, BLOCK:]
        self._frame[:, -BLOCK:] = block
        spectra = fft.rfft(self._frame * _WINDOW, SIZE, axis=1)
        power = (spectra.real**2 + spectra.imag**2) * _VOICED
        correlation = fft.irfft(power, SIZE, axis=1)[:, :LONGEST + 1]
        normal = correlation[:, SHORTEST:] / ((correlation[:, :1] + 1e-12) * _OWN)
        best = normal.argmax(axis=1)
        strength = normal[np.arange(best.size), best]
        return np.minimum(np.maximum(strength, 0), 1), (SAMPLE_RATE_HZ / (best + SHORTEST)).astype(np.float32)
