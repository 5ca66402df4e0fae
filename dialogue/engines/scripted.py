"""An engine that answers from a table: the same words always get the same reply, and it can be told to misbehave."""
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from dialogue.engine import (
    ENGINE_RATE_HZ,
    Cancel,
    Candidate,
    Clause,
    Commit,
    Cue,
    Hear,
    Prompt,
    ReplyDone,
    Request,
    Resume,
    Timed,
    ToolCall,
    Transcript,
)
from dialogue.engines.plan import clauses_of
from dialogue.engines.recent_sound import RecentSound
from perception.audio.block import Samples, frozen_samples

Voice = Callable[[str], Samples]
Kept = TypeVar("Kept")
Ears = Callable[[Samples, float, float], str]   # (samples of the turn, its onset s, its end s) -> words


@dataclass(frozen=True, slots=True)
class Rule:
    """Words that match `pattern` (searched, case ignored) are answered with `reply`; `{0}`, `{1}` are its groups.

    A pattern `cue:NAME` answers a cue in the middle of a reply. tools: (name, ((argument, value), ...)), called first.
    An empty reply is silence by choice.
    """

    pattern: str
    reply: str
    tools: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong, for tests of those who must stand it."""

    late_deltas: int = 0           # clauses of a reply that still come after its cancel
    duplicate_reply: bool = False  # every clause and the end come twice
    never_answers: bool = False    # a commit gets no reply at all
    crash_at: int | None = None    # the engine falls over instead of sending this clause of each reply
    slow: float = 0.0              # s more before each first clause
    text_delay: float = 0.0        # s more before words are recognised


KEPT = 8    # replies and turns that a request can still name: a stopped reply is resumed at once or never


class ScriptedCrash(RuntimeError):
    """The crash that was asked for."""


@dataclass(frozen=True, slots=True)
class SpokenWords:
    """Ears of a test: knows what was said when, as (onset s, end s, words)."""

    said: tuple[tuple[float, float, str], ...]

    def __call__(self, samples: Samples, onset: float, end: float) -> str:
        return " ".join(words for begin, over, words in self.said if begin < end and onset < over)


def tone_voice(text: str) -> Samples:
    """Speech-like tone of 220 Hz, 65 ms a character (150 words a minute), a syllable each 0.2 s; full scale 0.2."""
    t = np.arange(round(0.065 * len(text) * ENGINE_RATE_HZ)) / ENGINE_RATE_HZ
    return frozen_samples(0.2 * np.sin(2 * np.pi * 220.0 * t) * np.abs(np.sin(np.pi * t / 0.2)))


def _newest(kept: dict[int, Kept]) -> dict[int, Kept]:
    """All but what makes room for one more."""
    return dict(list(kept.items())[1 - KEPT:])


class ScriptedEngine:
    """Deterministic: rules in order, the first that matches answers."""

    name = "scripted"

    def __init__(self, rules: tuple[Rule, ...], ears: Ears, voice: Voice = tone_voice, faults: Faults = Faults(),
                 recognition: float = 0.14, first_clause: float = 0.03):
        """recognition, first_clause: declared costs in s, those of the embedded engine (reference/packages.md)."""
        self._rules, self._ears, self._voice, self._faults = rules, ears, voice, faults
        self._recognition, self._clause = recognition, first_clause
        self._sound = RecentSound()
        self._guess: tuple[int, str] | None = None
        self._texts: dict[int, list[str]] = {}     # generation -> its clauses
        self._words: dict[int, str] = {}           # turn -> its words
        self._running = 0

    def handle(self, request: Request) -> Iterator[Timed]:
        match request:
            case Hear():
                self._sound.add(request)
            case Candidate():
                yield self._recognised(request, final=False)
            case Commit():
                yield from self._answer(request)
            case Prompt():
                yield from self._speak(request.generation, self._rule(request.text))
            case Cue():
                yield from self._interject(f"cue:{request.name}")
            case Resume():
                self._running = request.generation
                texts = self._texts.get(request.of, [])
                self._texts = _newest(self._texts) | {request.generation: texts}
                for index in range(request.next_index, len(texts)):
                    yield self._clause_reply(request.generation, index, self._clause)
                yield Timed(0.0, ReplyDone(request.generation))
            case Cancel():
                for index in range(len(self._texts.get(request.generation, []))):
                    if index < self._faults.late_deltas:
                        yield self._clause_reply(request.generation, index, 0.01)

    def _recognised(self, request: Candidate | Commit, final: bool) -> Timed:
        cost = 0.0
        if self._guess is None or self._guess[0] != request.turn:
            samples = self._sound.between(request.onset - 0.2, request.end + 0.2)
            self._guess = (request.turn, self._ears(samples, request.onset, request.end))
            cost = self._recognition + self._faults.text_delay
        return Timed(cost, Transcript(request.turn, self._guess[1], final))

    def _answer(self, request: Commit) -> Iterator[Timed]:
        if self._faults.never_answers:
            return
        timed = self._recognised(request, final=True)
        yield timed
        assert isinstance(timed.reply, Transcript)
        before = self._words.get(request.continues, "") if request.continues is not None else ""
        words = f"{before} {timed.reply.text}".strip()
        self._words = _newest(self._words) | {request.turn: words}
        yield from self._speak(request.generation, self._rule(words))

    def _rule(self, words: str) -> tuple[str, Rule]:
        for rule in self._rules:
            found = re.search(rule.pattern, words, re.IGNORECASE)
            if found:
                return rule.reply.format(*(group or "" for group in found.groups())), rule
        return "I did not understand.", Rule("", "")

    def _speak(self, generation: int, answer: tuple[str, Rule]) -> Iterator[Timed]:
        text, rule = answer
        self._running = generation
        texts = clauses_of(text)
        self._texts = _newest(self._texts) | {generation: texts}
        for number, (name, arguments) in enumerate(rule.tools):
            yield Timed(0.0, ToolCall(generation, f"{generation}.{number}", name, arguments))
        for _ in range(2 if self._faults.duplicate_reply else 1):
            for index in range(len(texts)):
                if index == self._faults.crash_at:
                    raise ScriptedCrash(f"asked to crash at clause {index}")
                yield self._clause_reply(generation, index, self._clause + (self._faults.slow if index == 0 else 0.0))
            yield Timed(0.0, ReplyDone(generation, silent=not texts))

    def _interject(self, pattern: str) -> Iterator[Timed]:
        rule = next((rule for rule in self._rules if rule.pattern == pattern), None)
        texts = self._texts.get(self._running)
        if rule is None or texts is None:
            return
        texts.append(rule.reply)
        index = len(texts) - 1
        yield Timed(self._clause, Clause(self._running, index, rule.reply, self._voice(rule.reply), instead=True))
        yield Timed(0.0, ReplyDone(self._running))

    def _clause_reply(self, generation: int, index: int, cost: float) -> Timed:
        text = self._texts[generation][index]
        return Timed(cost, Clause(generation, index, text, self._voice(text)))
