"""Where slow, blocking or crash-prone work is done: in a child process, or inline with a declared latency (simulated).

Both flavours hold an object with `handle(request) -> Iterator[Timed]` and behave alike: requests are worked on one
after the other, replies come back in order, a request that cancels the running one stops it between two replies, a
crash costs the running request, is reported as a reply and followed by a fresh object. A child is the first that the
system may end when memory is short: the mind and what moves the motors go on without it.
"""
import socket
import subprocess
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from dialogue.engine import Cancel, Commit, EngineTrouble, Prompt, Resume, Timed
from robot.channel import Channel, command_of

RESTART_S = 1.0   # of an inline worker after a crash: about what a child process takes to load its models
HELD = 512        # requests that wait for a child: 5 s of sound; older ones make no answer that anybody waits for

Cancels = Callable[[Any, Any], bool]


class Handler(Protocol):
    """What works inside a worker."""

    def handle(self, request: Any) -> Iterator[Timed]: ...


class Worker(Protocol):
    """Takes requests, gives replies; never waits."""

    def submit(self, t: float, request: Any) -> None: ...

    def offer(self, t: float, request: Any) -> None:
        """The same for what is worth something only now: dropped when the worker is away or behind."""

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

    def offer(self, t: float, request: Any) -> None:
        if not self._inbox:
            self.submit(t, request)

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


@dataclass(frozen=True)
class Ready:
    """A child has built its handler, and works from now on."""


@dataclass
class ChildWorker:
    """Works in a process of its own, restarted with a backoff when it dies or does not take requests any more.

    make: importable callable `module:name` with keyword arguments; the child calls it to build the handler. ready: what
    the mind is told when a child (again) works. Requests that come while there is no child wait for the next one.
    """

    make: str
    arguments: dict[str, Any]
    trouble: Callable[[BaseException, Any], Any] = engine_trouble
    ready: Callable[[float], Any] | None = None
    backoff: tuple[float, float] = (0.2, 30.0)   # s, first and longest pause before a restart
    lasts_s: float = 30.0                        # s of life after which a death counts as the first again
    hangs_s: float = 30.0                        # s without taking a request; a model takes 10 s to load on a slow card
    deaths: int = 0
    _child: subprocess.Popen | None = None
    _channel: Channel | None = None
    _began: float = 0.0
    _took: float = 0.0                           # s, when it last took all requests
    _pause: float = 0.0
    _restart_at: float = 0.0
    _last: Any = None
    _held: deque = field(default_factory=lambda: deque(maxlen=HELD))
    _spent: deque = field(default_factory=lambda: deque(maxlen=HELD))

    @property
    def pid(self) -> int | None:
        return None if self._child is None else self._child.pid

    @property
    def waiting(self) -> int:
        """Bytes that the child has not taken yet."""
        return 0 if self._channel is None else self._channel.waiting

    def spent(self) -> list[tuple[float, Any]]:
        """(s of work, reply) of the replies since the call before."""
        out = list(self._spent)
        self._spent.clear()
        return out

    def submit(self, t: float, request: Any) -> None:
        if getattr(request, "generation", None) is not None:
            self._last = request
        if self._start(t) and self._channel is not None:
            self._channel.send(request)
        else:
            self._held.append(request)

    def offer(self, t: float, request: Any) -> None:
        if self._channel is not None and self._channel.waiting == 0:
            self._channel.send(request)

    def poll(self, t: float) -> list[Any]:
        if not self._start(t) or self._channel is None:
            return []
        out = []
        for timed in self._channel.receive():
            if not isinstance(timed.reply, Ready):
                self._spent.append((timed.cost, timed.reply))
                out.append(timed.reply)
            elif self.ready is not None:
                out.append(self.ready(t))
        if self._channel.waiting == 0:
            self._took = t
        if self._channel.closed:
            out.append(self._bury(t, "died"))
        elif t - self._took > self.hangs_s:
            out.append(self._bury(t, f"took nothing for {self.hangs_s:.0f} s and was ended"))
        return out

    def _bury(self, t: float, how: str) -> Any:
        self.deaths += 1
        first, longest = self.backoff
        self._pause = first if t - self._began > self.lasts_s else min(max(first, 2 * self._pause), longest)
        self._restart_at = t + self._pause
        self.close()
        return self.trouble(ChildProcessError(f"{self.make} {how}"), self._last)

    def _start(self, t: float) -> bool:
        if self._child is None and t >= self._restart_at:
            ours, theirs = socket.socketpair()
            command = command_of("robot.worker_child", str(theirs.fileno()), self.make)
            self._child = subprocess.Popen(command, pass_fds=[theirs.fileno()])
            theirs.close()
            self._channel, self._began, self._took = Channel(ours), t, t
            for request in ((self.make, self.arguments), *self._held):
                self._channel.send(request)
            self._held.clear()
        return self._child is not None

    def close(self) -> None:
        if self._channel is not None:
            self._channel.connection.close()
        if self._child is not None:
            self._child.kill()
            self._child.wait()
        self._child = self._channel = None
