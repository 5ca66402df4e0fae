"""How much an utterance is like a closed-mouth hum: voiced, with hardly anything above 900 Hz."""
from dataclasses import dataclass

import numpy as np

from perception.audio.spectrum import BAND_CENTRES_HZ, Powers


@dataclass(frozen=True, slots=True)
class HumConfig:
    """Open vowels hold the band above 900 Hz at -5 to -18 dB of that below, a closed mouth at -25 or less."""

    high_from: float = 900.0      # Hz
    middle_db: float = -19.0      # high over low at which a hum is as likely as a word
    width_db: float = 3.0         # of the soft step
    voiced_from: float = 0.35     # periodicity of a voiced block
    least_blocks: int = 8         # of voiced sound before anything is said
    forget: float = 0.97          # per block without evidence: the next utterance starts anew


class Hum:
    """Sums of the running utterance."""

    def __init__(self, config: HumConfig = HumConfig()):
        self.config = config
        self._high = config.high_from < BAND_CENTRES_HZ
        self.reset()

    def reset(self) -> None:
        self._low_power = self._high_power = 0.0
        self._voiced = self._blocks = 0

    def step(self, bands: Powers, voiced: float, speaks: bool) -> float:
        """bands (BANDS,) of the masked residual; voiced 0..1; speaks: evidence stands. Returns 0..1."""
        config = self.config
        if not speaks:
            if self._blocks:
                self.reset()
            return 0.0
        self._blocks += 1
        if voiced > config.voiced_from:
            self._voiced += 1
            self._high_power += float(bands[self._high].sum())
            self._low_power += float(bands[~self._high].sum())
        if self._voiced < config.least_blocks:
            return 0.0
        ratio_db = 10 * np.log10((self._high_power + 1e-12) / (self._low_power + 1e-12))
        closed = 1 / (1 + np.exp(np.clip((ratio_db - config.middle_db) / config.width_db, -30, 30)))
        return float(closed * min(1.0, 1.5 * self._voiced / self._blocks))
