"""How much of the sound is lost: holes between the blocks, and what does not come at all."""
from collections.abc import Iterable
from dataclasses import dataclass

from perception.audio.block import BLOCK_S

WAITS_S = 0.25        # s that sound may be under way: bursts of a network or a loaded sound server
ROUNDING_S = 0.001    # s between blocks that is no hole: clocks drift, times are estimated


@dataclass
class AudioLoss:
    """Counts in seconds of sound. Nothing is counted before the first block: a device that never came is not lost."""

    _until: float | None = None      # s, up to where all sound is accounted for, come or lost
    _came: float = 0.0               # s, end of the newest block

    def step(self, t: float, ends: Iterable[float]) -> float:
        """Seconds of sound lost, as far as it can be said at t (s). ends: times of the ends of the blocks that came."""
        lost = 0.0
        for end in ends:
            if self._until is not None and end - BLOCK_S - self._until > ROUNDING_S:
                lost += end - BLOCK_S - self._until
            self._until = end if self._until is None else max(end, self._until)
            self._came = end
        if self._until is not None and t - WAITS_S > self._until:
            lost += t - WAITS_S - self._until
            self._until = t - WAITS_S
        return lost

    def silent_for(self, t: float) -> float:
        """Seconds without any block; 0 before the first one."""
        return 0.0 if self._until is None else t - self._came
