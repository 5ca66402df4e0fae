"""The life of a session with a Realtime server: connected, greeted, renewed before its cap, lost and begun again."""
from typing import Any
from urllib.parse import urlencode

from dialogue.engine import EngineReady, EngineTrouble, Reply, ToolResult
from dialogue.engines.realtime import events
from dialogue.engines.realtime.answers import Answer
from dialogue.engines.realtime.dialects import DIALECTS, Dialect
from dialogue.engines.realtime.server import ServerEvents
from dialogue.engines.realtime.sight import Sight
from dialogue.engines.realtime.sound import TurnSound
from dialogue.engines.remote import Message

QUIET_S = 2.0          # s without speech before a session may be renewed
CLIENT_FIRST_S = 3.0   # s without a word of the server, then it may be one that waits for ours
DONE_WAIT_S = 3.0      # s that the end of a cancelled response is waited for before another is asked for
TOOL_S = 8.0           # s that a tool's result is waited for


class SessionLife(ServerEvents):
    """What happens with time and with the connection."""

    name: str
    refused: str
    leaving: bool
    out: list[Message]
    _opened_at: float | None
    _greeted: bool
    _speech_at: float
    sight: Sight
    _sound: TurnSound

    # time ---------------------------------------------------------------------------------------------------------

    def step(self, t: float, unsent: int) -> tuple[list[Message], list[Reply]]:
        self.t = t
        self._renew()
        self._pump()
        self._expire()
        for answer in self.answers.values():
            if not answer.dead:
                self._drip(answer)
        out, self.out = self.out, []
        replies, self.replies = self.replies, []
        return out, replies

    def _pump(self) -> None:
        """Ask for the next response when the server is free."""
        cancelled = self.responses.cancelled_at
        if cancelled is not None and self.t - cancelled > DONE_WAIT_S:
            self.responses.active = self.responses.cancelled_at = None
        if not self.ready or self.awaiting is not None or self.responses.active is not None or not self.asked:
            return
        asked = self.awaiting = self.asked.popleft()
        asked.at = self.t
        answer = self.answers.get(asked.generation)
        if self.dialect.commit_answers and not asked.instructions and (answer is None or answer.turn):
            return                                        # the commit has begun the reply
        self.send(events.create(asked.event, asked.generation, asked.instructions, self.dialect.beta))

    def _expire(self) -> None:
        """What was waited for too long."""
        if self.awaiting is not None and self.awaiting.at is not None and \
                self.t - self.awaiting.at > self.config.answers_s:
            self.fail(self.awaiting, "the server did not answer")
        for asked in [a for a in self.asked if not self.ready]:
            answer = self.answers.get(asked.generation)
            if answer is not None and self.t - answer.asked_at > self.config.waits_s:
                self.asked.remove(asked)
                answer.told = True
                self.replies.append(EngineTrouble("no connection to the server", answer.generation))
        wanted = self.wanted
        patience = self.config.answers_s if self.ready else self.config.waits_s
        if wanted is not None and self.t - wanted.asked_at > patience:
            self.wanted, wanted.told = None, True
            reason = "the server did not answer" if self.ready else "no connection to the server"
            self.replies.append(EngineTrouble(reason, wanted.generation))
        for answer in self.answers.values():
            late = [c for c, result in answer.calls.items() if result is None]
            if late and not answer.dead and self.t - answer.asked_at > TOOL_S + self.config.answers_s:
                for call in late:
                    self.tool_result(ToolResult(self.t, call, "no result in time"))
        self.dismiss_late()

    def _drip(self, answer: Answer) -> None:
        for clause in answer.flow.step(self.t):
            self.replies.append(clause)
        if answer.flow.done and not answer.told:
            self.told(answer)

    def _renew(self) -> None:
        if self._opened_at is None or self.leaving:
            return
        age = self.t - self._opened_at
        if not self._greeted and age > CLIENT_FIRST_S and self.config.server == "auto" and not self.ready:
            self.greet(DIALECTS["vllm-omni"])
        quiet = self.t - self._speech_at > QUIET_S and not self._sound.open and not any(
            not answer.told and not answer.dead for answer in self.answers.values())
        if age > self.config.rotate_at_last_s or (age > self.config.rotate_s and quiet):
            self.leaving = True
            self.token = None

    def address(self) -> str:
        """The model is a part of it; vLLM-Omni takes the session's settings only when it does not begin by itself."""
        asked = {"model": self.config.model} if self.config.model else {}
        if self.dialect.name == "vllm-omni":
            asked |= {"duplex": "1", "autostart": "0"}
        joint = "&" if "?" in self.config.url else "?"
        return self.config.url + (joint + urlencode(asked) if asked else "")

    # the connection -----------------------------------------------------------------------------------------------

    def opened(self, t: float) -> None:
        self.t, self._opened_at, self._greeted = t, t, False
        self.busy, self.last = False, ""
        if self.token is not None:
            self._greeted = True
            self.send(events.resume(*self.token, self.seen))
        elif self.dialect.client_first:
            self.greet(self.dialect)

    def adopt(self, dialect: Dialect) -> None:
        """How this server is spoken with."""
        if dialect != self.dialect:
            self.dialect = dialect
            self._sound = self.turn_sound()

    def greet(self, dialect: Dialect) -> None:
        """Say what the session shall be."""
        self.adopt(dialect)
        self._greeted, self.token, self.seen = True, None, 0
        told = self.config.instructions
        if not dialect.items and self.history:
            told += " What was said before: " + " ".join(f"{who}: {text}" for who, text in self.history)
        self.send(events.session_update(self.config, dialect, told))

    def start(self) -> None:
        """The session stands: the talk so far, then what waits."""
        self.ready = True
        self._sound.forget()
        self.sight.begin()
        self.replies.append(EngineReady(f"{self.name}: {self.dialect.name}"))
        if self.dialect.items:
            for who, text in self.history:
                self.send(events.said(who, text, self.dialect.beta))
        for asked in self.asked:
            answer = self.answers.get(asked.generation)
            if answer is not None and answer.turn is not None and not answer.responses:
                self._hear_again(answer.turn)
                self.send(events.commit())
        if self.wanted is not None and self.wanted.turn is not None:
            self._hear_again(self.wanted.turn)             # its own detection hears that they are over

    def _hear_again(self, turn: tuple[float, float]) -> None:
        """The server of before took the words of a turn with it."""
        begin, end = turn
        self.send(*self._sound.whole(begin - self.config.preroll_s, end))
        self._sound.forget()

    def lost(self, t: float) -> None:
        """What was asked for and brought no sound is asked for again; what was cut is told."""
        self.t, self._opened_at, self.ready, self.leaving = t, None, False, False
        self.out = []
        if self.token is not None:
            return                                        # the server keeps the session for a while
        self.drop_session()

    def drop_session(self) -> None:
        if self.awaiting is not None and not self.awaiting.cancelled:
            self.awaiting.at = None
            self.asked.appendleft(self.awaiting)
        self.awaiting = None
        for answer in self.answers.values():
            running = any(response == self.responses.active for response in answer.responses)
            if answer.dead or answer.flow.ended or not (running or answer.calls):
                continue
            answer.told = True
            self.replies.append(EngineTrouble("the connection was lost in mid-reply", answer.generation))
        self.responses.reset()
        self.held.clear()
        self.turns.clear()

    def refuse(self, t: float, reason: str) -> None:
        self.t, self.refused = t, reason
        self.drop_session()
        while self.asked:
            self.fail(self.asked.popleft(), reason)

    def send(self, *bodies: dict[str, Any], sound: bool = False) -> None:
        self.out += [Message(body, sound) for body in bodies]

    # what the mind's half does --------------------------------------------------------------------------------------

    def turn_sound(self) -> TurnSound:
        raise NotImplementedError
