"""What the microphones would hear if nobody spoke: covariance of room noise, motors and left-over echo in each bin.

One additive model: R = room + sum over motor activities of activity x C + echo power x leak. Every C is kept up to date
while nobody speaks, from frames old enough that a voice which has just begun is not learned as noise. A frame is
shared out between the parts by their expected powers, as in expectation maximisation of an additive model.
"""
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.frames import Array
from perception.audio.hermitian import Packed, outer


@dataclass(frozen=True, slots=True)
class InterferenceConfig:
    echo_caution: float = 2.0         # times the expected power of left-over echo: it comes in bursts over its mean
    motor_caution: float = 1.0        # the same of motors, whose bursts are told below
    power_memory: float = 1.0         # s
    motor_memory: float = 0.6         # s of motion: what a motor sounds like changes with its speed
    shape_memory: float = 2.0         # s; 4 x 4 covariances need some 40 frames
    prior_frames: float = 3.0         # learned frames that the start (diffuse noise) counts for
    least_activity: float = 0.03      # below, a motor cannot be heard well enough to start its part
    delay: float = 0.25               # s: so late are detectors of speech
    share_exponent: float = 0.6       # lets a part that starts too low catch up
    quiet_likelihood: float = 0.3     # speech likelihood above which nothing is learned
    first_leak: float = 0.1           # residual over estimated echo power before anything was learned: -10 dB
    echo_decay: float = 0.72          # per 10 ms, echo tail behind the canceller's reach (T60 of 420 ms)
    prominent: float = 0.3            # share of the expected power from which motors or echo make another kind of frame
    acquainted: int = 5               # learned frames from which a motor's noise can be told at other speeds
    burst: float = 10.0               # times the expected power that motors may have in a frame that is loud as a whole
    familiar: int = 12                # the same from which it is known what its frames are like
    beyond: float = 3.0               # times the loudest activity heard without a voice: beyond, expect ever more noise
    measure_memory: float = 0.25      # s over which expected and heard power are compared
    faint: float = 0.4                # activity (0.5 rad/s of one joint) below which an unknown motor is quiet enough


@dataclass(frozen=True, slots=True)
class Expectation:
    """Of N frames. kinds: which kinds of frames without a voice these are (0 room, 1 echo, 2 motors, 3 both)."""

    covariance: Packed            # (M * M, N, F)
    kinds: list[int]
    known: np.ndarray             # (N,) all that is loud in them has been learned for a while


@dataclass(frozen=True, slots=True)
class _Heard:
    """A frame that is kept until it is known whether somebody spoke."""

    x: np.ndarray                 # (M, F)
    gains: np.ndarray             # (parts, F)
    speech: float


KINDS = 4


class Interference:
    """Covariance (M * M, F) of all that is not a person, frame by frame."""

    def __init__(self, diffuse: Packed, mics: int, motors: int, config: InterferenceConfig, frame_s: float):
        """diffuse (M * M, F) of unit power; motors: count of motor activities."""
        bins, self._mics = diffuse.shape[1], mics
        self._config, self._diffuse = config, diffuse.copy()
        self._diffuse[:mics] += 0.05
        self._power_rate = frame_s / np.array([config.power_memory] * 2 + [config.motor_memory] * motors)
        self._shape_rate = np.float32(frame_s / config.shape_memory)
        self._measure_rate = np.float32(frame_s / config.measure_memory)
        self._echo_decay = np.float32(config.echo_decay ** (frame_s / 0.01))
        self._echo = np.zeros(bins, np.float32)
        # room, echo, motors: power (F,) a unit of activity, and covariance at unit power
        self._power = np.zeros((2 + motors, bins), np.float32)
        self._power[1] = config.first_leak
        self._shape = np.repeat(self._diffuse[None], 2 + motors, axis=0)
        self._learned = np.zeros(2 + motors)   # frames
        self._loudest = np.zeros(motors)   # activity of each at which it has been learned
        self._level = self._told = np.full(bins, 1e-12, np.float32)   # power heard of late, and expected
        self._delay = round(config.delay / frame_s)
        self._past: deque[_Heard] = deque()

    def strange(self, activity: Array) -> np.ndarray:
        """(N,) a motor runs that was never heard without a voice: what sounds now may well be it. activity (N, K)."""
        return np.any(activity[:, self._learned[2:] < self._config.acquainted] > self._config.faint, axis=1)

    def hear(self, x: np.ndarray, echo: np.ndarray, activity: Array, speech: Sequence[float]) -> tuple[int, bool]:
        """Take in N frames. x, echo: spectra (M, N, F), (E, N, F) of residual and echo estimate; activity (N, K);
        speech (N,) likelihood. How many frames have become old, and whether nobody spoke around them."""
        power = (echo.real**2 + echo.imag**2).sum(axis=0) / len(echo)
        gains = np.empty((len(speech), *self._power.shape), np.float32)
        gains[:, 0], gains[:, 2:] = 1.0, activity[:, :, None]
        for n, now in enumerate(power):
            self._echo = gains[n, 1] = np.maximum(now, self._echo_decay * self._echo)
            self._past.append(_Heard(x[:, n], gains[n], speech[n]))
        quiet = max(frame.speech for frame in self._past) < self._config.quiet_likelihood
        old = [self._past.popleft() for _ in range(len(self._past) - self._delay)]
        if old and quiet:
            self._learn(np.stack([frame.x for frame in old], axis=1), np.stack([frame.gains for frame in old], axis=1))
        self._gains = gains.swapaxes(0, 1)
        self._heard = (x.real**2 + x.imag**2).sum(axis=0) / self._mics
        return len(old), quiet

    def expect(self) -> Expectation:
        """Of the frames heard last."""
        config, heard, gains = self._config, self._heard, self._gains
        if not self._learned[0]:   # nothing learned yet: the frame itself, as if it were diffuse
            return Expectation(heard * self._diffuse[:, None], [0] * len(heard), np.zeros(len(heard), bool))
        powers = gains * self._power[:, None]
        powers *= self._cap(powers.sum(axis=0))
        powers[1] *= config.echo_caution
        powers[2:] *= config.motor_caution
        beyond = gains[2:, :, 0] / np.maximum(config.faint, config.beyond * self._loudest)[:, None]
        powers[2:] *= np.maximum(1.0, beyond)[:, :, None]
        burst = np.minimum(np.maximum((heard / powers.sum(axis=0)).mean(axis=1), 1.0), config.burst)
        powers[2:] *= burst[:, None]
        part = powers.sum(axis=2)
        part /= part.sum(axis=0)
        covariance = sum(powers[k] * self._shape[k][:, None] for k in np.flatnonzero(part.max(axis=1) > 1e-4))
        known = ~(part[self._learned < config.familiar] > config.prominent / 2).any(axis=0)
        kinds = (part[1] > config.prominent) + 2 * (part[2:].sum(axis=0) > config.prominent)
        return Expectation(covariance, kinds.tolist(), known)

    def _cap(self, told: np.ndarray) -> np.ndarray:
        """Factor (N, F) on powers told (N, F): a voice only adds, so what is expected without it is not more than is
        heard in all, over a while."""
        ratio = np.empty_like(told)
        for n, (heard, expected) in enumerate(zip(self._heard, told, strict=True)):
            self._level = self._level + self._measure_rate * (heard - self._level)
            self._told = self._told + self._measure_rate * (expected - self._told)
            ratio[n] = self._level / self._told
        ratio[:, 1:-1] = (ratio[:, :-2] + ratio[:, 1:-1] + ratio[:, 2:]) / 3
        return np.minimum(ratio, 1.0)

    def _learn(self, x: np.ndarray, gains: np.ndarray) -> None:
        """From spectra (M, N, F) and gains (parts, N, F) of frames without a voice."""
        config, frames = self._config, x.shape[1]
        self._loudest = np.maximum(self._loudest, gains[2:, :, 0].max(axis=1))
        heard = outer(x)
        level = heard[:self._mics].sum(axis=0) / self._mics + 1e-20
        if not self._learned[0]:
            self._power[0] = smooth(level.mean(axis=0))
        self._start(level.mean(axis=0), gains.mean(axis=1))
        expected = gains * self._power[:, None]
        total = expected.sum(axis=0) + 1e-20
        share = expected / total
        surprise = np.minimum(np.maximum(level / total - 1.0, -0.9), 1.5)
        weight = share**config.share_exponent
        weight[:2] = share[:2]
        young = 1 / (self._learned + config.prior_frames + frames - 1)
        self._power *= np.exp(np.maximum(young, self._power_rate)[:, None] * (weight * surprise).sum(axis=1))
        present = share.max(axis=(1, 2)) > 0.1
        heard /= level
        for k in np.flatnonzero(present):
            turn = np.float32(max(young[k], self._shape_rate)) * share[k] ** 2
            self._shape[k] += (turn * heard).sum(axis=1) - turn.sum(axis=0) * self._shape[k]
        self._learned[present] += frames

    def _start(self, level: np.ndarray, gains: np.ndarray) -> None:
        """A motor that is heard for the first time gets what the other parts do not explain. level (F,), gains
        (parts, F)."""
        new = [k for k in range(2, len(gains)) if not self._learned[k] and gains[k, 0] > self._config.least_activity]
        if new:
            rest = np.maximum(level - (gains * self._power).sum(axis=0), 0.05 * level)
            for k in new:
                self._power[k] = smooth(rest) / gains[new, 0].sum()


def smooth(power: np.ndarray) -> np.ndarray:
    """Mean over five neighbouring bins (F,)."""
    return np.convolve(power, np.full(5, 0.2), "same")
