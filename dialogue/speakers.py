"""Who spoke during a turn: the one who was believed to speak for the longest part of it and is still there.

Whom the robot looks at when the turn is over may be somebody else, who said "yeah" at its end; what was told is not
theirs.
"""
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from perception.people import Person

KEPT = 128       # stretches of one voice: more than a turn of half a minute has
SEEN_S = 1.0     # since a sighting: an older one tells nothing of where somebody looks
AWAY = 0.25      # 0..1: attention that stays below it is meant for somebody else; the cue of looking away has the same


@dataclass
class Speakers:
    """Stretches of time (s) in which one person was believed to speak, and the most they looked, oldest first."""

    _stretches: deque[tuple[str, float, float, float]] = field(default_factory=lambda: deque(maxlen=KEPT))
    _last_t: float = 0.0

    def step(self, t: float, people: Sequence[Person]) -> None:
        """What is believed at t (s)."""
        before, self._last_t = self._last_t, t
        speaker = next((person for person in people if person.speaking), None)
        if speaker is None:
            return
        seen = speaker.seen_at is not None and t - speaker.seen_at <= SEEN_S
        looks = speaker.attention if seen else 1.0         # in doubt it is for the robot
        last = self._stretches[-1] if self._stretches else None
        if last is not None and last[0] == speaker.id and last[2] == before:
            self._stretches[-1] = (speaker.id, last[1], t, max(last[3], looks))
        else:
            self._stretches.append((speaker.id, before, t, looks))

    def between(self, begin: float, end: float, people: Sequence[Person]) -> str | None:
        """Who of these people spoke longest between two times (s); None: nobody is known to have spoken."""
        spoken = {person.id: 0.0 for person in people}
        for speaker, since, until, _ in self._stretches:
            if speaker in spoken:
                spoken[speaker] += max(0.0, min(end, until) - max(begin, since))
        longest = max(spoken, key=lambda speaker: spoken[speaker], default=None)
        return longest if longest is not None and spoken[longest] > 0.0 else None

    def aside(self, person: str, begin: float, end: float) -> bool:
        """Whether this person spoke between two times (s) and was seen to look elsewhere all the while."""
        looks = [most for speaker, since, until, most in self._stretches
                 if speaker == person and since < end and until > begin]
        return bool(looks) and max(looks) < AWAY
