"""Where a voice is in the world: a histogram filter over azimuth and elevation in `base` axes.

Each frame brings a log-likelihood over head-fixed looks; it is read at the directions that the cells of the histogram
have in the head at that moment. A head that turns moves the true direction and its mirror apart, so front and back are
decided by the turn itself. (Histogram filter: Thrun, Burgard, Fox, Probabilistic Robotics, ch. 4.)
"""
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.frames import Array, wrapped
from perception.audio.spatial import Looks

AZIMUTHS = 120                                            # cells of 3 degrees
HALF_LOBE = 12                                            # cells: a lobe is at most 36 degrees to each side
STEPS = np.arange(HALF_LOBE + 1)
LEFT, RIGHT = np.arange(-1, AZIMUTHS - 1), np.arange(1, AZIMUTHS + 1) % AZIMUTHS   # neighbours of each cell
ELEVATIONS = np.deg2rad([-10.0, 0.0, 6.0, 12.0, 18.0, 24.0, 32.0, 42.0])


@dataclass(frozen=True, slots=True)
class TrackerConfig:
    elevation: float = 0.23          # rad, mean of mouths from a table robot's head: seated or standing, 0.7-3 m away
    elevation_spread: float = 0.19   # rad
    walk: float = 0.04               # rad / sqrt(s): sitting people; who walks is followed by `leave`
    rise: float = 0.5                # 1/s: rate at which the elevation is drawn anew, so that it cannot explain all
    leave: float = 0.15              # 1/s: rate at which another talker may have taken over
    forget: float = 1.5              # 1/s: while nobody speaks
    named: float = 0.7               # mass of the two best lobes from which they are named; 0.4 when nothing is known
    symmetric: float = 0.95          # overlap of the belief with its mirror image from which front/back is open
    apart: float = np.deg2rad(15.0)  # two lobes nearer than this are one direction on the axis of a line
    decided: float = 0.4             # mass of the second lobe over that of the best below which front/back is decided


@dataclass(frozen=True, slots=True)
class Estimate:
    """mirror: the second lobe of the belief while it is not clearly the smaller. rad."""

    azimuth: float
    spread: float
    mirror: float | None = None


class BearingTracker:
    """Belief (AZIMUTHS, elevations) over where the voice is."""

    def __init__(self, looks: Looks, config: TrackerConfig, frame_s: float):
        self._looks, self._config, self._frame_s = looks, config, frame_s
        self.azimuths = wrapped(np.arange(AZIMUTHS) * (2 * np.pi / AZIMUTHS))
        a, e = np.meshgrid(self.azimuths, ELEVATIONS, indexing="ij")
        self._cells = np.stack([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)], axis=-1).reshape(-1, 3)
        width = np.gradient(ELEVATIONS)
        prior = width * np.exp(-0.5 * ((ELEVATIONS - config.elevation) / config.elevation_spread) ** 2)
        self._upwards = prior / prior.sum()
        self._prior = np.tile(self._upwards / AZIMUTHS, (AZIMUTHS, 1))
        self.belief = self._prior.copy()
        self._axis: float | None = None   # azimuth of a line array's axis
        self._spread = 0.5 * frame_s * (config.walk * AZIMUTHS / (2 * np.pi)) ** 2

    def step(self, frames: Sequence[tuple[Array, Array]]) -> None:
        """frames: log-likelihood (D,) over the looks and base-from-head rotation (3, 3) when the sound arrived, of
        each frame since the step before."""
        p, config = self.belief, self._config
        elapsed = len(frames) * self._frame_s
        p = p + len(frames) * self._spread * (p[LEFT] + p[RIGHT] - 2 * p)
        p = p + elapsed * config.rise * (p.sum(axis=1, keepdims=True) * self._upwards - p)
        new = elapsed * config.leave
        rotation = frames[-1][1]
        if self._looks.axis is not None:
            left = rotation @ self._looks.axis
            self._axis = float(np.arctan2(left[1], left[0]))
        evidence, gathered = np.zeros(len(self._cells)), np.zeros(len(frames[0][0]))
        for n, (likelihood, rotation) in enumerate(frames):   # those of a head at rest are read at once
            gathered = gathered + likelihood
            if n + 1 == len(frames) or not np.array_equal(rotation, frames[n + 1][1]):
                evidence += self._looks.at(gathered, self._cells, rotation)
                gathered = np.zeros_like(gathered)
        p = ((1 - new) * p + new * self._prior) * np.exp(evidence - evidence.max()).reshape(p.shape)
        self.belief = p / p.sum()

    def fade(self, frames: int) -> None:
        """So many frames without a voice."""
        part = 1 - np.exp(-frames * self._frame_s * self._config.forget)
        self.belief += part * (self._prior - self.belief)

    def best(self) -> Estimate | None:
        """None while the belief is spread over too many directions to name one or two."""
        p = self.belief.sum(axis=1)
        p = 0.5 * p + 0.25 * (p[LEFT] + p[RIGHT])
        if self._axis is not None and self._symmetric(p, self._axis):
            return self._folded(p, self._axis)
        first, rest = self._lobe(p), p.copy()
        rest[first] = 0.0
        second = self._lobe(rest)
        mass, other = p[first].sum(), rest[second].sum()
        if mass + other < self._config.named:
            return None
        azimuth, spread = self._moments(p, first)
        if other < self._config.decided * mass:
            return Estimate(azimuth, spread)
        mirror, _ = self._moments(p, second)
        if abs(wrapped(mirror - azimuth)) < self._config.apart:
            return Estimate(*self._moments(p, np.concatenate([first, second])))
        return Estimate(azimuth, spread, mirror)

    def _symmetric(self, p: Array, axis: float) -> bool:
        """The belief is its own mirror image about the array's axis: no turn has told front from back."""
        mirrored = np.round((2 * axis - self.azimuths) * (AZIMUTHS / (2 * np.pi))).astype(np.intp) % AZIMUTHS
        return bool(np.minimum(p, p[mirrored]).sum() > self._config.symmetric)

    def _folded(self, p: Array, axis: float) -> Estimate | None:
        """From one half of a symmetric belief; the front one if there is no difference."""
        front = np.sin(self.azimuths - axis) <= 0
        half = np.where(front if p[front].sum() > 0.49 else ~front, p, 0.0)
        cells = self._lobe(half)
        if 2 * half[cells].sum() < self._config.named:
            return None
        azimuth, spread = self._moments(half, cells)
        mirror = float(wrapped(2 * axis - azimuth))
        if abs(wrapped(mirror - azimuth)) < self._config.apart:
            return Estimate(float(wrapped(azimuth + wrapped(mirror - azimuth) / 2)), spread)
        return Estimate(azimuth, spread, mirror)

    def _lobe(self, p: Array) -> np.ndarray:
        """The cells of the highest peak of p (AZIMUTHS,), down to the valleys on both sides."""
        peak = int(np.argmax(p))
        sides = (peak - STEPS) % AZIMUTHS, (peak + STEPS) % AZIMUTHS
        return np.concatenate([side[start:_valley(p[side]) + 1] for start, side in enumerate(sides)])

    def _moments(self, p: Array, cells: np.ndarray) -> tuple[float, float]:
        offset = wrapped(self.azimuths[cells] - self.azimuths[cells[0]])
        weight = p[cells] / p[cells].sum()
        mean = float(weight @ offset)
        return float(wrapped(self.azimuths[cells[0]] + mean)), float(np.sqrt(weight @ (offset - mean) ** 2))


def _valley(height: Array) -> int:
    """Where a slope from a peak at index 0 is lowest before it rises again by more than a tenth."""
    rises = height > 1.1 * np.minimum.accumulate(height) + 1e-9
    end = int(np.argmax(rises)) if rises.any() else len(height)
    return int(np.argmin(height[:end]))
