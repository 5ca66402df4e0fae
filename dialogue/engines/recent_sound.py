"""The last half minute of clean sound, read by time."""
from collections import deque

import numpy as np

from dialogue.engine import ENGINE_RATE_HZ, Hear
from perception.audio.block import Samples


class RecentSound:
    """Keeps `span` s of what the engine was told to hear."""

    def __init__(self, span: float = 32.0):
        self._limit = round(span * ENGINE_RATE_HZ)
        self._pieces: deque[Samples] = deque()
        self._count = 0
        self._end = 0.0            # s, of the newest sample

    def add(self, hear: Hear) -> None:
        self._pieces.append(hear.samples)
        self._count += len(hear.samples)
        self._end = hear.t
        while self._count - len(self._pieces[0]) > self._limit:
            self._count -= len(self._pieces.popleft())

    def between(self, onset: float, end: float) -> Samples:
        """The samples from onset to end (s), as far as they are kept."""
        sound = np.concatenate(self._pieces) if self._pieces else np.zeros(0, np.float32)
        first = len(sound) - round((self._end - onset) * ENGINE_RATE_HZ)
        last = len(sound) - round((self._end - end) * ENGINE_RATE_HZ)
        return sound[max(0, first):max(0, last)]
