"""The black box as the run sees it: an observer that hands every tick to a process of its own and never waits.

What it costs the tick in CPU time: 0.2 to 0.3 ms where sound may be kept, and once a segment, right after a tick and if
possible when nobody speaks, 3 to 9 ms (quiet and busy x86_64 core) for keeping the mind and handing it over. A copy of
the process by fork() was measured too: 16 to 20 ms for 280 MB.
"""
import pickle
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from robot.black_box.config import BoxConfig
from robot.black_box.facts import EVERY, facts_of
from robot.black_box.ring import Record
from robot.channel import Channel, command_of
from robot.config import header_of
from robot.mind_state import kept
from robot.runtime import GuardedMind
from robot.tick import TICK_S, Inputs, Tick

WAITING_BYTES = 8 * 2**20        # not yet taken by the child: 16 s with sound; more than this is lost, and counted
LATEST_S = 10.0                  # a due keeping of the mind waits so long for silence
APART_S = 5.0                    # between two, when ticks were lost
BACKOFF_S = (1.0, 60.0)          # first and longest pause before a child that died is started again
CLOSE_S = 30.0                   # for the child to write what was asked for
NO_SOUND = "recorded without sound ([box] sound = false)"


@dataclass
class BlackBox:
    """Use as a context manager around the run, and as one of its observers.

    state: folder of boxes and of the socket. report: takes one line for people. forget: called between two ticks when
    somebody wants all to be forgotten; None: this run cannot, and says so.
    """

    config: BoxConfig
    mind: GuardedMind
    state: Path
    report: Callable[[str], None] = lambda text: None
    forget: Callable[[], None] | None = None
    lost: int = 0                            # ticks that the child could not take
    boxes: int = 0                           # written in this run
    open: bool = False                       # `talkover box` reaches this run
    _child: subprocess.Popen | None = None
    _channel: Channel | None = None
    _next: int = 0                           # index of the coming tick
    _due: float = 0.0                        # s, when the mind is kept again
    _kept_at: float = 0.0
    _gap: bool = False
    _deaths: int = 0
    _restart_at: float = 0.0
    _told: set[str] = field(default_factory=set)

    def __enter__(self) -> "BlackBox":
        if self.config.on:
            self.report(self.sign())
            self._start()
            self._begin(0.0)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close(None if error is None else f"the run died: {type(error).__name__}: {error}")

    def sign(self) -> str:
        """What is being recorded, for everybody who should know."""
        if not self.config.on:
            return "black box: off, nothing is recorded"
        what = ("SOUND, WORDS and FACES AS NUMBERS ARE RECORDED" if self.config.sound else
                "no sound" + (", but the words" if self.config.words else ", no words") + ", no pictures")
        return (f"black box: {what}; the last {self.config.minutes:g} min stay in memory, written to "
                f"{self.state / 'boxes'} on request, on a fault or at a complaint")

    def ask(self, why: str) -> None:
        """Write a box. why: nobody's words."""
        if self._channel is not None:
            self._channel.send(("ask", why))

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        if not self.config.on:
            return
        self._next = inputs.index + 1
        if self._channel is None and inputs.t >= self._restart_at:
            self._start()
            self._begin(inputs.t)
        elif self._channel is not None:
            self._hand_over(inputs, tick, self._channel)

    def _hand_over(self, inputs: Inputs, tick: Tick, channel: Channel) -> None:
        pair = pickle.dumps((inputs, tick.outputs), pickle.HIGHEST_PROTOCOL) if self.config.sound else None
        facts = facts_of(inputs, tick) if inputs.index % EVERY == 0 else None
        if not channel.send(Record(inputs.index, inputs.t, tick.events, inputs.health, facts, pair)):
            self.lost += 1
            self._gap, self._due = True, min(self._due, max(inputs.t, self._kept_at + APART_S))
        if inputs.index % EVERY == 0:
            self._listen(channel, inputs.t)
        quiet = tick.floor == "idle" and not tick.sound.speech
        if inputs.t >= self._due and (quiet or self._gap or inputs.t >= self._due + LATEST_S):
            self._begin(inputs.t)

    def _begin(self, t: float) -> None:
        """A new segment from the coming tick on."""
        if self._channel is None or self._channel.waiting > WAITING_BYTES // 2:
            return
        state, why = None, NO_SOUND
        if self.config.sound:
            try:
                state, why = kept(self.mind), ""
            except (TypeError, AttributeError, pickle.PicklingError) as error:
                why = f"the mind could not be kept: {error}"
                self._say_once(f"black box: {why}; boxes cannot be replayed")
        self._channel.send(("begin", self._next, state, why))
        self._kept_at, self._due, self._gap = t, t + self.config.segment_s, False

    def _listen(self, channel: Channel, t: float) -> None:
        for told in channel.receive():
            self._take(told, t)
        if channel.closed:
            self._deaths += 1
            self._restart_at = t + min(BACKOFF_S[0] * 2 ** (self._deaths - 1), BACKOFF_S[1])
            self._end_child()
            self._say_once("black box: its process died; what it held is lost, it starts again")

    def _take(self, told: tuple[str, ...], t: float) -> None:
        if told[0] == "wrote":
            self.boxes += 1
            self.report(f"black box: wrote {told[1]} ({told[2]})")
        elif told[0] == "forget":
            if self.forget is not None:
                self.forget()
            self._begin(t)
        elif told[0] == "open":
            self.open = True
        else:
            self.report(f"black box: {told[1]}")

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self._child = subprocess.Popen(command_of("robot.black_box.child", str(theirs.fileno())),
                                       pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        self._channel = Channel(ours, WAITING_BYTES)
        setup: dict[str, Any] = {"config": self.config, "state": str(self.state.resolve()),
                                 "header": header_of(self.mind.config), "forgets": self.forget is not None}
        self._channel.send(setup)

    def close(self, died: str | None = None) -> None:
        """Ends the child, which first writes what was asked for. died: why the run ends, if it should not."""
        channel = self._channel
        if channel is None:
            return
        channel.send(("end", died))
        channel.connection.settimeout(CLOSE_S)
        channel.flush()
        self._wait(CLOSE_S)
        channel.connection.setblocking(False)
        for told in channel.receive():
            if told[0] != "forget":
                self._take(told, 0.0)
        self._end_child()

    def _wait(self, wait_s: float) -> None:
        assert self._child is not None
        try:
            self._child.wait(wait_s)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def _end_child(self) -> None:
        self._wait(0.0)
        if self._channel is not None:
            self._channel.connection.close()
        self._child = self._channel = None

    def _say_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.report(text)


assert EVERY * TICK_S <= 0.1 + 1e-9     # the facts are promised at 10 Hz
