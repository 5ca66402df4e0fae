"""Where a voice is in the world: a histogram filter over azimuth and elevation in `base` axes.

Each block brings a log-likelihood over head-fixed looks; it is read at the directions that the cells of the histogram
have in the head at that moment. A head that turns moves the true direction and its mirror apart, so front and back are decided by the
turn itself. (Histogram filter: Thrun, Burgard, Fox, Probabilistic Robotics, ch. 4.)
"""
from dataclasses import dataclass

import numpy as np

from calibration.frames import Array, wrapped
from perception.audio.spatial import Looks

AZIMUTHS = 120                                            # cells of 3 degrees
ELEVATIONS = np.deg2rad([-10.0, 0.0, 8.0, 16.0, 25.0, 40.0])


@dataclass(frozen=True, slots=True)
class TrackerConfig:
    elevation: float = 0.23         # rad, mean elevation of a mouth from a table robot's head: seated or standing, 0.7-3 m
    elevation_spread: float = 0.19  # rad
    walk: float = 0.20              # rad / sqrt(s): somebody walking past at 1 m turns 30 degrees in 1 s at most briefly
    leave: float = 0.15             # 1/s: rate at which another talker may have taken over
    forget: float = 1.5             # 1/s: while nobody speaks
    lobe: float = np.deg2rad(30.0)  # half width of the peak that counts as one direction
    decided: float = 0.15           # mass of the mirror's lobe over that of the best below which front/back is decided


class BearingTracker:
    """Belief (AZIMUTHS, elevations) over where the voice is."""

    def __init__(self, looks: Looks, config: TrackerConfig, block_s: float):
        self._looks, self._config, self._block_s = looks, config, block_s
        self.azimuths = wrapped(np.arange(AZIMUTHS) * (2 * np.pi / AZIMUTHS))
        a, e = np.meshgrid(self.azimuths, ELEVATIONS, indexing="ij")
        self._cells = np.stack([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)], axis=-1).reshape(-1, 3)
        width = np.gradient(ELEVATIONS)
        prior = width * np.exp(-0.5 * ((ELEVATIONS - config.elevation) / config.elevation_spread) ** 2)
        self._prior = np.tile(prior / prior.sum() / AZIMUTHS, (AZIMUTHS, 1))
        self.belief = self._prior.copy()
        self._spread = 0.5 * block_s * (config.walk * AZIMUTHS / (2 * np.pi)) ** 2

    def step(self, likelihood: Array, rotation: Array) -> None:
        """likelihood (D,): log, over the looks; rotation: base-from-head (3, 3) when the sound arrived."""
        p, config = self.belief, self._config
        p = p + self._spread * (np.roll(p, 1, axis=0) + np.roll(p, -1, axis=0) - 2 * p)
        new = self._block_s * config.leave
        looks, weights = self._looks.between(self._cells @ rotation)
        evidence = (likelihood[looks] * weights).sum(axis=0).reshape(p.shape)
        p = ((1 - new) * p + new * self._prior) * np.exp(evidence - evidence.max())
        self.belief = p / p.sum()

    def fade(self) -> None:
        """A block without a voice."""
        self.belief += self._block_s * self._config.forget * (self._prior - self.belief)

    def best(self) -> tuple[float, float, float | None]:
        """(azimuth, spread, mirror or None), rad. The mirror is the second lobe while it is not clearly the smaller."""
        marginal = self.belief.sum(axis=1)
        kernel = self._lobe_mass(marginal)
        peak = int(np.argmax(kernel))
        azimuth, spread = self._moments(marginal, self.azimuths[peak])
        far = np.abs(wrapped(self.azimuths - azimuth)) > 1.5 * self._config.lobe
        rest = np.where(far, kernel, 0.0)
        second = int(np.argmax(rest))
        if rest[second] < self._config.decided * kernel[peak]:
            return azimuth, spread, None
        return azimuth, spread, self._moments(marginal, self.azimuths[second])[0]

    def _lobe_mass(self, marginal: Array) -> Array:
        half = round(self._config.lobe / 2 * AZIMUTHS / (2 * np.pi))
        wide = np.concatenate([marginal[-half - 1:], marginal, marginal[:half]]).cumsum()
        return wide[2 * half + 1:] - wide[:-2 * half - 1]

    def _moments(self, marginal: Array, centre: float) -> tuple[float, float]:
        offset = wrapped(self.azimuths - centre)
        weight = np.where(np.abs(offset) <= self._config.lobe, marginal, 0.0)
        weight = weight / weight.sum()
        mean = float(weight @ offset)
        return float(wrapped(centre + mean)), float(np.sqrt(weight @ (offset - mean) ** 2))
