"""Events against the truth: hits with their latency, false alarms with their class."""
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from robot.hearing_bench.truth import CLASSES, FRAME_S, Class, Truth

HIT_WINDOW_S = 1.5       # a later reaction is a miss: the person has given up, or it was chance
REFRACTORY_S = 2.0       # further events within this count as one: the robot has already stopped


@dataclass
class Alarms:
    """Events of several takes by class (only "person" is no false one), and for how long the robot spoke in each."""

    count: dict[Class, int] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0))
    seconds: dict[Class, float] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0.0))

    def add(self, truth: Truth, times: Iterable[float]) -> "Alarms":
        """Events of one take. Only takes in which the robot speaks count: nothing can be interrupted elsewhere."""
        if not truth.robot_speech:
            return self
        classes = truth.classes()
        for place, frames in enumerate(np.bincount(classes[truth.speaking()], minlength=len(CLASSES))):
            self.seconds[CLASSES[place]] += float(frames) * FRAME_S
        of_class: dict[Class, list[float]] = {}
        for t in times:
            place = classes[min(round(t / FRAME_S), classes.size - 1)]
            of_class.setdefault(CLASSES[place], []).append(t)
        for name, found in of_class.items():
            self.count[name] += len(merged(found))
        return self

    def rate(self, name: Class) -> float:
        """False alarms an hour."""
        return 3600 * self.count[name] / self.seconds[name] if self.seconds[name] else 0.0

    def chance(self, name: Class) -> float:
        """The recall that false alarms alone would give."""
        return 1 - float(np.exp(-self.rate(name) * HIT_WINDOW_S / 3600))


def merged(times: Iterable[float]) -> list[float]:
    """Without those that follow one that counts within REFRACTORY_S."""
    kept: list[float] = []
    for t in times:
        if not kept or t - kept[-1] >= REFRACTORY_S - 1e-9:
            kept.append(t)
    return kept


def reaction(times: Sequence[float], onset: float) -> float | None:
    """Seconds from an onset to the first event after it; None when it comes too late or never."""
    return next((t - onset for t in times if onset <= t <= onset + HIT_WINDOW_S), None)
