"""What the microphones would hear if nobody spoke: covariance of room noise, motors and left-over echo in each bin.

Kept up to date while nobody speaks, from frames old enough that a voice which has just begun is not learned
as noise. Room noise and motors: one covariance for each regime of motor activity. Left-over echo: a covariance per unit
power of the echo estimate. A frame is shared out between the two by their expected powers (as in expectation
maximisation of an additive model).
"""
from collections import deque
from dataclasses import dataclass

import numpy as np

Covariance = np.ndarray   # (F, M, M) complex64


@dataclass(frozen=True, slots=True)
class InterferenceConfig:
    time_constant: float = 1.0        # s of learning time; motors change speed within it, a fan hardly
    delay: int = 25                   # blocks: detectors of speech are up to 250 ms late
    regimes: tuple[float, ...] = (0.1, 0.8, 2.0, 4.0, 8.0)   # rad/s, sum of commanded speeds, where a regime ends
    quiet_likelihood: float = 0.3     # speech likelihood above which nothing is learned
    surprise: float = 4.0             # frames this much above the model are learned slowly: perhaps an unnoticed voice
    first_leak: float = 0.1           # residual over estimated echo power before anything was learned: -10 dB
    echo_decay: float = 0.72          # per block, of the echo tail behind the canceller's reach (T60 about 420 ms)


class Interference:
    """Covariance (F, M, M) of all that is not a person, block by block."""

    def __init__(self, diffuse: Covariance, config: InterferenceConfig, block_s: float):
        bins, mics, _ = diffuse.shape
        self._config, self._step, self._diffuse = config, block_s / config.time_constant, diffuse
        self._rooms: list[Covariance | None] = [None] * (len(config.regimes) + 1)
        self._weights = [0.0] * (len(config.regimes) + 1)
        self._leak = config.first_leak * diffuse
        self._leak_weight = 0.0
        self._echo = np.zeros(bins, np.float32)
        self._past: deque = deque()
        self._speech = deque(maxlen=config.delay + 1)

    def regime(self, motor_activity: float) -> int:
        return int(np.searchsorted(self._config.regimes, motor_activity))

    def room(self, regime: int) -> Covariance | None:
        """Room noise and motors; of the nearest regime known when this one has not been met."""
        known = [k for k, r in enumerate(self._rooms) if r is not None]
        if not known:
            return None
        return self._rooms[min(known, key=lambda k: (abs(k - regime), k))]

    def step(self, x: np.ndarray, echo: np.ndarray, motor_activity: float, speech: float) -> Covariance:
        """x, echo: spectra (F, M) of residual and echo estimate. The covariance expected for this frame."""
        power = np.mean(echo.real**2 + echo.imag**2, axis=1)
        self._echo = np.maximum(power, self._config.echo_decay * self._echo)
        regime = self.regime(motor_activity)
        self._past.append((x, self._echo, regime))
        self._speech.append(speech)
        if len(self._past) > self._config.delay:
            old = self._past.popleft()
            if max(self._speech) < self._config.quiet_likelihood:
                self._learn(*old)
        room = self.room(regime)
        if room is None:      # nothing learned yet: the frame itself, as if it were diffuse
            room = np.mean(x.real**2 + x.imag**2, axis=1)[:, None, None] * self._diffuse
        return room + self._echo[:, None, None] * self._leak

    def _learn(self, x: np.ndarray, echo: np.ndarray, regime: int) -> None:
        outer = x[:, :, None] * x[:, None, :].conj()
        level = np.einsum("fmm->f", outer).real
        room = self._rooms[regime]
        if room is None:
            self._rooms[regime] = room = outer * 0 + (self.room(regime) if self.room(regime) is not None
                                                      else level[:, None, None] / len(x[0]) * self._diffuse)
        expected = np.einsum("fmm->f", room).real
        leaked = echo * np.einsum("fmm->f", self._leak).real
        share = leaked / (leaked + expected + 1e-20)
        wonder = min(1.0, self._config.surprise * float(np.median((expected + leaked) / (level + 1e-20))))
        self._weights[regime] = min(self._weights[regime] + self._step, 1.0)
        rate = (1 - share) * wonder * max(self._step, self._step / self._weights[regime] * 0.5)
        room += rate[:, None, None] * (outer * (1 - share)[:, None, None] - room)
        if np.any(share > 0.5):
            rate = np.where(share > 0.1, share, 0.0) * wonder * self._step * 2
            self._leak += rate[:, None, None] * (outer * (share / (echo + 1e-20))[:, None, None] - self._leak)
