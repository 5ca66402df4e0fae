"""What stands out in space from the robot's own noise: whitened energy, and a beam that is deaf to the robot.

A voice comes from another place than loudspeaker, motors and floor. One coherence matrix each for echo, motors and
floor is averaged; their mixture follows the powers of the ego-noise model. Near-field motors leave a covariance whose
eigenvalues are 25 dB apart, so that a voice below them still breaks their pattern: the whitened energy over the
observed one ("fit") stood 1.8 standard deviations higher in voices than in motors alone, the energy by itself 0.2
(means over nine takes of the bench's draw that was tuned on).
"""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perception.audio.ego_noise import Expected
from perception.audio.spatial import diffuse_coherence, steering
from perception.audio.spectrum import BIN_FROM_BANDS, BIN_HZ, Powers, Spectra

# 300-4650 Hz: below, an array of 10 cm is small against the wave; above, a pitch of 33 mm folds
USED = slice(6, 94)
USED_BINS = np.arange(USED.start, USED.stop)
GROUPS = 6               # of used bins, 0.66 octaves each, reported apart
_GROUP = np.searchsorted(np.geomspace(300, 4651, GROUPS + 1)[1:-1], USED_BINS * BIN_HZ, side="right")
_FROM_BANDS = BIN_FROM_BANDS[USED_BINS]


@dataclass(frozen=True, slots=True)
class WhiteningConfig:
    """A frame is every other block of 10 ms and judges every other bin: windows of 20 ms overlap, and so do bins."""

    memory: float = 200.0             # frames of a source alone that its coherence is averaged over: 4 s
    delay: int = 12                   # frames (even): 240 ms, by then a voice has shown itself and is weighed down
    diagonal: float = 0.01            # share of independent noise in each microphone
    directions: int = 12              # far-field directions around
    smoothing: float = 0.28           # of the directional likelihood: 60 ms


@dataclass(frozen=True, slots=True)
class Whitened:
    energy: Powers       # (GROUPS,) whitened energy a microphone over what is expected, 1 on average without a voice
    fit: Powers          # (GROUPS,) the same over what is observed: 1 when the frame looks like the robot's noise
    directional: float   # best far-field direction's share of it
    peak: float          # best over mean direction


class Whitening:
    """Tracks coherences, judges frames by them, and steers the beam."""

    def __init__(self, mic_positions: NDArray[np.float64], config: WhiteningConfig = WhiteningConfig()):
        self.config = config
        count, bins = len(mic_positions), USED_BINS.size
        hertz = USED_BINS * BIN_HZ
        azimuth = 2 * np.pi * np.arange(config.directions) / config.directions
        vectors = np.stack([np.cos(azimuth), np.sin(azimuth), 0 * azimuth], axis=1)
        columns = steering(mic_positions, hertz, vectors)                                # (F, M, D)
        self._rows = np.ascontiguousarray(columns.conj().transpose(0, 2, 1))             # (F, D, M)
        outer = (columns.conj()[:, :, None] * columns[:, None]).reshape(bins, count**2, -1)
        # d^H R d of a flat R whose real and imaginary parts alternate
        self._norms = np.stack([outer.real, -outer.imag], axis=2).reshape(bins, 2 * count**2, -1).astype(np.float32)
        self._diffuse = diffuse_coherence(mic_positions, hertz)                          # (F, M, M)
        self._eye = np.eye(count, dtype=np.complex64)
        self._coherence = np.broadcast_to(self._eye, (3, bins, count, count)).copy()
        self._seen = np.full((3, bins), 1e-3, np.float32)    # frames in each average: the first frame counts in full
        self._past = np.zeros((config.delay, bins // 2, count), np.complex64)
        self._weights = np.zeros((config.delay, 3, bins // 2), np.float32)
        self._likelihood = np.full(config.directions, 1.0, np.float32)
        self._halves = tuple(_grouping(slice(first, None, 2)) for first in (0, 1))
        self.beam: Spectra = np.full((bins, count), 1 / count, np.complex64)             # (F, M)
        self.passed: Powers = np.ones(bins, np.float32)      # (F,) of the expected noise, what the beam lets through
        self._blocks = 0
        self._found = Whitened(np.ones(GROUPS, np.float32), np.ones(GROUPS, np.float32), 1.0, 1.0)

    def step(self, residual: Spectra, expected: Expected, use: Powers, calm: bool = False) -> Whitened:
        """residual (M, BINS); use (M,) 1 or 0: microphones in use; calm: half as many frames will do."""
        self._blocks += 1
        if self._blocks % 2 and not (calm and self._blocks % 8 > 3):      # in calm, too, both halves of the bins
            self._found = self._judged(residual[:, USED], expected, use, self._blocks // 2 % 2)
        return self._found

    def listen(self, residual: Spectra) -> Spectra:
        """Output (F,) of the beam in the used bins for residual (M, BINS)."""
        return (self.beam.conj() * residual[:, USED].T).sum(axis=1)

    def _judged(self, residual: Spectra, expected: Expected, use: Powers, half: int) -> Whitened:
        bins = slice(half, None, 2)
        frame = residual[:, bins].T * use                                                # (F/2, M)
        observed = (frame.real**2 + frame.imag**2).sum(axis=1) / use.sum() + 1e-14
        parts = np.stack([expected.parts[0], expected.motors, expected.parts[1]])
        shares = (parts / (expected.total + 1e-20)) @ _FROM_BANDS[bins].T                # (3, F/2)
        mixed = (shares[:, :, None, None] * self._coherence[:, bins]).sum(axis=0)
        mixed += self._eye * (self.config.diagonal + 1e3 * (1 - use))    # nothing is expected of a dead microphone
        inverse = np.linalg.inv(mixed)
        white = (inverse @ frame[:, :, None])[:, :, 0]
        fit = (white * frame.conj()).real.sum(axis=1) / (use.sum() * observed)
        energy = fit * observed / (expected.bins[USED][bins] + 1e-12)
        self._steer(inverse, mixed, bins)
        best, peak = self._directional(white, inverse, expected.bins[USED][bins] + 1e-12, bins)
        self._track(frame / np.sqrt(observed)[:, None], shares, fit, half)
        grouped = self._halves[half]
        return Whitened(grouped @ energy, grouped @ fit, best, peak)

    def _steer(self, inverse: Spectra, mixed: Spectra, bins: slice) -> None:
        """One power iteration towards the beam with the best diffuse gain over the noise: no direction need be known.

        Its phase is that of a wave from the middle of the array, so that the bins stay one waveform.
        """
        diffuse = self._diffuse[bins]
        beam = inverse @ (diffuse @ self.beam[bins, :, None])
        gain = (beam.conj() * (diffuse @ beam)).real.sum(axis=1, keepdims=True)
        middle = beam.sum(axis=1, keepdims=True)
        beam = beam * (middle.conj() / (np.abs(middle) * np.sqrt(gain) + 1e-20))
        self.beam[bins] = beam[:, :, 0]
        self.passed[bins] = (beam.conj() * (mixed @ beam)).real.sum(axis=(1, 2))

    def _directional(self, white: Spectra, inverse: Spectra, total: Powers, bins: slice) -> tuple[float, float]:
        """Far-field likelihood of the best direction, and over the mean."""
        beams = (self._rows[bins] @ white[:, :, None])[:, :, 0]                          # (F/2, D)
        flat = inverse.reshape(len(white), 1, -1).view(np.float32)
        norms = (flat @ self._norms[bins])[:, 0] + 1e-6                                  # d^H R^-1 d
        power = (beams.real**2 + beams.imag**2) / (norms * total[:, None])
        likelihood = np.minimum(power, 30.0).mean(axis=0)        # one bin alone is no voice
        self._likelihood += self.config.smoothing * (likelihood - self._likelihood)
        best = float(self._likelihood.max())
        return best, best / (float(self._likelihood.sum()) / self._likelihood.size + 1e-6)

    def _track(self, frame: Spectra, shares: Powers, fit: Powers, half: int) -> None:
        """Learn from the frame of 240 ms ago, the less the more it stood out, each source from where it dominates."""
        at, bins = (self._blocks // 2) % self.config.delay, slice(half, None, 2)
        past, weights = self._past[at], self._weights[at]
        seen = np.minimum(self._seen[:, bins] + weights, self.config.memory)
        self._seen[:, bins] = seen
        outer = past[:, :, None] * past[:, None, :].conj()
        self._coherence[:, bins] += (weights / seen)[:, :, None, None] * (outer - self._coherence[:, bins])
        self._past[at] = frame
        self._weights[at] = shares**2 / np.sqrt(1 + np.maximum(fit - 1, 0))


def _grouping(half: slice) -> Powers:
    """(GROUPS, F/2): means over the groups' bins."""
    member = np.stack([_GROUP[half] == group for group in range(GROUPS)])
    return (member / member.sum(axis=1, keepdims=True)).astype(np.float32)
