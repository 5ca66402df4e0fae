"""The metrics process's own program: `python -m robot.service.metrics_child FD`. Started by metrics_process.

Answers Prometheus from what the mind's process put into shared memory; threads are allowed in here. It ends when the
parent hangs up.
"""
import contextlib
import mmap
import os
import signal
import socket
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from wsgiref.simple_server import WSGIServer

from robot.bodies.latest import LatestValue
from robot.channel import Channel
from robot.service.tally import families

BEAT_S = 1.0
CLIENT_S = 5.0         # for a client to say or take something: each one that waits costs a thread and a descriptor


@dataclass(frozen=True)
class MetricsSetup:
    """What the process is told first."""

    memory: int            # file descriptor of the shared memory
    size: int              # bytes
    host: str
    port: int              # 0: any free one


class Figures:
    """A collector that looks into the shared memory when it is asked."""

    def __init__(self, slot: LatestValue):
        self._slot, self._last = slot, b""

    def collect(self) -> Iterable[Any]:
        self._last = self._slot.read()[1] or self._last       # every attempt met the writer: what was there before
        return families(self._last)

    def describe(self) -> Iterable[Any]:
        return families(b"")


def hang_up_on_the_slow(server: WSGIServer, limit_s: float) -> None:
    """Ends a connection on which nothing moves for so long; prometheus_client itself waits for ever."""
    class Handler(server.RequestHandlerClass):  # type: ignore[name-defined, misc]
        timeout = limit_s

        def handle(self) -> None:
            with contextlib.suppress(TimeoutError, ConnectionError):
                super().handle()

    server.RequestHandlerClass = Handler


def serve(channel: Channel, setup: MetricsSetup) -> None:
    """Answers until the parent hangs up; tells the port first, then a sign of life each second."""
    from prometheus_client import CollectorRegistry, start_http_server

    registry = CollectorRegistry()
    registry.register(Figures(LatestValue(mmap.mmap(setup.memory, setup.size), 0, setup.size)))   # type: ignore[arg-type]
    try:
        server, _ = start_http_server(setup.port, setup.host, registry)
    except OSError as error:
        channel.send(f"{setup.host}:{setup.port}: {error.strerror}, expected a free port: set port of [metrics]")
        channel.wait(BEAT_S)
        return
    hang_up_on_the_slow(server, CLIENT_S)
    channel.send(server.server_port)
    while not channel.closed:
        channel.wait(BEAT_S)
        channel.receive()
        channel.send(None)
    server.shutdown()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # a Ctrl-C is the parent's to answer
    os.nice(5)                                          # figures may wait
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    setup: MetricsSetup | None = channel.first()
    if setup is not None:
        serve(channel, setup)


if __name__ == "__main__":
    main()
