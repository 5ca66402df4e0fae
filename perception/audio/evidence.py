"""The evidence streams: what each block says for and against a person who speaks, as one vector of ratios.

Everything is a ratio or a share, so that levels, microphones and arrays do not matter. What the streams are worth:
shared/reference/hearing-notes.md, "What each evidence is worth".
"""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perception.audio.aec import Cancelled
from perception.audio.block import BLOCK, Samples
from perception.audio.ego_noise import ACTIVITIES, EgoNoise, EgoNoiseConfig, Expected
from perception.audio.pitch import Pitch
from perception.audio.spectrum import (
    BANDS,
    BIN_FROM_BANDS,
    BINS,
    Frames,
    Powers,
    Resynthesis,
    Spectra,
    in_bands,
    squared,
)
from perception.audio.vad import Silero, WebRtc
from perception.audio.whitening import GROUPS, Whitening

PAIRS = BANDS // 2
COUNT = BANDS + 5 * PAIRS + GROUPS + 2 + 6 + 3 + len(ACTIVITIES) + 5


@dataclass(frozen=True, slots=True)
class EvidenceConfig:
    """Rates are per block of 10 ms."""

    coherence_rate: float = 0.12     # of residual and echo estimate: 80 ms
    least_gain: float = 0.1          # of the mask: deeper masks make musical tones that look like voices
    over: float = 1.3                # over-subtraction of the mask
    kept: float = 0.4                # of the unmasked residual in the clean audio: harder masks cost words
    vad_level: float = 0.1           # RMS that the recent loudest sound is brought to before the VADs
    vad_most_gain: float = 30.0
    level_decay: float = 0.999       # of that loudest sound: 10 s
    slip_decay: float = 0.985        # of the slip mark: 0.7 s


@dataclass(frozen=True, slots=True)
class Evidence:
    """One block's evidence and what later stages need of the way to it."""

    streams: NDArray[np.float32]     # (COUNT,)
    masked: Samples                  # (160,) residual with the robot's own noise masked, 10 ms late
    clean: Samples                   # (160,) the same, masked gently: for speech recognition
    voiced: float                    # 0..1 periodicity of the masked residual
    silero: tuple[float, float]      # speech probability of masked residual, of AEC3's output
    motors: float                    # 0..1, share of motors in the expected noise
    masked_bands: Powers             # (BANDS,) power left after the mask


def pairs(bands: Powers) -> Powers:
    """(BANDS,) -> (PAIRS,) means of neighbours."""
    return 0.5 * (bands[::2] + bands[1::2])


def decibel_tens(ratio: Powers, low: float = -3.0, high: float = 3.0) -> Powers:
    """log10 of a power ratio, clipped."""
    return np.minimum(np.maximum(np.log10(ratio + 1e-9), low), high)


class EvidenceStreams:
    """From cancelled blocks to evidence."""

    def __init__(self, mic_positions: NDArray[np.float64], config: EvidenceConfig, ego_noise: EgoNoiseConfig):
        mics = len(mic_positions)
        self.config = config
        self.ego_noise = EgoNoise(ego_noise)
        self._frames = Frames(2 * mics + 1)
        self._whitening = Whitening(mic_positions)
        self._resynthesis = Resynthesis()
        self._pitch = Pitch(3)
        self._silero = Silero(2)
        self._web_rtc = WebRtc()
        self._cross: Spectra = np.zeros((mics, BINS), np.complex64)
        self._autos: Powers = np.full((2, mics, BINS), 1e-12, np.float32)
        self._loudest = 0.003
        self._far_peak = 1e-4
        self._slip = 0.0
        self._residual: Samples = np.zeros(BLOCK, np.float32)   # of the block before
        self._blocks = 0

    def step(self, mics: Samples, cancelled: Cancelled, suppressed: Samples, far: Samples,
             activity: NDArray[np.float64], slipped: bool, usable: NDArray[np.bool_]) -> Evidence:
        """mics (M, 160); suppressed, far (160,) AEC3's output and aligned reference; activity (5,); usable (M,)."""
        count = len(mics)
        first = int(np.argmax(usable))
        spectra = self._frames.step(np.concatenate([cancelled.residual, cancelled.echo, mics[first:first + 1]]))
        residual, echo = spectra[:count], spectra[count:2 * count]
        use = (usable if usable.any() else ~usable).astype(np.float32)
        mean = use / use.sum()
        residual_power, echo_power = squared(residual), squared(echo)
        heard = in_bands(mean @ residual_power)
        self._slip = 1.0 if slipped else self._slip * self.config.slip_decay
        expected = self.ego_noise.predict(heard, mean @ echo_power, activity)
        white = self._whitening.step(residual * use[:, None], expected)
        self.ego_noise.learn(heard, expected, self._slip > 0.3)
        coherence = self._coherence(residual, echo, residual_power, echo_power, mean)
        masked_spectrum, masked_bands = self._masked(residual[first], residual_power[first], expected)
        masked = self._resynthesis.step(masked_spectrum)
        clean = self.config.kept * self._residual + (1 - self.config.kept) * masked
        self._residual = cancelled.residual[first]
        strength, pitch = self._pitch.step(np.stack([masked, cancelled.residual[first], cancelled.echo[first]]))
        vads = self._vads(mics[first], masked, suppressed)
        total = expected.total + 1e-12
        far_level, far_now = self._far_activity(far)
        streams = np.concatenate([
            decibel_tens(heard / total, -2),
            pairs(decibel_tens(heard / (expected.floor + 1e-12), -1, 4)),
            pairs(decibel_tens((in_bands(squared(spectra[2 * count])) + 1e-12) / (heard + 1e-12), -1)),
            pairs(coherence), pairs(expected.echo / total), pairs(expected.motors / total),
            decibel_tens(white.energy, -2), (np.log10(white.directional + 1e-3), np.log10(white.peak + 1e-3)),
            strength, np.abs(np.log2(pitch[0] / pitch[1:])), (np.log2(pitch[0] / 150),),
            vads, np.log10(1 + activity),
            (self._slip, far_level, far_now, min(1.0, self._blocks / 300), np.count_nonzero(heard > 2 * total) / BANDS),
        ]).astype(np.float32)
        self._blocks += 1
        motors = float(expected.motors.sum() / total.sum())
        return Evidence(streams, masked, clean, float(strength[0]), (float(self._silero.probability[0]),
                        float(self._silero.probability[1])), motors, masked_bands)

    def _coherence(self, residual: Spectra, echo: Spectra, residual_power: Powers, echo_power: Powers,
                   mean: Powers) -> Powers:
        """Magnitude-squared coherence of residual and echo estimate (BANDS,)."""
        rate = self.config.coherence_rate
        self._cross += rate * (residual * echo.conj() - self._cross)
        self._autos[0] += rate * (residual_power - self._autos[0])
        self._autos[1] += rate * (echo_power - self._autos[1])
        common = mean @ (squared(self._cross) / (self._autos[1] + 1e-10))
        return np.minimum(in_bands(common) / (in_bands(mean @ self._autos[0]) + 1e-10), 1)

    def _masked(self, residual: Spectra, power: Powers, expected: Expected) -> tuple[Spectra, Powers]:
        bands = in_bands(power)
        by_band = BIN_FROM_BANDS @ (1 - self.config.over * expected.total / (bands + 1e-12))
        by_bin = 1 - self.config.over * expected.bins / (power + 1e-12)
        gain = np.maximum(np.minimum(by_band, 0.5 * (by_band + by_bin)), self.config.least_gain)
        return residual * gain, in_bands(power * gain**2)

    def _vads(self, mic: Samples, masked: Samples, suppressed: Samples) -> NDArray[np.float32]:
        """Silero on masked residual and AEC3's output (log-odds / 4), webrtcvad on the latter (0, 1)."""
        level = float(np.sqrt(mic @ mic / mic.size))
        self._loudest = max(level, self._loudest * self.config.level_decay, 1e-5)
        gain = np.float32(min(self.config.vad_level / self._loudest, self.config.vad_most_gain))
        both = np.clip(gain * np.stack([masked, suppressed]), -1, 1)
        probability = np.clip(self._silero.step(both), 1e-4, 1 - 1e-4)
        return np.append(np.log(probability / (1 - probability)) / 4, self._web_rtc.step(both[1]))

    def _far_activity(self, far: Samples) -> tuple[float, float]:
        """The reference's level against its recent peak (log10 of power, 0 loud, -4 silent), and whether it plays."""
        power = float(far @ far) / far.size
        self._far_peak = max(power, self._far_peak * self.config.level_decay, 1e-6)
        return float(np.clip(np.log10(power / self._far_peak + 1e-4), -4, 0)), float(power > 1e-7)
