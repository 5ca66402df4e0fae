"""The parent's side of the vitals process. No call waits."""
import os
import time
from dataclasses import dataclass, field

from calibration.health import Health
from robot.bodies.child_process import ChildProcess
from robot.service.vitals import Vitals
from robot.service.vitals_child import VitalsSetup

MUTE_S = 10.0          # without a sample: reading /proc hangs, or the machine stands still
FIRST_S = 20.0         # until the first one, on a busy board


@dataclass
class VitalsProcess:
    """Samples of the machine from a process of their own."""

    start: float                           # s, monotonic clock at the run's t = 0
    child: ChildProcess = field(init=False)

    def __post_init__(self) -> None:
        self.child = ChildProcess("robot.service.vitals_child", "vitals_process", self.start, MUTE_S, FIRST_S)
        self._begin(time.monotonic())

    def read(self) -> Vitals | None:
        """The newest sample since the call before, if there is one."""
        now = time.monotonic()
        if self.child.due(now):
            self._begin(now)
        channel = self.child.channel
        if channel is None:
            return None
        samples = channel.receive()
        if samples:
            self.child.beat(now)
        if channel.closed:
            self.child.hung_up(now)
        self.child.watch(now)
        return samples[-1] if samples else None

    def health(self) -> tuple[Health, ...]:
        """What changed since the call before."""
        return tuple(self.child.health())

    def close(self) -> None:
        self.child.close()

    def _begin(self, now: float) -> None:
        self.child.begin(now, VitalsSetup(self.start, os.getpid()))
