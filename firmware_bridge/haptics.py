"""What the vibration motor does: patterns as data, and their strength at any moment. Pure.

Small eccentric motors begin to turn at about a quarter of their voltage and need some 30 ms to spin up, so patterns are
slow curves with soft edges; what is quicker is heard rather than felt.
"""
from dataclasses import dataclass

REST = "rest"                  # ends a pattern
EDGE_S = 0.04                  # s to fade out; an edge that is harder clicks
LEAST, MOST = 0.0, 1.0

Curve = tuple[tuple[float, float], ...]

# name: (strength 0..1, s to get there on a straight line) one after the other, from rest and back to it
PATTERNS: dict[str, Curve] = {
    "tap": ((0.7, 0.03), (0.7, 0.05), (0.0, 0.04)),
    "purr": ((0.35, 0.25), (0.22, 0.22), (0.38, 0.25), (0.22, 0.22), (0.38, 0.25), (0.22, 0.22), (0.3, 0.2),
             (0.0, 0.35)),                                       # in and out like a breath, two a second as cats do
    "heartbeat": ((0.6, 0.04), (0.0, 0.10), (0.4, 0.04), (0.0, 0.12), (0.0, 0.55),
                  (0.6, 0.04), (0.0, 0.10), (0.4, 0.04), (0.0, 0.12)),      # lub-dub at 70 a minute
    "refusal": ((0.8, 0.03), (0.8, 0.12), (0.0, 0.04), (0.0, 0.08), (0.8, 0.03), (0.8, 0.12), (0.0, 0.04)),
    "greeting": ((0.3, 0.10), (0.0, 0.10), (0.5, 0.12), (0.0, 0.15)),
}


@dataclass(slots=True)
class Haptics:
    """At most one pattern; a new one begins from the strength of the last one."""

    strength: float = 0.0
    _left: tuple[tuple[float, float], ...] = ()
    _from: float = 0.0
    _into: float = 0.0         # s into the first piece of what is left

    def start(self, name: str) -> None:
        """Begin a pattern now, or come to rest softly. KeyError for a name that is no pattern."""
        self._left = ((0.0, EDGE_S),) if name == REST else PATTERNS[name]
        self._from, self._into = self.strength, 0.0

    def step(self, dt: float) -> float:
        """Strength 0..1 after dt s more."""
        self._into += dt
        while self._left and self._into >= self._left[0][1] - 1e-9:
            self._from = self.strength = self._left[0][0]
            self._into -= self._left[0][1]
            self._left = self._left[1:]
        if self._left:
            goal, seconds = self._left[0]
            self.strength = self._from + (goal - self._from) * max(self._into, 0.0) / seconds
        return self.strength

    @property
    def active(self) -> bool:
        return bool(self._left) or self.strength > 0.0
