"""Linear echo canceller of all channels: partitioned-block frequency-domain Kalman filter.

After Enzner & Vary, "Frequency-domain adaptive Kalman filter for acoustic echo control in hands-free telephones",
Signal Processing 86 (2006), in the partitioned form of Kuech, Mabande & Enzner, ICASSP 2014. The Kalman gain is shared
by the microphones, which stand centimetres apart and hear echo and noise at nearly the same levels.
"""
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
    constrained: int = 4              # partitions whose gradient is constrained in each block, in turn


@dataclass(frozen=True, slots=True)
class Cancelled:
    """One block without and with only the echo that the filter explains."""

    residual: Samples    # (M, 160)
    echo: Samples        # (M, 160)


class EchoCanceller:
    """Adaptive echo paths from the reference to each microphone."""

    def __init__(self, mics: int, config: CancellerConfig = CancellerConfig()):
        self.config = config
        self._mics = mics
        self._far = np.zeros((config.partitions, BINS), np.complex64)             # newest first
        self._padded = np.zeros((mics, FRAME), np.float32)
        self._noise: Powers = np.full(BINS, 1e-6, np.float32)
        self._turn = 0
        self.forget()

    @property
    def history(self) -> int:
        """Samples of the reference that replace_far needs."""
        return (self.config.partitions + 1) * BLOCK

    def forget(self) -> None:
        """Nothing is known about the echo paths."""
        count = self.config.partitions
        self._paths: Spectra = np.zeros((self._mics, count, BINS), np.complex64)
        decay = np.exp(-0.15 * np.arange(count, dtype=np.float32))    # rooms decay; the start must not favour late taps
        self._variance: Powers = np.repeat((self.config.start_variance * decay)[:, None], BINS, axis=1)

    def replace_far(self, samples: Samples) -> None:
        """Put a re-aligned past of the reference (`history` samples, newest last) in place."""
        count = self.config.partitions
        ends = samples.size - BLOCK * (np.arange(count) + 1)          # start of the newest block of each partition
        frames = np.stack([samples[end - BLOCK:end + BLOCK] for end in ends])
        self._far = fft.rfft(frames, axis=1)

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
        self._far[1:] = self._far[:-1]
        self._far[0] = fft.rfft(far)
        echo = fft.irfft((self._paths * self._far).sum(axis=1), FRAME, axis=1)[:, BLOCK:]
        residual = mics - echo
        self._padded[:, BLOCK:] = residual
        error = fft.rfft(self._padded, axis=1)
        if usable.any():
            self._adapt(error, usable)
        return Cancelled(residual, echo)

    def _adapt(self, error: Spectra, usable: NDArray[np.bool_]) -> None:
        config = self.config
        weights = usable.astype(np.float32)
        error = error * weights[:, None]
        power = (weights / weights.sum()) @ squared(error)
        self._noise = config.noise_smoothing * self._noise + (1 - config.noise_smoothing) * power
        observed = config.noise_weight * np.maximum(self._noise, config.noise_floor * power)
        far_power = squared(self._far)
        path_power = squared(self._paths).sum(axis=0) / weights.sum()
        forget = config.transition**2
        if far_power.sum() < config.silent:
            drifted = forget * self._variance + (1 - forget) * path_power
            self._variance = np.maximum(self._variance, drifted)
            return
        weighted = self._variance * far_power
        gain = self._variance / (weighted.sum(axis=0) + observed + 1e-9)
        step = gain * self._far.conj()
        self._paths += step * error[:, None, :]
        self._variance = forget * (1 - 0.5 * gain * far_power) * self._variance + (1 - forget) * path_power
        self._constrain()

    def _constrain(self) -> None:
        """Cut the circular part off some partitions; all have their turn within a few blocks."""
        count = self.config.partitions
        which = slice(self._turn, self._turn + self.config.constrained)
        self._turn = which.stop if which.stop < count else 0
        taps = fft.irfft(self._paths[:, which], FRAME, axis=2)
        taps[:, :, BLOCK:] = 0
        self._paths[:, which] = fft.rfft(taps, axis=2)

    def path_energy(self) -> Powers:
        """Energy of the estimated echo path per partition (partitions,)."""
        return squared(self._paths).sum(axis=(0, 2))
