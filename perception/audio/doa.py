"""The direction of the person who speaks, through echo, motors and a reverberant room."""
from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from calibration.frames import Array, HeadPose
from perception.audio.bearing_tracker import BearingTracker, Estimate, TrackerConfig
from perception.audio.block import BLOCK, BLOCK_S, SAMPLE_RATE_HZ, Samples
from perception.audio.interference import KINDS, Interference, InterferenceConfig
from perception.audio.scene import Bearing
from perception.audio.spatial import diffuse_coherence, looks_of, steering
from perception.audio.steered_response import ResponseConfig, SteeredResponse


@dataclass(frozen=True, slots=True)
class DirectionConfig:
    transform: int = 320              # samples, Hann: 20 ms, short against the gap between direct sound and reflections
    every: int = 2                    # blocks a frame; half the work of 1, and 5 ms later on average
    low_hz: float = 310.0             # below, 10 cm are too small against the wave
    high_hz: float = 4600.0           # above, 33 mm pitch folds (half a wave at 5.2 kHz)
    dense_hz: float = 2000.0          # above, every other bin: a Hann window makes neighbours nearly the same
    tempering: float = 0.07           # neighbouring bins and frames share their reflections: not independent
    believe: float = 0.5              # speech likelihood from which somebody is believed to speak
    hangover: float = 0.25            # s
    look_back: float = 0.2            # s of sound before the belief that belong to the voice: detectors are late
    interference: InterferenceConfig = field(default_factory=InterferenceConfig)
    response: ResponseConfig = field(default_factory=ResponseConfig)
    tracker: TrackerConfig = field(default_factory=TrackerConfig)


class Direction:
    """One bearing a block while somebody speaks; none with fewer than two microphones."""

    def __init__(self, mic_positions: Array, config: DirectionConfig | None = None):
        """mic_positions (M, 3) in `head`, m."""
        self._config = config = config or DirectionConfig()
        mics = np.asarray(mic_positions, float)
        self._mics = len(mics)
        if self._mics < 2:
            return
        frame_s = config.every * BLOCK_S
        self._window = np.hanning(config.transform + 1)[:-1].astype(np.float32)
        frequency = np.fft.rfftfreq(config.transform, 1 / SAMPLE_RATE_HZ)
        within = np.flatnonzero((frequency >= config.low_hz) & (frequency <= config.high_hz))
        self._bins = within[(frequency[within] < config.dense_hz) | (within % 2 == 0)]
        frequency = frequency[self._bins]
        self._recent = np.zeros((2 * self._mics, config.transform), np.float32)
        looks, diffuse = looks_of(mics), diffuse_coherence(mics, frequency)
        self._looks_count = len(looks.vectors)
        self._diffuse, self._frame_s = diffuse, frame_s
        self._interference: Interference | None = None   # made when the count of motor activities is known
        self._response = SteeredResponse(steering(mics, frequency, looks.vectors), diffuse, KINDS,
                                         config.response, frame_s)
        self._maxima: deque[tuple[float, int] | None] = deque(maxlen=round(config.interference.delay / frame_s) + 1)
        self._tracker = BearingTracker(looks, config.tracker, frame_s)
        self._waiting: deque[tuple[Array, Array]] = deque(maxlen=round(config.look_back / frame_s))
        self._blocks = 0
        self._until = -np.inf
        self._best: Estimate | None = None
        self._rotation: Array | None = None   # base-from-head at the end of the block before

    def step(self, t: float, residual: Samples, echo_estimate: Samples, speech_likelihood: float,
             motor_activity: ArrayLike, pose: HeadPose) -> Bearing | None:
        """t: end of the block; residual, echo_estimate (M, 160); motor_activity: powers, up to a factor each,
        that the motors' noise is expected to have (perception.audio.ego_noise.MotorActivity), a number or several."""
        if self._mics < 2:
            return None
        config = self._config
        self._recent = np.concatenate([self._recent[:, BLOCK:], np.concatenate([residual, echo_estimate])], axis=1)
        middle = pose.rotation if self._rotation is None else self._rotation   # one block ago: the window's middle
        self._rotation = pose.rotation
        if speech_likelihood >= config.believe:
            self._until = t + config.hangover
        believed = t < self._until
        self._blocks += 1
        if self._blocks % config.every == 0:
            evidence = self._evidence(speech_likelihood, np.atleast_1d(np.asarray(motor_activity, np.float32)))
            self._waiting.append((config.tempering * evidence, middle))
            while believed and self._waiting:
                self._tracker.step(*self._waiting.popleft())
            if not believed:
                self._tracker.fade()
            self._best = self._tracker.best() if believed else None
        best = self._best
        if best is None or not believed:
            return None
        return Bearing(t, best.azimuth, best.spread, best.mirror is not None, best.mirror)

    def _evidence(self, speech_likelihood: float, motor_activity: Array) -> Array:
        if self._interference is None:
            self._interference = Interference(self._diffuse, len(motor_activity), self._config.interference,
                                              self._frame_s)
        spectra = np.fft.rfft(self._recent * self._window, axis=1)[:, self._bins].T.astype(np.complex64)
        x, echo = spectra[:, :self._mics], spectra[:, self._mics:]
        expected = self._interference.expect(x, echo, motor_activity, speech_likelihood)
        if self._interference.strange(motor_activity):   # the direction is kept, not taken from an unknown noise
            evidence = np.zeros(self._looks_count)
            self._maxima.append(None)
        else:
            evidence, maximum = self._response.step(x, expected.covariance, expected.kind)
            self._maxima.append((maximum, expected.kind))
        if self._interference.quiet and self._maxima[0] is not None:
            self._response.without_voice(*self._maxima[0])
        return evidence
