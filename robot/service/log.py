"""The log of a live run: one line an event, with its reason. Writing never waits: what cannot be taken now is counted.

Under systemd an event goes to the journal with its facts as fields (TALKOVER_EVENT, TALKOVER_OF, ...); where there is
no journal socket, as a line with a priority prefix (man 3 sd-daemon); anywhere else as plain text on standard output.
What people and the robot said is left out unless the settings allow it: a log is a recording too.
"""
import errno
import os
import socket
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from calibration.health import Health
from dialogue.events import Event
from robot.tick import Inputs, Tick

Severity = Literal["error", "warning", "info", "debug"]
PRIORITY: dict[Severity, int] = {"error": 3, "warning": 4, "info": 6, "debug": 7}   # of syslog
JOURNAL = "/run/systemd/journal/socket"
WORDS = ("text", "heard", "unheard", "guess", "arguments", "result")    # facts that hold what somebody said
FREQUENT = ("heard_text", "stale_clause", "turn_candidate", "holds_still", "speech_start", "speech_end")
KEPT_BYTES = 1 << 16        # of a line that a pipe took only in part, and of the next ones


@dataclass(frozen=True, slots=True)
class LogConfig:
    """What a live run writes to its log; both can be changed by a reload."""

    level: Severity = "info"     # debug: also every pause, duck doubt and stale clause; warning: only what went wrong
    words: bool = False          # true: what people and the robot said is written, too, and stays as long as the log


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)     # a disk: lines wait, as for a pipe that is full


class Sink(Protocol):
    def send(self, priority: int, text: str, fields: Mapping[str, object]) -> bool:
        """False when the line was lost."""

    def close(self) -> None: ...


class Stream:
    """Standard output: a pipe, a socket, a terminal or a file. prefix: `<6>` before each line."""

    def __init__(self, descriptor: int = 1, prefix: bool = False):
        self._prefix, self._rest = prefix, b""
        kind = os.fstat(descriptor).st_mode
        self._socket: socket.socket | None = None
        if stat.S_ISSOCK(kind):
            self._socket = socket.socket(fileno=os.dup(descriptor))
            self._descriptor = -1
        elif stat.S_ISFIFO(kind) or stat.S_ISCHR(kind):     # opened anew: O_NONBLOCK must not reach who shares it
            self._descriptor = os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        else:
            self._descriptor = os.dup(descriptor)

    def send(self, priority: int, text: str, fields: Mapping[str, object]) -> bool:
        mark = f"<{priority}>" if self._prefix else ""
        line = "".join(f"{mark}{part}\n" for part in text.splitlines()).encode(errors="replace")
        if len(self._rest) + len(line) > KEPT_BYTES:
            self._flush()
            if len(self._rest) + len(line) > KEPT_BYTES:
                return False
        self._rest += line
        self._flush()
        return True

    def close(self) -> None:
        self._flush()
        if self._socket is not None:
            self._socket.close()
        else:
            os.close(self._descriptor)

    def _flush(self) -> None:
        try:
            while self._rest:
                self._rest = self._rest[self._write(self._rest):]
        except BlockingIOError:
            pass
        except OSError as error:
            if error.errno not in FULL:         # nobody reads any more
                self._rest = b""

    def _write(self, data: bytes) -> int:
        if self._socket is not None:
            return self._socket.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        return os.write(self._descriptor, data)


class Journal:
    """The journal's own socket (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/)."""

    def __init__(self, path: str = JOURNAL):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._socket.setblocking(False)
        self._path = path

    def send(self, priority: int, text: str, fields: Mapping[str, object]) -> bool:
        entries = {"MESSAGE": text, "PRIORITY": priority, "SYSLOG_IDENTIFIER": "talkover",
                   **{f"TALKOVER_{name.upper()}": value for name, value in fields.items()}}
        try:
            self._socket.sendto(b"".join(_entry(name, str(value)) for name, value in entries.items()), self._path)
        except OSError:
            return False
        return True

    def close(self) -> None:
        self._socket.close()


def _entry(name: str, value: str) -> bytes:
    data = value.encode(errors="replace")
    if b"\n" in data:
        return name.encode() + b"\n" + struct.pack("<Q", len(data)) + data + b"\n"
    return name.encode() + b"=" + data + b"\n"


def stream_of(descriptor: int) -> str:
    """Device and inode as JOURNAL_STREAM names them (man 5 systemd.exec)."""
    status = os.fstat(descriptor)
    return f"{status.st_dev}:{status.st_ino}"


def sink_of(environment: Mapping[str, str] = os.environ, descriptor: int = 1, journal: str = JOURNAL) -> Sink:
    """The journal when standard output goes there (JOURNAL_STREAM names its device and inode), else standard output."""
    supervised = environment.get("JOURNAL_STREAM") == stream_of(descriptor)
    if supervised and os.path.exists(journal):      # none in some containers: lines with a prefix do as well
        return Journal(journal)
    return Stream(descriptor, prefix=supervised)


@dataclass
class Log:
    """An observer; `note` for what happens outside of ticks."""

    sink: Sink = field(default_factory=sink_of)
    config: LogConfig = field(default_factory=LogConfig)
    lost: int = 0                # lines in all
    _untold: int = 0             # of these, not said in the log yet

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        for change in inputs.health:
            self._health(change)
        for event in tick.events:
            self._event(event)

    def note(self, severity: Severity, event: str, reason: str, **facts: object) -> None:
        """One line: `event key=value ...: reason`."""
        if PRIORITY[severity] > PRIORITY[self.config.level]:
            return
        told = "".join(f" {name}={_shown(value)}" for name, value in facts.items())
        text = f"{event}{told}: {reason}" if reason else event + told
        fields = {"event": event, "reason": reason, **facts}
        if self._untold and self.sink.send(PRIORITY["warning"], f"log_lost count={self._untold}: nobody took the lines",
                                           {"event": "log_lost", "count": self._untold}):
            self._untold = 0
        if not self.sink.send(PRIORITY[severity], text, fields):
            self.lost += 1
            self._untold += 1

    def configure(self, config: LogConfig) -> None:
        self.config = config

    def report(self, text: str) -> None:
        """A traceback of a tick that failed."""
        self.note("error", "tick_failed", text.strip())

    def _health(self, change: Health) -> None:
        severity: Severity = "info" if change.level == "ok" else "warning"
        self.note(severity, "health", change.reason, t=change.t, of=change.part, level=change.level)

    def _event(self, event: Event) -> None:
        facts = dict(event.facts)
        if event.name == "health":
            self._health(Health(event.t, str(facts["of"]), facts["level"], str(facts["reason"])))  # type: ignore[arg-type]
            return
        reason = str(facts.pop("reason", ""))
        if not self.config.words:
            facts = {name: value for name, value in facts.items() if name not in WORDS}
        bad = event.name == "engine" and facts.get("state") != "ready"
        severity: Severity = "warning" if bad else "debug" if event.name in FREQUENT else "info"
        self.note(severity, event.name, reason, t=event.t, **facts)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    text = str(value)
    return f'"{text}"' if " " in text else text
