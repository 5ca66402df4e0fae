"""From which look a frame of sound comes, as evidence: likelihood ratio of a wave from there against none.

In each bin x = s a(look) + n, with the level of s unknown and n of covariance R. For Gaussian n the generalised
likelihood ratio is T - 1 - ln T with T = |a^H R^-1 x|^2 / a^H R^-1 a, where T > 1; motors and echo come in bursts,
so the tails of n are those of Student's t. R holds what is expected without a voice, and what a voice brings with it
that does not come from its direction: late reverberation, predicted from the frames before (so that onsets count and
tails do not: the precedence effect), early reflections, and errors of the microphones' gain and place. Frames that
say no more than frames without a voice count for nothing.
"""
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.frames import Array
from perception.audio.hermitian import Packed, forms, inverse, outer, reduced, reduced_of_whole


@dataclass(frozen=True, slots=True)
class ResponseConfig:
    reverb_decay: float = 0.78     # power per 10 ms: T60 of 0.55 s, a living room
    reverb: float = 0.8            # late reverberation of a steady voice over its power
    early: float = 0.15            # early reflections (diffuse) over the power of the voice in the frame
    scatter: float = 0.15          # independent errors over the power of the voice: gains within 1 dB, places
    mismatch: float = 0.05         # independent errors over the power of diffuse sound
    tails: float = 20.0            # degrees of freedom of the noise: less, and loud bins say less
    # quantile of the maxima of frames without a voice, by their kind, that is evidence of none: room noise is steady
    gate: tuple[float, ...] = (0.5, 0.9, 0.9, 0.9)
    softness: float = 1.5          # nats around the gate over which evidence sets in
    habit: float = 3.0             # times the usual evidence of a look without a voice that counts for nothing in it:
    usual_memory: float = 6.0      # s; bursts of one motor come from one side
    gate_frames: int = 150         # frames without a voice of each kind that are remembered: 3 s
    first_gate: float = 12.0       # nats, before any such frame has been heard


Judged = tuple[int, float, Array]   # of a frame: its kind, the highest ratio (nats), evidence (D,) over the gate


class SteeredResponse:
    """Evidence (D,) over the looks, frame by frame."""

    def __init__(self, steering: np.ndarray, diffuse: Packed, kinds: int, config: ResponseConfig, frame_s: float):
        """steering (F, M, D), diffuse (M * M, F); kinds: how many kinds of frames without a voice are told apart."""
        bins, self._mics, _ = steering.shape
        self._config, self._forms = config, forms(steering)
        self._diffuse = diffuse[:, None].copy()
        self._diffuse[:self._mics] += config.mismatch
        self._decay = np.float32(config.reverb_decay ** (frame_s / 0.01))
        self._late = np.zeros(bins, np.float32)
        self._before = np.zeros(bins, np.float32)   # power of the voice in the newest frame
        self._maxima = [deque([config.first_gate], config.gate_frames) for _ in range(kinds)]
        self._gate = np.full(kinds, config.first_gate)
        self._usual = np.zeros((kinds, steering.shape[2]))   # evidence without a voice, on average
        self._usual_rate = frame_s / config.usual_memory

    def step(self, x: np.ndarray, expected: Packed, kinds: Sequence[int]) -> tuple[Array, list[Judged]]:
        """x: spectra (M, N, F) of N frames; expected: covariances (M * M, N, F) without a voice; kinds (N,) of frames.
        Evidence (N, D), and what `without_voice` needs of each frame."""
        config, mics = self._config, self._mics
        voice = np.maximum((x.real**2 + x.imag**2 - expected[:mics]).sum(axis=0) / mics, 0.0)
        covariance = expected + (self._reverberation(voice) + config.early * voice + 1e-12) * self._diffuse
        covariance[:mics] += config.scatter * voice
        inverted = inverse(covariance, mics)
        y = (inverted * x).sum(axis=1)
        beam, gain = self._over_looks(reduced(outer(y), mics), reduced_of_whole(inverted))
        ratio = np.maximum(beam / gain, 1.0)
        total = (x.conj() * y).sum(axis=0).real.T[:, :, None]
        odds = (config.tails + total) / (config.tails + np.maximum(total - ratio + 1.0, 0.0))
        raw = ((config.tails + mics) * np.log(odds) - np.log(ratio)).sum(axis=0).astype(float)
        over = (raw - self._gate[kinds][:, None]) / config.softness
        evidence = config.softness * np.logaddexp(0.0, over)
        judged = list(zip(kinds, raw.max(axis=1).tolist(), evidence, strict=True))
        return np.maximum(evidence - config.habit * self._usual[kinds], 0.0), judged

    def _reverberation(self, voice: np.ndarray) -> np.ndarray:
        """Late power (N, F) in each frame, of the voice (N, F) in those before it."""
        late = np.empty_like(voice)
        for n, power in enumerate(voice):
            self._late = self._decay * self._late + (1 - self._decay) * self._config.reverb * self._before
            self._before, late[n] = power, self._late
        return late

    def _over_looks(self, *matrices: np.ndarray) -> np.ndarray:
        """a^H A a (K, F, N, D) of reduced matrices (R, N, F) for the steering vectors a of all looks."""
        rows, frames, bins = matrices[0].shape
        stacked = np.stack(matrices).transpose(3, 0, 2, 1).reshape(bins, -1, rows)
        values = np.matmul(stacked, self._forms)
        return values.reshape(bins, len(matrices), frames, -1).swapaxes(0, 1)

    def without_voice(self, frames: Sequence[Judged]) -> None:
        """These frames are known by now to have held no voice."""
        for kind, maximum, evidence in frames:
            self._maxima[kind].append(maximum)
            self._usual[kind] += self._usual_rate * (evidence - self._usual[kind])
        for kind in {kind for kind, _, _ in frames}:
            ordered = sorted(self._maxima[kind])
            self._gate[kind] = ordered[int(self._config.gate[kind] * (len(ordered) - 1))]
