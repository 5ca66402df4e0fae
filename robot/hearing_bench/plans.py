"""Which takes are drawn: the kinds in turn, so that a longer draw begins with the shorter one."""
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["barge_in", "barge_in_moving", "robot_alone", "robot_alone_moving", "slip", "distractor", "talker",
               "talker_sweep", "noise_only", "moving_silent"]

ECHO_LEVELS_DB = (0.0, -10.0, -20.0)      # of the person over the robot's voice, at the microphones
NOISE_LEVELS_DB = (20.0, 10.0, 0.0)       # of the person over the room's noise
SECONDS: dict[Kind, float] = {"barge_in": 16.0, "barge_in_moving": 16.0, "robot_alone": 25.0,
                              "robot_alone_moving": 25.0, "slip": 25.0, "distractor": 25.0, "talker": 6.0,
                              "talker_sweep": 9.0, "noise_only": 12.0, "moving_silent": 12.0}
# One round is six minutes: 18 people who interrupt, 100 s of a robot alone.
ROUND: tuple[Kind, ...] = (
    "barge_in_moving", "barge_in", "robot_alone_moving", "talker", "barge_in_moving", "barge_in", "distractor",
    "talker_sweep", "barge_in_moving", "barge_in", "robot_alone", "talker", "noise_only", "barge_in_moving", "slip",
    "barge_in_moving", "barge_in", "robot_alone_moving", "talker", "moving_silent", "talker_sweep", "robot_alone")


@dataclass(frozen=True, slots=True)
class Plan:
    """One take to draw. speaks, moves: the robot does; people: how often a person says something."""

    name: str
    kind: Kind
    seconds: float
    people: int = 0
    level_db: float = 0.0        # of the person over the echo; where the robot is silent, over the room's noise

    @property
    def speaks(self) -> bool:
        return self.kind in ("barge_in", "barge_in_moving", "robot_alone", "robot_alone_moving", "slip", "distractor")

    @property
    def moves(self) -> bool:
        return self.kind in ("barge_in_moving", "robot_alone_moving", "talker_sweep", "moving_silent")


def plans(minutes: float) -> Iterator[Plan]:
    """Takes of at least `minutes` together."""
    count, total = dict.fromkeys(SECONDS, 0), 0.0
    while total < 60 * minutes:
        kind = ROUND[sum(count.values()) % len(ROUND)]
        levels = ECHO_LEVELS_DB if kind in ("barge_in", "barge_in_moving") else NOISE_LEVELS_DB
        level = levels[count[kind] % len(levels)] if kind != "talker_sweep" else NOISE_LEVELS_DB[0]
        people = {"barge_in": 2, "barge_in_moving": 2, "talker": 1, "talker_sweep": 1}.get(kind, 0)
        yield Plan(f"{kind}_{count[kind]:04d}", kind, SECONDS[kind], people, level)
        count[kind] += 1
        total += SECONDS[kind]
