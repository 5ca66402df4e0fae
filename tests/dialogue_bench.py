"""A talk in virtual time for tests of the dialogue: real Dialogue, real worker, real engine; only the ears are told."""
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from dialogue.engine import Request
from dialogue.engines.scripted import Faults, Rule, ScriptedEngine, SpokenWords
from dialogue.events import Event
from dialogue.loop import Dialogue, DialogueConfig, Turn
from perception.audio.block import BLOCK, frozen_samples
from perception.audio.scene import SoundScene
from perception.people import Person
from perception.vision.frame import Gesture, Sight
from robot.worker import InlineWorker

STORY = ("Once upon a time, there was a robot. It was small, and it liked to talk. It talked all day long, "
         "and in the night it counted its screws.")
RULES = (
    Rule(r"^\W*stop", ""),
    Rule(r"story", STORY),
    Rule(r"red(?!.*blue)", "I bring the red one."),
    Rule(r"blue", "I bring the blue one.", (("gesture", (("name", "nod"),)),)),
    Rule(r"name", "My name is Robin. You can call me Robin."),
    Rule(r"how are you", "I am well. And you?"),
    Rule(r"fine|yes", "Good to hear."),
    Rule("cue:shakes_head", "Oh, you do not agree?"),
)
QUIET = frozen_samples(np.zeros(BLOCK))


@dataclass(frozen=True)
class Said:
    """Words at a time. hum: like a closed mouth; confirmed: the ears get sure of it while the robot speaks."""

    begin: float
    end: float
    words: str
    hum: float = 0.0
    confirmed: bool = True


@dataclass
class Talk:
    """Runs a dialogue against an engine. The ears duck 0.1 s after an onset, stop at 0.25 s, hear an end in 0.05 s."""

    said: tuple[Said, ...] = ()
    rules: tuple[Rule, ...] = RULES
    faults: Faults = field(default_factory=Faults)
    config: DialogueConfig = field(default_factory=DialogueConfig)
    people: Callable[[float], tuple[Person, ...]] = lambda t: ()
    gestures: tuple[Gesture, ...] = ()
    head_yaw: Callable[[float], float | None] = lambda t: None
    blocks: Callable[[int], int] = lambda index: 1
    turns: list[Turn] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self):
        self.dialogue = Dialogue(self.config)
        words = SpokenWords(tuple((s.begin, s.end, s.words) for s in self.said))
        self.worker = InlineWorker(lambda: ScriptedEngine(self.rules, words, faults=self.faults))

    def run(self, until: float) -> "Talk":
        for index in range(len(self.turns), round(until / 0.01)):
            t = index * 0.01
            sight = Sight(t, gestures=tuple(g for g in self.gestures if t - 0.005 <= g.t < t + 0.005))
            count = self.blocks(index)
            replies = tuple(self.worker.poll(t))
            turn = self.dialogue.step(t, self.people(t), sight, self._sound(t, count), replies, count, self.head_yaw(t))
            for request in turn.requests:
                self.worker.submit(t, request)
            self.requests += turn.requests
            self.turns.append(turn)
        return self

    def _sound(self, t: float, count: int) -> SoundScene:
        said = next((s for s in self.said if s.begin + 0.03 <= t < s.end + 0.05), None)
        clean = frozen_samples(np.zeros(BLOCK * count))
        if said is None:
            return SoundScene(t, clean, evidence=-5.0)
        scene = SoundScene(t, clean, True, said.begin, 5.0, hum=said.hum)
        if self.dialogue.floor.state not in ("robot_speaking", "ducked"):
            return scene
        age = t - said.begin
        sure = said.confirmed and age >= 0.25
        return replace(scene, speech=sure, duck=0.1 <= age < 0.25 or (age >= 0.1 and not said.confirmed),
                       barge_in=sure and age < 0.26)

    def events(self, *names: str) -> list[Event]:
        return [e for turn in self.turns for e in turn.events if not names or e.name in names]

    def names(self, *without: str) -> list[str]:
        skip = {"heard_text", "holds_still", *without}
        return [e.name for e in self.events() if e.name not in skip]

    def asked(self, kind: type) -> list:
        return [r for r in self.requests if isinstance(r, kind)]

    @property
    def sound(self) -> np.ndarray:
        return np.concatenate([turn.spoken for turn in self.turns])

    @property
    def robot_said(self) -> str:
        return " ".join(line.text for line in self.turns[-1].history if line.who == "robot")


def fact(event: Event, name: str):
    return dict(event.facts)[name]
