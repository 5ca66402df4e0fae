"""An engine that can be made to fail while it works: gone, slow, silent, late or doubled, whatever engine it is.

It stands between the worker and a real engine. A raised error is what the death of the engine's process is to the
runtime: the worker reports it and begins afresh.
"""
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import inf

from dialogue.engine import Cancel, Clause, Commit, Engine, Prompt, ReplyDone, Request, Timed, Transcript
from robot.interaction.timeline import Fault

KINDS = ("gone", "stall", "slow", "garbage", "close", "late_deltas", "duplicate_reply", "never_answers")
SLOW_S = 2.0            # s more before each first piece of an answer: a server under load
LATE_PIECES = 20        # pieces that still come after a cancel: seen of real servers (field log F20)
NOBODY = 1_000_000      # generation that no mind has ever asked for


class EngineGone(ConnectionError):
    """The engine died or its connection closed, as the scenario wanted."""


@dataclass
class EngineFaults:
    """What is wrong with the engine now. The same object outlives every restart of the engine."""

    now: float = 0.0                                                # s, of the run; whoever runs it keeps it
    _until: dict[str, tuple[float, Fault]] = field(default_factory=dict)

    def begin(self, fault: Fault) -> None:
        """From now on, for `for_s` or for good; a close lasts as long as it takes to tell."""
        lasts = fault.for_s if fault.for_s is not None else inf
        self._until[fault.kind] = (self.now + lasts, fault)

    def active(self, kind: str) -> Fault | None:
        until, fault = self._until.get(kind, (-inf, None))
        return fault if self.now < until else None

    def left(self, kind: str) -> float:
        """Seconds until a fault is over; 0 when there is none."""
        return max(0.0, self._until.get(kind, (-inf, None))[0] - self.now)

    def end(self, kind: str) -> None:
        self._until.pop(kind, None)


class FaultyEngine:
    """Hands requests on and spoils the replies.

    make: begins the engine; not while it is gone, so that one that is tried again and again loads its models once.
    """

    name = "faulty"

    def __init__(self, make: Callable[[], Engine], faults: EngineFaults):
        self._make, self._faults = make, faults
        away = faults.active("gone") or faults.active("close")
        self._engine: Engine | None = None if away else make()
        self._sent: list[Timed] = []                  # pieces of the newest answer
        self._rest: Iterator[Timed] = iter(())        # of the newest answer

    def handle(self, request: Request) -> Iterator[Timed]:
        self._check()
        self._engine = self._engine or self._make()
        answers = isinstance(request, Commit | Prompt)
        if answers and self._faults.active("never_answers"):
            return
        if isinstance(request, Cancel):
            yield from self._late_pieces(request.generation)
        replies = self._engine.handle(request)
        if answers:
            self._rest, self._sent = replies, []
            if self._faults.active("garbage"):
                yield from _garbage(request.t)
        yield from self._spoiled(replies, answers)

    def _spoiled(self, replies: Iterator[Timed], answers: bool) -> Iterator[Timed]:
        first = True
        for timed in replies:
            self._check()
            cost = timed.cost
            if answers and first and self._faults.active("slow"):
                cost += SLOW_S
            if self._faults.active("stall"):
                cost += self._faults.left("stall")
            first = False
            spoiled = replace(timed, cost=cost)
            if answers and isinstance(timed.reply, Clause | ReplyDone):
                self._sent.append(spoiled)
            yield spoiled
        if answers and self._faults.active("duplicate_reply"):
            yield from [replace(timed, cost=0.0) for timed in self._sent]

    def _late_pieces(self, generation: int) -> Iterator[Timed]:
        """Of a cancelled answer: pieces that were already on their way."""
        fault = self._faults.active("late_deltas")
        if fault is None:
            return
        late = [*self._rest, *self._sent]
        pieces = [t for t in late if isinstance(t.reply, Clause) and t.reply.generation == generation]
        for i in range(fault.detail or LATE_PIECES if pieces else 0):
            yield replace(pieces[i % len(pieces)], cost=0.02)

    def _check(self) -> None:
        fault = self._faults.active("close")
        if fault is not None:
            if fault.for_s is None:
                self._faults.end("close")
            raise EngineGone(f"connection closed with code {fault.detail}")
        if self._faults.active("gone"):
            raise EngineGone("the engine is gone")


def _garbage(t: float) -> Iterator[Timed]:
    """Replies that make no sense: to turns and generations that nobody asked for."""
    yield Timed(0.0, Transcript(NOBODY, "\0\ufffd", True))
    yield Timed(0.0, ReplyDone(NOBODY))


def faulty(make: Callable[[], Engine], faults: EngineFaults) -> Callable[[], FaultyEngine]:
    """What a worker calls to make its engine, with `faults` around each engine that it makes."""
    return lambda: FaultyEngine(make, faults)
