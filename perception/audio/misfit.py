"""Does the echo estimate fit? When it adds sound instead of removing it, the echo has moved: no near voice does that.

A residual that is stronger than the microphone needs an estimate that is nearly unrelated to the echo, as after a slip
of the playback. A voice, motors or noise over the echo raise both, and the residual stays the smaller one.
"""
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class MisfitConfig:
    """Powers are summed over `over` blocks of 10 ms."""

    over: int = 5              # 50 ms: shorter sums of unrelated sounds cancel by chance
    adds: float = 1.2          # residual over microphone power of an estimate that does not fit
    fits: float = 0.3          # the same, of one that fits (5 dB): what never fitted cannot have moved
    loud: float = 0.01         # of the estimate's recent peak: in the fading end of the echo every estimate is wrong
    over_after: int = 10       # blocks without a sign until it is over
    longest: int = 40          # blocks: a filter that does not fit for so long has to learn anew


class Misfit:
    """Counts the blocks since the estimate stopped fitting; 0: it fits, or never did."""

    def __init__(self, config: MisfitConfig = MisfitConfig()):
        self.config = config
        self._powers = np.zeros((3, config.over))    # microphone, residual, echo estimate; newest last
        self._peak = 0.0                             # of the estimate
        self.mended()

    def mended(self) -> None:
        """The estimate was put right: judge it afresh."""
        self.blocks = self._calm = 0
        self._fitted = False
        self._powers[:] = 0

    def step(self, mic: float, residual: float, echo: float) -> int:
        """Powers of one block."""
        config = self.config
        self._powers[:, :-1] = self._powers[:, 1:]
        self._powers[:, -1] = mic, residual, echo
        heard, left, expected = self._powers.sum(axis=1)
        self._peak = max(expected, 0.995 * self._peak)
        loud = expected > config.loud * self._peak
        adds = loud and left > config.adds * heard
        self._calm = 0 if adds else self._calm + 1
        if loud and left < config.fits * heard:
            self._fitted = True
        if self.blocks or (adds and self._fitted):
            self.blocks += 1
        if self._calm > config.over_after:
            self.blocks = 0
        elif self.blocks > config.longest:
            self.blocks, self._fitted = 0, False
        return self.blocks
