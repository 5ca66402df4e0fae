"""Length-framed pickles between a parent and the child that it started itself."""
import os
import pickle
import selectors
import socket
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_LENGTH = struct.Struct("<Q")
_HOME = Path(__file__).resolve().parents[1]     # the folder that holds this program's packages


def command_of(module: str, *words: str) -> list[str]:
    """How a child is started. What lies in the folder where somebody started the robot is not taken for our modules.

    Robot Framework projects have a folder `robot`, too. In a checkout the packages are found there, and only there.
    """
    try:
        at_home = os.getcwd() == str(_HOME)
    except FileNotFoundError:                   # the folder was deleted
        at_home = False
    return [sys.executable, *(() if at_home else ("-P",)), "-m", module, *words]


@dataclass
class Channel:
    """A non-blocking socket to the other process; what cannot be sent yet waits here, up to a limit."""

    connection: socket.socket
    limit: int = 32 * 2**20      # bytes; more than this unsent means that the other side hangs
    closed: bool = False
    _out: bytearray = field(default_factory=bytearray)
    _in: bytearray = field(default_factory=bytearray)
    _kept: list[Any] = field(default_factory=list)     # came together with the first

    def __post_init__(self) -> None:
        self.connection.setblocking(False)

    @property
    def waiting(self) -> int:
        """Bytes that the other side has not taken yet."""
        return len(self._out)

    def send(self, value: Any) -> bool:
        """Queue a value; False (and nothing queued) when the other side does not read."""
        if len(self._out) > self.limit:
            return False
        body = pickle.dumps(value, protocol=5)
        self._out += _LENGTH.pack(len(body)) + body
        self.flush()
        return True

    def flush(self) -> None:
        try:
            while self._out:
                del self._out[: self.connection.send(self._out)]
        except BlockingIOError:
            pass
        except OSError:
            self.closed = True

    def receive(self) -> list[Any]:
        """All values that have arrived whole."""
        kept, self._kept = self._kept, []
        self.flush()
        try:
            while chunk := self.connection.recv(1 << 20):
                self._in += chunk
            self.closed = True
        except BlockingIOError:
            pass
        except OSError:
            self.closed = True
        out = kept
        while len(self._in) >= 8 and len(self._in) >= 8 + (size := _LENGTH.unpack_from(self._in)[0]):
            out.append(pickle.loads(self._in[8:8 + size]))
            del self._in[:8 + size]
        return out

    def first(self) -> Any | None:
        """What the parent tells its child first; None: it hung up before (only a child waits)."""
        while True:
            if values := self.receive():
                self._kept = values[1:]
                return values[0]
            if self.closed:
                return None
            self.wait(None)

    def wait(self, timeout: float | None) -> None:
        """Sleep until something can be read (only a child does this)."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.connection, selectors.EVENT_READ)
            selector.select(timeout)
