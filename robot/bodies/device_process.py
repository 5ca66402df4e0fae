"""The parent's side of a device's own process: what it found comes by `poll`, orders go by `send`. Nothing waits."""
import time
from dataclasses import dataclass, field
from typing import Any

from robot.bodies.child_process import ChildProcess
from robot.bodies.device_child import DeviceSetup

BACKOFF_S = (0.5, 30.0)      # s, first and longest pause before a process that died is started again
HANGS_S = 3.0                # s without a sign of life: a call into libusb or the kernel does not come back
LOADING_S = 20.0             # the same before the first sign: a small board loads its packages from a slow card
CLOSE_S = 1.0                # s to let go of the device


@dataclass
class DeviceProcess:
    """One device in a process of its own, started again when it dies or hangs."""

    part: str                # its name in Health
    setup: DeviceSetup
    child: ChildProcess = field(init=False)

    def __post_init__(self) -> None:
        self.child = ChildProcess("robot.bodies.device_child", self.part, self.setup.start, HANGS_S, LOADING_S,
                                  BACKOFF_S, CLOSE_S)

    def poll(self) -> list[Any]:
        """What was found since the call before, in order, and the process's own Health."""
        now = time.monotonic()
        if self.child.due(now):
            self.child.begin(now, self.setup)
        channel = self.child.channel
        if channel is None:
            return list(self.child.health())
        messages = channel.receive()
        if messages:
            self.child.beat(now)
        found = [*self.child.health(), *(value for message in messages for value in message)]
        if channel.closed:
            self.child.hung_up(now)
        self.child.watch(now)
        return found + self.child.health()

    def send(self, order: Any) -> bool:
        """False: there is no process now, the order is lost."""
        return self.child.channel is not None and self.child.channel.send(order)

    def fileno(self) -> int:
        """Becomes readable when something was found; -1 while no process lives."""
        return -1 if self.child.connection is None else self.child.connection.fileno()

    @property
    def pid(self) -> int | None:
        return self.child.pid

    def close(self) -> None:
        """The device is let go of first; what hangs is ended."""
        self.child.close()
