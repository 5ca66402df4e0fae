"""From which look a frame of sound comes, as evidence: likelihood ratio of a wave from there against none.

In each bin x = s a(look) + n, with the level of s unknown and n of covariance R. For Gaussian n the generalised
likelihood ratio is T - 1 - ln T with T = |a^H R^-1 x|^2 / a^H R^-1 a, where T > 1; motors and echo come in bursts,
so the tails of n are those of Student's t. R holds what is expected without a voice, and what a voice brings with it
that does not come from its direction: late reverberation, predicted from the frames before (so that onsets count and
tails do not: the precedence effect), early reflections, and errors of the microphones' gain and place. Frames that
say no more than frames without a voice count for nothing.
"""
from collections import deque
from dataclasses import dataclass

import numpy as np

from calibration.frames import Array


@dataclass(frozen=True, slots=True)
class ResponseConfig:
    reverb_decay: float = 0.78     # power per 10 ms: T60 of 0.55 s, a living room
    reverb: float = 0.8            # late reverberation of a steady voice over its power
    reverb_after: int = 1          # frames before sound of a voice counts as late
    early: float = 0.15            # early reflections (diffuse) over the power of the voice in the frame
    scatter: float = 0.15          # independent errors over the power of the voice: gains within 1 dB, places
    mismatch: float = 0.05         # independent errors over the power of diffuse sound
    tails: float = 20.0            # degrees of freedom of the noise: less, and loud bins say less
    # standard deviations over the usual maximum of frames without a voice, by their kind: room noise is steady
    gate: tuple[float, ...] = (0.0, 1.2, 0.8, 0.8)
    softness: float = 1.5          # nats around the gate over which evidence sets in
    gate_memory: float = 3.0       # s
    first_gate: float = 12.0       # nats, before any such frame has been heard
    first_weight: float = 5.0      # frames that the first gate counts for


class SteeredResponse:
    """Evidence (D,) over the looks, frame by frame."""

    def __init__(self, steering: np.ndarray, diffuse: np.ndarray, kinds: int, config: ResponseConfig, frame_s: float):
        """steering (F, M, D), diffuse (F, M, M); kinds: how many kinds of frames without a voice are told apart."""
        bins, mics, looks = steering.shape
        self._config, self._steering = config, steering
        self._eye = np.eye(mics, dtype=np.complex64)
        self._diffuse = diffuse + config.mismatch * self._eye
        pairs = (steering.conj()[:, :, None] * steering[:, None]).reshape(bins, mics * mics, looks)
        self._pairs = np.concatenate([pairs.real, -pairs.imag], axis=1).astype(np.float32)
        self._decay = np.float32(config.reverb_decay ** (frame_s / 0.01))
        self._late = np.zeros(bins, np.float32)
        self._before = deque([np.zeros(bins, np.float32)] * config.reverb_after)
        self._gate = np.full(kinds, config.first_gate)
        self._heard = np.zeros(kinds)
        self._gate_variance = np.full(kinds, 4.0)
        self._rate = frame_s / config.gate_memory

    def step(self, x: np.ndarray, expected: np.ndarray, kind: int) -> tuple[Array, float]:
        """x: spectrum (F, M); expected: covariance (F, M, M) without a voice. (evidence (D,), its raw maximum)."""
        config = self._config
        power = np.mean(x.real**2 + x.imag**2, axis=1)
        floor = np.einsum("fmm->f", expected).real / x.shape[1]
        voice = np.maximum(power - floor, 0.0)
        self._late = self._decay * self._late + (1 - self._decay) * config.reverb * self._before.popleft()
        self._before.append(voice)
        inverse = np.linalg.inv(expected + (self._late + config.early * voice + 1e-12)[:, None, None] * self._diffuse
                                + (config.scatter * voice)[:, None, None] * self._eye)
        y = np.matmul(inverse, x[:, :, None])[:, :, 0]
        beam = np.matmul(y.conj()[:, None, :], self._steering)[:, 0]
        flat = inverse.reshape(len(x), 1, -1)
        gain = np.matmul(np.concatenate([flat.real, flat.imag], axis=2), self._pairs)[:, 0]
        ratio = np.maximum((beam.real**2 + beam.imag**2) / gain, 1.0)
        total = np.einsum("fm,fm->f", x.conj(), y).real[:, None]
        rest = config.tails + np.maximum(total - ratio + 1.0, 0.0)
        raw = (config.tails + x.shape[1]) * np.log((config.tails + total) / rest) - np.log(ratio)
        raw = raw.sum(axis=0).astype(float)
        gate = self._gate[kind] + config.gate[kind] * np.sqrt(self._gate_variance[kind])
        over = (raw - gate) / config.softness
        return config.softness * np.logaddexp(0.0, over), float(raw.max())

    def without_voice(self, maximum: float, kind: int) -> None:
        """A frame of this kind is known by now to have held no voice."""
        self._heard[kind] += 1
        rate = max(self._rate, 1 / (self._heard[kind] + self._config.first_weight))
        off = maximum - self._gate[kind]
        self._gate[kind] += rate * off
        self._gate_variance[kind] += rate * (off**2 - self._gate_variance[kind])
