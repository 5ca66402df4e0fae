"""A child process that owns a device: started, watched, ended when it hangs, started again with a growing pause."""
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from calibration.health import Health
from robot.channel import Channel, command_of

LASTS_S = 30.0             # of life after which a death counts as the first again
MOST_TOLD = 3              # deaths in a row without a sign of life: so many lower the level (VitalsConfig.deaths)


@dataclass
class ChildProcess:
    """The parent's side. The owner reads `connection` and says what it heard by `beat` and `hung_up`."""

    program: str                       # module that the child runs
    part: str                          # its name in Health
    start: float                       # s, monotonic clock at the run's t = 0
    mute_s: float                      # without a beat: it hangs
    first_s: float                     # until the first beat: it loads its libraries
    backoff_s: tuple[float, float] = (0.3, 5.0)   # first and longest pause before it is started again
    close_s: float = 3.0               # for the child to let go of its device
    deaths: int = 0
    status: int | None = None          # with which the last one ended
    channel: Channel | None = None
    _child: subprocess.Popen | None = None
    _began: float = 0.0
    _beat: float | None = None
    _again_at: float = 0.0
    _pause: float = 0.0
    _gone: str | None = None           # why, as it was told; None: it works
    _repeated: int = 0                 # times that this was told
    _told: list[Health] = field(default_factory=list)

    @property
    def connection(self) -> socket.socket | None:
        return None if self.channel is None else self.channel.connection

    @property
    def pid(self) -> int | None:
        return None if self._child is None else self._child.pid

    def due(self, now: float) -> bool:
        """No child lives, and the pause is over: `begin` one."""
        return self._child is None and now >= self._again_at

    def begin(self, now: float, setup: Any, descriptors: Sequence[int] = ()) -> None:
        """Start a child and tell it its setup; `descriptors` are open in it under the same numbers."""
        ours, theirs = socket.socketpair()
        command = command_of(self.program, str(theirs.fileno()))
        self._child = subprocess.Popen(command, pass_fds=(theirs.fileno(), *descriptors))
        theirs.close()
        self.channel = Channel(ours)
        self.channel.send(setup)
        self._began, self._beat = now, None

    def beat(self, now: float) -> None:
        """Something came from the child."""
        if self._gone is not None:
            self._gone = None
            self._told.append(Health(now - self.start, self.part, "ok", "started again"))
        self._beat = now

    def watch(self, now: float) -> None:
        """Ends a child that says nothing."""
        if self._child is None:
            return
        age = now - (self._began if self._beat is None else self._beat)
        limit = self.first_s if self._beat is None else self.mute_s
        if age > limit:
            self.hung_up(now, f"said nothing for {limit:g} s and was ended")

    def hung_up(self, now: float, why: str = "") -> None:
        """The child is dead, or shall be."""
        if self._child is None or self.channel is None:
            return
        self.channel.connection.close()
        self._child.kill()
        self.status = self._child.wait()
        self._child = self.channel = None
        self.deaths += 1
        first, longest = self.backoff_s
        self._pause = first if now - self._began > LASTS_S else min(max(first, 2 * self._pause), longest)
        self._again_at = now + self._pause
        why = why or f"ended with status {self.status}"
        self._repeated = self._repeated + 1 if why == self._gone else 1
        if self._repeated <= MOST_TOLD:    # one that dies for ever fills no log
            self._gone = why
            self._told.append(Health(now - self.start, self.part, "gone", f"{why}; it is started again"))

    def health(self) -> list[Health]:
        """What changed since the call before."""
        told, self._told = self._told, []
        return told

    def close(self) -> None:
        """Hangs up and waits until the child is gone."""
        self._again_at = float("inf")
        if self._child is None or self.channel is None:
            return
        self.channel.connection.close()
        try:
            self._child.wait(self.close_s)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child = self.channel = None
