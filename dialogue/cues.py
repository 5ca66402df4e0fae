"""What people do without words: notes for the engine, each with its time."""
from collections.abc import Sequence
from dataclasses import dataclass

from dialogue.engine import Cue
from dialogue.floor import ROBOT_SOUNDS, State
from perception.people import Person
from perception.vision.frame import Sight

NAMES = {"nod": "nods", "shake": "shakes_head", "wave": "waves"}


@dataclass(frozen=True, slots=True)
class CueConfig:
    """When a look away or a silence is worth a note."""

    away: float = 0.25             # 0..1: attention below it is a look away ...
    there: float = 0.5             # ... after it had been above this
    away_time: float = 1.5         # s; shorter looks away are thinking
    long_pause: float = 6.0        # s without a word from anybody after the robot has spoken
    again: float = 1.0             # s before the same gesture of the same person counts again


class Cues:
    """Watches for nods, shakes and waves, looks away from a speaking robot, and long silences."""

    def __init__(self, config: CueConfig = CueConfig()):
        self.config = config
        self._gestured: dict[tuple[str, str], float] = {}
        self._attentive: set[str] = set()
        self._away_since: dict[str, float] = {}
        self._silent_since: float | None = None

    def step(self, t: float, sight: Sight, people: Sequence[Person], floor: State) -> list[Cue]:
        """The notes of t (s)."""
        return self._gestures(sight, people) + self._looks(t, people, floor) + self._pauses(t, floor)

    def _gestures(self, sight: Sight, people: Sequence[Person]) -> list[Cue]:
        names = {p.face: p.id for p in people if p.face is not None}
        cues = []
        for gesture in sight.gestures:
            key = (gesture.id, gesture.name)
            if gesture.t - self._gestured.get(key, -1e9) >= self.config.again:
                cues.append(Cue(gesture.t, NAMES[gesture.name], names.get(gesture.id, gesture.id)))
            self._gestured[key] = gesture.t
        return cues

    def _looks(self, t: float, people: Sequence[Person], floor: State) -> list[Cue]:
        present = {p.id for p in people}
        self._attentive &= present
        self._away_since = {i: s for i, s in self._away_since.items() if i in present}
        cues = []
        for person in people:
            if person.attention >= self.config.there:
                self._attentive.add(person.id)
                self._away_since.pop(person.id, None)
            elif person.attention < self.config.away and person.id in self._attentive and floor in ROBOT_SOUNDS:
                since = self._away_since.setdefault(person.id, t)
                if t - since >= self.config.away_time:
                    self._attentive.discard(person.id)  # told once, until the person looks again
                    cues.append(Cue(t, "looks_away", person.id))
        return cues

    def _pauses(self, t: float, floor: State) -> list[Cue]:
        if floor != "idle":
            self._silent_since = t
        elif self._silent_since is not None and t - self._silent_since >= self.config.long_pause:
            self._silent_since = None  # told once, until somebody speaks again
            return [Cue(t, "long_pause")]
        return []
