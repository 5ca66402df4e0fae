"""What the microphones would hear if nobody spoke: covariance of room noise, motors and left-over echo in each bin.

Kept up to date while nobody speaks, from frames old enough that a voice which has just begun is not learned as noise.
Room noise and motors: one covariance for each regime of motor activity. Left-over echo: a covariance per unit power of
the echo estimate. A frame is shared out between the two by their expected powers, as in expectation maximisation of an
additive model.
"""
from collections import deque
from dataclasses import dataclass

import numpy as np

Covariance = np.ndarray   # (F, M, M) complex64


@dataclass(frozen=True, slots=True)
class InterferenceConfig:
    time_constant: float = 1.0        # s of learning time; motors change speed within it, a fan hardly
    delay: float = 0.25               # s: so late are detectors of speech
    regimes: tuple[float, ...] = (0.1, 0.8, 2.0, 4.0, 8.0)   # rad/s, sum of commanded speeds, where a regime ends
    hold: float = 0.85                # per 10 ms: motors lag their commands by 30 ms and ring on
    quiet_likelihood: float = 0.3     # speech likelihood above which nothing is learned
    first_leak: float = 0.1           # residual over estimated echo power before anything was learned: -10 dB
    echo_decay: float = 0.72          # per 10 ms, echo tail behind the canceller's reach (T60 of 420 ms)
    echoing: float = 0.3              # share of echo in the expected power from which a frame counts as one with echo


@dataclass(frozen=True, slots=True)
class Expectation:
    """Of one frame. kind: which kind of frame without a voice this is."""

    covariance: Covariance
    kind: int


@dataclass(frozen=True, slots=True)
class _Frame:
    x: np.ndarray       # (F, M)
    echo: np.ndarray    # (F,) power
    regime: int


class Interference:
    """Covariance (F, M, M) of all that is not a person, frame by frame."""

    def __init__(self, diffuse: Covariance, config: InterferenceConfig, frame_s: float):
        bins, self._mics, _ = diffuse.shape
        self._config, self._diffuse = config, diffuse + 0.05 * np.eye(self._mics, dtype=np.complex64)
        self._step = frame_s / config.time_constant
        self._echo_decay = np.float32(config.echo_decay ** (frame_s / 0.01))
        self._hold = config.hold ** (frame_s / 0.01)
        self._motor = 0.0
        regimes = len(config.regimes) + 1
        self.kinds = 2 * regimes
        self._rooms: list[Covariance | None] = [None] * regimes
        self._seen = [0.0] * regimes       # learning time in time constants, at most 1
        self._leak = (config.first_leak * self._diffuse).astype(np.complex64)
        self._echo = np.zeros(bins, np.float32)
        frames = round(config.delay / frame_s)
        self._past: deque[_Frame] = deque(maxlen=frames + 1)
        self._speech: deque[float] = deque(maxlen=frames + 1)

    def expect(self, x: np.ndarray, echo: np.ndarray, motor_activity: float, speech: float) -> Expectation:
        """x, echo: spectra (F, M) of residual and echo estimate."""
        self._echo = np.maximum(np.mean(echo.real**2 + echo.imag**2, axis=1), self._echo_decay * self._echo)
        self._motor = max(motor_activity, self._hold * self._motor)
        regime = int(np.searchsorted(self._config.regimes, self._motor))
        self._past.append(_Frame(x, self._echo, regime))
        self._speech.append(speech)
        if self.quiet:
            self._learn(self._past[0])
        room = self._nearest(regime)
        if room is None:      # nothing learned yet: the frame itself, as if it were diffuse
            room = np.mean(x.real**2 + x.imag**2, axis=1)[:, None, None] * self._diffuse
        left = self._echo[:, None, None] * self._leak
        loud = np.einsum("fmm->", left).real > self._config.echoing * np.einsum("fmm->", room).real
        return Expectation(room + left, 2 * regime + int(loud))

    @property
    def quiet(self) -> bool:
        """Nobody spoke around the oldest frame that is kept."""
        return len(self._past) == self._past.maxlen and max(self._speech) < self._config.quiet_likelihood

    def _nearest(self, regime: int) -> Covariance | None:
        known = [k for k, room in enumerate(self._rooms) if room is not None]
        return self._rooms[min(known, key=lambda k: abs(k - regime))] if known else None

    def _learn(self, frame: _Frame) -> None:
        outer = frame.x[:, :, None] * frame.x[:, None, :].conj()
        room = self._rooms[frame.regime]
        if room is None:
            near = self._nearest(frame.regime)
            level = np.einsum("fmm->f", outer).real / self._mics
            room = level[:, None, None] * self._diffuse if near is None else near.copy()
            self._rooms[frame.regime] = room
        expected = np.einsum("fmm->f", room).real
        leaked = frame.echo * np.einsum("fmm->f", self._leak).real
        share = leaked / (leaked + expected + 1e-20)
        self._seen[frame.regime] = min(self._seen[frame.regime] + self._step, 1.0)
        rate = (1 - share) * self._step * max(1.0, 0.5 / self._seen[frame.regime])
        room += rate[:, None, None] * (outer * (1 - share)[:, None, None] - room)
        if share.max() > 0.1:
            rate = np.where(share > 0.1, share, 0.0) * self._step * 2
            self._leak += rate[:, None, None] * (outer * (share / (frame.echo + 1e-20))[:, None, None] - self._leak)
