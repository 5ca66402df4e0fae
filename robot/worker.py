"""Where slow, blocking or crash-prone work is done: in a child process, or inline with a declared latency (simulated).

Both flavours hold an object with `handle(request) -> Iterator[Timed]` and behave alike: requests are worked on one
after the other, replies come back in order, a request that cancels the running one stops it between two replies, a
crash costs the running request, is reported as a reply and followed by a fresh object.
"""
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from dialogue.engine import Cancel, Commit, EngineTrouble, Prompt, Resume, Timed
from robot.channel import Channel

RESTART_S = 1.0   # of an inline worker after a crash: about what a child process takes to load its models

Cancels = Callable[[Any, Any], bool]


class Handler(Protocol):
    """What works inside a worker."""

    def handle(self, request: Any) -> Iterator[Timed]: ...


class Worker(Protocol):
    """Takes requests, gives replies; never waits."""

    def submit(self, t: float, request: Any) -> None: ...

    def poll(self, t: float) -> list[Any]:
        """Replies that exist at time t, in order."""

    def close(self) -> None: ...


def cancels_reply(request: Any, running: Any) -> bool:
    """True when an engine's `request` ends the `running` one: a Cancel of the reply that it makes."""
    return (isinstance(request, Cancel) and isinstance(running, Commit | Prompt | Resume)
            and request.generation == running.generation)


def engine_trouble(error: BaseException, running: Any) -> EngineTrouble:
    """What the mind is told when an engine crashed on `running`."""
    return EngineTrouble(f"{type(error).__name__}: {error}", getattr(running, "generation", None), died=True)


@dataclass
class InlineWorker:
    """Works inside the caller, but a reply exists only after its declared cost: virtual time is the same everywhere.

    stopwatch: a clock that replaces the declared cost by the measured one, for figures on this machine; the run is then
    no longer the same everywhere.
    """

    make: Callable[[], Handler]
    cancels: Cancels = cancels_reply
    trouble: Callable[[BaseException, Any], Any] = engine_trouble
    stopwatch: Callable[[], float] | None = None
    _handler: Handler | None = None
    _inbox: deque = field(default_factory=deque)
    _job: Iterator[Timed] | None = None
    _running: Any = None
    _pending: tuple[float, Any] | None = None
    _free_at: float = 0.0

    def submit(self, t: float, request: Any) -> None:
        if self._running is not None and self.cancels(request, self._running):
            self._job, self._running, self._pending = None, None, None
            self._free_at = max(self._free_at, t)
        self._inbox = deque((at, r) for at, r in self._inbox if not self.cancels(request, r))
        self._inbox.append((t, request))

    def poll(self, t: float) -> list[Any]:
        out = []
        while self._pending is not None or self._advance():
            assert self._pending is not None
            ready, reply = self._pending
            if ready > t:
                break
            self._free_at, self._pending = max(self._free_at, ready), None
            out.append(reply)
        return out

    def _advance(self) -> bool:
        """Make the next reply pending; False when there is nothing to do."""
        while True:
            if self._job is None:
                if not self._inbox:
                    return False
                arrived, self._running = self._inbox.popleft()
                self._free_at = max(self._free_at, arrived)
            self._handler = self._handler or self.make()
            began = self.stopwatch() if self.stopwatch else 0.0
            try:
                if self._job is None:
                    self._job = iter(self._handler.handle(self._running))
                timed = next(self._job)
            except StopIteration:
                self._job = self._running = None
                continue
            except Exception as error:  # stands for the death of the child process: told, and begun afresh
                self._pending = (self._free_at, self.trouble(error, self._running))
                self._job, self._running, self._handler = None, None, None
                self._free_at += RESTART_S
                return True
            cost = self.stopwatch() - began if self.stopwatch else timed.cost
            self._pending = (self._free_at + cost, timed.reply)
            return True

    def close(self) -> None:
        self._inbox.clear()
        self._job = self._pending = self._running = None


@dataclass
class ChildWorker:
    """Works in a process of its own, restarted with a backoff when it dies.

    make: importable callable `module:name` with keyword arguments; the child calls it to build the handler.
    """

    make: str
    arguments: dict[str, Any]
    trouble: Callable[[BaseException, Any], Any] = engine_trouble
    backoff: tuple[float, float] = (0.5, 30.0)   # s, first and longest pause before a restart
    deaths: int = 0
    _child: subprocess.Popen | None = None
    _channel: Channel | None = None
    _restart_at: float = 0.0
    _last: Any = None

    def submit(self, t: float, request: Any) -> None:
        if getattr(request, "generation", None) is not None:
            self._last = request
        if self._start(t) and self._channel is not None:
            self._channel.send(request)

    def poll(self, t: float) -> list[Any]:
        if not self._start(t) or self._channel is None:
            return []
        out = self._channel.receive()
        if out:
            self.deaths = 0
        if self._channel.closed:
            out.append(self.trouble(ChildProcessError(f"{self.make} died"), self._last))
            self.deaths += 1
            self._restart_at = t + min(self.backoff[0] * 2 ** (self.deaths - 1), self.backoff[1])
            self.close()
        return out

    def _start(self, t: float) -> bool:
        if self._child is None and t >= self._restart_at:
            ours, theirs = socket.socketpair()
            self._child = subprocess.Popen([sys.executable, "-m", "robot.worker_child", str(theirs.fileno())],
                                           pass_fds=[theirs.fileno()])
            theirs.close()
            self._channel = Channel(ours)
            self._channel.send((self.make, self.arguments))
        return self._child is not None

    def close(self) -> None:
        if self._channel is not None:
            self._channel.connection.close()
        if self._child is not None:
            self._child.kill()
            self._child.wait()
        self._child = self._channel = None
