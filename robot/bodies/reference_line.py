"""The reference of a sound card without loopback: what was written, kept for the microphones' next blocks.

Both sides count in blocks of 10 ms. A block that was written leaves after a constant number of others, so the echo
comes a constant time after it; what breaks that (an xrun, two clocks) is mended where the voice is silent.
"""
from collections import deque

import numpy as np

from perception.audio.block import BLOCK, BLOCK_S, Samples

MARGIN = 3                 # blocks kept for late writers; less than the way to the loudspeaker and back (60 ms)
SPARE = 3                  # blocks more than that, never used in a window: two clocks, or a start in a burst
WINDOW = 500               # blocks: 5 s

SILENT = np.zeros(BLOCK, np.float32)
SILENT.flags.writeable = False


class ReferenceLine:
    """`push` on the loudspeaker's side, `take` on the microphones'; each from one thread."""

    def __init__(self) -> None:
        self._blocks: deque[Samples] = deque()
        self._flows = False
        self._least = WINDOW
        self._seen = 0

    def push(self, block: Samples) -> None:
        self._blocks.append(block)

    def paused(self, seconds: float) -> None:
        """The loudspeaker was silent for so long because nothing was written in time (an xrun)."""
        self._blocks.extend([SILENT] * round(seconds / BLOCK_S))

    def lost(self, seconds: float) -> None:
        """The microphones lost so much sound: what was played meanwhile is no block's reference."""
        for _ in range(min(round(seconds / BLOCK_S), len(self._blocks))):
            self._blocks.popleft()

    def take(self) -> Samples:
        """(160,) of the block that was captured next."""
        self._flows = self._flows or len(self._blocks) > MARGIN
        if not self._flows or not self._blocks:
            return SILENT
        block = self._blocks.popleft()
        self._least, self._seen = min(self._least, len(self._blocks)), self._seen + 1
        if self._seen >= WINDOW:
            if self._least <= MARGIN + SPARE:
                self._least, self._seen = WINDOW, 0
            elif not block.any() and self._blocks:            # too long a way: shorten it where nobody hears
                block = self._blocks.popleft()
                self._least, self._seen = WINDOW, 0
        return block
