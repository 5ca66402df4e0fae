"""A device's own process: `python -m robot.bodies.device_child FD`. Started by device_process, not by hand.

Unlike a worker (robot/worker.py) it is not asked: it steps its device on absolute deadlines and tells what it finds.
"""
import importlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from robot.channel import Channel

BEAT_S = 0.5           # s after which an empty message says that the process still steps


@dataclass(frozen=True, slots=True)
class DeviceSetup:
    """What the parent tells its child first. make: `module:name`, called with `settings`."""

    make: str
    settings: Any
    start: float       # s, monotonic clock at t = 0 of the run


class Loop(Protocol):
    """A device and what is done with it."""

    period_s: float

    def step(self, t: float, orders: Sequence[Any]) -> Sequence[Any]:
        """At t (s of the run): do what was ordered, give what was found."""

    def close(self) -> None:
        """The robot lets go of the device."""


def serve(channel: Channel, loop: Loop, start: float, now: Callable[[], float], wait: Callable[[float], None]) -> None:
    """Step until the parent hangs up."""
    due = said_at = now()
    try:
        while True:
            orders = channel.receive()
            if channel.closed:
                return
            t = now()
            found = tuple(loop.step(t - start, orders))
            if found or t - said_at >= BEAT_S:
                channel.send(found)
                said_at = t
            due = max(due + loop.period_s, now() - loop.period_s)     # too late to catch up: drop what was missed
            wait(max(0.0, due - now()))
    finally:
        loop.close()


def made(setup: DeviceSetup) -> Loop:
    module, name = setup.make.split(":")
    return getattr(importlib.import_module(module), name)(setup.settings)


def main() -> None:
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # a Ctrl-C is the parent's to answer
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    setup: DeviceSetup | None = channel.first()
    if setup is not None:
        serve(channel, made(setup), setup.start, time.monotonic, time.sleep)


if __name__ == "__main__":
    main()
