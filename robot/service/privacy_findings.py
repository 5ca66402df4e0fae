"""What `talkover doctor` says of where sound and words go: the engine's host, other peers, and what is recorded."""
import dataclasses
import ipaddress
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from dialogue.engines.realtime.dialects import DIALECTS
from robot.black_box.door import NobodyThere, ask
from robot.black_box.shelf import Shelf, size
from robot.engine_choice import sees
from robot.live_config import LiveConfig
from robot.service.findings import Finding

PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}
LOCAL = ("embedded", "scripted")      # engines that work in the robot's own processes
PATIENCE_S = 2.0


class Peer(NamedTuple):
    """Another program that this configuration talks to."""

    section: str
    host: str
    port: int

    @property
    def here(self) -> bool:
        """On this machine: nothing leaves it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def peers(config: LiveConfig) -> list[Peer]:
    """Of the configured engine and body: keys `url`, or `host` with `port`, of the section of that name."""
    used = {config.run.engine, *({"daemon"} if config.run.body == "reachy-daemon" else ())}
    found = []
    for field in dataclasses.fields(config):
        if field.name in used:
            peer = _peer(field.name, getattr(config, field.name))
            found += [] if peer is None else [peer]
    return found


def _peer(section: str, settings: Any) -> Peer | None:
    url = getattr(settings, "url", None)
    if url:
        parts = urlsplit(url)
        return Peer(section, parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0))
    host = getattr(settings, "host", None)
    return None if host is None else Peer(section, host, int(getattr(settings, "port", 0)))


def reaches(host: str, port: int) -> str:
    """Why no connection can be made; "" when one can. Nothing is sent."""
    try:
        socket.create_connection((host, port), PATIENCE_S).close()
    except OSError as error:
        return str(error.strerror or error)
    return ""


def leaves(config: LiveConfig) -> str:
    """What of people goes to the engine's host."""
    name = config.run.engine
    if name == "chat":
        return "the words of people go there; no sound, no pictures"
    sound, often = "all sound, always,", "one a second"
    if name == "realtime":
        server = DIALECTS.get(config.realtime.server)
        if server is None:
            sound = "the sound of turns, or all sound where that server itself decides when to answer,"
        elif not server.led:
            sound = "the sound of turns"
        often = "one with each turn" if server is None or server.images != "sound" else often
    if not sees(config):
        return f"{sound} goes there; no pictures"
    if not has_camera(config):
        return f"{sound} goes there; pictures would, but there is no camera"
    return f"{sound} and PICTURES of the camera, {often}, go there"


def has_camera(config: LiveConfig) -> bool:
    """The simulated room's is one too."""
    return bool(config.camera.source) or config.run.body == "simulated" or config.run.senses == "simulated"


def network(config: LiveConfig, reach: Callable[[str, int], str] = reaches) -> Iterator[Finding]:
    """Who answers, where sound and words go, and whether the way is open."""
    found = peers(config)
    engine = next((peer for peer in found if peer.section == config.run.engine), None)
    name = config.run.engine
    if engine is None and name in LOCAL:
        yield Finding("engine", "ok", f"{name}: on this machine, nothing leaves it")
    elif engine is None:
        yield Finding("engine", "warning", f"{name}: no host is configured", f"[{name}] url in the configuration")
    else:
        goes = "on this machine" if engine.here else f"{leaves(config)}; what is kept there is up to that host"
        yield Finding("engine", "ok", f"{name}: {engine.host}; {goes}")
    if sees(config) and not has_camera(config):
        yield Finding("engine pictures", "warning", f"{name} shall see, and there is no camera",
                      f"name it at [camera] source, or set frames = false in [{name}]")
    for peer in found:
        why = reach(peer.host, peer.port)
        subject, fact = f"peer: {peer.section}", f"{peer.host}:{peer.port}"
        if why:
            yield Finding(subject, "warning", f"{fact}: {why}; the robot works without it until it comes",
                          f"ping {peer.host}; start what listens on port {peer.port}")
        else:
            yield Finding(subject, "ok", f"{fact} answers")


def recording(config: LiveConfig, state: Path) -> Iterator[Finding]:
    """What is recorded, by the configuration and by a robot that runs now, and what is kept."""
    box = config.box
    if not box.on:
        fact = "black box off: nothing is recorded"
    elif box.sound:
        fact = f"SOUND AND WORDS: the last {box.minutes:g} min, kept on a fault, a complaint or request"
    else:
        fact = f"no sound, no pictures{', words' if box.words else ', no words'}: the last {box.minutes:g} min of facts"
    log = "; the log holds WORDS" if config.log.words else "; no words in the log"
    yield Finding("recording", "ok", fact + log)
    try:
        told = ask(state, {"do": "status"}, PATIENCE_S)
        yield Finding("recording now", "ok", "a robot runs and " + ("RECORDS SOUND" if told["sound"] else
                                                                     "records no sound"))
    except NobodyThere:
        pass
    boxes = Shelf(state / "boxes", 0, 0).boxes()
    if boxes:
        total = sum(size(path) for path in boxes) / 1e6
        yield Finding("kept", "ok", f"{len(boxes)} black boxes, {total:.0f} MB, in {state / 'boxes'}: "
                      "talkover box --list; talkover forget")
