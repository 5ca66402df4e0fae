"""The direction of the person who speaks, through echo, motors and a reverberant room.

Sound is looked at in frames, and frames in batches: soon when a voice begins, later when its bearing is known or nobody
speaks, because many small steps cost more than a few large ones.
"""
from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import rfft

from calibration.frames import Array, HeadPose
from perception.audio.bearing_tracker import BearingTracker, Estimate, TrackerConfig
from perception.audio.block import BLOCK, BLOCK_S, SAMPLE_RATE_HZ, Samples
from perception.audio.hermitian import packed
from perception.audio.interference import KINDS, Interference, InterferenceConfig
from perception.audio.scene import Bearing
from perception.audio.spatial import diffuse_coherence, looks_of, steering
from perception.audio.steered_response import Judged, ResponseConfig, SteeredResponse

FRAME = 2 * BLOCK          # samples, Hann: 20 ms, short against the gap between direct sound and reflections
FRAME_S = 2 * BLOCK_S      # also from frame to frame: half the work of every block, and 5 ms later on average
ECHOES = 2                 # channels of the echo estimate looked at, first and last: its power is much alike in all


@dataclass(frozen=True, slots=True)
class DirectionConfig:
    low_hz: float = 310.0             # below, 10 cm are too small against the wave
    high_hz: float = 4600.0           # above, 33 mm pitch folds (half a wave at 5.2 kHz)
    dense_hz: float = 2000.0          # above, every other bin: a Hann window makes neighbours nearly the same
    tempering: float = 0.07           # neighbouring bins and frames share their reflections: not independent
    believe: float = 0.5              # speech likelihood from which somebody is believed to speak
    suspect: float = 0.12             # the same from which sound from one direction is evidence enough, in a still
    telling: float = 2.0              # and silent robot: nats (tempered) of one look in look_back; noise gives 1
    hangover: float = 0.25            # s
    look_back: float = 0.2            # s of sound before the belief that belong to the voice: detectors are late
    fresh: float = 0.3                # s of belief in which every frame counts at once
    batch: int = 3                    # frames looked at together later on: a bearing every 60 ms
    batch_in_silence: int = 4         # the same while nobody speaks
    batch_in_calm: int = 8            # the same while there is nothing at all; a voice ends it at once
    interference: InterferenceConfig = field(default_factory=InterferenceConfig)
    response: ResponseConfig = field(default_factory=ResponseConfig)
    tracker: TrackerConfig = field(default_factory=TrackerConfig)


@dataclass(frozen=True, slots=True)
class _Frame:
    sound: Samples             # (M + ECHOES, FRAME)
    speech: float              # likelihood
    activity: Array            # (K,)
    rotation: Array            # base-from-head at the frame's middle


@dataclass(frozen=True, slots=True)
class _Seen:
    evidence: Array            # (D,) tempered, over the looks
    rotation: Array
    plain: bool                # neither motors nor echo are loud in it


class Direction:
    """One bearing a block while somebody speaks; none with fewer than two microphones."""

    def __init__(self, mic_positions: Array, config: DirectionConfig | None = None):
        """mic_positions (M, 3) in `head`, m."""
        self._config = config = config or DirectionConfig()
        mics = np.asarray(mic_positions, float)
        self._mics = len(mics)
        if self._mics < 2:
            return
        self._window = np.hanning(FRAME + 1)[:-1].astype(np.float32)
        frequency = np.fft.rfftfreq(FRAME, 1 / SAMPLE_RATE_HZ)
        within = np.flatnonzero((frequency >= config.low_hz) & (frequency <= config.high_hz))
        self._bins = within[(frequency[within] < config.dense_hz) | (within % 2 == 0)]
        frequency = frequency[self._bins]
        looks, self._diffuse = looks_of(mics), packed(diffuse_coherence(mics, frequency))
        self._looks_count = len(looks.vectors)
        self._interference: Interference | None = None   # made when the count of motor activities is known
        self._response = SteeredResponse(steering(mics, frequency, looks.vectors), self._diffuse, KINDS,
                                         config.response, FRAME_S)
        self._tracker = BearingTracker(looks, config.tracker, FRAME_S)
        self._frames: list[_Frame] = []      # not looked at yet
        self._judged: deque[Judged | None] = deque()   # of frames of which it is not known yet whether somebody spoke
        self._waiting: deque[_Seen] = deque(maxlen=round(config.look_back / FRAME_S))
        self._before: tuple[Samples, Array] | None = None   # sound of the block before, rotation at its end
        self._since = self._until = -np.inf   # s, of the belief
        self._best: Estimate | None = None

    def step(self, t: float, residual: Samples, echo_estimate: Samples, speech_likelihood: float,
             motor_activity: ArrayLike, pose: HeadPose, calm: bool = False) -> Bearing | None:
        """t: end of the block; residual, echo_estimate (M, 160); motor_activity: powers, up to a factor each,
        that the motors' noise is expected to have (perception.audio.ego_noise.MotorActivity), a number or several;
        calm: nothing is there to be looked at soon."""
        if self._mics < 2:
            return None
        config = self._config
        if speech_likelihood >= config.believe:
            self._since = t if t >= self._until else self._since
            self._until = t + config.hangover
        believed = t < self._until
        sound = np.concatenate([residual, echo_estimate[::self._mics - 1]])
        if self._before is None:
            self._before = sound, pose.rotation
        else:
            self._frames.append(_Frame(np.concatenate([self._before[0], sound], axis=1), speech_likelihood,
                                       np.atleast_1d(np.asarray(motor_activity, np.float32)), self._before[1]))
            self._before = None
            suspected = speech_likelihood >= config.suspect
            fresh = t - self._since < config.fresh if believed else suspected
            silent = config.batch_in_calm if calm else config.batch_in_silence
            if len(self._frames) >= (1 if fresh else config.batch if believed else silent):
                believed = self._look(t, believed, suspected)
        best = self._best
        if best is None or not believed:
            self._best = None
            return None
        return Bearing(t, best.azimuth, best.spread, best.mirror is not None, best.mirror)

    def _look(self, t: float, believed: bool, suspected: bool) -> bool:
        """Take in the frames that wait. Whether somebody is believed to speak, now that they have been looked at."""
        frames, self._frames = self._frames, []
        self._waiting.extend(self._evidence(frames))
        if suspected and not believed:
            plain = [seen.evidence for seen in self._waiting if seen.plain]
            believed = len(plain) > 0 and float(np.sum(plain, axis=0).max()) > self._config.telling
            if believed:
                self._since, self._until = t, t + self._config.hangover
        if not believed:
            self._tracker.fade(len(frames))
            return False
        self._tracker.step([(seen.evidence, seen.rotation) for seen in self._waiting])
        self._waiting.clear()
        self._best = self._tracker.best()
        return True

    def _evidence(self, frames: list[_Frame]) -> list[_Seen]:
        activity = np.stack([frame.activity for frame in frames])
        if self._interference is None:
            self._interference = Interference(self._diffuse, self._mics, activity.shape[1],
                                              self._config.interference, FRAME_S)
        spectra = rfft(np.stack([frame.sound for frame in frames], axis=1) * self._window)[:, :, self._bins]
        x, echo = spectra[:self._mics], spectra[self._mics:]
        old, quiet = self._interference.hear(x, echo, activity, [frame.speech for frame in frames])
        expected = self._interference.expect()
        evidence, judged = self._response.step(x, expected.covariance, expected.kinds)
        # the direction is kept, not taken from an unknown noise
        strange = self._interference.strange(activity)
        evidence[strange] = 0.0
        sure = expected.known & ~strange
        self._judged.extend(found if known else None for found, known in zip(judged, sure, strict=True))
        past = [self._judged.popleft() for _ in range(old)]
        if quiet:
            self._response.without_voice([found for found in past if found is not None])
        return [_Seen(self._config.tempering * e, frame.rotation, bool(known) and kind == 0)
                for e, frame, known, kind in zip(evidence, frames, sure, expected.kinds, strict=True)]
