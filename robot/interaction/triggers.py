"""When the steps of a timeline happen.

Steps are taken in order: one that waits for an event, for heard words or for a state waits for all steps above it too;
`at` alone waits for nobody. An event counts for a step when the time it leads to (event + ms) is not before the step
above happened, nor before the same person has finished talking: so a list of lines that each wait for `reply_end` is a
talk, and two people who wait for the same moment speak at once. Times are compared in virtual seconds.
"""
from collections.abc import Iterator
from dataclasses import dataclass, field

from robot.interaction.timeline import Says, Step
from robot.tick import Event

_EPSILON = 1e-6     # s: times are sums of ticks
MOVING_DEG_S = 5.0  # of the line of sight: breathing and sway stay below, a look elsewhere is above


@dataclass(frozen=True, slots=True)
class Now:
    """What a step may wait for, at one tick. generation, heard_ms: of the reply that sounds; 0 when none does."""

    t: float
    events: tuple[Event, ...] = ()
    generation: int = 0
    heard_ms: float = 0.0
    speaking: bool = False
    moving: bool = False


@dataclass
class Triggers:
    """Follows a run tick by tick and says which steps happen."""

    steps: tuple[Step, ...]
    happened: dict[int, float] = field(default_factory=dict)      # step -> s
    _events: dict[str, list[float]] = field(default_factory=dict)
    _generation: int = 0
    _heard: list[tuple[float, float]] = field(default_factory=list)   # (s, ms) of the running reply
    _talking_until: dict[str, float] = field(default_factory=dict)    # person -> s

    def due(self, now: Now) -> Iterator[int]:
        """Steps that happen now, in order; between two of them the caller tells `talks` of what was begun."""
        for event in now.events:
            self._events.setdefault(event.name, []).append(event.t)
        if now.generation != self._generation:
            self._generation, self._heard = now.generation, []
        if now.generation and (not self._heard or now.heard_ms > self._heard[-1][1]):
            self._heard.append((now.t, now.heard_ms))
        for i in range(len(self.steps)):
            if i not in self.happened and self.reason_to_wait(i, now) is None:
                self.happened[i] = now.t
                yield i

    def talks(self, person: str, until: float) -> None:
        """A person has begun an utterance that ends at `until` (s)."""
        self._talking_until[person] = max(until, self._talking_until.get(person, 0.0))

    def reason_to_wait(self, i: int, now: Now) -> str | None:
        """Why step i does not happen now, None when it does."""
        step, when = self.steps[i], self.steps[i].when
        if when.at is not None and now.t < when.at - _EPSILON:
            return f"it was not {when.at:g} s yet"
        if when.event is not None or when.heard_ms is not None or when.at is None:
            above = [j for j in range(i) if j not in self.happened]
            if above:
                return f"the step of line {self.steps[above[0]].line} had not happened"
        earliest = self._earliest(i, step)
        if when.event is not None:
            times = [t + when.event_ms / 1000 for t in self._events.get(when.event, ())]
            if not any(earliest - _EPSILON <= t <= now.t + _EPSILON for t in times):
                return f"no {when.event} came" + (" after the step above" if times else "")
        if when.heard_ms is not None:
            crossed = next((t for t, ms in self._heard if ms >= when.heard_ms - _EPSILON), None)
            if crossed is None or crossed < earliest - _EPSILON:
                return f"no reply was heard for {when.heard_ms:g} ms" + (" after the step above" if crossed else "")
        holds = {"robot_speaking": now.speaking, "robot_silent": not now.speaking, "robot_moving": now.moving,
                 None: True}[when.during]
        return None if holds else f"it was not true that {when.during}"

    def _earliest(self, i: int, step: Step) -> float:
        """Before this time (s) nothing that step i waits for counts."""
        above = max((self.happened.get(j, 0.0) for j in range(i)), default=0.0)
        voices = [a.person for a in step.actions if isinstance(a, Says)]
        return max([above, *(self._talking_until.get(person, 0.0) for person in voices)])
