"""Diffuse sound: the late reverberation of a source, and noise that comes from everywhere.

At points a distance d apart a diffuse field is coherent as sin(kd)/(kd) (Cook et al. 1955). It looks the same from
every side, so it does not follow the head.
"""
from collections import deque
from dataclasses import dataclass, field

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from calibration.frames import Array
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ
from robot.bodies.room.arrivals import EARLY_TAPS, Spectrum
from robot.bodies.room.shoebox import SPEED_OF_SOUND, Shoebox

TREBLE_RT60 = 0.55           # reverberation at 8 kHz over that at 500 Hz: air and soft surfaces
WINDOW = EARLY_TAPS          # samples a piece of the tail: its first result is needed when its first input is complete


def diffuse_mixing(points: Array, bins: int) -> NDArray[np.float32]:
    """(bins, M, M) that makes independent noises at points (M, 3) coherent as in a diffuse field; 0 Hz to Nyquist."""
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    frequency = np.linspace(0.0, SAMPLE_RATE_HZ / 2, bins)[:, None, None]
    coherence = np.sinc(2 * frequency * distance / SPEED_OF_SOUND)
    values, vectors = np.linalg.eigh(coherence)
    return (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :] @ vectors.transpose(0, 2, 1)).astype(np.float32)


def tail_response(box: Shoebox, points: Array, seed: int) -> NDArray[np.float32]:
    """Late response (M, taps) from EARLY_S on, down to -60 dB; decays faster in the treble."""
    taps = max(WINDOW, int(np.ceil(box.config.rt60_s * SAMPLE_RATE_HZ / WINDOW)) * WINDOW - EARLY_TAPS)
    rng = np.random.default_rng([seed, 12])
    bins = taps + 1
    noise = np.fft.rfft(rng.standard_normal((len(points), 2 * taps)))
    noise = np.einsum("fmn,nf->mf", diffuse_mixing(points, bins), noise)
    octave = np.log2(np.maximum(np.linspace(0.0, SAMPLE_RATE_HZ / 2, bins), 62.5) / 500.0)
    t = (np.arange(taps) + EARLY_TAPS) / SAMPLE_RATE_HZ
    out = np.zeros((len(points), taps))
    for centre in range(-3, 5):
        share = np.sqrt(np.clip(1 - np.abs(octave - centre), 0.0, 1.0))
        rt60 = box.config.rt60_s * TREBLE_RT60 ** (max(centre, 0) / 4)
        late = 10.0 ** (-3.0 * t * (1 / rt60 - 1 / box.config.rt60_s))
        out += np.fft.irfft(noise * share, 2 * taps)[:, :taps] * late
    return (out * np.sqrt(box.late_power(t) / SAMPLE_RATE_HZ)).astype(np.float32)


@dataclass
class LateTail:
    """Convolves a sum of dry sounds with a late response (M, taps), WINDOW samples at a time."""

    response: NDArray[np.float32]
    _history: deque[Spectrum | None] = field(init=False)
    _input: NDArray[np.float32] = field(init=False)
    _ready: NDArray[np.float32] | None = None
    _at: int = 0

    def __post_init__(self):
        pieces = self.response.reshape(len(self.response), -1, WINDOW)
        self._spectra = np.fft.rfft(pieces, 2 * WINDOW).astype(np.complex64)
        self._history = deque(maxlen=pieces.shape[1])
        self._input = np.zeros(2 * WINDOW, np.float32)

    def step(self, dry: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
        """(M, BLOCK) of tail for this block, given the dry sound (BLOCK,) of this block; None when silent."""
        out = None if self._ready is None else self._ready[:, self._at:self._at + BLOCK]
        if dry is not None:
            self._input[WINDOW + self._at:WINDOW + self._at + BLOCK] = dry
        self._at += BLOCK
        if self._at == WINDOW:
            self._convolve()
        return out

    def _convolve(self) -> None:
        self._at = 0
        self._history.appendleft(scipy.fft.rfft(self._input) if self._input.any() else None)
        self._input[:WINDOW] = self._input[WINDOW:]
        self._input[WINDOW:] = 0.0
        pieces = [(spectrum, place) for place, spectrum in enumerate(self._history) if spectrum is not None]
        if not pieces:
            self._ready = None
            return
        total = sum(self._spectra[:, place] * spectrum for spectrum, place in pieces)
        self._ready = scipy.fft.irfft(total, 2 * WINDOW)[:, WINDOW:]
