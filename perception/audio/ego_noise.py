"""What the robot itself sounds like at its microphones: residual echo, noise floor and motors, as powers in bands.

One additive model; every coefficient follows by small multiplicative steps in proportion to its share of the prediction
(hearing-notes: "one additive power model"). Motors are conditioned on the speeds that are commanded, which are known
before the noise is heard.
"""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.body_model import ANTENNAS, STEWART
from perception.audio.block import BLOCK_S
from perception.audio.spectrum import BANDS, BIN_FROM_BANDS, BINS, Powers, in_bands

ACTIVITIES = ("body", "legs", "right_antenna", "left_antenna", "clicks")
_BAND_BINS = in_bands(np.ones(BINS, np.float32))   # bins in each band


@dataclass(frozen=True, slots=True)
class EgoNoiseConfig:
    """Steps are per block of 10 ms."""

    exponent: float = 1.4             # power of motor noise over |speed|
    hold: int = 8                     # blocks that an activity lasts: motors lag the command by 30 ms, rooms ring
    click_speed: float = 0.05         # rad/s: below it a joint stands
    echo_decay: float = 0.72          # of the reverberant echo a block
    rate: float = 0.03                # of all multiplicative steps
    fast: float = 3.0                 # times that rate ...
    fast_s: float = 2.0               # ... in the first seconds
    upward_if_broad: float = 0.15     # upward steps shrink to this while a broad excess, likely a voice, is there
    broad_share: float = 0.35         # of bands at more than twice the prediction
    motor_share_exponent: float = 0.6  # lets a motor term that starts too low catch up
    still: float = 0.05               # activity from which motors sound: then the floor must not learn their noise, nor
    floor_moving: float = 0.1         # sink below the room's while they stand for it: its steps shrink to this
    start_leak: float = 0.2           # residual echo over echo estimate
    # power in a band a unit of activity: a little above the median of simulated robots (training/README.md), because
    # a term that starts too low has a tiny share and never grows
    start_motor: tuple[float, ...] = (0.05, 0.06, 0.05, 0.05, 0.1)
    start_spectrum: tuple[tuple[float, ...], ...] = ()   # the same by band (5 x BANDS) as calibrated, if it is


@dataclass(frozen=True, slots=True)
class Expected:
    """Predicted powers of one frame."""

    parts: Powers      # (2 + ACTIVITIES, BANDS) echo, floor, each motor activity
    total: Powers      # (BANDS,) their sum
    bins: Powers       # (BINS,) all of it, with the fine structure of the echo

    @property
    def echo(self) -> Powers:
        """(BANDS,)"""
        return self.parts[0]

    @property
    def floor(self) -> Powers:
        """(BANDS,)"""
        return self.parts[1]

    @property
    def motors(self) -> Powers:
        """(BANDS,)"""
        return self.parts[2:].sum(axis=0)


class MotorActivity:
    """Commanded joint speeds -> activities of the noise sources (5,), in the order of ACTIVITIES."""

    def __init__(self, config: EgoNoiseConfig):
        self.config = config
        self._before = np.zeros(9)
        self._recent = np.zeros((config.hold, len(ACTIVITIES)))

    def step(self, velocity: NDArray[np.float64]) -> NDArray[np.float64]:
        """velocity (9,) rad/s in the order of JOINTS; numbers that are not finite count as rest."""
        velocity = np.where(np.isfinite(velocity), velocity, 0.0)
        loud = np.minimum(np.abs(velocity), 20.0) ** self.config.exponent
        moving, moved = np.abs(velocity) > self.config.click_speed, np.abs(self._before) > self.config.click_speed
        clicks = ((moving != moved) | (velocity * self._before < 0)).sum()
        self._before = velocity
        self._recent[1:] = self._recent[:-1]
        self._recent[0] = (loud[0], loud[STEWART].sum(), *loud[ANTENNAS], clicks)
        return self._recent.max(axis=0)


class Quietest:
    """The least that bands have had within some seconds (minimum statistics: Martin, IEEE TSAP 9 (2001))."""

    smoothing, window, windows = 0.1, 100, 4     # a block; blocks; so many windows: 4 s, longer than a sentence's part
    bias = 0.5                                   # the least of 4 s of smoothed noise lies about 3 dB under its mean
    start = 10                                   # blocks that are not counted: sound cards begin with silence

    def __init__(self) -> None:
        self._smooth: Powers | None = None
        self._least: Powers = np.full((self.windows, BANDS), np.inf, np.float32)
        self._blocks = 0

    def step(self, power: Powers) -> Powers:
        """power (BANDS,) -> what noise has at least (BANDS,)."""
        self._blocks += 1
        if self._blocks <= self.start:
            return np.zeros_like(power)
        self._smooth = power if self._smooth is None else self._smooth + self.smoothing * (power - self._smooth)
        at, fresh = divmod(self._blocks - self.start - 1, self.window)
        row = self._least[at % self.windows]
        row[:] = self._smooth if fresh == 0 else np.minimum(row, self._smooth)
        return np.float32(self.bias) * self._least.min(axis=0)


class EgoNoise:
    """Predicts the power of a frame before it is judged, then learns from it."""

    _LEAST = np.array([1e-4, 1e-9, *[1e-7] * len(ACTIVITIES)], np.float32)[:, None]
    _MOST = np.array([100.0, 1e4, *[1e3] * len(ACTIVITIES)], np.float32)[:, None]

    def __init__(self, config: EgoNoiseConfig = EgoNoiseConfig()):
        self.config = config
        motors = np.repeat(np.array(config.start_motor, np.float32)[:, None], BANDS, axis=1)
        if config.start_spectrum:
            motors = np.array(config.start_spectrum, np.float32)
        if motors.shape != (len(ACTIVITIES), BANDS):
            raise ValueError(f"ego_noise.start_spectrum: {motors.shape} numbers, expected {len(ACTIVITIES)} activities "
                             f"({', '.join(ACTIVITIES)}) x {BANDS} bands")
        around = np.ones(BANDS, np.float32)
        self.terms: Powers = np.stack([config.start_leak * around, 0 * around, *motors])   # leak, floor, motors
        self._drive: Powers = np.ones_like(self.terms)
        self._echo_bins: Powers = np.zeros(BINS, np.float32)
        self._quietest = Quietest()
        self._breadth = 0.0
        self._age_s = 0.0

    def predict(self, residual: Powers, echo: Powers, activity: NDArray[np.float64]) -> Expected:
        """residual (BANDS,), echo estimate (BINS,) powers of this frame; activity (5,)."""
        if self._age_s == 0.0:
            self.terms[1] = np.maximum(residual, 1e-9)
        self._echo_bins = np.maximum(echo, self.config.echo_decay * self._echo_bins)
        self._drive[0] = in_bands(self._echo_bins)
        self._drive[2:] = activity[:, None]
        parts = self.terms * self._drive
        total = parts.sum(axis=0)
        leak, steady = BIN_FROM_BANDS @ self.terms[0], BIN_FROM_BANDS @ ((total - parts[0]) / _BAND_BINS)
        return Expected(parts, total, leak * self._echo_bins + steady)

    def learn(self, residual: Powers, expected: Expected, disturbed: bool) -> None:
        """disturbed: the canceller was just moved, a broad excess is then no sign of a voice."""
        config = self.config
        total = expected.total + 1e-12
        ratio = residual / total
        self._breadth += 0.2 * (np.count_nonzero(ratio > 2) / BANDS - self._breadth)
        settling = self._age_s < config.fast_s
        self._age_s += BLOCK_S
        step = np.minimum(np.maximum(ratio - 1, -0.9), 1.5) * config.rate * (config.fast if settling else 1.0)
        if self._breadth > config.broad_share and not (settling or disturbed):
            step = np.where(step > 0, step * config.upward_if_broad, step)
        steps = step * (expected.parts / total)
        if float(self._drive[2:, 0].max()) > config.still and not settling:
            steps[1] *= config.floor_moving
        steps[2:] = step * (expected.parts[2:] / total) ** config.motor_share_exponent
        self.terms = np.minimum(np.maximum(self.terms * np.exp(steps), self._LEAST), self._MOST)
        self.terms[1] = np.maximum(self.terms[1], self._quietest.step(residual))   # too low a share never grows
