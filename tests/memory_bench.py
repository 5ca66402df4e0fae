"""A talk in words with the companion and its memory: words as recognised go in, words as spoken come out."""
from dataclasses import dataclass, field
from datetime import datetime

from dialogue.book import Book
from dialogue.engine import Clause, Commit, EngineHealth, Timed, ToolCall, ToolResult
from dialogue.engines.companion import Companion
from dialogue.engines.plan import Said
from dialogue.engines.remembering import Remembering
from dialogue.engines.tools import GRANTED
from dialogue.memory import Memory

SOUND = ()


@dataclass
class InWords:
    """An engine without ears and voice."""

    companion: Companion
    words: str = ""
    results: list[str] = field(default_factory=list)
    spoken: list[dict] = field(default_factory=list)
    name: str = "embedded"

    def handle(self, request):
        if isinstance(request, Commit):
            plan = self.companion.answer(Said(self.words, request.person, request.t))
            for number, (name, arguments) in enumerate(plan.tools):
                yield Timed(0.0, ToolCall(request.generation, f"{request.generation}.{number}", name, arguments))
            yield Timed(0.0, Clause(request.generation, 0, plan.text, SOUND))
        elif isinstance(request, ToolResult):
            self.results.append(request.result)

    def speak(self, **how):
        self.spoken.append(how)
        return "done"


class Words:
    """say(): one turn, heard to its end; every tool is granted unless told otherwise."""

    def __init__(self, path=None, start=datetime(2026, 1, 5, 14, 58)):
        self.memory = Memory(Book(path), start)
        self.engine = InWords(Companion(memory=self.memory, start=start))
        self.remembering, self.t, self.turn = Remembering(self.engine, self.memory), 0.0, 0
        self.calls, self.health = [], []                  # (name, arguments); (level, reason)

    @property
    def companion(self):
        return self.engine.companion

    def say(self, words, person="person_1", granted=True, after=60.0):
        self.t, self.turn, self.engine.words = self.t + after, self.turn + 1, words
        replies = self.ask(Commit(self.t, self.turn, self.t - 1.0, self.t, self.turn, person))
        for call in [reply for reply in replies if isinstance(reply, ToolCall)]:
            self.calls.append((call.name, dict(call.arguments)))
            self.ask(ToolResult(self.t + 0.3, call.call, GRANTED if granted else "cancelled"))
        text = " ".join(reply.text for reply in replies if isinstance(reply, Clause))
        self.companion.spoken = text
        return text

    def ask(self, request):
        replies = [timed.reply for timed in self.remembering.handle(request)]
        self.health += [(reply.level, reply.reason) for reply in replies if isinstance(reply, EngineHealth)]
        return replies

    def close(self):
        self.memory.book.close()
