"""How long each stage of the mind takes in a live run. A clock around the stages, never inside one."""
import time
from dataclasses import dataclass, field
from typing import Any

from robot.mind import Mind

STAGES = ("ears", "eyes", "people", "dialogue", "touch", "mover", "sparing")


def bare(stage: Any) -> Any:
    """The stage itself: what is left of a clocked one that was kept as bytes."""
    return stage


class ClockedStage:
    """A stage whose `step` is timed; everything else is the stage's own. Kept as bytes, it is the bare stage."""

    def __init__(self, name: str, stage: Any, spent: dict[str, float]):
        self._name, self._stage, self._spent = name, stage, spent

    def step(self, *arguments: Any, **named: Any) -> Any:
        began = time.perf_counter()
        try:
            return self._stage.step(*arguments, **named)
        finally:
            self._spent[self._name] = self._spent.get(self._name, 0.0) + time.perf_counter() - began

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stage, name)

    def __reduce__(self) -> Any:
        return bare, (self._stage,)


@dataclass
class StageClock:
    """spent: s in each stage since the start."""

    spent: dict[str, float] = field(default_factory=dict)

    def watch(self, mind: Mind) -> None:
        """Puts the clock around the stages of a mind."""
        for name in STAGES:
            setattr(mind, name, ClockedStage(name, getattr(mind, name), self.spent))
