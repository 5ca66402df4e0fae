"""Replies that a server begins by itself: the answer to the turn that waits, or held until one does, or refused.

A server whose own detection is on begins when it takes a turn to be over, asked or not. What nobody's turn asked for
is never heard.
"""
from collections import deque
from collections.abc import Mapping
from typing import Any

from dialogue.engines.outflow import Outflow
from dialogue.engines.realtime import events
from dialogue.engines.realtime.answers import Answer, Responses
from dialogue.engines.realtime.calls import ToolCalls
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.dialects import Dialect

SOONEST_S = 0.2      # before our end of the words at which a server may have taken them to be over: half a syllable


class Offers(ToolCalls):
    """The replies of a session that nobody asked for."""

    config: RealtimeConfig
    dialect: Dialect
    responses: Responses
    answers: dict[int, Answer]
    held: deque[Answer]
    wanted: Answer | None
    listened: int                    # times that the server has listened since
    t: float

    def offered(self, identity: str) -> None:
        """A response has begun that we did not ask for."""
        if not self.dialect.led:                          # our floor decides: a second reply, or a detection not off
            self.reject(identity)
            return
        answer, self.wanted = self.wanted, None
        if answer is None:
            answer = Answer(0, Outflow(0, self.config.lead_s), self.t)
            if len(self.held) == self.held.maxlen:
                self.kill(self.held.popleft())            # a server that talks on and on to nobody's turn
            self.held.append(answer)
        self.responses.begin(identity, answer, self.t)

    def reject(self, identity: str) -> None:
        """Nothing of it is for anybody's ears; the server is told, also when it is at one of ours at the same time."""
        if self.responses.active is None:
            self.responses.active, self.responses.cancelled_at = identity, self.t
        self.responses.kill(identity)
        self.send(events.cancel(identity))

    def claim(self, answer: Answer) -> None:
        """A turn is over: what the server has begun to say answers it, or what it says next.

        What it began while the last words were still spoken answers those before them.
        """
        assert answer.turn is not None
        onset, end = answer.turn
        soonest = onset if self.dialect.foresees else end - SOONEST_S
        while self.held:
            early = self.held.pop()
            if early.asked_at < soonest:
                self.dismiss(early)
                continue
            early.generation = early.flow.generation = answer.generation
            early.turn = answer.turn
            self.answers[answer.generation] = early
            return
        self.wanted, self.listened = answer, 0

    def listens(self, response: object) -> None:
        """A model decided once more to listen; `response` names one that it ends unspoken, which tells its own end."""
        if response is not None or self.wanted is None:
            return
        self.listened += 1
        if self.listened >= self.config.listens:
            answer, self.wanted = self.wanted, None
            answer.flow.end()                             # nothing is an answer too

    def dismiss(self, answer: Answer) -> None:
        """Nobody's turn was answered by it, and nobody heard it."""
        self.kill(answer)
        self.forget_unheard(answer, answer.flow.heard(-1, 0.0), "")

    def dismiss_late(self) -> None:
        for answer in [a for a in self.held if self.t - a.asked_at > self.config.waits_s]:
            self.held.remove(answer)
            self.dismiss(answer)

    # what the session does ------------------------------------------------------------------------------------------

    def kill(self, answer: Answer) -> None: ...

    def forget_unheard(self, answer: Answer, heard: dict[str, float], words: str) -> None: ...


def leads(session: Mapping[str, Any]) -> bool:
    """Whether a server that was asked for no detection of its own says that it has one that begins replies."""
    audio = session.get("audio")
    listening = audio.get("input") if isinstance(audio, Mapping) else None
    given = (listening if isinstance(listening, Mapping) else session).get("turn_detection")
    return isinstance(given, Mapping) and bool(given.get("type")) and given.get("create_response") is not False
