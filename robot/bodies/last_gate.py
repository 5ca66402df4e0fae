"""The queue before a loudspeaker, real or simulated: sound of a reply that is not live any more never leaves it."""
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from dialogue.engine import SILENCE, SpeakerBlock


@dataclass
class LastGate:
    """The queue before the device: a block whose generation is not live any more leaves it as silence."""

    queue: deque[SpeakerBlock] = field(default_factory=deque)
    live_generation: int = 0

    def put(self, blocks: Iterable[SpeakerBlock], live_generation: int) -> None:
        self.queue.extend(blocks)
        self.live_generation = live_generation

    def passes(self, block: SpeakerBlock) -> bool:
        return block.generation in (0, self.live_generation)

    def next(self) -> SpeakerBlock:
        """What the device gets for the next 10 ms; silence when nothing waits (the mind was late)."""
        block = self.queue.popleft() if self.queue else SILENCE
        return block if self.passes(block) else SILENCE

    def skip_stale(self) -> int:
        """Takes what may not sound any more out of the queue; returns how many blocks."""
        kept = [block for block in self.queue if self.passes(block)]
        skipped = len(self.queue) - len(kept)
        if skipped:
            self.queue = deque(kept)
        return skipped
