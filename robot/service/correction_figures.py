"""`talkover bench --corrections SEEDS`: people who take back what they said, after pauses of every length.

"Bring me the red cup ... no, I meant the blue one": no word of the answer to the first half shall be heard, and nothing
be done for it. True words (engine `scripted`): this is about the deciding, not about recognition.
"""
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dialogue.engine import Clause
from dialogue.engines.scripted import ScriptedEngine
from dialogue.engines.voice import Voice
from perception.audio.block import BLOCK_S
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import Room, RoomConfig
from robot.bodies.room.shoebox import BoxConfig
from robot.bodies.room.soundscape import SoundConfig
from robot.bodies.room.voices import VOICES
from robot.bodies.simulated import SimulatedBody
from robot.build import build_mind
from robot.clock import VirtualClock
from robot.config import MindConfig
from robot.interaction.heard_words import Piece, heard_words
from robot.interaction.scripted_answers import TrueWords, scripted_engine
from robot.interaction.stage import PlayedBlocks
from robot.runtime import run
from robot.tick import Event, Inputs, Tick
from robot.worker import InlineWorker

COLOURS = ("red", "blue", "green", "yellow")
FIRST, SECOND = "bring me the {} one", "no, I meant the {} one"
PAUSES_S = (0.05, 1.2)      # between the halves: from a slip of the tongue to a change of mind
SETTLED_S = 1.5             # of an idle floor before the next request


@dataclass
class Requests:
    """The script of one run, and what came of it."""

    rng: np.random.Generator
    words: TrueWords
    rounds: int
    floor: Callable[[], str]
    said: list[tuple[str, float, float, float]] = field(default_factory=list)   # colour taken back, its pause, s, s
    events: list[Event] = field(default_factory=list)
    clauses: dict[int, list[Clause]] = field(default_factory=dict)
    _idle: float = 0.0
    _second: tuple[float, str, str] | None = None     # when (s), colour, the one taken back
    _pause: float = 0.0
    _begun: float = 0.0

    def act(self, t: float, room: Room) -> None:
        """The start of the tick at t (s)."""
        self._idle = self._idle if self.floor() == "idle" else t
        if self._second is not None and t >= self._second[0]:
            _, colour, wrong = self._second
            self.said.append((wrong, self._pause, self._begun, self._say(t, room, SECOND.format(colour))))
            self._second, self._idle = None, self.said[-1][3]
        elif self._second is None and self.rounds and t - self._idle >= SETTLED_S:
            wrong, colour = self.rng.choice(COLOURS, 2, replace=False)
            self._begun, self._pause = t, float(self.rng.uniform(*PAUSES_S))
            self._second = (self._say(t, room, FIRST.format(wrong)) + self._pause, str(colour), str(wrong))
            self.rounds -= 1

    def _say(self, t: float, room: Room, text: str) -> float:
        said = room.people[0].say(t, text)
        self.words.add(said.onset, said.end, text)
        return said.end

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        self.events += tick.events
        for reply in inputs.replies:
            if isinstance(reply, Clause):
                self.clauses.setdefault(reply.generation, []).append(reply)

    def finished(self, t: float) -> bool:
        return not self.rounds and self._second is None and t > self._idle + 4.0


def requests(seed: int, rounds: int) -> list[tuple[float, bool, bool, int]]:
    """(pause s, a word of the answer to what was taken back was heard, it was done, times the right one was done)."""
    rng = np.random.default_rng([seed, 95])
    voices = [voice for voice in VOICES if voice != "kal16"]
    sound = SoundConfig(BoxConfig(rt60_s=float(rng.uniform(0.25, 0.55))))
    person = PersonScript("anna", float(rng.uniform(-0.8, 0.8)), float(rng.uniform(0.7, 1.4)),
                          voice=voices[seed % len(voices)])
    words, voice = TrueWords(), Voice()
    make: Callable[[], ScriptedEngine] = lambda: scripted_engine(words, voice)   # noqa: E731
    body = SimulatedBody(RoomConfig(sound, recording_s=1.0), (person,), InlineWorker(make), None, seed)
    delay = sound.loudspeaker.playback_delay_s
    mind = build_mind(MindConfig(seed=seed, playback_delay_s=delay), body.model)
    script = Requests(np.random.default_rng([seed, 96]), words, rounds, lambda: mind.mind.dialogue.floor.state)
    body.room.played = played = PlayedBlocks()
    body.script = script.act
    run(mind, body, VirtualClock(), (script,), script.finished)
    heard = heard_words((Piece((row + 1) * BLOCK_S + delay, block.generation, block.samples)
                         for row, block in enumerate(played.blocks) if block.generation), script.clauses)
    calls = [(event.t, _colour(event)) for event in script.events if event.name == "tool"]
    ends = [begun for _, _, begun, _ in script.said[1:]] + [np.inf]
    return [(pause, any(begun < word.t < until and wrong in word.text for word in heard),
             any(begun < t < until and colour == wrong for t, colour in calls),
             sum(begun < t < until and colour != wrong for t, colour in calls))
            for (wrong, pause, begun, _), until in zip(script.said, ends, strict=True)]


def _colour(event: Event) -> str:
    arguments: Any = dict(event.facts)["arguments"]
    return str(dict(arguments)["colour"])


def correction_figures(seeds: int, rounds: int, first: int = 1) -> list[str]:
    """The table by pause."""
    found = [one for seed in range(first, first + seeds) for one in requests(seed, rounds)]
    lines = [f"corrections, {len(found)} requests taken back, robots of seeds {first} to {first + seeds - 1}",
             "  pause before it     requests  words of the wrong answer heard  wrong thing done  right one done once"]
    for low, high in ((0.0, 0.3), (0.3, 0.6), (0.6, 0.9), (0.9, 1.3)):
        part = [one for one in found if low <= one[0] < high]
        lines.append(f"  {low:.1f} to {high:.1f} s {len(part):18d} {sum(one[1] for one in part):32d} "
                     f"{sum(one[2] for one in part):17d} {sum(one[3] == 1 for one in part):20d}")
    return lines
