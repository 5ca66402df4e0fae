"""Linear echo canceller of all channels: partitioned-block frequency-domain Kalman filter.

After Enzner & Vary, "Frequency-domain adaptive Kalman filter for acoustic echo control in hands-free telephones",
Signal Processing 86 (2006), in the partitioned form of Kuech, Mabande & Enzner, ICASSP 2014. The Kalman gain is shared
by the microphones, which stand centimetres apart and hear echo and noise at nearly the same levels.
"""
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from perception.audio.block import BLOCK, Samples
from perception.audio.spectrum import BINS, FRAME, Powers, Spectra, squared


@dataclass(frozen=True, slots=True)
class CancellerConfig:
    """Parameters of the filter (source of the values: hearing-notes, 4-channel prototype)."""

    partitions: int = 20              # blocks of 10 ms: 200 ms of echo path
    transition: float = 0.996         # state factor a block: the path forgets in about 1.2 s
    noise_smoothing: float = 0.7      # of the observation noise, a block
    noise_floor: float = 0.3          # least observation noise, share of the instant error power
    noise_weight: float = 2.0         # frame length over block length of the overlap-save form
    start_variance: float = 0.1      # of the unknown path's gain per bin and partition
    silent: float = 0.1               # far-end power in all partitions (-70 dBFS each) that teaches nothing: in silence
                                      # the path may drift away, but what is not known of it does not become known
    constrained: int = 2              # partitions whose circular part is cut off in each block, in turn: with 4 the
                                      # echo loss in rooms is the same within 0.2 dB


UNADAPTED = 24   # blocks of microphones kept while nothing plays: what is older is 0.02 % of the observation noise


@dataclass(frozen=True, slots=True)
class Cancelled:
    """One block without and with only the echo that the filter explains."""

    residual: Samples    # (M, 160)
    echo: Samples        # (M, 160)


class EchoCanceller:
    """Adaptive echo paths from the reference to each microphone. Buffers are kept: temporaries cost half the time.

    While the reference holds nothing but zeros there is no echo, and what adapts then is made up for when it sounds.
    """

    def __init__(self, mics: int, config: CancellerConfig = CancellerConfig()):
        self.config = config
        self._mics = mics
        count = config.partitions
        if count % config.constrained:
            raise ValueError(f"constrained: expected a divisor of {count} partitions, found {config.constrained}")
        # newest first from `_newest` on; every entry stands twice, so that any `count` of them running are in one piece
        self._ring: Spectra = np.zeros((2 * count, BINS), np.complex64)
        self._ring_power: Powers = np.zeros((2 * count, BINS), np.float32)
        self._newest = 0
        self._ones = np.ones(count, np.float32)
        self._spectra: Spectra = np.zeros((mics * (1 + config.constrained), BINS), np.complex64)
        self._noise: Powers = np.full(BINS, 1e-6, np.float32)
        self._turn = 0
        self._products: Spectra = np.empty((mics, count, BINS), np.complex64)
        self._gain, self._shrink = np.empty((2, count, BINS), np.float32)
        self._direction: Spectra = np.empty((count, BINS), np.complex64)
        self._zeros = 0                                          # blocks of the reference, up to now
        self._unadapted: deque[Samples] = deque(maxlen=UNADAPTED)
        self._missed = 0                                         # blocks that were not adapted to
        self.forget()

    @property
    def history(self) -> int:
        """Samples of the reference that replace_far needs."""
        return (self.config.partitions + 1) * BLOCK

    def forget(self) -> None:
        """Nothing is known about the echo paths."""
        count = self.config.partitions
        self._paths: Spectra = np.zeros((self._mics, count, BINS), np.complex64)
        self._path_power: Powers = np.zeros((count, BINS), np.float32)     # over all microphones; of the last turn
        decay = np.exp(-0.15 * np.arange(count, dtype=np.float32))    # rooms decay; the start must not favour late taps
        self._variance: Powers = np.repeat((self.config.start_variance * decay)[:, None], BINS, axis=1)

    def replace_far(self, samples: Samples) -> None:
        """Put a re-aligned past of the reference (`history` samples, newest last) in place."""
        count = self.config.partitions
        ends = samples.size - BLOCK * (np.arange(count) + 1)          # start of the newest block of each partition
        frames = np.stack([samples[end - BLOCK:end + BLOCK] for end in ends])
        self._newest = self._zeros = 0
        self._ring[:] = np.tile(fft.rfft(frames, axis=1), (2, 1))
        self._ring_power[:] = squared(self._ring)

    @property
    def _recent(self) -> slice:
        """Of the rings: newest to oldest."""
        return slice(self._newest, self._newest + self.config.partitions)

    def _push(self, far: Samples) -> None:
        count = self.config.partitions
        self._zeros = 0 if far.any() else self._zeros + 1
        if self._idle:
            return
        self._newest = (self._newest - 1) % count
        spectrum = fft.rfft(far)
        self._ring[self._newest::count] = spectrum
        self._ring_power[self._newest::count] = squared(spectrum)

    @property
    def _idle(self) -> bool:
        """Only zeros are in the rings, and every path has been constrained since they are."""
        config = self.config
        return self._zeros > config.partitions + config.partitions // config.constrained

    def shift_paths(self, samples: int) -> None:
        """Let the echo come `samples` later (negative: earlier) along the same paths."""
        taps = fft.irfft(self._paths, FRAME, axis=2)[:, :, :BLOCK].reshape(self._mics, -1)
        moved = np.zeros_like(taps)
        if samples >= 0:
            moved[:, samples:] = taps[:, :taps.shape[1] - samples]
        else:
            moved[:, :samples] = taps[:, -samples:]
        frames = np.zeros((self._mics, self.config.partitions, FRAME), np.float32)
        frames[:, :, :BLOCK] = moved.reshape(self._mics, -1, BLOCK)
        self._paths = fft.rfft(frames, axis=2)

    def step(self, mics: Samples, far: Samples, usable: NDArray[np.bool_]) -> Cancelled:
        """mics (M, 160); far (320,) two newest aligned blocks of the reference; usable (M,): mics that may teach."""
        self._push(far)
        teachers = int(np.count_nonzero(usable))
        if self._idle:
            self._missed += 1
            self._unadapted.append(mics)
            self._take_turn()
            return Cancelled(mics, np.zeros_like(mics))
        if self._missed and teachers:
            self._make_up(usable, 1 / teachers)
        count, turn = self._mics, slice(self._turn, self._turn + self.config.constrained)
        sounds = self._echo_and_taps(turn)
        echo = sounds[:count, BLOCK:].copy()
        residual = mics - echo
        if teachers:
            sounds[:count, :BLOCK] = 0
            sounds[:count, BLOCK:] = residual
            sounds[count:, BLOCK:] = 0
            spectra = fft.rfft(sounds, axis=1)
            if teachers < count:
                spectra[:count][~usable] = 0
            self._constrain(spectra[count:], turn)
            self._adapt(spectra[:count], 1 / teachers)
        return Cancelled(residual, echo)

    def _echo_and_taps(self, turn: slice) -> Samples:
        """In one transform (M + M * constrained, 320): the echo, of which the second half holds, and the taps of the
        partitions of this turn, of which the first half does: the rest is circular."""
        spectra, count = self._spectra, self._mics
        np.multiply(self._paths, self._ring[self._recent], out=self._products)
        np.matmul(self._ones, self._products.view(np.float32), out=spectra[:count].view(np.float32))
        spectra[count:] = self._paths[:, turn].reshape(-1, BINS)
        return fft.irfft(spectra, FRAME, axis=1)

    def _constrain(self, paths: Spectra, turn: slice) -> None:
        """Put the partitions of this turn back without their circular part; all have their turn within 10 blocks."""
        paths = paths.reshape(self._mics, -1, BINS)
        self._paths[:, turn] = paths
        self._path_power[turn] = squared(paths).sum(axis=0)
        self._take_turn()

    def _take_turn(self) -> None:
        self._turn = (self._turn + self.config.constrained) % self.config.partitions

    def _adapt(self, error: Spectra, share: float) -> None:
        """error (M, 161), zero for microphones that must not teach; share: one over the number of the others."""
        config, variance = self.config, self._variance
        far, far_power = self._ring[self._recent], self._ring_power[self._recent]
        power = self._observe(error, share)
        drift = (1 - config.transition**2) * share * self._path_power
        if far_power.sum() < config.silent:
            np.maximum(variance, config.transition**2 * variance + drift, out=variance)
            return
        gain, shrink = self._gain, self._shrink
        np.multiply(variance, far_power, out=gain)
        observed = config.noise_weight * np.maximum(self._noise, config.noise_floor * power)
        observed += np.add.reduce(gain, axis=0) + 1e-9
        np.divide(variance, observed, out=gain)
        np.conjugate(far, out=self._direction)
        self._direction *= gain
        np.multiply(self._direction, error[:, None], out=self._products)
        self._paths += self._products
        np.multiply(gain, far_power, out=shrink)
        shrink *= -0.5 * config.transition**2
        shrink += config.transition**2
        variance *= shrink
        variance += drift

    def _observe(self, error: Spectra, share: float) -> Powers:
        """Power (BINS,) of error (M, BINS), which is taken into the observation noise."""
        power = share * np.add.reduce(squared(error), axis=0)
        self._noise += (1 - self.config.noise_smoothing) * (power - self._noise)
        return power

    def _make_up(self, usable: NDArray[np.bool_], share: float) -> None:
        """For the blocks without a reference: the paths have drifted, and the microphones' noise has changed."""
        sounds = np.zeros((len(self._unadapted), self._mics, FRAME), np.float32)
        sounds[:, :, BLOCK:] = np.stack(self._unadapted)
        for error in fft.rfft(sounds * usable[:, None], axis=2):
            self._observe(error, share)
        drifted, kept = share * self._path_power, np.float32(self.config.transition ** (2 * self._missed))
        np.maximum(self._variance, drifted + kept * (self._variance - drifted), out=self._variance)
        self._missed = 0
        self._unadapted.clear()
