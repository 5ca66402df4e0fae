"""Short-time spectra of 10 ms blocks, and the bands in which powers are modelled."""
import numpy as np
from numpy.typing import NDArray
from scipy import fft

from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples

FRAME = 2 * BLOCK                      # samples of one spectrum: 20 ms, a new one every block
BINS = FRAME // 2 + 1                  # 161, 50 Hz apart
BIN_HZ = SAMPLE_RATE_HZ / FRAME
BANDS = 20
# 180 Hz: below it small loudspeakers and rooms are mostly rumble; 6800 Hz: above it microphones' anti-alias filters
BAND_EDGES_HZ = np.geomspace(180.0, 6800.0, BANDS + 1)

Spectra = NDArray[np.complex64]
Powers = NDArray[np.float32]

WINDOW = np.sqrt(0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(FRAME) + 0.5) / FRAME)).astype(np.float32)


def _band_weights() -> Powers:
    """(BINS, BANDS): share of each bin in each band, by overlap; a band sums its bins' power."""
    low = (np.arange(BINS) - 0.5) * BIN_HZ
    overlap = (np.minimum(low[:, None] + BIN_HZ, BAND_EDGES_HZ[1:]) - np.maximum(low[:, None], BAND_EDGES_HZ[:-1]))
    return (np.clip(overlap, 0, None) / BIN_HZ).astype(np.float32)


BAND_WEIGHTS = _band_weights()
BAND_CENTRES_HZ = np.sqrt(BAND_EDGES_HZ[1:] * BAND_EDGES_HZ[:-1])
# linear interpolation from bands back to bins, flat outside the bands
BIN_FROM_BANDS = np.stack([np.interp(np.arange(BINS) * BIN_HZ, BAND_CENTRES_HZ, row) for row in np.eye(BANDS)],
                          axis=1).astype(np.float32)


def in_bands(power: Powers) -> Powers:
    """(..., BINS) power of bins -> (..., BANDS)."""
    return power @ BAND_WEIGHTS


def squared(spectra: Spectra) -> Powers:
    return spectra.real**2 + spectra.imag**2


class Frames:
    """Overlapping windowed frames of a stream of blocks (channels, 160)."""

    def __init__(self, channels: int):
        self._frame = np.zeros((channels, FRAME), np.float32)

    def step(self, block: Samples) -> Spectra:
        """Spectra (channels, BINS) of the newest 20 ms, square-root Hann window."""
        self._frame[:, :BLOCK] = self._frame[:, BLOCK:]
        self._frame[:, BLOCK:] = block
        return fft.rfft(self._frame * WINDOW, axis=1)


class Resynthesis:
    """Sound back from masked spectra, by overlap-add (10 ms late)."""

    def __init__(self, channels: int) -> None:
        self._tail = np.zeros((channels, BLOCK), np.float32)

    def step(self, spectra: Spectra) -> Samples:
        """spectra (channels, BINS) -> the finished blocks (channels, 160) that precede the newest ones."""
        frame = fft.irfft(spectra, FRAME, axis=1)
        frame *= WINDOW
        out = self._tail + frame[:, :BLOCK]
        self._tail = frame[:, BLOCK:]
        return out
