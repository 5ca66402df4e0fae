"""How other programs talk to the black box of a running robot: a socket in its state folder, one JSON line each way."""
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robot.errors import BadRequest

NAME = "box.sock"
MOST = 1 << 16             # bytes of a line
WAIT_S = 120.0             # a small board writes some minutes of sound in half a minute


class NobodyThere(Exception):
    """No robot runs with this state folder, or its black box is off."""


def listener(folder: Path) -> socket.socket:
    """Where requests arrive; OSError when another run has this folder or nothing can be written there."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        ask(folder, {"do": "status"}, 1.0)
    except NobodyThere:
        (folder / NAME).unlink(missing_ok=True)
    else:
        raise OSError(f"{folder / NAME}: another run uses this state folder")
    door = socket.socket(socket.AF_UNIX)
    with _short(folder) as path:
        door.bind(path)
    (folder / NAME).chmod(0o600)
    door.listen(4)
    door.setblocking(False)
    return door


def ask(folder: Path, request: dict[str, Any], wait_s: float = WAIT_S) -> dict[str, Any]:
    """What the running robot answers. NobodyThere when none does."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(wait_s)
        try:
            with _short(folder) as path:
                line.connect(path)
            line.sendall(json.dumps(request).encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n") and (part := line.recv(MOST)):
                answer += part
        except OSError as error:
            raise NobodyThere(f"{folder / NAME}: {error.strerror or error}") from error
    try:
        told = json.loads(answer)
    except ValueError as error:
        raise NobodyThere(f"{folder / NAME}: no answer, the run has ended") from error
    if "bad" in told:
        raise BadRequest(told["bad"])
    return told


@contextmanager
def _short(folder: Path) -> Iterator[str]:
    """The socket's path by way of an open folder: the name of a socket may have 107 bytes only."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{NAME}"
    finally:
        os.close(descriptor)
