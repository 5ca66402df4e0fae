"""The last minutes in memory: segments that each begin with a kept mind, whole and without a gap. Pure, bounded.

A record is one tick: its facts, and the exact inputs and outputs as bytes where sound may be kept. Records of a second
are compressed together; the oldest segment goes as a whole.
"""
import pickle
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import zstandard

from calibration.health import Health
from dialogue.events import Event
from robot.black_box.config import BoxConfig
from robot.black_box.facts import Facts

TICKS_A_SECOND = 100   # robot.tick.TICK_S, whose module loads half the robot; this process shall be small
TOGETHER = 100       # ticks that are compressed together: 1 s
LEVEL = 1            # of zstd: 0.02 ms a tick here, 59 % of the size; higher levels gain 1 %


class Record(NamedTuple):
    """One tick. pair: pickled (Inputs, Outputs), None without permission."""

    tick: int            # its index
    t: float             # s
    events: tuple[Event, ...]
    health: tuple[Health, ...]
    facts: Facts | None
    pair: bytes | None


@dataclass
class Segment:
    """Ticks one after the other. mind: the state before the first of them; None: it could not be kept."""

    first: int
    mind: bytes | None = None
    why: str = ""                                  # no mind is there
    ticks: int = 0
    packed: list[bytes] = field(default_factory=list)
    loose: list[Record] = field(default_factory=list)
    bytes: int = 0

    def add(self, record: Record) -> None:
        self.loose.append(record)
        self.ticks += 1
        if len(self.loose) >= TOGETHER:
            self.packed.append(zstandard.ZstdCompressor(LEVEL).compress(pickle.dumps(self.loose, 5)))
            self.bytes += len(self.packed[-1])
            self.loose.clear()

    def records(self) -> Iterator[Record]:
        for part in self.packed:
            yield from pickle.loads(zstandard.ZstdDecompressor().decompress(part))
        yield from self.loose


@dataclass
class Ring:
    """Takes records in order of their index; a jump in the index is a loss and begins a segment of its own."""

    config: BoxConfig
    segments: deque[Segment] = field(default_factory=deque)
    lost: int = 0                                  # ticks that never came, since the start
    _next: int | None = None

    def begin(self, index: int, mind: bytes | None, why: str) -> None:
        """A segment that starts at tick `index` with this mind. Without one: why not."""
        segment = Segment(index, None if mind is None else zstandard.ZstdCompressor(LEVEL).compress(mind), why)
        segment.bytes = len(segment.mind or b"")
        self.segments.append(segment)
        self._drop()

    def add(self, record: Record) -> None:
        if self._next is not None and record.tick > self._next:
            self.lost += record.tick - self._next
            if not self.segments or self.segments[-1].first != record.tick:
                self.begin(record.tick, None, "ticks were lost on the way to the black box just before")
        elif not self.segments:
            self.begin(record.tick, None, "the black box began in mid-run")
        self._next = record.tick + 1
        self.segments[-1].add(record)
        if self.segments[-1].ticks % TOGETHER == 0:
            self._drop()

    def _drop(self) -> None:
        """Forget the oldest segments, as long as what stays is long enough or memory is short."""
        enough, most = self.config.minutes * 60 * TICKS_A_SECOND, self.config.memory_mb * 1e6
        while len(self.segments) > 1 and (
                sum(s.ticks for s in self.segments) - self.segments[0].ticks >= enough or self.bytes > most):
            self.segments.popleft()
        if self.bytes > most:                       # one segment alone is too much
            self.segments.clear()

    @property
    def bytes(self) -> int:
        """What the ring takes in memory, about: loose records of the last second count as their sound."""
        return sum(s.bytes + sum(len(r.pair or b"") for r in s.loose) for s in self.segments)

    def clear(self) -> None:
        self.segments.clear()

    def best(self) -> tuple[list[Segment], str]:
        """Segments for a box, oldest first, and why they cannot be replayed ("" when they can).

        What can be replayed to the bit is one run of ticks without a gap from a kept mind up to now; when there is
        none, everything is taken.
        """
        whole: list[Segment] = []
        for segment in reversed(self.segments):
            if whole and segment.first + segment.ticks != whole[0].first:
                break
            whole.insert(0, segment)
        kept = [place for place, segment in enumerate(whole) if segment.mind is not None]
        if kept:
            return whole[kept[0]:], ""
        return list(self.segments), whole[0].why if whole else "nothing was recorded yet"


def mind_of(segment: Segment) -> bytes | None:
    """The kept mind that a segment begins with."""
    return None if segment.mind is None else zstandard.ZstdDecompressor().decompress(segment.mind)
