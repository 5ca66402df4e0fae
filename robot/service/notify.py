"""Tells systemd how the run goes: READY, STATUS, WATCHDOG, RELOADING, STOPPING (man 3 sd_notify).

One datagram a message, never waited for. Without NOTIFY_SOCKET nothing is sent.
"""
import os
import re
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from robot.service.parts import Parts
from robot.tick import Inputs, Tick

LATE_S = 1.0       # a tick later than this is no sign of health: sound waits in rings of a second
TRIED_S = 10.0     # then the robot is ready without the parts that said nothing; they join when they come
STATUS_S = 1.0     # between two status lines: a flickering part must not flood the service manager
KEPT = 16          # messages that wait for a service manager which is just being executed anew: some reloads


@dataclass
class Notify:
    """The socket. A message that cannot be sent now is kept and goes before the next; pings of the watchdog are not."""

    address: str = ""
    watchdog_s: float = 0.0                   # longest silence; 0: nobody watches
    _socket: socket.socket | None = field(default=None, init=False)
    _waiting: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT), init=False)

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> "Notify":
        """The service manager that this environment names."""
        address, pid = environment.get("NOTIFY_SOCKET", ""), environment.get("WATCHDOG_PID")
        ours = pid in (None, "", str(os.getpid()))
        microseconds = environment.get("WATCHDOG_USEC", "") if ours else ""
        return cls(address, int(microseconds) / 1e6 if re.fullmatch("[0-9]{1,18}", microseconds) else 0.0)

    def __post_init__(self) -> None:
        if self.address:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
            self._socket.setblocking(False)

    def tell(self, *lines: str, keep: bool = True) -> bool:
        """Sends `KEY=value` lines as one message; False when it has to wait (or, without keep, is lost)."""
        if self._socket is None:
            return False
        message = "\n".join(lines)
        if keep:
            if self._waiting and self._waiting[-1].startswith("STATUS=") and message.startswith("STATUS="):
                self._waiting.pop()         # an older status is of no use any more
            self._waiting.append(message)
            return self.flush()
        return self.flush() and self._sent(message)

    def flush(self) -> bool:
        """Sends what waits; True when nothing is left."""
        while self._waiting and self._sent(self._waiting[0]):
            self._waiting.popleft()
        return not self._waiting

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _sent(self, message: str) -> bool:
        assert self._socket is not None
        name = "\0" + self.address[1:] if self.address.startswith("@") else self.address
        try:
            self._socket.sendto(message.encode(), name)
        except OSError:             # full, or the service manager is not there just now: told again with the next tick
            return False
        return True


@dataclass
class Supervision:
    """An observer: ready when the parts have been tried, alive as long as ticks are healthy, and what works.

    now: seconds since the start of the run. failing: whether the newest tick raised.
    """

    notify: Notify
    now: Callable[[], float]
    failing: Callable[[], bool]
    parts: Parts = field(default_factory=Parts)
    ready: bool = field(default=False, init=False)
    _stopping: bool = field(default=False, init=False)
    _seen_at: float = field(default=-1e9, init=False)
    _fed_at: float = field(default=-1e9, init=False)
    _status_at: float = field(default=-1e9, init=False)
    _status: str = field(default="", init=False)

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        now = self.now()
        late = min(now - inputs.t, now - self._seen_at)    # a simulated room may be far behind and yet tick
        self._seen_at = now
        self.parts.note(inputs, tick)
        if not self.ready and (not self.parts.waited_for or inputs.t >= TRIED_S):
            self.ready = True
            self.notify.tell("READY=1", f"STATUS={self._line()}")
        if inputs.parking and not self._stopping:
            self._stopping = True
            self.notify.tell("STOPPING=1", "STATUS=parks the robot")
        elif not self._stopping and now - self._status_at >= STATUS_S:
            self._tell_status(now)
        self.notify.flush()
        if not self.failing() and late <= LATE_S:
            self._feed(now)

    def reloading(self) -> None:
        """A reload has begun; the service manager waits for `reloaded`."""
        self.notify.tell("RELOADING=1", f"MONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")

    def reloaded(self) -> None:
        self.notify.tell("READY=1", f"STATUS={self._line()}")

    def _feed(self, now: float) -> None:
        """A quarter of the time allowed: two pings may be lost."""
        if self.notify.watchdog_s and now - self._fed_at >= self.notify.watchdog_s / 4:
            self._fed_at = now
            self.notify.tell("WATCHDOG=1", keep=False)

    def _tell_status(self, now: float) -> None:
        line = self._line()
        if line != self._status:
            self._status, self._status_at = line, now
            self.notify.tell(f"STATUS={line}")

    def _line(self) -> str:
        return " ".join(self.parts.line().split())
