"""How much an utterance is like a closed-mouth hum ("mm-hmm"): which bands rose over what was expected, and how far.

A logistic regression on the running utterance's mean and highest excess of each band. A nasal murmur has its power
around 250 and 1100 Hz and a hole between (Fant 1960); the vowels of a word fill the hole. Trained over the robot's own
voice, whose left-over echo lies above it all (training/hums.py; figures in training/README.md).
"""
from collections import deque
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from perception.audio.spectrum import BANDS, Powers

UNVOICED = 0.05       # weight of an unvoiced block in the mean
FADE = 0.96           # of the mean per block: a word after a hum counts after a quarter of a second
BEFORE = 8            # blocks before the evidence stood that belong to the utterance: the mean that decides is 100 ms


@dataclass(frozen=True, slots=True)
class HumConfig:
    """When something is said at all."""

    least_blocks: int = 8         # of the utterance, once evidence stands


class Track:
    """Mean and highest excess of the blocks of an utterance."""

    def __init__(self) -> None:
        self._sum = np.zeros(BANDS, np.float32)
        self._most = np.full(BANDS, -2.0, np.float32)
        self._weight = 1e-6

    def add(self, excess: Powers, weight: float) -> None:
        """excess (BANDS,) log10; weight: 0..1, periodicity."""
        weight = max(weight, UNVOICED)
        self._sum *= np.float32(FADE)
        self._sum += np.float32(weight) * excess
        self._weight = FADE * self._weight + weight
        np.maximum(self._most, excess, out=self._most)

    def features(self) -> Powers:
        """(2 * BANDS,)"""
        return np.concatenate([self._sum / np.float32(self._weight), self._most])


class Hum:
    """Follows the running utterance."""

    def __init__(self, config: HumConfig = HumConfig()):
        self.config = config
        with (files("perception.audio") / "models" / "hum.npz").open("rb") as file:
            model = np.load(file)
            self._bias, self._weights = float(model["bias"]), model["weights"]
        self._before: deque[tuple[Powers, float]] = deque(maxlen=BEFORE)
        self._track: Track | None = None
        self._blocks = 0

    def step(self, excess: Powers, voiced: float, speaks: bool) -> float:
        """excess (BANDS,) log10 of the beam over all that is expected; voiced 0..1; speaks: evidence stands.

        Returns 0..1, from 0.5 on rather a hum than a word.
        """
        if not speaks:
            self._track, self._blocks = None, 0
            self._before.append((excess, voiced))
            return 0.0
        if self._track is None:
            self._track = Track()
            for before in self._before:
                self._track.add(*before)
            self._before.clear()
        self._track.add(excess, voiced)
        self._blocks += 1
        if self._blocks < self.config.least_blocks:
            return 0.0
        score = self._bias + float(self._weights @ self._track.features())
        return 1 / (1 + float(np.exp(-min(max(score, -30.0), 30.0))))
