"""Recall against false stops: both thresholds moved together over the evidence that the ears weighed."""
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from perception.audio.barge_in import BargeInConfig
from robot.hearing_bench.judging import Alarms, reaction
from robot.hearing_bench.listening import HeardTake, replayed

SHIFTS = tuple(float(shift) for shift in np.arange(-3.0, 3.01, 0.5))    # log-odds added to both thresholds


@dataclass(frozen=True, slots=True)
class Point:
    """One operating point, quiet or moving. The shift 0 is the one in use."""

    decision: str        # stop or duck
    moving: bool
    shift: float
    hits: int
    people: int
    false: int
    hours: float         # of robot speech without a person, a noise or a slip

    @property
    def recall(self) -> float:
        return self.hits / self.people if self.people else float("nan")

    @property
    def false_an_hour(self) -> float:
        return self.false / self.hours if self.hours else float("nan")


def swept(heard: Iterable[HeardTake], config: BargeInConfig, shifts: Sequence[float] = SHIFTS) -> list[Point]:
    """Points of all shifts, decisions and motions."""
    takes = [(take.truth, take.evidence.tolist()) for take in heard if take.truth.robot_speech]
    return [point for shift in shifts for point in _at(takes, config, shift)]


def _at(takes: list, config: BargeInConfig, shift: float) -> list[Point]:
    moved = replace(config, duck_at=config.duck_at + shift, stop_at=config.stop_at + shift)
    alarms = {"stop": Alarms(), "duck": Alarms()}
    hits = {(decision, moving): [0, 0] for decision in alarms for moving in (False, True)}
    for truth, evidence in takes:
        for decision, times in zip(alarms, replayed(evidence, moved), strict=True):
            alarms[decision].add(truth, times)
            for speech in truth.speech:
                if speech.addressed:
                    counts = hits[decision, truth.moving]
                    counts[0] += reaction(times, speech.onset) is not None
                    counts[1] += 1
    return [Point(decision, moving, shift, hit, people, alarms[decision].count["moving" if moving else "quiet"],
                  alarms[decision].seconds["moving" if moving else "quiet"] / 3600)
            for (decision, moving), (hit, people) in hits.items()]
