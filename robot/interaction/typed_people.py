"""A person at the keyboard takes part in the simulated room: typed lines are spoken there, slashes are acts."""
import os
import selectors
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from robot.bodies.room.room import Room, RoomPerson
from robot.errors import BadRequest
from robot.tick import Inputs, Tick

NAME = "you"
ORDERS = "/halt stops all joints at once, /free ends that; /box keeps the last minutes; /quit"
HELP = ("type what you say and press Enter. /nod /shake /wave /sigh /away /back (look away, look at the robot), "
        f"/walk DEGREES (0 in front, 90 left, 180 behind), /knock; {ORDERS}")
ACTS = {"/nod": RoomPerson.nod, "/shake": RoomPerson.shake_head, "/wave": RoomPerson.wave, "/sigh": RoomPerson.sigh}
WALK_DEG_S = 60.0


@dataclass
class Keyboard:
    """Lines that were typed so far, without waiting for more."""

    closed: bool = False
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _partial: bytes = b""

    def __post_init__(self) -> None:
        try:
            self._selector.register(sys.stdin, selectors.EVENT_READ)
        except (PermissionError, ValueError):  # /dev/null or a file cannot be waited for: nobody types
            self.closed = True

    def lines(self) -> list[str]:
        if self.closed or not self._selector.select(0):
            return []
        data = os.read(sys.stdin.fileno(), 65536)
        if not data:
            self.closed = True
            self._selector.unregister(sys.stdin)
        *whole, self._partial = (self._partial + data).split(b"\n")
        return [line.decode(errors="replace").strip() for line in whole]


@dataclass
class TypedPerson:
    """The room's script: called at the start of every tick. Without a room only orders are obeyed."""

    halt: Callable[[bool], None]     # emergency stop of the joints, or its end
    box: Callable[[str], None]       # writes the black box
    keyboard: Keyboard = field(default_factory=Keyboard)
    quits: bool = False

    def __call__(self, t: float, room: Room | None) -> None:
        for line in self.keyboard.lines():
            try:
                if not self._ordered(line):
                    self._do(t, line, room)
            except BadRequest as error:
                print(f"  ({error})")

    def _ordered(self, line: str) -> bool:
        """Obeys what is no act of a person."""
        match line.partition(" ")[0]:
            case "/halt" | "/free" as word:
                self.halt(word == "/halt")
            case "/box":
                self.box("asked at the keyboard")
            case "/quit":
                self.quits = True
            case _:
                return False
        return True

    def _do(self, t: float, line: str, room: Room | None) -> None:
        word, _, rest = line.partition(" ")
        if not line:
            return
        if room is None:
            raise BadRequest(f"this robot hears with its own microphones. {ORDERS}")
        person = room.person(NAME)
        if word in ACTS:
            ACTS[word](person, t)
        elif word in ("/away", "/back"):
            person.look(t, "away" if word == "/away" else "robot")
        elif word == "/walk":
            self._walk(t, rest, person)
        elif word == "/knock":
            room.noise(t, "knock")
        elif word.startswith("/"):
            print(f"  ({HELP})")
        else:
            person.say(t, line)

    def _walk(self, t: float, degrees: str, person: RoomPerson) -> None:
        try:
            azimuth = np.radians(float(degrees))
        except ValueError as error:
            raise BadRequest(f"/walk {degrees}: expected degrees, 0 in front of the robot, 90 at its left") from error
        way = abs(np.degrees(azimuth - person.azimuth(t)))
        person.walk_to(t, float(azimuth), person.figure.script.distance, max(0.5, way / WALK_DEG_S))


def conversation(inputs: Inputs, tick: Tick) -> None:
    """An observer that prints the talk: what was understood, what was heard of the answer, and what happened."""
    for event in tick.events:
        facts = dict(event.facts)
        if event.name == "transcript":
            print(f"{event.t:7.1f} s  you    {facts['text']}", flush=True)
        elif event.name in ("reply_end", "reply_superseded") and facts.get("heard"):
            cut = " ... (stopped)" if event.name == "reply_superseded" else ""
            print(f"{event.t:7.1f} s  robot  {facts['heard']}{cut}", flush=True)
        elif event.name in ("barge_in", "cue", "reply_resumed", "health") or \
                (event.name == "engine" and facts.get("state") != "ready"):
            said = facts.get("reason") or facts.get("cue") or ""
            print(f"{event.t:7.1f} s         [{event.name} {said}]", flush=True)
    for change in inputs.health:
        print(f"{change.t:7.1f} s         [{change.part} {change.level}: {change.reason}]", flush=True)
