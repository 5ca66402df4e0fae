"""Hands on the robot, and what its vibration motor does: the touch pads and the motor of the simulated body."""
from dataclasses import dataclass, field

from firmware_bridge.haptics import Haptics
from firmware_bridge.touch import Touch, TouchKind, TouchSense

PADS = 2
# kind: (pad, begin s, end s) of the contacts that a hand makes
HANDS: dict[TouchKind, tuple[tuple[int, float, float], ...]] = {
    "tap": ((0, 0.0, 0.12),),
    "stroke": ((0, 0.0, 0.5), (1, 0.35, 0.9)),
    "hold": ((0, 0.0, 2.0),),
}


@dataclass
class Skin:
    """Contacts told by a script, sensed as real pads are."""

    haptics: Haptics = field(default_factory=Haptics)
    _sense: TouchSense = field(default_factory=lambda: TouchSense(PADS))
    _contacts: list[tuple[int, float, float]] = field(default_factory=list)

    def touch(self, t: float, kind: TouchKind) -> None:
        """A hand begins to do this at t (s)."""
        self._contacts += [(pad, t + begin, t + end) for pad, begin, end in HANDS[kind]]

    def step(self, t: float, dt: float) -> tuple[Touch, ...]:
        """What was felt in the dt s up to t; the motor goes on meanwhile."""
        self.haptics.step(dt)
        self._contacts = [contact for contact in self._contacts if contact[2] > t]
        touched = {pad for pad, begin, _ in self._contacts if begin <= t}
        felt = self._sense.step(t, dt, [pad in touched for pad in range(PADS)])
        return () if felt is None else (felt,)
