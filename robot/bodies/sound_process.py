"""The parent's side of the sound process: captured blocks in, spoken blocks out, by shared memory. No call waits."""
import json
import mmap
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from calibration.health import Health
from dialogue.engine import SpeakerBlock
from perception.audio.block import AudioBlock
from robot.bodies.child_process import ChildProcess
from robot.bodies.sound_child import CARD, DEAD, PROCESS
from robot.bodies.sound_config import SoundDeviceConfig
from robot.bodies.sound_slots import ORDERS, SIZE, Shared, SoundSetup, packed_spoken, shared, told, unpacked_block

MUTE_S = 10.0              # without a sign of life; longer than its pauses while it waits for a device
FIRST_S = 40.0             # until the first one, on a busy board
RESETS_GROW = 8.0          # a reset that did not bring the microphones back: the next is tried so much later ...
LONGEST_PATIENCE_S = 600.0     # ... and at last every ten minutes


@dataclass
class SoundProcess:
    """Ears and mouth in a process of their own. Once a tick `read`, `health` and `write`; at the end `close`."""

    config: SoundDeviceConfig
    start: float = field(default_factory=time.monotonic)    # s, monotonic clock at the run's t = 0
    volume: float = field(init=False)      # may be changed at any time, as may `muted`
    muted: bool = field(init=False)
    share: float = 1.0                     # of the volume, 0..1: what people asked the robot for
    revive: Callable[[], object] = lambda: None    # called when the card was reset because its microphones gave zeros
    child: ChildProcess = field(init=False)
    missed: int = 0                        # captured blocks that this side was too late for
    _memory: mmap.mmap | None = None
    _shared: Shared | None = None
    _patience_s: float = field(init=False)
    _newest: float = -1e9                  # s, of the newest block that was read
    _gap: bool = True
    _table: dict[str, tuple[int, Health]] = field(default_factory=dict)
    _own: list[Health] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.volume, self.muted = self.config.volume, self.config.muted
        self.child = ChildProcess("robot.bodies.sound_child", PROCESS, self.start, MUTE_S, FIRST_S)
        self._patience_s = self.config.dead_s
        self._begin(time.monotonic())

    def fileno(self) -> int:
        """Becomes readable when blocks have come; -1 while no child lives."""
        return -1 if self.child.connection is None else self.child.connection.fileno()

    @property
    def figures(self) -> dict[str, Any]:
        """SoundFigures of the child that lives, by name; empty before it has any."""
        return told(self._shared.figures) if self._shared is not None else {}

    def read(self) -> tuple[AudioBlock, ...]:
        """Blocks captured since the call before."""
        now = time.monotonic()
        self._listen(now)
        self.child.watch(now)
        if self._shared is None:
            if self.child.due(now):
                self._begin(now)
            return ()
        before = self._shared.captured.lost
        records = self._shared.captured.read()
        if self._shared.captured.lost > before:
            self._gap, self.missed = True, self.missed + self._shared.captured.lost - before
        if self.child.connection is None:
            self._bury(now)
        return tuple(block for block in map(self._checked, records) if block is not None)

    def health(self) -> tuple[Health, ...]:
        """What changed since the call before."""
        self._read_table()
        out, self._own = self._own + self.child.health(), []
        return tuple(out)

    def write(self, blocks: Iterable[SpeakerBlock], live_generation: int) -> None:
        """For the loudspeaker. Blocks of any other reply than the live one are emptied from all queues at once."""
        if self._shared is None:
            return
        self._shared.orders.write(ORDERS.pack(live_generation, self.volume * self.share, self.muted))
        for block in blocks:
            self._shared.spoken.write(packed_spoken(block))

    def close(self) -> None:
        self.child.close()
        self._forget()

    def _checked(self, data: bytes) -> AudioBlock | None:
        """A block, marked where sound is missing before it; None when its time has been already (after a restart)."""
        block = unpacked_block(data)
        if block.t <= self._newest:
            self._gap = True
            return None
        if self._gap:
            block, self._gap = AudioBlock(block.t, block.mics, block.reference, True), False
        self._newest = block.t
        return block

    def _begin(self, now: float) -> None:
        """A fresh child with fresh memory: nothing stale can be read from it."""
        descriptor = os.memfd_create("talkover-sound")
        os.ftruncate(descriptor, SIZE)
        self._memory = mmap.mmap(descriptor, SIZE)
        self._shared, self._gap = shared(self._memory), True
        standing = tuple(health for _, health in self._table.values() if health.level != "ok")
        self._table = {part: (0, health) for part, (_, health) in self._table.items()}
        setup = SoundSetup(self.config, self.start, descriptor, self._patience_s, standing)
        self.child.begin(now, setup, (descriptor,))
        os.close(descriptor)

    def _listen(self, now: float) -> None:
        """Empties the doorbell."""
        connection = self.child.connection
        if connection is None:
            return
        try:
            rung = connection.recv(4096)
            while len(rung) == 4096:
                rung = connection.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            rung = b""
        if rung:
            self.child.beat(now)
        else:
            self._read_table()                  # its last words
            self.child.hung_up(now)

    def _bury(self, now: float) -> None:
        self._read_table()
        if self.child.status == DEAD:
            self.revive()
            self._patience_s = min(self._patience_s * RESETS_GROW, LONGEST_PATIENCE_S)
        card = self._table.get(CARD)
        if card is None or card[1].level == "ok":
            health = Health(now - self.start, CARD, "gone", "the sound process ended")
            self._table[CARD] = (0, health)
            self._own.append(health)
        self._forget()

    def _forget(self) -> None:
        self._shared = None
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _read_table(self) -> None:
        if self._shared is None:
            return
        _, data = self._shared.health.read()
        for part, (number, t, level, reason) in (json.loads(data) if data else {}).items():
            before = self._table.get(part)
            if before is None or before[0] != number:
                health = Health(t, part, level, reason)
                known = before is not None and (before[1].level, before[1].reason) == (level, reason)
                self._table[part] = (number, health)
                if before is None or (not known and part != PROCESS):
                    self._own.append(health)
