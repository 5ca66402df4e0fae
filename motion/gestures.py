"""Gestures: a few positions one after the other; the limiter makes them round.

Sizes are larger than what is seen, because the limiter's averages take about a third off a nod. A nod starts downwards
and dies away, a shake turns the line of sight to both sides, a tilt holds.
"""
from math import radians

from motion.intent import GestureName
from motion.limiter import DT
from motion.workspace import PITCH, ROLL, YAW

# name: coordinate, then (offset in rad, s to get there) one after the other
SCORES: dict[GestureName, tuple[int, tuple[tuple[float, float], ...]]] = {
    "nod": (PITCH, ((radians(13.5), 0.23), (radians(-5.0), 0.25), (radians(8.0), 0.24), (0.0, 0.26))),
    "shake": (YAW, ((radians(9.5), 0.20), (radians(-11.5), 0.30), (radians(10.5), 0.30), (radians(-7.0), 0.28),
                    (0.0, 0.24))),
    "tilt": (ROLL, ((radians(12.0), 0.35), (radians(12.0), 0.80), (0.0, 0.45))),
}


class Gestures:
    """At most one gesture; a new one begins from wherever the last one is."""

    def __init__(self) -> None:
        self._offset = [0.0] * 9
        self._goals: list[tuple[list[float], int]] = []     # (offset of all coordinates, ticks left)

    def start(self, name: GestureName) -> None:
        """Begin a gesture now; what is left of another one fades into it."""
        coordinate, score = SCORES[name]
        self._goals = []
        for size, seconds in score:
            goal = [0.0] * 9
            goal[coordinate] = size
            self._goals.append((goal, round(seconds / DT)))

    def stop(self) -> None:
        """Let a running gesture fade."""
        if self._goals:
            self._goals = [([0.0] * 9, round(0.3 / DT))]

    def step(self) -> list[float]:
        """The offset (9) of this tick, in the order of motion.workspace.COORDINATES."""
        if self._goals:
            goal, left = self._goals[0]
            self._offset = [o + (g - o) / left for o, g in zip(self._offset, goal, strict=True)]
            self._goals[0] = (goal, left - 1)
            if left == 1:
                self._goals.pop(0)
        return self._offset
