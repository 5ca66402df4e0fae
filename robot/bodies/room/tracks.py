"""Sounds on the capture clock: what each source emits when, cut into blocks."""
from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples
from robot.bodies.room.arrivals import LEAD

SILENT = np.zeros(BLOCK, np.float32)
SILENT.flags.writeable = False
ONSET_DB = -45.0             # below the peak: the first sound of an utterance


@dataclass
class Track:
    """One source's sounds. Blocks are LEAD samples ahead of the air, as the responses ask."""

    _next: int = LEAD                    # sample on the capture clock with which the next block begins
    _sounds: list[tuple[int, Samples]] = field(default_factory=list)

    def add(self, t: float, samples: Samples, in_turn: bool) -> int:
        """Sounds from t (s) or the next block on; in_turn: when the last one has ended. Returns the first sample."""
        begin = max(round(t * SAMPLE_RATE_HZ), self._next)
        if in_turn and self._sounds:
            begin = max(begin, max(at + len(sound) for at, sound in self._sounds))
        self._sounds.append((begin, samples))
        return begin

    def next_block(self) -> NDArray[np.float32]:
        """(BLOCK,) of emission; do not write to it."""
        first, last = self._next, self._next + BLOCK
        self._next = last
        if not self._sounds:
            return SILENT
        out = np.zeros(BLOCK, np.float32)
        for at, sound in self._sounds:
            low, high = max(at, first), min(at + len(sound), last)
            if low < high:
                out[low - first:high - first] += sound[low - at:high - at]
        self._sounds = [(at, sound) for at, sound in self._sounds if at + len(sound) > last]
        return out

    def cut(self) -> None:
        """Silence from the next block on: the source has left."""
        self._sounds = []


def edges(samples: Samples) -> tuple[int, int]:
    """First and last sample above ONSET_DB; (0, 0) in silence."""
    loud = np.flatnonzero(np.abs(samples) > np.abs(samples).max(initial=0.0) * 10 ** (ONSET_DB / 20))
    return (int(loud[0]), int(loud[-1])) if loud.size else (0, 0)


@dataclass
class Arrival:
    """When captured blocks reach the mind: one a tick, or in bursts as from real sound cards."""

    most: int                            # blocks that may come at once
    rng: np.random.Generator
    _waiting: deque = field(default_factory=deque)
    _pause: int = 0                      # ticks until the next delivery

    def delivered(self, captured: list) -> tuple:
        """Blocks that arrive in this tick, after `captured` were recorded in it."""
        self._waiting.extend(captured)
        self._pause -= 1
        if self._pause > 0 and len(self._waiting) < self.most:
            return ()
        self._pause = int(self.rng.integers(1, self.most + 1)) if self.most > 1 else 1
        out = tuple(self._waiting)
        self._waiting.clear()
        return out
