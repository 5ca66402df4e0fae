"""The vitals process's own program: `python -m robot.service.vitals_child FD`. Started by vitals_process.

Once a second it reads the machine and says what it found; when the parent hangs up it ends.
"""
import signal
import socket
import sys
import time
from dataclasses import dataclass

from robot.channel import Channel
from robot.service.machine import Machine

PERIOD_S = 1.0         # a sample costs 2 ms here; temperature and memory need no more


@dataclass(frozen=True)
class VitalsSetup:
    """What the process is told first."""

    start: float       # s, monotonic clock at the run's t = 0
    root: int          # pid of the mind


def watch(channel: Channel, machine: Machine, start: float) -> None:
    """Samples until the parent hangs up."""
    due = time.monotonic()
    while not channel.closed:
        now = time.monotonic()
        if now >= due:
            channel.send(machine.sample(now - start))
            due = max(due + PERIOD_S, now)       # after a suspended machine: no burst
        else:
            channel.wait(due - now)
        channel.receive()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # a Ctrl-C is the parent's to answer
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    setup: VitalsSetup | None = channel.first()
    if setup is not None:
        watch(channel, Machine(setup.root), setup.start)


if __name__ == "__main__":
    main()
