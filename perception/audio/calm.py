"""Is there anything to look at closely? In a silent room most of the work of listening finds nothing.

While a room is calm every other block is looked at in full, and slow detectors wait; the first block that shows
anything ends it before that block is judged, so that every block of a voice is looked at as ever.
"""
from dataclasses import dataclass

from perception.audio.spectrum import Powers


@dataclass(frozen=True, slots=True)
class CalmConfig:
    """Tried on the 94 practice takes of shared/bench/hear with `starts` of 0.2 s, where it is hardest: false stops and
    speech recall as without it, medians within 5 ms, one stop fewer at 20 dB under the robot's voice (2 of 6, not 3).
    """

    mean: float = 1.8         # power over what is expected, mean of the bands; noise has 1.5 in one block of 100
    peak: float = 8.0         # the same of one band; noise has 5.8 in one block of 100
    after: int = 20           # blocks without anything; 0.2 s, longer than the gaps inside words
    starts: int = 300         # blocks, 3 s, in which noise, echo and baseline are still being learned
    log_odds: float = -1.5    # that somebody speaks, from which it is never calm; silence has -2.5
    motors: float = 0.3       # share of the expected noise at full pace, the same: breathing has 0.1


class Calm:
    """Counts the blocks in which nothing was found."""

    def __init__(self, config: CalmConfig = CalmConfig()):
        self.config = config
        self._blocks = -config.starts

    def step(self, excess: Powers, disturbed: bool) -> bool:
        """excess (BANDS,) of a block; disturbed: something plays or moves, or somebody may be speaking."""
        config = self.config
        found = disturbed or float(excess.mean()) > config.mean or float(excess.max()) > config.peak
        self._blocks = 0 if found and self._blocks >= 0 else self._blocks + 1
        return self._blocks > config.after

    @property
    def passes(self) -> bool:
        """A calm block that need not be looked at: every other one."""
        return self._blocks > self.config.after and self._blocks % 2 == 0
