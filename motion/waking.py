"""Setting out from wherever the joints were found: limp, moved by hand, beyond their limits."""
from dataclasses import dataclass
from math import radians

import numpy as np

from calibration.frames import Array
from motion.limiter import DT


@dataclass(frozen=True, slots=True)
class WakingConfig:
    """How gently."""

    seconds: float = 1.8                    # s from the found pose to the wanted one, as falling asleep takes
    offset_speed: float = radians(30.0)     # rad/s at which joints that fit no head pose come back to one


class Waking:
    """From the found pose, on a straight line, to whatever is wanted by then; stands still while it is not stepped."""

    def __init__(self, found: Array, offset: Array, share: float, config: WakingConfig):
        """found: a pose (9,). offset: what the joints (9,) are beside that pose, rad. share: 1 slowly, 0 at once."""
        peak_to_mean = 1.875                # of minimum jerk
        self._found, self._offset = found, offset
        self._ticks = self._left = round(share * config.seconds / DT)
        fade_s = max(config.seconds, peak_to_mean * float(np.abs(offset).max()) / config.offset_speed)
        self._fade = round(fade_s / DT)
        self._fading = self._fade if offset.any() else 0

    @property
    def unfinished(self) -> bool:
        """Still under way, and turns are slow."""
        return self._left > 0

    def step(self, wanted: Array) -> Array:
        """The pose (9,) for the limiter in place of the wanted one: the found one may lie outside the workspace."""
        if not self._left:
            return wanted
        self._left -= 1
        return wanted + self._left / self._ticks * (self._found - wanted)

    def offset(self) -> Array:
        """What is left (9,) rad of the joints' offset in this tick: a minimum-jerk fade."""
        if not self._fading:
            return np.zeros_like(self._offset)
        self._fading -= 1
        s = self._fading / self._fade
        return self._offset * (s ** 3 * (10 - 15 * s + 6 * s ** 2))
