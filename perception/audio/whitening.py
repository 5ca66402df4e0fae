"""Energy of all microphones against the spatial covariance of the robot's own noise.

A voice comes from another place than loudspeaker, motors and floor; whitened by the covariance of these it stands out
by more than in any single microphone. One coherence matrix each for echo, motors and floor is tracked; their mixture
follows the powers of the ego-noise model.
"""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perception.audio.ego_noise import Expected
from perception.audio.spectrum import BIN_FROM_BANDS, BIN_HZ, Powers, Spectra

SPEED_OF_SOUND = 343.0   # m/s
# 310-4600 Hz, denser below where voices are strong
USED_BINS = np.unique(np.round(np.geomspace(310, 4600, 26) / BIN_HZ)).astype(int)
GROUPS = 6               # of used bins, reported apart
_GROUPED = np.stack([np.isin(np.arange(USED_BINS.size), g) / g.size
                     for g in np.array_split(np.arange(USED_BINS.size), GROUPS)]).astype(np.float32)
_FROM_BANDS = BIN_FROM_BANDS[USED_BINS]


@dataclass(frozen=True, slots=True)
class WhiteningConfig:
    """Rates are per block of 10 ms."""

    rate: float = 1 / 150             # coherences follow within 1.5 s
    delay: int = 25                   # blocks: 250 ms, by then a voice has shown itself and is weighed down
    diagonal: float = 0.03            # share of independent noise in each microphone
    directions: int = 12              # far-field directions around
    smoothing: float = 0.15           # of the directional likelihood: 60 ms


@dataclass(frozen=True, slots=True)
class Whitened:
    energy: Powers       # (GROUPS,) whitened energy a microphone, 1 on average without a voice
    directional: float   # best far-field direction's share of it
    peak: float          # best over mean direction


class Whitening:
    """Tracks coherences; judges each frame by them."""

    def __init__(self, mic_positions: NDArray[np.float64], config: WhiteningConfig = WhiteningConfig()):
        self.config = config
        count = len(mic_positions)
        azimuth = 2 * np.pi * np.arange(config.directions) / config.directions
        lead = np.stack([np.cos(azimuth), np.sin(azimuth), 0 * azimuth], axis=1) @ mic_positions.T / SPEED_OF_SOUND
        phase = 2j * np.pi * USED_BINS[None, :, None] * BIN_HZ * lead[:, None, :]
        self._steering = np.exp(phase).astype(np.complex64)                            # (D, F, M)
        self._columns = np.ascontiguousarray(self._steering.transpose(1, 2, 0))        # (F, M, D)
        eye = np.broadcast_to(np.eye(count, dtype=np.complex64), (3, USED_BINS.size, count, count))
        self._coherence = eye.copy()
        self._eye = np.eye(count, dtype=np.complex64)
        self._past = np.zeros((config.delay, USED_BINS.size, count), np.complex64)
        self._weights = np.zeros((config.delay, 3, USED_BINS.size), np.float32)
        self._likelihood = np.full(config.directions, 1.0, np.float32)
        self._average = np.full(USED_BINS.size, 1 / USED_BINS.size, np.float32)
        self._at = 0

    def step(self, residual: Spectra, expected: Expected) -> Whitened:
        """residual (M, BINS) of the microphones in use."""
        frame = residual[:, USED_BINS].T.copy()                                        # (F, M)
        parts = _FROM_BANDS @ np.stack([expected.echo, expected.motors, expected.floor], axis=1)  # band powers
        shares = (parts / (parts.sum(axis=1, keepdims=True) + 1e-20)).T                # (3, F)
        total = expected.bins[USED_BINS] + 1e-12
        mixed = (shares[0, :, None, None] * self._coherence[0] + shares[1, :, None, None] * self._coherence[1]
                 + shares[2, :, None, None] * self._coherence[2] + self.config.diagonal * self._eye)
        inverse = np.linalg.inv(mixed)
        white = (inverse @ frame[:, :, None])[:, :, 0]
        energy = (white * frame.conj()).real.sum(axis=1) / (total * frame.shape[1])
        beams = (self._steering.conj() * white).sum(axis=2)                            # (D, F)
        power = (beams.real**2 + beams.imag**2) / (self._norms(inverse) * total)
        likelihood = np.minimum(power, 30.0) @ self._average     # one bin alone is no voice
        self._likelihood += self.config.smoothing * (likelihood - self._likelihood)
        self._track(frame, shares, energy)
        best = float(self._likelihood.max())
        return Whitened(_GROUPED @ energy, best, best / (float(self._likelihood.sum()) / self._likelihood.size + 1e-6))

    def _norms(self, inverse: NDArray[np.complex64]) -> Powers:
        """d^H R^-1 d for each direction and bin (D, F)."""
        steered = inverse @ self._columns                                              # (F, M, D)
        return (self._columns.conj() * steered).real.sum(axis=1).T + 1e-6

    def _track(self, frame: NDArray[np.complex64], shares: Powers, energy: Powers) -> None:
        """Learn from the frame of 250 ms ago, the less the more it stood out."""
        at = self._at
        past, weights = self._past[at], self._weights[at]
        power = (past.real**2 + past.imag**2).sum(axis=1) / past.shape[1] + 1e-20
        outer = past[:, :, None] * past[:, None, :].conj() / power[:, None, None]
        gain = (self.config.rate * weights)[:, :, None, None]
        self._coherence += gain * (outer - self._coherence)
        self._past[at] = frame
        self._weights[at] = shares / (1 + np.maximum(energy - 1, 0)) ** 2
        self._at = (at + 1) % self.config.delay
