"""What people do without words: notes for the engine, each with its time."""
from collections.abc import Sequence
from dataclasses import dataclass

from dialogue.engine import Cue
from dialogue.floor import ROBOT_SOUNDS, State
from perception.audio.manner import NOTHING, Manner, Measure, Utterance
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
    sure: float = 0.6              # 0..1: confidence from which a sigh or a manner of speaking is told
    fast: float = 5.5              # syllables/s without pauses; conversation has 3 to 5 (de Jong & Wempe 2009)
    slow: float = 2.3              # syllables/s
    hesitant_share: float = 0.3    # of silence inside an utterance ...
    hesitant: float = 0.6          # s ... with a pause this long
    rising: float = 12.0           # semitones/s at the end: a question asks back or goes on
    breathy: float = 0.7           # 0..1


class Cues:
    """Watches for nods, shakes and waves, looks away from a speaking robot, long silences, sighs, manners of speech."""

    def __init__(self, config: CueConfig = CueConfig()):
        self.config = config
        self._gestured: dict[tuple[str, str], float] = {}
        self._attentive: set[str] = set()
        self._away_since: dict[str, float] = {}
        self._silent_since: float | None = None

    def step(self, t: float, sight: Sight, people: Sequence[Person], floor: State, manner: Manner = NOTHING,
             ) -> list[Cue]:
        """The notes of t (s)."""
        return (self._gestures(sight, people) + self._looks(t, people, floor) + self._pauses(t, floor)
                + self._manners(people, manner))

    def _gestures(self, sight: Sight, people: Sequence[Person]) -> list[Cue]:
        names = {p.face: p.id for p in people if p.face is not None}
        cues = []
        if sight.gestures:                  # what is too old to count again goes: faces come and go for weeks
            oldest = sight.gestures[0].t - self.config.again
            self._gestured = {key: t for key, t in self._gestured.items() if t > oldest}
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

    def _manners(self, people: Sequence[Person], manner: Manner) -> list[Cue]:
        """How something was said, or sighed, by whom was heard last."""
        heard = [p for p in people if p.heard_at is not None]
        who = max(heard, key=lambda p: p.heard_at or 0.0).id if heard else None
        cues = []
        if manner.sigh is not None and manner.sigh.confidence >= self.config.sure:
            cues.append(Cue(manner.sigh.end, "sighs", who))
        if manner.utterance is not None:
            cues += [Cue(manner.utterance.end, name, who) for name in self._told_of(manner.utterance)]
        return cues

    def _told_of(self, said: Utterance) -> list[str]:
        """What of an utterance is both sure and out of the ordinary."""
        config = self.config

        def sure(measure: Measure, usual: float) -> float:
            told = measure.value is not None and measure.confidence >= config.sure
            return measure.value if told and measure.value is not None else usual

        pace = sure(said.articulation, 0.5 * (config.slow + config.fast))
        hesitates = (sure(said.pauses, 0.0) >= config.hesitant_share
                     and sure(said.longest_pause, 0.0) >= config.hesitant)
        said_so = {"speaks_fast": pace >= config.fast, "speaks_slowly": pace <= config.slow, "hesitates": hesitates,
                   "ends_high": sure(said.pitch_end, 0.0) >= config.rising,
                   "sounds_breathy": sure(said.breathiness, 0.0) >= config.breathy}
        return [name for name, so in said_so.items() if so]
