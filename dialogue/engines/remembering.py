"""Around any engine, in its process: carries out what needs the memory or the voice, once the mind has granted it.

An engine of this machine reads the memory itself. A server is told names instead of ids, and what the person who speaks
told it, this engine, before; what was told to another engine stays where it is.
"""
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dialogue.engine import (
    Commit,
    Engine,
    EngineHealth,
    Prompt,
    Request,
    Resume,
    Surroundings,
    Timed,
    ToolCall,
    ToolResult,
)
from dialogue.engines.recall import told
from dialogue.engines.tools import GRANTED, TOOLS
from dialogue.memory import Memory

KEPT = 32          # calls and replies that a result can still name


@dataclass(frozen=True, slots=True)
class Owed:
    """A call, and whose words it came with."""

    call: ToolCall
    person: str | None


class Remembering:
    """An engine with a memory of people. server: the words of its engine come from elsewhere."""

    def __init__(self, engine: Engine, memory: Memory, server: bool = False):
        self.engine, self.memory, self.server, self.name = engine, memory, server, engine.name
        self._who: dict[int, str | None] = {}                 # by generation
        self._owed: deque[Owed] = deque(maxlen=KEPT)
        self._asked: int | None = None                        # turns since somebody wished that everybody is forgotten
        self._reads = hasattr(engine, "speak")                # a companion beside its server reads the memory itself
        self._told = ""                                       # the trouble of the memory that was told
        self._news = [memory.book.aside] if memory.book.aside else []
        if hasattr(engine, "pulse"):                          # a worker asks for it by name
            self.pulse = self._pulse

    def handle(self, request: Request) -> Iterator[Timed]:
        match request:
            case Commit():
                self.memory.book.mend()
                self.memory.at(request.t, request.person)
                self._spoke(request.generation, request.person)
                self._asked = 1 if self._asked == 0 else None
            case Prompt():
                self._spoke(request.generation, None)
            case Resume():
                self._spoke(request.generation, self._who.get(request.of))
            case ToolResult():
                self.memory.at(request.t)
                request = replace(request, result=self._result(request))
            case Surroundings() if self.server and not self._reads:
                request = self._named(request)
        for timed in self.engine.handle(request):
            self._note(timed.reply)
            yield timed
        yield from self._health()

    def _pulse(self, seconds: float) -> Iterator[Timed]:
        for timed in self.engine.pulse(seconds):  # type: ignore[attr-defined]
            self._note(timed.reply)
            yield timed

    def _spoke(self, generation: int, person: str | None) -> None:
        self._who = {**dict(list(self._who.items())[1 - KEPT:]), generation: person}

    def _note(self, reply: object) -> None:
        if isinstance(reply, ToolCall):
            self._owed.append(Owed(reply, self._who.get(reply.generation)))

    def _result(self, result: ToolResult) -> str:
        """What became of a call, in words for the engine that made it."""
        owed = next((owed for owed in reversed(self._owed) if owed.call.call == result.call), None)
        if owed is None:
            return result.result
        self._owed.remove(owed)
        if result.result != GRANTED or TOOLS[owed.call.name].by == "mind":
            known = self.server and owed.call.name == "who_is_there"
            return self._with_names(result.result, owed.person) if known else result.result
        arguments = dict(owed.call.arguments)
        if TOOLS[owed.call.name].by == "voice":
            return str(self.engine.speak(**arguments))  # type: ignore[attr-defined]
        return getattr(self, f"_{owed.call.name}")(owed, **arguments)

    # the memory's tools -------------------------------------------------------------------------------------------

    def _remember(self, owed: Owed, fact: str = "", about: str = "", name: str = "", again: str = "") -> str:
        results = []
        if name:
            results.append(self.memory.introduce(owed.person, name, {"yes": True, "no": False}.get(again)))
        if fact:
            self.memory.learn(owed.person, fact, about)
            kept = self.memory.name(owed.person) is not None
            results.append("remembered" if kept else "remembered while they are here; with their name it would stay")
        return "; ".join(results)

    def _forget(self, owed: Owed, fact: str = "", whose: str = "person") -> str:
        if whose == "everybody":
            return self._forget_everybody()
        count = self.memory.forget(owed.person, fact)
        return f"forgotten: {count} facts" if fact else f"forgotten: their name and {count} facts"

    def _forget_everybody(self) -> str:
        """Only when it is wished again in the very next turn: a model, or a misheard word, must not do it alone."""
        asked, self._asked = self._asked, 0
        if asked != 1:
            return "nothing was forgotten yet: ask whether they are sure, and call again after their yes"
        self._asked = None
        return f"forgotten: {self.memory.forget_everybody()} people"

    # for a server -------------------------------------------------------------------------------------------------

    def _known_as(self, person: str) -> str:
        """The name that this engine was told, with the id; else the id."""
        name = self.memory.name(person, self.name)
        return f"{name} ({person})" if name else person

    def _named(self, request: Surroundings) -> Surroundings:
        return replace(request, people=tuple((self._known_as(person), azimuth, looks)
                                             for person, azimuth, looks in request.people))

    def _with_names(self, there: str, person: str | None) -> str:
        """`person_1: 10 degrees ...; ...` with names, and what the one who asks has told."""
        people = [f"{self._known_as(who)}: {rest}" for who, _, rest in
                  (part.partition(": ") for part in there.split("; ")) if rest] or [there]
        facts = [told(fact) for fact in self.memory.facts(person) if fact.told_to == self.name]
        return "; ".join(people) + (f". The person who speaks has told you: {' '.join(facts)}" if facts else "")

    # the memory's own state ---------------------------------------------------------------------------------------

    def _health(self) -> Iterator[Timed]:
        for news in self._news:
            yield Timed(0.0, EngineHealth("memory", "degraded", news))
        self._news = []
        trouble = self.memory.book.trouble
        if trouble != self._told:
            self._told = trouble
            yield Timed(0.0, EngineHealth("memory", "degraded" if trouble else "ok",
                                          trouble or f"{self.memory.book.path}: all is written"))
