"""The direction of the person who speaks, through echo, motors and a reverberant room."""
from dataclasses import dataclass, field

import numpy as np

from calibration.frames import Array, HeadPose
from perception.audio.bearing_tracker import BearingTracker, TrackerConfig
from perception.audio.block import BLOCK, BLOCK_S, SAMPLE_RATE_HZ, Samples
from perception.audio.interference import Interference, InterferenceConfig
from perception.audio.scene import Bearing
from perception.audio.spatial import diffuse_coherence, looks_of, steering


@dataclass(frozen=True, slots=True)
class DirectionConfig:
    transform: int = 320              # samples, Hann: 20 ms, short against the gap between direct sound and reflections
    low_hz: float = 310.0             # below, 10 cm are too small against the wave
    high_hz: float = 4600.0           # above, 33 mm pitch folds (half a wave at 5.2 kHz)
    reverb_decay: float = 0.78        # per block: T60 of about 0.55 s
    reverb: float = 0.8               # steady reverberant power over the steady power of a voice
    early: float = 0.25               # early reflections over the direct sound in the same window
    tempering: float = 0.05           # neighbouring bins and blocks are not independent
    believe: float = 0.5              # speech likelihood
    hangover: float = 0.25            # s
    interference: InterferenceConfig = field(default_factory=InterferenceConfig)
    tracker: TrackerConfig = field(default_factory=TrackerConfig)


class Direction:
    """One bearing a block while somebody speaks."""

    def __init__(self, mic_positions: Array, config: DirectionConfig | None = None):
        self._config = config = config or DirectionConfig()
        self.mics = mics = np.asarray(mic_positions, float)
        self._window = np.hanning(config.transform + 1)[:-1].astype(np.float32)
        frequency = np.fft.rfftfreq(config.transform, 1 / SAMPLE_RATE_HZ)
        self._bins = slice(*np.searchsorted(frequency, [config.low_hz, config.high_hz]))
        frequency = frequency[self._bins]
        self._recent = np.zeros((2 * len(mics), config.transform), np.float32)
        self._looks = looks_of(mics)
        self._steering = steering(mics, frequency, self._looks.vectors)
        self._diffuse = diffuse_coherence(mics, frequency)
        self._diffuse += 0.01 * np.eye(len(mics), dtype=np.complex64)
        self._pairs = self._pair_table()
        self.interference = Interference(self._diffuse, config.interference, BLOCK_S)
        self.tracker = BearingTracker(self._looks, config.tracker, BLOCK_S)
        self._reverb = np.zeros(len(frequency), np.float32)
        self._excess = [np.zeros(len(frequency), np.float32)] * 2
        self._until = -1.0
        self._pose = None

    def _pair_table(self):
        a = self._steering
        pairs = a.conj()[:, :, None, :] * a[:, None, :, :]   # a_m^* a_n
        f, m, _, d = pairs.shape
        return np.concatenate([pairs.real.reshape(f, m * m, d), -pairs.imag.reshape(f, m * m, d)], axis=1).astype(np.float32)

    def step(self, t: float, residual: Samples, echo_estimate: Samples, speech_likelihood: float, motor_activity: float,
             pose: HeadPose) -> Bearing | None:
        config = self._config
        n = len(self.mics)
        self._recent = np.concatenate([self._recent[:, BLOCK:], np.concatenate([residual, echo_estimate])], axis=1)
        spectra = np.fft.rfft(self._recent * self._window, axis=1)[:, self._bins].T.astype(np.complex64)
        x, echo = spectra[:, :n], spectra[:, n:]
        likelihood = self.likelihood(x, echo, speech_likelihood, motor_activity)
        rotation, self._pose = pose.rotation if self._pose is None else self._pose, pose.rotation
        if speech_likelihood >= config.believe:
            self._until = t + config.hangover
        believed = t < self._until
        self.tracker.step(config.tempering * likelihood, rotation, believed)
        if not believed:
            return None
        azimuth, spread, mirror = self.tracker.best()
        return Bearing(t, azimuth, spread, mirror is not None, mirror)

    def likelihood(self, x, echo, speech, motor) -> Array:
        """Log-likelihood (D,) that a voice of unknown level comes from each look."""
        config = self._config
        noise = self.interference.step(x, echo, motor, speech)
        power = np.mean(x.real**2 + x.imag**2, axis=1)
        floor = np.einsum("fmm->f", noise).real / x.shape[1]
        excess = np.maximum(power - floor, 0.0)
        self._reverb = config.reverb_decay * self._reverb + (1 - config.reverb_decay) * config.reverb * self._excess[0]
        self._excess = [self._excess[1], excess]
        diffuse = self._reverb + config.early * excess + 1e-12
        inverse = np.linalg.inv(noise + diffuse[:, None, None] * self._diffuse)
        y = np.matmul(inverse, x[:, :, None])[:, :, 0]
        beam = np.matmul(y.conj()[:, None, :], self._steering)[:, 0]
        flat = inverse.reshape(len(x), 1, -1)
        gain = np.matmul(np.concatenate([flat.real, flat.imag], axis=2), self._pairs)[:, 0]
        self.energy = (beam.real**2 + beam.imag**2) / gain
        T = np.maximum(self.energy, 1.0)
        return (T - 1.0 - np.log(T)).sum(axis=0)
