"""What truly happened in a run, beside what the robot believed: the ground on which expectations are judged."""
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calibration.frames import Array
from robot.tick import TICK_S, Event

SILENT_DBFS = -60.0     # of the loudspeaker: what is left of its filters ringing, not of a voice
WORD_GAP_S = 0.4        # silences inside a running reply are shorter: pauses between words and clauses


@dataclass(frozen=True, slots=True)
class Utterance:
    """Something a person truly said. onset, end: s, when the sound left the mouth."""

    person: str
    text: str
    onset: float
    end: float


@dataclass(frozen=True, slots=True)
class HeardWord:
    """One word of the robot that left the loudspeaker. t: s, its end; generation: of its reply."""

    t: float
    generation: int
    text: str


@dataclass(frozen=True)
class Trace:
    """A whole run. Arrays have one row a tick (10 ms); row i ends at t = i * TICK_S."""

    events: tuple[Event, ...]
    utterances: dict[int, Utterance]              # by their number in the timeline; those that were said
    level: Array                                  # (n,) dBFS of the loudspeaker's true sound
    generation: NDArray[np.int64]                 # (n,) reply that sounds, 0 none
    sight: Array                                  # (n, 2) rad, azimuth and elevation of the true head's x axis
    places: dict[str, Array]                      # (n,) rad, true azimuth of a person; NaN while not there
    believed: Array                               # (n, 2) rad, direction of the voice and its mirror; NaN when none
    goals: Array                                  # (n, 9) rad, commanded joints
    floor: tuple[tuple[float, str], ...]          # (t s, state) at each change
    words: tuple[HeardWord, ...] = ()
    history: tuple[str, ...] = ()                 # lines of memory at the end, "who: text"
    noises: tuple[tuple[float, float], ...] = ()  # (from s, to s) of noises that the scenario made
    stale_blocks: int = 0                         # of superseded replies, at the loudspeaker
    tick_ms: Array = field(default_factory=lambda: np.zeros(0))   # (n,) compute time; differs between machines
    undone: tuple[tuple[int, str, str], ...] = ()  # (line, source, why) of steps that never happened

    @property
    def end(self) -> float:
        """s"""
        return len(self.level) * TICK_S

    def named(self, name: str) -> list[Event]:
        return [event for event in self.events if event.name == name]

    def sounding(self) -> NDArray[np.bool_]:
        """(n,) the loudspeaker gives sound."""
        return self.level > SILENT_DBFS

    def silence_from(self, t: float, lasting: float = WORD_GAP_S) -> float | None:
        """The first time from t (s) on at which the loudspeaker falls silent for at least `lasting`, or to the end."""
        quiet = 0
        start = max(0, round(t / TICK_S))
        sounding = self.sounding()
        for row in range(start, len(sounding)):
            quiet = 0 if sounding[row] else quiet + 1
            if quiet * TICK_S >= lasting:
                return (row + 1 - quiet) * TICK_S
        return (len(sounding) - quiet) * TICK_S if quiet else None

    def speaking_at(self, t: float) -> bool:
        """The robot is in the middle of speaking at t (s): it gave sound within a word gap before."""
        row = min(len(self.level), round(t / TICK_S) + 1)
        return bool(self.sounding()[max(0, row - round(WORD_GAP_S / TICK_S)):row].any())


def fact(event: Event, name: str) -> object:
    """A fact of an event, None when it has none of that name."""
    return dict(event.facts).get(name)
