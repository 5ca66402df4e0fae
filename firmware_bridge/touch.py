"""What a hand does, from touch pads that are either touched or not. Pure.

One pad or several in a row along the back or head. A tap is short. A stroke runs over several pads, comes and goes on
one (fur, a moving palm), or rests on the only pad about as long as a hand needs to pass. A hold stays.
"""
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

TouchKind = Literal["tap", "stroke", "hold"]


@dataclass(frozen=True, slots=True)
class Touch:
    """What a hand has just done, at t (s)."""

    t: float
    kind: TouchKind


@dataclass(frozen=True, slots=True)
class TouchSenseConfig:
    """Times in s. People tap for 0.05 to 0.2 s and stroke at 1 to 10 cm/s (Essick et al., 2010)."""

    bounce: float = 0.02       # a level counts when it has stood so long: capacitive pads chatter for some ms
    gap: float = 0.25          # without any contact after which the hand is gone: between two strokes it lifts shortly
    tap: float = 0.3           # a longer contact is no tap
    hold: float = 1.2          # of contact without movement from which a hand rests; a pad is passed sooner
    touches: int = 3           # contacts of one pad, in one visit, that are a stroke
    again: float = 1.0         # between two strokes told while a hand goes on


class TouchSense:
    """Pads' levels to touches, one step a reading."""

    def __init__(self, pads: int, config: TouchSenseConfig = TouchSenseConfig()):
        self.config = config
        self._level = [False] * pads        # without bounce
        self._since = [0.0] * pads          # s for which the raw level has differed
        self._free = config.gap             # s without contact
        self._begin_visit()

    def _begin_visit(self) -> None:
        self._contacts = [0] * len(self._level)
        self._lasted = self._still = 0.0    # s of contact, and of it without movement
        self._told_at: float | None = None  # s, on the visit's own clock, of the last touch told
        self._clock = 0.0
        self._held = False

    def step(self, t: float, dt: float, levels: Sequence[bool]) -> Touch | None:
        """The touch that is known at t (s), dt s after the step before. levels: one a pad, True touched."""
        began = self._steady(dt, levels)
        self._clock += dt
        if any(self._level):
            self._free = 0.0
            self._lasted += dt
            self._still = 0.0 if began else self._still + dt
        else:
            self._free += dt
        kind = self._kind(began)
        if self._free >= self.config.gap:
            self._begin_visit()
        return None if kind is None else Touch(t, kind)

    def _steady(self, dt: float, levels: Sequence[bool]) -> bool:
        """Takes over levels that have stood; True when a contact has begun."""
        began = False
        for pad, raw in enumerate(levels):
            self._since[pad] = self._since[pad] + dt if raw != self._level[pad] else 0.0
            if self._since[pad] >= self.config.bounce - 1e-9:
                self._level[pad], self._since[pad] = raw, 0.0
                if raw:
                    began = True
                    self._contacts[pad] += 1
        return began

    def _kind(self, began: bool) -> TouchKind | None:
        config = self.config
        strokes = sum(c > 0 for c in self._contacts) > 1 or max(self._contacts, default=0) >= config.touches
        if strokes and began and (self._told_at is None or self._clock - self._told_at >= config.again):
            self._told_at = self._clock
            return "stroke"
        if self._still >= config.hold and not self._held:
            self._held, self._told_at = True, self._clock
            return "hold"
        if self._free >= config.gap and self._lasted > 0.0 and self._told_at is None:
            return "tap" if self._lasted <= config.tap else "stroke"
        return None
