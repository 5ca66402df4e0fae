"""The child side of a ChildWorker: `python -m robot.worker_child FD`."""
import importlib
import os
import socket
import sys
from collections import deque
from typing import Any

from robot.channel import Channel
from robot.worker import Handler, cancels_reply


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
    handler = build(*inbox.popleft())
    while not channel.closed:
        if not inbox:
            channel.wait(None)
        inbox.extend(channel.receive())
        if inbox:
            work(channel, handler, inbox)


def work(channel: Channel, handler: Handler, inbox: deque[Any]) -> None:
    """Answer the oldest request; stop between two replies when a newer one cancels it."""
    running = inbox.popleft()
    for timed in handler.handle(running):
        channel.send(timed.reply)
        inbox.extend(channel.receive())
        if channel.closed or any(cancels_reply(request, running) for request in inbox):
            return


def main() -> None:
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    serve(Channel(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    main()
