"""What the microphones would hear if nobody spoke: covariance of room noise, motors and left-over echo in each bin.

One additive model: R = room + sum over motor activities of activity x C + echo power x leak. Every C is kept up to date
while nobody speaks, from frames old enough that a voice which has just begun is not learned as noise. A frame is
shared out between the parts by their expected powers, as in expectation maximisation of an additive model.
"""
from collections import deque
from dataclasses import dataclass

import numpy as np

from calibration.frames import Array

Covariance = np.ndarray   # (F, M, M) complex64


@dataclass(frozen=True, slots=True)
class InterferenceConfig:
    echo_caution: float = 2.0         # times the expected power of left-over echo: it comes in bursts over its mean
    motor_caution: float = 2.0        # the same of motors
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
    beyond: float = 3.0               # times the loudest activity heard without a voice: beyond, expect ever more noise
    faint: float = 0.4                # activity (0.5 rad/s of one joint) below which an unknown motor is quiet enough


LEARN_EVERY = 2   # frames: half the cost, hardly less to learn


@dataclass(frozen=True, slots=True)
class Expectation:
    """Of one frame. kind: which kind of frame without a voice this is (0 room, 1 echo, 2 motors, 3 both)."""

    covariance: Covariance
    kind: int


KINDS = 4


class Interference:
    """Covariance (F, M, M) of all that is not a person, frame by frame."""

    def __init__(self, diffuse: Covariance, motors: int, config: InterferenceConfig, frame_s: float):
        """motors: count of motor activities."""
        bins, self._mics, _ = diffuse.shape
        self._config, self._diffuse = config, (diffuse + 0.05 * np.eye(self._mics)).astype(np.complex64)
        step_s = LEARN_EVERY * frame_s
        self._power_rate = step_s / np.array([config.power_memory] * 2 + [config.motor_memory] * motors)
        self._shape_rate = step_s / config.shape_memory
        self._frames = 0
        self._echo_decay = np.float32(config.echo_decay ** (frame_s / 0.01))
        self._echo = np.zeros(bins, np.float32)
        # room, echo, motors: power (F,) a unit of activity, and covariance at unit power
        self._power = np.zeros((2 + motors, bins), np.float32)
        self._power[1] = config.first_leak
        self._shape = np.repeat(self._diffuse[None], 2 + motors, axis=0)
        self._learned = np.zeros(2 + motors)   # frames
        self._loudest = np.zeros(motors)   # activity of each at which it has been learned
        frames = round(config.delay / frame_s)
        self._past: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=frames + 1)
        self._speech: deque[float] = deque(maxlen=frames + 1)

    @property
    def quiet(self) -> bool:
        """Nobody spoke around the oldest frame that is kept."""
        return len(self._past) == self._past.maxlen and max(self._speech) < self._config.quiet_likelihood

    def strange(self, activity: Array) -> bool:
        """A motor runs that was never heard without a voice: what sounds now may well be it."""
        unknown = self._learned[2:] < self._config.acquainted
        return bool(np.any(activity[unknown] > self._config.faint))

    def expect(self, x: np.ndarray, echo: np.ndarray, activity: Array, speech: float) -> Expectation:
        """x, echo: spectra (F, M) of residual and echo estimate; activity (motors,)."""
        self._echo = np.maximum(np.mean(echo.real**2 + echo.imag**2, axis=1), self._echo_decay * self._echo)
        gains = np.empty((len(self._power), len(x)), np.float32)
        gains[0], gains[1], gains[2:] = 1.0, self._echo, activity[:, None]
        self._past.append((x, gains))
        self._speech.append(speech)
        self._frames += 1
        if self.quiet and self._frames % LEARN_EVERY == 0:
            self._learn(*self._past[0])
        if not self._learned[0]:   # nothing learned yet: the frame itself, as if it were diffuse
            return Expectation(np.mean(x.real**2 + x.imag**2, axis=1)[:, None, None] * self._diffuse, 0)
        powers = gains * self._power
        powers[1] *= self._config.echo_caution
        powers[2:] *= self._config.motor_caution
        beyond = activity / np.maximum(self._config.faint, self._config.beyond * self._loudest)
        powers[2:] *= np.maximum(1.0, beyond)[:, None]
        part = powers.sum(axis=1) / powers.sum()
        active = np.flatnonzero(part > 1e-4)
        covariance = np.einsum("kf,kfmn->fmn", powers[active], self._shape[active])
        prominent = self._config.prominent
        return Expectation(covariance, int(part[1] > prominent) + 2 * int(part[2:].sum() > prominent))

    def _learn(self, x: np.ndarray, gains: np.ndarray) -> None:
        config = self._config
        self._loudest = np.maximum(self._loudest, gains[2:, 0])
        outer = x[:, :, None] * x[:, None, :].conj()
        level = np.einsum("fmm->f", outer).real / self._mics + 1e-20
        if not self._learned[0]:
            self._power[0] = np.convolve(level, np.full(5, 0.2), "same")
        self._start(level, gains)
        expected = gains * self._power
        total = expected.sum(axis=0) + 1e-20
        share = expected / total
        surprise = np.clip(level / total - 1.0, -0.9, 1.5)
        present = share.max(axis=1) > 0.1
        weight = share**config.share_exponent
        weight[:2] = share[:2]
        young = 1 / (self._learned + config.prior_frames)
        self._power *= np.exp(np.maximum(young, self._power_rate)[:, None] * weight * surprise)
        for k in np.flatnonzero(present):
            turn = (max(young[k], self._shape_rate) * share[k] ** 2)[:, None, None]
            self._shape[k] += turn * (outer / level[:, None, None] - self._shape[k])
        self._learned[present] += 1

    def _start(self, level: np.ndarray, gains: np.ndarray) -> None:
        """A motor that is heard for the first time gets what the other parts do not explain."""
        new = [k for k in range(2, len(gains)) if not self._learned[k] and gains[k, 0] > self._config.least_activity]
        if new:
            rest = np.maximum(level - (gains * self._power).sum(axis=0), 0.05 * level)
            for k in new:
                self._power[k] = np.convolve(rest, np.full(5, 0.2), "same") / gains[new, 0].sum()
