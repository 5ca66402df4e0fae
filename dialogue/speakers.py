"""Who spoke during a turn: the one who was believed to speak for the longest part of it and is still there.

Whom the robot looks at when the turn is over may be somebody else, who said "yeah" at its end; what was told is not
theirs.
"""
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from perception.people import Person

KEPT = 128       # stretches of one voice: more than a turn of half a minute has


@dataclass
class Speakers:
    """Stretches of time (s) in which one person was believed to speak, oldest first."""

    _stretches: deque[tuple[str, float, float]] = field(default_factory=lambda: deque(maxlen=KEPT))
    _last_t: float = 0.0

    def step(self, t: float, people: Sequence[Person]) -> None:
        """What is believed at t (s)."""
        before, self._last_t = self._last_t, t
        speaker = next((person.id for person in people if person.speaking), None)
        if speaker is None:
            return
        last = self._stretches[-1] if self._stretches else None
        if last is not None and last[0] == speaker and last[2] == before:
            self._stretches[-1] = (speaker, last[1], t)
        else:
            self._stretches.append((speaker, before, t))

    def between(self, begin: float, end: float, people: Sequence[Person]) -> str | None:
        """Who of these people spoke longest between two times (s); None: nobody is known to have spoken."""
        spoken = {person.id: 0.0 for person in people}
        for speaker, since, until in self._stretches:
            if speaker in spoken:
                spoken[speaker] += max(0.0, min(end, until) - max(begin, since))
        longest = max(spoken, key=lambda speaker: spoken[speaker], default=None)
        return longest if longest is not None and spoken[longest] > 0.0 else None
