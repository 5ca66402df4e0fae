"""The parent's side of the metrics process. No call waits."""
import mmap
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from robot.bodies.child_process import ChildProcess
from robot.bodies.latest import LatestValue
from robot.mind import Mind
from robot.service.metrics import Costs, Metrics
from robot.service.metrics_child import MetricsSetup
from robot.service.stage_clock import StageClock
from robot.tick import Inputs, Tick

SIZE = 1 << 16         # bytes: figures are about 12 kB
MUTE_S = 10.0          # without a sign of life
FIRST_S = 20.0         # until the first, on a busy board


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """The figures for Prometheus: http://HOST:PORT/metrics."""

    on: bool = False           # a port is opened only where somebody asked for it
    host: str = "127.0.0.1"    # who can reach this address can read how the robot does, not what is said
    port: int = 9474           # beside the usual exporters, which take 9100 to 9473; 0: any free one

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ValueError(f"port: expected 0 to 65535, found {self.port}")


@dataclass
class MetricsProcess:
    """Serves what it was last given. An observer of the run, too: it watches its child once a tick."""

    config: MetricsConfig
    start: float                           # s, monotonic clock at the run's t = 0
    port: int | None = None                # where it serves, once known
    child: ChildProcess = field(init=False)
    report: Callable[[str], None] = lambda text: None      # takes what goes wrong with serving

    def __post_init__(self) -> None:
        self._memory = os.memfd_create("talkover-metrics")
        os.ftruncate(self._memory, SIZE)
        self._slot = LatestValue(mmap.mmap(self._memory, SIZE), 0, SIZE)
        self.child = ChildProcess("robot.service.metrics_child", "metrics_process", self.start, MUTE_S, FIRST_S,
                                  (1.0, 60.0))
        self._begin(time.monotonic())

    def hand_over(self, packed: bytes) -> None:
        """The newest figures; what is too large is left out whole."""
        if len(packed) <= self._slot.capacity:
            self._slot.write(packed)

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        now = time.monotonic()
        if self.child.due(now):
            self._begin(now)
        channel = self.child.channel
        if channel is None:
            return
        said = channel.receive()
        if said:
            self.child.beat(now)
        self.port = next((word for word in said if isinstance(word, int)), self.port)
        why = next((word for word in said if isinstance(word, str)), "")
        if why or channel.closed:
            self.child.hung_up(now, why)
        self.child.watch(now)
        for health in self.child.health():
            self.report(f"{health.part} {health.level}: {health.reason}")

    def close(self) -> None:
        self.child.close()
        os.close(self._memory)

    def _begin(self, now: float) -> None:
        setup = MetricsSetup(self._memory, SIZE, self.config.host, self.config.port)
        self.child.begin(now, setup, (self._memory,))


def measuring(process: MetricsProcess, mind: Mind, queues: Mapping[str, Callable[[], float]] | None = None,
              engine: Costs | None = None) -> tuple[Metrics, MetricsProcess]:
    """The two observers of a live run whose figures are served. Puts a clock around the mind's stages."""
    clock = StageClock()
    clock.watch(mind)
    return Metrics(process.hand_over, clock.spent, queues or {}, engine), process
