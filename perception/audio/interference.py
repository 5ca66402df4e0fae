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
    time_constant: float = 1.0        # s of learning time
    motor_time_constant: float = 0.5  # s of motion
    delay: float = 0.25               # s: so late are detectors of speech
    share_exponent: float = 0.6       # lets a part that starts too low catch up
    quiet_likelihood: float = 0.3     # speech likelihood above which nothing is learned
    first_leak: float = 0.1           # residual over estimated echo power before anything was learned: -10 dB
    echo_decay: float = 0.72          # per 10 ms, echo tail behind the canceller's reach (T60 of 420 ms)
    beyond: float = 3.0               # times the loudest activity heard without a voice: its noise is not known there
    faint: float = 0.4                # activity (0.5 rad/s of one joint) below which an unknown motor is quiet enough
    prominent: float = 0.3            # share of the expected power from which motors or echo make another kind of frame


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
        self._rate = frame_s / np.array([config.time_constant, config.time_constant]
                                        + [config.motor_time_constant] * motors)
        self._echo_decay = np.float32(config.echo_decay ** (frame_s / 0.01))
        self._echo = np.zeros(bins, np.float32)
        self._parts = np.zeros((2 + motors, bins, self._mics, self._mics), np.complex64)   # room, echo, motors
        self._parts[1] = config.first_leak * self._diffuse
        self._known = np.zeros(2 + motors)     # learning time in time constants, at most 1
        self._loudest = np.zeros(motors)       # activity of each at which it has been learned
        frames = round(config.delay / frame_s)
        self._past: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=frames + 1)
        self._speech: deque[float] = deque(maxlen=frames + 1)

    @property
    def quiet(self) -> bool:
        """Nobody spoke around the oldest frame that is kept."""
        return len(self._past) == self._past.maxlen and max(self._speech) < self._config.quiet_likelihood

    def strange(self, activity: Array) -> bool:
        """A motor runs much faster than it has been heard without a voice: what sounds now may well be it."""
        known = np.maximum(self._config.faint, self._config.beyond * self._loudest)
        return bool(np.any(activity > known))

    def expect(self, x: np.ndarray, echo: np.ndarray, activity: Array, speech: float) -> Expectation:
        """x, echo: spectra (F, M) of residual and echo estimate; activity (motors,)."""
        self._echo = np.maximum(np.mean(echo.real**2 + echo.imag**2, axis=1), self._echo_decay * self._echo)
        gains = np.empty((len(self._parts), len(x)), np.float32)
        gains[0], gains[1], gains[2:] = 1.0, self._echo, activity[:, None]
        self._past.append((x, gains))
        self._speech.append(speech)
        if self.quiet:
            self._learn(*self._past[0])
        if not self._known[0]:   # nothing learned yet: the frame itself, as if it were diffuse
            return Expectation(np.mean(x.real**2 + x.imag**2, axis=1)[:, None, None] * self._diffuse, 0)
        powers = (gains * self._powers).sum(axis=1)
        loud = powers / powers.sum() > self._config.prominent
        active = [k for k in range(len(gains)) if k == 0 or gains[k].any()]
        covariance = np.einsum("kf,kfmn->fmn", gains[active], self._parts[active])
        return Expectation(covariance, int(loud[1]) + 2 * int(powers[2:].sum() > self._config.prominent * powers.sum()))

    @property
    def _powers(self) -> np.ndarray:
        return np.einsum("kfmm->kf", self._parts).real

    def _learn(self, x: np.ndarray, gains: np.ndarray) -> None:
        self._loudest = np.maximum(self._loudest, gains[2:, 0])
        outer = x[:, :, None] * x[:, None, :].conj()
        level = np.einsum("fmm->f", outer).real
        if not self._known[0]:
            self._parts[0] = (level / self._mics)[:, None, None] * self._diffuse
        for k in np.flatnonzero((self._known[2:] == 0) & (gains[2:, 0] > 0)) + 2:
            self._parts[k] = (level / (self._mics * gains[k]))[:, None, None] * self._diffuse
        expected = gains * self._powers
        share = expected / (expected.sum(axis=0) + 1e-20)
        weight = share.copy()
        weight[2:] **= self._config.share_exponent
        for k in range(len(gains)):
            if k and not (share[k] > 0.1).any():
                continue
            rate = self._rate[k]
            self._known[k] = min(self._known[k] + rate * float(share[k].mean()), 1.0)
            step = np.minimum(weight[k] * rate * max(1.0, 0.5 / max(self._known[k], 1e-3)), 0.3)
            target = outer * (share[k] / (gains[k] + 1e-20))[:, None, None]
            self._parts[k] += step[:, None, None] * (target - self._parts[k])
