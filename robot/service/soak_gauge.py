"""What a soak measures, stretch by stretch: answers and their waits, memory, garbage, files, ticks that failed.

Garbage is not collected between two measurements, as in a live run, which collects none: what a collection then finds
is what a live run would have kept.
"""
import ctypes
import gc
import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dialogue.engine import Clause
from dialogue.floor import PERSON_SOUNDS
from perception.audio.block import BLOCK_S
from robot.bodies.simulated import SimulatedBody
from robot.runtime import GuardedMind
from robot.service.metrics import Metrics
from robot.service.soak_life import Life
from robot.service.trend import Trend
from robot.tick import Event, Inputs, Tick

PAGE = resource.getpagesize()
RATES = ("talkover_lost_answers", "talkover_resumed_replies", "talkover_released_ducks")
WAITING = 16         # answers whose first sound is waited for; more are superseded ones


@dataclass(frozen=True, slots=True)
class Period:
    """One stretch of a life. Times in virtual s, but for tick_ms and wall_s, which are this machine's."""

    end_s: float
    answers: int
    response_s: float             # mean, committed turn to first sound
    own_s: float                  # of it the robot's: behind the engine's first clause
    worst_s: float                # ... of the slowest answer
    stops: int
    lost: int
    resumed: int
    released: int
    talk: float                   # share of the stretch in which a person or the robot had the floor
    night: float                  # share in which the house slept
    tick_ms: float                # mean compute time of a tick of the mind
    wall_s: float
    rss_mb: float                 # resident, after a collection
    used_mb: float                # of it handed out by the allocator; what it only keeps is not in here
    objects: int                  # that Python's collector knows
    garbage: int                  # objects that the collection found
    files: int
    failed: int                   # ticks that raised, since the beginning
    stale: int                    # blocks of superseded replies at the loudspeaker, since the beginning


class _Mallinfo2(ctypes.Structure):
    """glibc's struct mallinfo2 (malloc.h): ten sizes."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks",
                                                     "fsmblks", "uordblks", "fordblks", "keepcost")]


MALLINFO = getattr(ctypes.CDLL(None), "mallinfo2", None)       # None: not glibc, or older than 2.33
if MALLINFO is not None:
    MALLINFO.restype = _Mallinfo2


def handed_out_mb() -> float:
    """MB that the C allocator has handed out and not got back, in all its arenas; nan where it does not tell."""
    if MALLINFO is None:
        return float("nan")
    told = MALLINFO()
    return (told.uordblks + told.hblkhd) / 1e6


@dataclass
class Waits:
    """The waits of the answers of one stretch, and the trend of all."""

    trend: Trend = field(default_factory=Trend)               # of the responses
    responses: list[float] = field(default_factory=list)      # s, committed turn to first sound
    own: list[float] = field(default_factory=list)            # s, the engine's first clause to first sound
    _committed: dict[object, float] = field(default_factory=dict)
    _first: dict[object, float] = field(default_factory=dict)

    def step(self, inputs: Inputs, tick: Tick) -> None:
        for reply in inputs.replies:
            if isinstance(reply, Clause) and reply.generation in self._committed:
                self._first.setdefault(reply.generation, inputs.t)
        for event in tick.events:
            facts = dict(event.facts)
            if event.name == "turn_committed":
                self._committed = dict([*self._committed.items()][-WAITING:]) | {facts["generation"]: event.t}
                self._first = {key: t for key, t in self._first.items() if key in self._committed}
            elif event.name == "reply_start" and facts["turn"] is not None and not facts["resumed"]:
                began, first = (kept.pop(facts["generation"], None) for kept in (self._committed, self._first))
                if began is not None and first is not None:
                    self.trend.add(event.t, event.t - began)
                    self.responses.append(event.t - began)
                    self.own.append(event.t - first)

    def taken(self) -> tuple[list[float], list[float]]:
        """Responses and the robot's own part since the call before."""
        out = self.responses, self.own
        self.responses, self.own = [], []
        return out


@dataclass
class Gauge:
    """An observer that measures at the end of each stretch. told: takes each measurement."""

    mind: GuardedMind
    body: SimulatedBody
    life: Life
    every_s: float
    told: Callable[[Period], None] = lambda period: None
    metrics: Metrics = field(default_factory=lambda: Metrics(lambda packed: None))
    periods: list[Period] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)          # answers that were lost though the engine was well
    waits: Waits = field(default_factory=Waits)
    _spent: float = 0.0                                       # s in the mind
    _ticks: int = 0
    _talk: int = 0                                            # ticks
    _nights: int = 0                                          # ticks
    _wall: float = field(default_factory=time.monotonic)
    _before: tuple[float, ...] = (0.0,) * 4

    def __post_init__(self) -> None:
        self.mind.report = self._failed
        inner = self.mind.mind.tick

        def timed(inputs: Inputs) -> Tick:
            began = time.process_time()
            try:
                return inner(inputs)
            finally:
                self._spent += time.process_time() - began
        self.mind.mind.tick = timed          # type: ignore[method-assign]

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        self.metrics(inputs, tick)
        self.waits.step(inputs, tick)
        self._ticks += 1
        self._talk += tick.floor in PERSON_SOUNDS or any(block.generation for block in tick.outputs.speaker)
        self._nights += self.life.night
        for event in tick.events:
            self._judge(event)
        if inputs.t >= self.every_s * (len(self.periods) + 1) - BLOCK_S / 2:
            self._measure(inputs.t)

    def _failed(self, text: str) -> None:
        self.failures.append(f"at {self.life.engine.now:.2f} s: {text}")

    def _judge(self, event: Event) -> None:
        """An answer may be lost when the engine fails, not else."""
        facts = dict(event.facts)
        if event.name == "engine" and facts["state"] == "lost" and event.t > self.life.ill_until:
            self.strange.append(f"at {event.t:.2f} s: {facts['reason']}")

    def _measure(self, t: float) -> None:
        garbage = gc.collect()
        tally, ticks = self.metrics.tally, max(self._ticks, 1)
        now = (tally.counters.get(("talkover_events", "barge_in"), 0.0), *(tally.counters[name,] for name in RATES))
        stops, lost, resumed, released = (round(a - b) for a, b in zip(now, self._before, strict=True))
        responses, own = self.waits.taken()
        wall = time.monotonic()
        self.periods.append(Period(
            t, len(own), sum(responses) / max(len(own), 1), sum(own) / max(len(own), 1), max(own, default=0.0),
            stops, lost, resumed, released, self._talk / ticks, self._nights / ticks, 1000 * self._spent / ticks,
            wall - self._wall, int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6, handed_out_mb(),
            len(gc.get_objects()), garbage, len(os.listdir("/proc/self/fd")), len(self.failures),
            self.body.stale_blocks_played))
        self._before, self._wall = now, wall
        self._spent, self._ticks, self._talk, self._nights = 0.0, 0, 0, 0
        self.told(self.periods[-1])
