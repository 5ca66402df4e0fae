"""What `talkover doctor` says of device files: are they there, and may this user open them."""
import grp
import os
import pwd
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from robot.live_config import LiveConfig
from robot.service.findings import Finding, Verdict


@dataclass(frozen=True, slots=True)
class User:
    """Who runs this program, with the groups of this login."""

    name: str
    groups: frozenset[str]

    @classmethod
    def me(cls) -> "User":
        names = set()
        for number in {*os.getgroups(), os.getegid()}:
            try:
                names.add(grp.getgrgid(number).gr_name)
            except KeyError:      # a group of a container's host without a name here
                continue
        try:
            name = pwd.getpwuid(os.geteuid()).pw_name
        except KeyError:
            name = str(os.geteuid())
        return cls(name, frozenset(names))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of device. patterns: below /dev. group: that udev gives such files to on Debian."""

    subject: str
    patterns: tuple[str, ...]
    group: str
    connect: str           # what to do when there is none
    without: str           # what the robot does without


KINDS = (
    Kind("sound card", ("snd/pcmC*c",), "audio", "connect the microphone array", "nobody is heard"),
    Kind("camera", ("video*",), "video", "connect the camera", "it hears and moves"),
    Kind("servo bus", ("ttyACM*", "ttyUSB*"), "dialout", "connect the robot's USB cable", "it does not move"),
)


def wanted(config: LiveConfig) -> dict[str, str]:
    """Kinds of device that this configuration opens, each with the file that it names ("": any)."""
    run = config.run
    found: dict[str, str] = {}
    if run.body == "device" or (run.body in ("reachy-daemon", "servo-bus") and run.senses == "device"):
        found["sound card"] = ""
        if config.camera.source:
            found["camera"] = config.camera.source
    if run.body == "servo-bus":
        found["servo bus"] = config.servo_bus.device
    return found


def devices(config: LiveConfig, user: User | None = None, folder: Path = Path("/dev"),
            may: Callable[[Path], bool] = lambda path: os.access(path, os.R_OK | os.W_OK)) -> Iterator[Finding]:
    """One finding a kind of device. may: whether this user can read and write a file."""
    user = user or User.me()
    wants = wanted(config)
    for kind in KINDS:
        needed = kind.subject in wants
        named = wants.get(kind.subject, "")
        found = [Path(named)] if named.startswith("/") else sorted(
            path for pattern in kind.patterns for path in folder.glob(pattern))
        yield _judged(kind, [path for path in found if path.exists()], named, needed, user, may)


def _judged(kind: Kind, found: list[Path], named: str, needed: bool, user: User,
            may: Callable[[Path], bool]) -> Finding:
    bad: Verdict = "missing" if needed else "warning"
    if not found:
        if named and not named.startswith("/"):          # a video file or an address: not a device's matter
            return Finding(kind.subject, "ok", named)
        fact = f"{named or 'no device'}: not there, {kind.without} until it comes"
        return Finding(kind.subject, bad, fact, f"{kind.connect}; until then: talkover run --body simulated", needed)
    shut = [path for path in found if not may(path)]
    if not shut:
        return Finding(kind.subject, "ok", ", ".join(map(str, found)), needed=needed)
    fact = f"{', '.join(map(str, shut))}: {user.name} may not open it"
    if kind.group in user.groups:
        return Finding(kind.subject, bad, f"{fact} although in group {kind.group}",
                       f"ls -l {shut[0]}; sudo make install writes a udev rule for it", needed)
    return Finding(kind.subject, bad, fact, f"sudo usermod -aG {kind.group} {user.name}, then log in again", needed)
