"""The black box's own process: `python -m robot.black_box.child FD`. Keeps the ring, writes boxes, answers at the door.

It lives as long as the run's end of its socket: a run that is killed leaves a box behind. A box is written by a copy of
this process (fork), so that the ring goes on meanwhile; one at a time.
"""
import json
import os
import selectors
import signal
import socket
import sys
import traceback
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from robot.black_box import door
from robot.black_box.causes import Causes
from robot.black_box.config import BoxConfig
from robot.black_box.origin import origin
from robot.black_box.ring import Record, Ring
from robot.black_box.shelf import Shelf
from robot.channel import Channel

KILLED = "the run ended without a word: killed or crashed"


@dataclass
class Wish:
    """A box that is due. at: s of the run; who: waits at the door."""

    at: float
    cause: str
    who: list[socket.socket] = field(default_factory=list)


class Keeper:
    """Ring, shelf and door of one run."""

    def __init__(self, channel: Channel, config: BoxConfig, state: Path, header: dict[str, Any], forgets: bool):
        self.channel, self.config, self.state, self.header, self.forgets = channel, config, state, header, forgets
        self.ring, self.causes = Ring(config), Causes(config)
        self.shelf = Shelf(state / "boxes", config.disk_mb * 1e6, config.free_mb * 1e6)
        self.origin = origin()
        self.now = 0.0
        self.ended = False
        self.wish: Wish | None = None
        self._writing: tuple[int, Wish, Any] | None = None      # process, for whom, its pipe
        self._selector = selectors.DefaultSelector()
        self._selector.register(channel.connection, selectors.EVENT_READ, self._hear)
        self._door: socket.socket | None = None
        try:
            self._door = door.listener(state)
            self._selector.register(self._door, selectors.EVENT_READ, self._open)
            channel.send(("open",))
        except OSError as error:
            channel.send(("trouble", f"{error}: `talkover box` cannot reach this run"))

    def serve(self) -> None:
        """Until the run has ended and the last box is written."""
        while True:
            if self.wish is not None and self._writing is None and (self.ended or self.now >= self.wish.at):
                self._write(self.wish)
            if self.ended and self._writing is None:
                self._shut()
                return
            for key, _ in self._selector.select():
                key.data(key.fileobj)

    def _shut(self) -> None:
        """Leave no door behind that nobody opens."""
        if self._door is not None:
            self._door.close()
            (self.state / door.NAME).unlink(missing_ok=True)

    # from the run -------------------------------------------------------------------------------------------------

    def _hear(self, connection: socket.socket) -> None:
        for message in self.channel.receive():
            self._take(message)
        if self.channel.closed:
            self._selector.unregister(connection)
            if not self.ended:
                self._want(KILLED)
            self.ended = True

    def _take(self, message: Any) -> None:
        if isinstance(message, Record):
            self.now = message.t
            self.ring.add(message)
            cause = self.causes.note(message.t, message.events, message.health)
            if cause is not None:
                self._want(cause)
            return
        match message:
            case ("begin", index, mind, why):
                self.ring.begin(index, mind, why)
            case ("ask", why):
                self._want(why)
            case ("end", died):
                if died is not None:
                    self._want(died)
                self.ended = True

    def _want(self, cause: str, who: socket.socket | None = None) -> None:
        self.wish = self.wish or Wish(self.now + self.config.tail_s, cause)
        if who is not None:
            self.wish.who.append(who)

    # writing ------------------------------------------------------------------------------------------------------

    def _write(self, wish: Wish) -> None:
        self.wish = None
        reader, writer = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                os.nice(5)
                os.write(writer, json.dumps(self._written(wish)).encode())
                os._exit(0)
            except BaseException:             # the copy must not go on as a second keeper of the ring
                traceback.print_exc()
                os._exit(1)
        os.close(writer)
        pipe = os.fdopen(reader, "rb")
        self._writing = (process, wish, pipe)
        self._selector.register(pipe, selectors.EVENT_READ, self._finish)

    def _written(self, wish: Wish) -> dict[str, Any]:
        """In the copy: the box is made."""
        from robot.black_box.writing import ON_DISK, Contents, write_box

        segments, unverifiable = self.ring.best()
        if not segments:
            return {"failed": f"no box was written: {unverifiable}"}
        stamp = datetime.now().isoformat(timespec="seconds")
        kept = {"sound": self.config.sound, "words": self.config.words or self.config.sound}
        contents = Contents(segments, self.header,
                            {"cause": wish.cause, "made": stamp, "at_s": wish.at - self.config.tail_s, "kept": kept,
                             "lost_ticks": self.ring.lost, "origin": self.origin},
                            kept["words"], self.config.sound, unverifiable)
        need = ON_DISK * sum(segment.bytes for segment in segments)
        try:
            box = self.shelf.put(stamp, need, lambda folder: write_box(folder, contents))
        except OSError as error:
            return {"failed": f"no box was written: {error.strerror or error}"}
        return {"box": str(box), "verifiable": not unverifiable, "unverifiable_because": unverifiable}

    def _finish(self, pipe: Any) -> None:
        assert self._writing is not None
        process, wish, _ = self._writing
        text = pipe.read()
        self._selector.unregister(pipe)
        pipe.close()
        os.waitpid(process, 0)
        self._writing = None
        told = json.loads(text) if text else {"failed": "the process that wrote the box died"}
        self.channel.send(("wrote", told["box"], wish.cause) if "box" in told else ("trouble", told["failed"]))
        for who in wish.who:
            _answer(who, told)

    # at the door --------------------------------------------------------------------------------------------------

    def _open(self, listening: socket.socket) -> None:
        who, _ = listening.accept()
        who.setblocking(False)
        heard = bytearray()

        def hear(line: socket.socket) -> None:
            try:
                part = line.recv(door.MOST)
            except OSError:
                part = b""
            heard.extend(part)
            if part and b"\n" not in heard and len(heard) < door.MOST:
                return
            self._selector.unregister(line)
            if b"\n" in heard:
                self._serve(line, bytes(heard))
            else:
                line.close()

        self._selector.register(who, selectors.EVENT_READ, hear)

    def _serve(self, who: socket.socket, line: bytes) -> None:
        try:
            request = json.loads(line)
            do = request["do"]
        except (ValueError, TypeError, KeyError):
            do = None
        if do == "box":
            self._want(f"asked for: {str(request.get('why', ''))[:200]}", who)
        elif do == "forget":
            _answer(who, {"gone": [str(path) for path in self._forget()], "people": self.forgets})
        elif do == "status":
            _answer(who, self._status())
        else:
            _answer(who, {"bad": "expected {\"do\": \"box\", \"forget\" or \"status\"}"})

    def _forget(self) -> list[Path]:
        if self._writing is not None:
            os.kill(self._writing[0], signal.SIGKILL)
            self._finish(self._writing[2])
        for who in self.wish.who if self.wish is not None else ():
            _answer(who, {"failed": "no box was written: all was to be forgotten"})
        self.ring.clear()
        self.wish = None
        self.channel.send(("forget",))
        return self.shelf.forget()

    def _status(self) -> dict[str, Any]:
        ticks = sum(segment.ticks for segment in self.ring.segments)
        return {"sound": self.config.sound, "words": self.config.words or self.config.sound, "ticks": ticks,
                "bytes": self.ring.bytes, "lost_ticks": self.ring.lost,
                "boxes": [str(box) for box in self.shelf.boxes()]}


def _answer(who: socket.socket, told: dict[str, Any]) -> None:
    """One line; somebody who has gone away does not count."""
    try:
        who.sendall(json.dumps(told).encode() + b"\n")
    except OSError:
        pass
    finally:
        who.close()


def main() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):      # the run parks first; its end is this process's end
        signal.signal(number, signal.SIG_IGN)
    os.nice(5)
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    while not channel.closed:
        channel.wait(None)
        messages = channel.receive()
        if messages:
            setup, *rest = messages
            keeper = Keeper(channel, setup["config"], Path(setup["state"]), setup["header"], setup["forgets"])
            for message in rest:
                keeper._take(message)
            keeper.serve()
            return


if __name__ == "__main__":
    main()
