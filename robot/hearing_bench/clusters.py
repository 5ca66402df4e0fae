"""False stops by robot voice and by take: they cluster, and a mean over hours hides it."""
from collections.abc import Sequence
from dataclasses import dataclass

from robot.hearing_bench.bounds import rate_below
from robot.hearing_bench.judging import Alarms
from robot.hearing_bench.listening import HeardTake
from robot.hearing_bench.table import DECISIONS
from robot.hearing_bench.truth import Class

COUNTED: tuple[Class, ...] = ("quiet", "moving", "slip")


@dataclass(frozen=True, slots=True)
class Cluster:
    """False stops and ducks of one voice or one take, at rest, moving and around slips together."""

    name: str
    stops: int
    ducks: int
    minutes: float       # of robot speech

    @property
    def stops_an_hour(self) -> float:
        return 60 * self.stops / self.minutes if self.minutes else 0.0

    @property
    def below_an_hour(self) -> float | None:
        """One-sided 95 % bound."""
        return 60 * rate_below(self.stops) / self.minutes if self.minutes else None


def by_voice(heard: Sequence[HeardTake]) -> list[Cluster]:
    """The worst voice first."""
    voices = sorted({take.truth.robot_voice for take in heard if take.truth.robot_speech})
    return _worst_first(_cluster(name, [take for take in heard if take.truth.robot_voice == name]) for name in voices)


def by_take(heard: Sequence[HeardTake]) -> list[Cluster]:
    """Takes with a false stop or duck, the worst first."""
    found = (_cluster(take.name, [take]) for take in heard if take.truth.robot_speech)
    return _worst_first(cluster for cluster in found if cluster.stops or cluster.ducks)


def _cluster(name: str, takes: Sequence[HeardTake]) -> Cluster:
    alarms = {}
    for decision, kinds in DECISIONS.items():
        alarms[decision] = Alarms()
        for take in takes:
            alarms[decision].add(take.truth, take.times(*kinds))
    stops, ducks = (sum(alarms[decision].count[one] for one in COUNTED) for decision in ("stop", "duck"))
    return Cluster(name, stops, ducks, sum(alarms["stop"].seconds[one] for one in COUNTED) / 60)


def _worst_first(clusters) -> list[Cluster]:
    return sorted(clusters, key=lambda one: (-one.stops, -one.ducks, one.name))
