"""An engine whose server is elsewhere: a protocol's pure core, the link's decisions, and one socket.

Requests come a hundred times a second; each is also the occasion to read what has arrived and to send what is due.
"""
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from dialogue.engine import EngineReady, EngineTrouble, Reply, Request, Timed
from dialogue.engines.connection import Connection
from dialogue.engines.link import Ended, Link, Opened

GONE_FOR_S = 3.0      # s without a connection before that is told: a server that restarts its session is back sooner


@dataclass(frozen=True, slots=True)
class Message:
    """Something to send. sound: may be dropped for newer sound."""

    body: dict[str, Any]
    sound: bool = False


class Core(Protocol):
    """A protocol without socket or clock: what happens goes in, what to send and to reply comes out."""

    name: str
    busy: bool                     # the server said that it is full
    last: str                      # the last thing it said that explains an end; "" for nothing
    leaving: bool                  # this connection is to be ended, everything queued first
    pause_s: float                 # before the connection after one that was left

    def address(self) -> str:
        """Where to connect to next."""

    def ask(self, t: float, request: Request) -> None: ...

    def opened(self, t: float) -> None: ...

    def take(self, t: float, message: dict[str, Any]) -> None: ...

    def lost(self, t: float) -> None: ...

    def refuse(self, t: float, reason: str) -> None:
        """There will be no connection any more."""

    def step(self, t: float, unsent: int) -> tuple[list[Message], list[Reply]]:
        """What is due at t (s). unsent: messages that the socket has not taken yet."""


class RemoteEngine:
    """A handler for a worker around a core."""

    def __init__(self, core: Core, connection: Connection, link: Link):
        self.core, self.connection, self.link = core, connection, link
        self.name = core.name
        self._connecting = False           # a connection stands or is being made
        self._lost_at: float | None = None
        self._told = False
        self._t = 0.0

    def handle(self, request: Request) -> Iterator[Timed]:
        self._t = max(self._t, request.t)
        yield from self._worked(request)

    def pulse(self, seconds: float) -> Iterator[Timed]:
        """Nothing was asked for so long (s): the server is listened to all the same."""
        self._t += seconds
        yield from self._worked(None)

    def close(self) -> None:
        """For who works in one process with it: a server is told good-bye, a child process simply ends."""
        self.connection.stop()

    def _worked(self, request: Request | None) -> Iterator[Timed]:
        t = self._t
        replies = self._connect(t)
        for event in self.connection.receive():
            replies += self._happened(t, event)
        if request is not None:
            self.core.ask(t, request)
        messages, answers = self.core.step(t, len(self.connection.uplink))
        if any(isinstance(answer, EngineReady) for answer in answers):     # only now it is of use
            self._lost_at, self._told = None, False
        for message in messages:
            self.connection.send(json.dumps(message.body, separators=(",", ":")), message.sound)
        if self.core.leaving:
            self.connection.leave()
        for reply in (*replies, *answers):
            yield Timed(0.0, reply)

    def _connect(self, t: float) -> list[Reply]:
        if not self._connecting and self.link.due(t):
            self._connecting = True
            self.connection.open(self.core.address())
        if self.link.refused or self._lost_at is None or self._told or t - self._lost_at < GONE_FOR_S:
            return []
        self._told = True
        return [EngineTrouble(f"{self.core.name}: no connection to its server, it is tried again", 0)]

    def _happened(self, t: float, event: Opened | Ended | str) -> list[Reply]:
        if isinstance(event, Opened):
            self.link.opened(t)
            self.core.opened(t)
        elif isinstance(event, Ended):
            return self._ended(t, event)
        else:
            message = parsed(event)
            if message is not None:
                self.core.take(t, message)
        return []

    def _ended(self, t: float, ended: Ended) -> list[Reply]:
        self._connecting = False
        if self.core.leaving:
            self.core.lost(t)
            self.link.left(t, self.core.pause_s)
            return []
        self.link.lost(t, ended, self.core.busy)
        told = ended.told + (f"; it said: {self.core.last}" if self.core.last else "")
        self.core.lost(t)
        if self.link.refused:
            reason = f"{self.core.name}: its server does not want us ({told}); not tried again"
            self.core.refuse(t, reason)
            return [EngineTrouble(reason, 0)]
        first, self._lost_at = self._lost_at is None, t if self._lost_at is None else self._lost_at
        return [EngineTrouble(f"{self.core.name}: {told}; connects again", 0)] if first else []


def parsed(text: str) -> dict[str, Any] | None:
    """A message as an object; None for anything else."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
