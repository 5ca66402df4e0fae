"""The child side of a ChildWorker: `python -m robot.worker_child FD NAME`; the name is for people."""
import importlib
import os
import socket
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

from dialogue.engine import Timed
from robot.channel import Channel
from robot.worker import Handler, Ready, cancels_reply

PULSE_S = 0.05         # between two looks of an idle handler
EXPENDABLE = 500       # of 1000: what is ended first when memory is short; the mind and the servo process stay at 0


def build(make: str, arguments: dict[str, Any]) -> Handler:
    """The handler named `module:name`, built with keyword arguments."""
    module, name = make.split(":")
    return getattr(importlib.import_module(module), name)(**arguments)


def serve(channel: Channel) -> None:
    """Work until the parent hangs up."""
    inbox: deque[Any] = deque()
    while not inbox and not channel.closed:
        channel.wait(None)
        inbox.extend(channel.receive())
    if not inbox:
        return
    began = time.perf_counter()
    handler = build(*inbox.popleft())
    channel.send(Timed(time.perf_counter() - began, Ready()))
    pulse = getattr(handler, "pulse", None)      # a handler with a line of its own looks at it in idle moments too
    while not channel.closed:
        if not inbox:
            channel.wait(None if pulse is None else PULSE_S)
        inbox.extend(channel.receive())
        if inbox:
            work(channel, handler, inbox)
        elif pulse is not None and not channel.closed:
            for timed in pulse(PULSE_S):
                channel.send(timed)


def work(channel: Channel, handler: Handler, inbox: deque[Any]) -> None:
    """Answer the oldest request, with the true cost of each reply; stop when a newer request cancels it."""
    running = inbox.popleft()
    began = time.perf_counter()
    for timed in handler.handle(running):
        channel.send(Timed(time.perf_counter() - began, timed.reply))
        inbox.extend(channel.receive())
        if channel.closed or any(cancels_reply(request, running) for request in inbox):
            return
        began = time.perf_counter()


def main() -> None:
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    Path("/proc/self/oom_score_adj").write_text(str(EXPENDABLE))
    serve(Channel(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    main()
