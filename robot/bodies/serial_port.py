"""A serial device as a Port: opened when it appears, opened again when it was lost, silent meanwhile."""
import contextlib
import errno
import os
import select
import time
from typing import Protocol

import serial

REOPEN_S = 0.5             # s between two tries to open a device that is not there


class _Opened(Protocol):
    def fileno(self) -> int: ...
    def close(self) -> None: ...


class SerialPort:
    """A line such as /dev/ttyACM0. Reads and writes never raise for a lost device; `trouble` says what is wrong."""

    def __init__(self, device: str, baud: int = 1_000_000):
        self.device, self.baud = device, baud
        self.trouble = "not opened yet"
        self._line: _Opened | None = None
        self._try_at = 0.0

    def write(self, data: bytes) -> None:
        line = self._ready()
        if line is None:
            return
        try:
            written = os.write(line.fileno(), data)
            if written < len(data):
                self._lose(f"took {written} of {len(data)} bytes")
        except OSError as lost:
            self._lose(str(lost))

    def read(self, count: int, timeout: float) -> bytes:
        line, out = self._line, b""
        until = time.monotonic() + timeout
        remaining = timeout
        while line is not None and len(out) < count:
            try:
                if not select.select((line.fileno(),), (), (), max(remaining, 0.0))[0]:
                    break
                piece = os.read(line.fileno(), count - len(out))
            except OSError as lost:
                self._lose(str(lost))
                break
            if not piece:
                self._lose("end of file")
                break
            out += piece
            remaining = until - time.monotonic()
        return out

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def _ready(self) -> _Opened | None:
        now = time.monotonic()
        if self._line is None and now >= self._try_at:
            self._try_at = now + REOPEN_S
            try:
                self._line = self._open()
                self.trouble = ""
            except (serial.SerialException, OSError) as absent:
                taken = absent.errno == errno.EAGAIN        # of the lock
                self.trouble = f"{self.device}: another program holds this line" if taken else str(absent)
        return self._line

    def _open(self) -> serial.Serial:
        line = serial.Serial(self.device, self.baud, timeout=0, write_timeout=0, exclusive=True)
        with contextlib.suppress(OSError, ValueError, NotImplementedError):
            line.set_low_latency_mode(True)       # FTDI adapters wait 16 ms otherwise; others have no such mode
        line.reset_input_buffer()
        return line

    def _lose(self, reason: str) -> None:
        self.trouble = f"{self.device}: {reason}"
        self.close()
