"""The evidence streams: what each block says for and against a person who speaks, as one vector of ratios.

Everything is a ratio or a share, so that levels, microphones and arrays do not matter. What the streams are worth:
shared/reference/hearing-notes.md, "What each evidence is worth".
"""
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from perception.audio.aec import Cancelled
from perception.audio.block import Samples
from perception.audio.calm import Calm, CalmConfig
from perception.audio.ego_noise import ACTIVITIES, EgoNoise, EgoNoiseConfig, Expected
from perception.audio.pitch import RANGES, Pitch
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
from perception.audio.whitening import GROUPS, USED, Whitened, Whitening

PAIRS = BANDS // 2
COUNT = 2 * BANDS + 5 * PAIRS + 2 * GROUPS + 2 + 6 + RANGES + 2 + len(ACTIVITIES) + 5


@dataclass(frozen=True, slots=True)
class EvidenceConfig:
    """Rates are per block of 10 ms."""

    coherence_rate: float = 0.12     # of residual and echo estimate: 80 ms
    least_gain: float = 0.1          # of the mask: deeper masks make musical tones that look like voices
    over: float = 1.3                # over-subtraction of the mask
    kept: float = 0.4                # of the unmasked sound in the clean audio: harder masks cost words
    vad_level: float = 0.1           # RMS that the recent loudest sound is brought to before the VADs
    vad_most_gain: float = 30.0      # of that: 30 dB, beyond it a quiet room's own noise would look like a voice
    level_decay: float = 0.999       # of that loudest sound: 10 s
    own_rate: float = 0.03           # of that share, for the recogniser's sound: 0.3 s, no wobble between words
    slip_decay: float = 0.985        # of the slip mark: 0.7 s
    calm: CalmConfig = field(default_factory=CalmConfig)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One block's evidence and what later stages need of the way to it."""

    streams: NDArray[np.float32]     # (COUNT,)
    calm: bool                       # nothing has been there for a while
    fresh: bool                      # the streams are of this block; a calm one may be passed over
    masked: Samples                  # (160,) the beam with the robot's own noise masked, 10 ms late
    clean: Samples                   # (160,) a microphone or the beam, masked gently: for speech recognition
    voiced: float                    # 0..1 periodicity of the masked residual
    motors: float                    # 0..1, share of motors in the expected noise
    beam_excess: Powers              # (BANDS,) log10 of the beam over all that is expected
    above_floor: float               # log10 of the residual over the noise floor, in the two bands where it is most


def pairs(bands: Powers) -> Powers:
    """(BANDS,) -> (PAIRS,) means of neighbours."""
    return 0.5 * (bands[::2] + bands[1::2])


# of log10 of power ratios: excess over all that is expected, the same in the beam, over the floor alone, microphone
# over residual, whitened energy and fit, directional
_SIZES = (2 * BANDS, PAIRS, PAIRS, 2 * GROUPS, 2)
_LOW = np.repeat(np.array([-2, -1, -1, -2, -3], np.float32), _SIZES)
_HIGH = np.repeat(np.array([3, 4, 3, 3, 3], np.float32), _SIZES)


@dataclass(frozen=True, slots=True)
class _Beam:
    spectrum: Spectra    # (BINS,)
    gain: Powers         # (BINS,) that leaves what is not the robot's own noise
    excess: Powers       # (BANDS,)


@dataclass(frozen=True, slots=True)
class _Found:
    """What streams are made of beside what is expected."""

    excess: Powers       # (BANDS,)
    beam: Powers         # (BANDS,) excess in the beam
    over_floor: Powers   # (PAIRS,)
    cancelled: Powers    # (BANDS,) microphone over residual
    white: Whitened
    coherence: Powers    # (BANDS,)
    vads: tuple[float, float]
    rest: tuple[float, ...]   # slip mark, far end's level and activity, age, breadth of the excess


class EvidenceStreams:
    """From cancelled blocks to evidence."""

    def __init__(self, mic_positions: NDArray[np.float64], config: EvidenceConfig, ego_noise: EgoNoiseConfig):
        mics = len(mic_positions)
        self.config = config
        self.ego_noise = EgoNoise(ego_noise)
        self._frames = Frames(2 * mics + 1)
        self._whitening = Whitening(mic_positions)
        self._resynthesis = Resynthesis(3)
        self._spectra: Spectra = np.empty((3, BINS), np.complex64)      # masked, gently masked, for recognition
        self._pitch = Pitch(3)
        self._silero, self._web_rtc = Silero(1), WebRtc()
        self._cross: Spectra = np.zeros((mics, BINS), np.complex64)
        self._autos: Powers = np.full((2, mics, BINS), 1e-12, np.float32)
        self._loudest = 0.003
        self._far_peak = 1e-4
        self._slip = 0.0
        self._own = 0.0        # share of the robot's own sound in what is expected
        self._blocks = 0
        self._calm = Calm(config.calm)
        self._streams = np.zeros(COUNT, np.float32)
        self._voiced = 0.0

    def step(self, mics: Samples, cancelled: Cancelled, far: Samples, activity: NDArray[np.float64], slipped: bool,
             usable: NDArray[np.bool_], restless: bool = True) -> Evidence:
        """mics (M, 160); far (160,) the aligned reference; activity (5,) of the motors; usable (M,); restless: after
        the block before somebody may be speaking, or motors sound."""
        count = len(mics)
        first = int(np.argmax(usable))
        spectra = self._frames.step(np.concatenate([cancelled.residual, cancelled.echo, mics[first:first + 1]]))
        residual, echo = spectra[:count], spectra[count:2 * count]
        use = (usable if usable.any() else ~usable).astype(np.float32)
        mean = use / use.sum()
        power = squared(spectra)
        residual_power, echo_power = power[:count], power[count:2 * count]
        heard, mic = in_bands(np.stack([mean @ residual_power, power[-1]]))
        self._slip = 1.0 if slipped else self._slip * self.config.slip_decay
        expected = self.ego_noise.predict(heard, mean @ echo_power, activity)
        total = expected.total + 1e-12
        excess, far_activity = heard / total, self._far_activity(far)
        calm = self._calm.step(excess, restless or self._slip > 0.3 or far_activity[1] > 0)
        white = self._whitening.step(residual, expected, use, calm)
        self.ego_noise.learn(heard, expected, self._slip > 0.3)
        beam = self._beam(residual, residual[first], expected)
        np.multiply(beam.spectrum, beam.gain, out=self._spectra[0])
        np.multiply(beam.spectrum, self._gently(beam.gain), out=self._spectra[1])
        self._spectra[2] = self._recognisable(beam, residual[first], residual_power[first], expected)
        sounds = self._resynthesis.step(self._spectra)
        masked, clean = sounds[0], sounds[2]
        self._pitch.take(masked, sounds[1], cancelled.echo[first])
        vads = self._vads(mics[first], masked, calm)
        over_floor = pairs(heard / (expected.floor + 1e-12))
        if not self._calm.passes:
            self._look(expected, activity, _Found(
                excess, beam.excess, over_floor, (mic + 1e-12) / (heard + 1e-12), white,
                self._coherence(residual, echo, residual_power, echo_power, mean), vads,
                (self._slip, *far_activity, min(1.0, self._blocks / 300), np.count_nonzero(excess > 2) / BANDS)))
        self._blocks += 1
        return Evidence(self._streams, calm, not self._calm.passes, masked, clean, self._voiced,
                        float(expected.motors.sum() / total.sum()), self._streams[BANDS:2 * BANDS],
                        math.log10(float(over_floor.max()) + 1e-9))

    def _look(self, expected: Expected, activity: NDArray[np.float64], found: _Found) -> None:
        """The streams of this block."""
        strength, pitch, ranges = self._pitch.measure()
        total, white = expected.total + 1e-12, found.white
        ratios = np.concatenate([found.excess, found.beam, found.over_floor, pairs(found.cancelled), white.energy,
                                 white.fit, (white.directional, white.peak)])
        octaves = np.log2(pitch / 150)
        self._streams = np.concatenate([
            np.minimum(np.maximum(np.log10(ratios + 1e-9), _LOW), _HIGH),
            pairs(found.coherence), pairs(expected.echo / total), pairs(expected.motors / total),
            strength, np.abs(octaves[0] - octaves[1:]), octaves[:1], ranges, found.vads, np.log10(1 + activity),
            found.rest]).astype(np.float32)
        self._voiced = float(strength[0])

    def _coherence(self, residual: Spectra, echo: Spectra, residual_power: Powers, echo_power: Powers,
                   mean: Powers) -> Powers:
        """Magnitude-squared coherence of residual and echo estimate (BANDS,)."""
        rate = self.config.coherence_rate
        self._cross += rate * (residual * echo.conj() - self._cross)
        self._autos[0] += rate * (residual_power - self._autos[0])
        self._autos[1] += rate * (echo_power - self._autos[1])
        common = mean @ (squared(self._cross) / (self._autos[1] + 1e-10))
        return np.minimum(in_bands(common) / (in_bands(mean @ self._autos[0]) + 1e-10), 1)

    def _beam(self, residual: Spectra, one: Spectra, expected: Expected) -> "_Beam":
        """The array's beam where there is one, microphone `one` (BINS,) elsewhere; and the mask of what is expected."""
        spectrum, bins = one.copy(), expected.bins.copy()
        spectrum[USED] = self._whitening.listen(residual)
        bins[USED] *= self._whitening.passed
        power = squared(spectrum)
        gain, excess = self._mask(power, bins)
        return _Beam(spectrum, gain, excess)

    def _mask(self, power: Powers, expected: Powers) -> tuple[Powers, Powers]:
        """Gain (BINS,) that leaves of power (BINS,) what is not expected (BINS,), and the excess (BANDS,)."""
        in_band, expected_in_band = in_bands(np.stack([power, expected]))
        excess = in_band / (expected_in_band + 1e-12)
        by_band = BIN_FROM_BANDS @ (1 - self.config.over / (excess + 1e-9))
        by_bin = 1 - self.config.over * expected / (power + 1e-12)
        return np.maximum(np.minimum(by_band, 0.5 * (by_band + by_bin)), self.config.least_gain), excess

    def _recognisable(self, beam: "_Beam", one: Spectra, power: Powers, expected: Expected) -> Spectra:
        """Microphone `one` while the robot makes no sound, the beam while it does: over echo the beam cost a recogniser
        66 % of the words instead of 78 %, but it colours a voice that nothing disturbs."""
        own = 1 - float(expected.floor.sum() / (expected.total.sum() + 1e-12))
        self._own += self.config.own_rate * (own - self._own)
        share = np.float32(min(max(2 * self._own - 0.5, 0.0), 1.0))
        gain = self._mask(power, expected.bins)[0]
        sound = one + share * (beam.spectrum - one)
        return np.asarray(sound * self._gently(gain + share * (beam.gain - gain)), np.complex64)

    def _gently(self, gain: Powers) -> Powers:
        return self.config.kept + (1 - self.config.kept) * gain

    def _vads(self, mic: Samples, masked: Samples, calm: bool) -> tuple[float, float]:
        """Silero (log-odds / 4) and WebRTC's (0, 1) on the masked beam at the level that the microphone would have."""
        level = float(np.sqrt(mic @ mic / mic.size))
        self._loudest = max(level, self._loudest * self.config.level_decay, 1e-5)
        gain = np.float32(min(self.config.vad_level / self._loudest, self.config.vad_most_gain))
        loud = np.minimum(np.maximum(gain * masked, -1), 1)
        probability = min(max(float(self._silero.step(loud[None], calm)[0]), 1e-4), 1 - 1e-4)
        return math.log(probability / (1 - probability)) / 4, float(self._web_rtc.step(loud))

    def _far_activity(self, far: Samples) -> tuple[float, float]:
        """The reference's level against its recent peak (log10 of power, 0 loud, -4 silent), and whether it plays."""
        power = float(far @ far) / far.size
        self._far_peak = max(power, self._far_peak * self.config.level_decay, 1e-6)
        return min(max(math.log10(power / self._far_peak + 1e-4), -4.0), 0.0), float(power > 1e-7)
