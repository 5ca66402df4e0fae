"""The parent's side of a device's own process: what it found comes by `poll`, orders go by `send`. Nothing waits."""
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from calibration.health import Health
from robot.bodies.device_child import DeviceSetup
from robot.channel import Channel

BACKOFF_S = (0.5, 30.0)      # s, first and longest pause before a process that died is started again
HANGS_S = 3.0                # s without a sign of life: a call into libusb or the kernel does not come back
LOADING_S = 20.0             # the same before the first sign: a small board loads its packages from a slow card
SOUND_S = 30.0               # s of life after which a death counts as the first again
CLOSE_S = 1.0                # s to let go of the device


@dataclass
class DeviceProcess:
    """One device in a process of its own, started again when it dies or hangs."""

    part: str                # its name in Health
    setup: DeviceSetup
    deaths: int = 0
    _child: subprocess.Popen | None = None
    _channel: Channel | None = None
    _restart_at: float = 0.0
    _began_at: float = 0.0
    _heard_at: float | None = None
    _wait_s: float = BACKOFF_S[0]
    _told: bool = field(default=False)     # that it is gone

    def poll(self) -> list[Any]:
        """What was found since the call before, in order, and the process's own Health."""
        now = time.monotonic()
        if self._channel is None:
            if now >= self._restart_at:
                self._begin(now)
            return []
        messages = self._channel.receive()
        found = [value for message in messages for value in message]
        if messages:
            if self._told:
                self._told = False
                found.insert(0, Health(now - self.setup.start, self.part, "ok", "started again"))
            self._heard_at = now
        silence = now - (self._began_at if self._heard_at is None else self._heard_at)
        hangs = silence > (LOADING_S if self._heard_at is None else HANGS_S)
        if self._channel.closed or hangs:
            found += self._bury(now, hangs)
        return found

    def send(self, order: Any) -> bool:
        """False: there is no process now, the order is lost."""
        return self._channel is not None and self._channel.send(order)

    def fileno(self) -> int:
        """Becomes readable when something was found; -1 while no process lives."""
        return -1 if self._channel is None else self._channel.connection.fileno()

    @property
    def pid(self) -> int | None:
        return None if self._child is None else self._child.pid

    def close(self) -> None:
        """The device is let go of first; what hangs is ended."""
        if self._channel is not None:
            self._channel.connection.close()
            self._channel = None
        if self._child is not None:
            try:
                self._child.wait(CLOSE_S)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
            self._child = None

    def _begin(self, now: float) -> None:
        ours, theirs = socket.socketpair()
        self._child = subprocess.Popen([sys.executable, "-m", "robot.bodies.device_child", str(theirs.fileno())],
                                       pass_fds=[theirs.fileno()])
        theirs.close()
        self._channel = Channel(ours)
        self._channel.send(self.setup)
        self._began_at, self._heard_at = now, None

    def _bury(self, now: float, hangs: bool) -> list[Health]:
        assert self._channel is not None and self._child is not None
        self._channel.connection.close()
        self._channel = None
        self._child.kill()
        status = self._child.wait()
        self._child = None
        self.deaths += 1
        self._wait_s = BACKOFF_S[0] if now - self._began_at > SOUND_S else min(self._wait_s * 2, BACKOFF_S[1])
        self._restart_at = now + self._wait_s
        if self._told:
            return []
        self._told = True
        why = "does not come back from a call" if hangs else f"ended with status {status}"
        return [Health(now - self.setup.start, self.part, "gone", f"its process {why}; it is started again")]
