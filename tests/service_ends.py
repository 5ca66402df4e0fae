"""The other ends of a service in tests: a service manager's socket, a log's reader, ticks with what they tell."""
import socket

from calibration.health import Health
from motion.intent import MotionIntent
from perception.audio.scene import SoundScene
from perception.vision.frame import Sight
from robot.service.notify import Notify
from robot.tick import Event, Inputs, Outputs, Tick


def tick_of(*events: Event) -> Tick:
    return Tick(Outputs(), SoundScene(0.0), Sight(0.0), (), MotionIntent(0.0, "still"), "idle", events)


def inputs_of(t: float, *health: Health, **arrived) -> Inputs:
    return Inputs(round(t * 100), t, health=health, **arrived)


EVERYTHING = {"audio": (object(),), "faces": (object(),), "joints": object(), "replies": (object(),)}


class Manager:
    """The service manager's end of NOTIFY_SOCKET."""

    def __init__(self, address: str):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.settimeout(20)
        self.address = address
        self.told: list[Notify] = []

    def heard(self) -> list[dict[str, str]]:
        """All messages so far; a datagram is there as soon as it was sent."""
        self.socket.setblocking(False)
        messages = []
        try:
            while data := self.socket.recv(65536):
                messages.append(dict(line.split("=", 1) for line in data.decode().split("\n")))
        except BlockingIOError:
            return messages
        return messages


class Kept:
    def __init__(self, room: int = 10**6):
        self.room, self.lines = room, []

    def send(self, priority, text, fields):
        if len(self.lines) >= self.room:
            return False
        self.lines.append((priority, text, dict(fields)))
        return True
