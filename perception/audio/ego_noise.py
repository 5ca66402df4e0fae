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
    start_leak: float = 0.2           # residual echo over echo estimate
    # power in a band a unit of activity: a little above the median of simulated robots (training/README.md), because
    # a term that starts too low has a tiny share and never grows
    start_motor: tuple[float, ...] = (0.05, 0.06, 0.05, 0.05, 0.1)


@dataclass(frozen=True, slots=True)
class Expected:
    """Predicted powers of one frame."""

    echo: Powers       # (BANDS,)
    floor: Powers      # (BANDS,)
    motors: Powers     # (BANDS,)
    bins: Powers       # (BINS,) all of it, with the fine structure of the echo

    @property
    def total(self) -> Powers:
        return self.echo + self.floor + self.motors


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


def bounded(values: Powers, low: float, high: float) -> Powers:
    """np.clip without its overhead, which matters a hundred times a second."""
    return np.minimum(np.maximum(values, np.float32(low)), np.float32(high))


class EgoNoise:
    """Predicts the power of a frame before it is judged, then learns from it."""

    def __init__(self, config: EgoNoiseConfig = EgoNoiseConfig()):
        self.config = config
        self.leak: Powers = np.full(BANDS, config.start_leak, np.float32)
        self.floor: Powers | None = None
        self.motors: Powers = np.repeat(np.array(config.start_motor, np.float32)[:, None], BANDS, axis=1)
        self._echo_bins: Powers = np.zeros(BINS, np.float32)
        self._echo_bands: Powers = np.zeros(BANDS, np.float32)
        self._activity: Powers = np.zeros(len(ACTIVITIES), np.float32)
        self._breadth = 0.0
        self._age_s = 0.0

    def predict(self, residual: Powers, echo: Powers, activity: NDArray[np.float64]) -> Expected:
        """residual (BANDS,), echo estimate (BINS,) powers of this frame; activity (5,)."""
        if self.floor is None:
            self.floor = np.maximum(residual, 1e-9)
        self._echo_bins = np.maximum(echo, self.config.echo_decay * self._echo_bins)
        self._echo_bands = in_bands(self._echo_bins)
        self._activity = activity.astype(np.float32)
        motors = self._activity @ self.motors
        leaked = self.leak * self._echo_bands
        bins = (BIN_FROM_BANDS @ self.leak) * self._echo_bins + BIN_FROM_BANDS @ ((self.floor + motors) / _BAND_BINS)
        return Expected(leaked, self.floor, motors, bins.astype(np.float32))

    def learn(self, residual: Powers, expected: Expected, disturbed: bool) -> None:
        """disturbed: the canceller was just moved, a broad excess is then no sign of a voice."""
        config = self.config
        assert self.floor is not None
        total = expected.total + 1e-12
        ratio = residual / total
        self._breadth += 0.2 * (np.count_nonzero(ratio > 2) / BANDS - self._breadth)
        settling = self._age_s < config.fast_s
        self._age_s += BLOCK_S
        step = np.minimum(np.maximum(ratio - 1, -0.9), 1.5) * config.rate * (config.fast if settling else 1.0)
        if self._breadth > config.broad_share and not (settling or disturbed):
            step = np.where(step > 0, step * config.upward_if_broad, step)
        self.leak = bounded(self.leak * np.exp(step * expected.echo / total), 1e-4, 100.0)
        self.floor = bounded(self.floor * np.exp(step * expected.floor / total), 1e-9, 1e4)
        shares = (self._activity[:, None] * self.motors / total) ** config.motor_share_exponent
        self.motors = bounded(self.motors * np.exp(step * shares), 1e-7, 1e3)
