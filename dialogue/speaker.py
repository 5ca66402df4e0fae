"""The robot's voice: clauses in, 10 ms blocks out, and what of them was heard.

Every block carries the generation of its reply. After `stop` the live generation is another one at once, the rest of
the old reply is out of reach of `step`, and whatever arrives for it later is refused; so no block of an old reply can
be emitted, and the last gate before the device drops those already on their way.
"""
from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from dialogue.engine import ENGINE_RATE_HZ, SILENCE, Clause, SpeakerBlock
from dialogue.heard import Spoken, heard_words, unheard_words
from perception.audio.block import BLOCK, BLOCK_S, Samples, frozen_samples


@dataclass(frozen=True, slots=True)
class SpeakerConfig:
    """How the voice begins, ends and gives way."""

    fade: float = 0.015            # s, at start, stop and resume: short enough for a stop, long enough not to click
    ramp_down: float = 0.02        # s for each 12 dB, when somebody may be speaking over the robot
    ramp_up: float = 0.12          # s for each 12 dB, when nobody was: a swell is missed where a step is heard
    linger: float = 0.4            # s of silence in all between two clauses when others are to have a gap to begin in;
                                   # people leave 0.2 s, and 0.6 s begins to sound like the end
    playback_delay: float = 0.1    # s from here to the loudspeaker; what is on the way when stopped was not heard


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of a stopped reply: `clauses` from the start of the one that was cut."""

    generation: int
    clauses: tuple[Clause, ...]
    next_index: int                # of the first clause that had not arrived
    done: bool                     # the engine had sent all
    heard: str
    unheard: str
    clause: int = -1               # index of the clause that was cut; -1: nothing was heard
    clause_s: float = 0.0          # s of it that left the loudspeaker


class Outgoing:
    """One reply on its way out."""

    def __init__(self, generation: int, next_index: int = 0):
        self.generation = generation
        self.next_index = next_index               # of the clause to begin next
        self.waiting: dict[int, Clause] = {}       # arrived, not begun
        self.spoken: list[Spoken] = []             # begun, in order
        self.emitted = 0                           # samples handed out
        self.heard = 0                             # samples that left the loudspeaker
        self.done = False                          # the engine has sent all
        self.linger = 0                            # samples of silence wanted between two clauses ...
        self.waited = 0                            # ... and how many have passed since the last one's end

    def add(self, clause: Clause) -> bool:
        """Take a clause of this reply in any order; False when it is a duplicate or comes too late."""
        if clause.index < self.next_index or clause.index in self.waiting:
            return False
        if clause.instead:
            self.waiting = {i: c for i, c in self.waiting.items() if i > clause.index}
            self.next_index, self.done = clause.index, False
        self.waiting[clause.index] = clause
        return True

    def take(self, count: int) -> Samples:
        """At most `count` samples, going on from clause to clause."""
        pieces: list[Samples] = []
        while count > 0:
            if not self.spoken or self.emitted >= self.spoken[-1].end:
                if self._lingers() or not self._begin_next():
                    break
                continue
            piece = self.spoken[-1]
            chunk = piece.clause.samples[self.emitted - piece.start:][:count]
            self.emitted += len(chunk)
            count -= len(chunk)
            pieces.append(chunk)
        return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)

    def _begin_next(self) -> bool:
        """A missing clause is waited for until the engine says that it has sent all."""
        if not self.ready:
            return False
        index = min(self.waiting)
        self.spoken.append(Spoken.begun(self.waiting.pop(index), self.emitted))
        self.next_index, self.waited = index + 1, 0
        return True

    def _lingers(self) -> bool:
        """The gap behind the last clause, its own silence included, is not yet as long as wanted."""
        if not self.spoken:
            return False
        last = self.spoken[-1]
        if self.ready and self.waiting[min(self.waiting)].joined:
            return False
        return self.waited + len(last.clause.samples) - last.last < self.linger

    @property
    def ready(self) -> bool:
        """The next clause can begin."""
        return bool(self.waiting) and (self.done or min(self.waiting) == self.next_index)

    @property
    def over(self) -> bool:
        """All was handed out and heard."""
        return self.done and not self.waiting and self.heard >= self.total

    @property
    def total(self) -> int:
        """Samples of the clauses that have begun."""
        return self.spoken[-1].end if self.spoken else 0

    def rest(self) -> Rest:
        waiting = [self.waiting[i] for i in sorted(self.waiting)]
        clauses = tuple(self._cut() + waiting)
        next_index = max([c.index for c in clauses], default=self.next_index - 1) + 1
        begun = [s for s in self.spoken if s.start < self.heard]
        clause, seconds = -1, 0.0
        if begun:
            clause, seconds = begun[-1].clause.index, (self.heard - begun[-1].start) / ENGINE_RATE_HZ
        return Rest(self.generation, clauses, next_index, self.done, heard_words(self.spoken, self.heard),
                    unheard_words(self.spoken, waiting, self.heard), clause, seconds)

    def _cut(self) -> list[Clause]:
        """The clauses that have begun and not been heard whole, from the first of their breath."""
        cut = [i for i, s in enumerate(self.spoken) if s.words(self.heard) != s.clause.text]
        if not cut:
            return []
        first = cut[0]
        while first > 0 and self.spoken[first].clause.joined:
            first -= 1
        return [s.clause for s in self.spoken[first:]]


def ramp(current: float, target: float, slope: float, count: int) -> Samples:
    """`count` gains that go from `current` to `target` by at most `slope` a sample, and stay there."""
    steps = np.arange(1, count + 1, dtype=np.float32) * np.float32(np.copysign(slope, target - current))
    low, high = sorted((current, target))
    return np.clip(np.float32(current) + steps, low, high).astype(np.float32)


class Speaker:
    """Speaks one reply at a time."""

    def __init__(self, config: SpeakerConfig = SpeakerConfig()):
        self.config = config
        self.live = 0                              # generation whose blocks may reach the loudspeaker
        self.lowered_db = 0.0                      # dB, where the gain goes to
        self.lingering = False                     # wait at the end of a clause
        self.held = True                           # the reply waits for its moment
        self._outgoing: Outgoing | None = None
        self._tail = np.zeros(0, np.float32)       # the fade of what was stopped
        self._fade = 0.0                           # gain of the fade-in, 0..1
        self._gain_db = 0.0                        # of the duck, where it is
        delay_blocks = round(config.playback_delay / BLOCK_S)
        self._way: deque[tuple[int, int]] = deque([(0, 0)] * delay_blocks)   # (generation, end) not yet heard

    def begin(self, generation: int) -> None:
        """From now on only reply `generation` may be heard; it waits until `start`."""
        self.live = generation
        self.held = True
        self.lower(0.0)
        self._fade = self._gain_db = 0.0
        self._outgoing = Outgoing(generation)

    def start(self) -> None:
        """Let the reply out."""
        self.held = False

    def resume(self, rest: Rest, generation: int) -> None:
        """Begin again as reply `generation`, from the start of the clause that was cut."""
        self.begin(generation)
        assert self._outgoing is not None
        self._outgoing.next_index = rest.clauses[0].index if rest.clauses else rest.next_index
        for clause in rest.clauses:
            self._outgoing.add(replace(clause, generation=generation, instead=False))

    def add(self, clause: Clause) -> bool:
        """Take a clause; False (and nothing else) when it belongs to no reply that may be heard, or is a duplicate."""
        return self._is_live(clause.generation) and self._outgoing is not None and self._outgoing.add(clause)

    def done(self, generation: int) -> None:
        """The engine has sent all of reply `generation`."""
        if self._is_live(generation) and self._outgoing is not None:
            self._outgoing.done = True

    def lower(self, gain_db: float, linger: bool = False) -> None:
        """Bring the voice to gain_db (0: as it was made). linger: leave others a gap at the end of a clause."""
        self.lowered_db, self.lingering = min(0.0, gain_db), linger

    def stop(self, quiet: int) -> Rest:
        """Fall silent now (the fade is all that still sounds) and be live as generation `quiet`, which has no reply."""
        outgoing = self._outgoing or Outgoing(self.live)
        rest = outgoing.rest()
        if not self.held and self._fade > 0.0:
            count = round(self.config.fade * ENGINE_RATE_HZ)
            sound = outgoing.take(count)
            self._tail = sound * ramp(self._fade * 10 ** (self._gain_db / 20), 0.0, 1.0 / count, len(sound))
        self.live, self.held = quiet, True
        self.lower(0.0)
        self._outgoing = None
        self._way = deque((0, 0) for _ in self._way)
        return rest

    def step(self, blocks: int) -> tuple[SpeakerBlock, ...]:
        """The next `blocks` blocks."""
        return tuple(self._block() for _ in range(blocks))

    @property
    def ready(self) -> bool:
        """The reply has sound to begin or go on with."""
        return self._outgoing is not None and self._outgoing.ready

    @property
    def sounding(self) -> bool:
        """Something of the reply is still to be handed out or on its way to the loudspeaker."""
        outgoing = self._outgoing
        return outgoing is not None and (outgoing.heard < outgoing.total or outgoing.ready)

    @property
    def said(self) -> str:
        """The words of the clauses that have sounded last, heard or on their way."""
        return " ".join(s.clause.text for s in self._outgoing.spoken[-3:]) if self._outgoing else ""

    @property
    def over(self) -> bool:
        """The reply was heard to its end."""
        return self._outgoing is not None and self._outgoing.over

    @property
    def heard_seconds(self) -> float:
        """Of the running reply."""
        return self._outgoing.heard / ENGINE_RATE_HZ if self._outgoing else 0.0

    @property
    def heard_text(self) -> str:
        """Of the running reply."""
        return heard_words(self._outgoing.spoken, self._outgoing.heard) if self._outgoing else ""

    def _is_live(self, generation: int) -> bool:
        return self._outgoing is not None and generation == self._outgoing.generation == self.live

    def _block(self) -> SpeakerBlock:
        block = SILENCE
        if len(self._tail):
            block = self._padded(0, 0, self._tail[:BLOCK])   # the last of nobody: it may still pass the gate
            self._tail = self._tail[BLOCK:]
        elif not self.held and self._outgoing is not None:
            block = self._speak(self._outgoing)
        self._way.append((block.generation, block.offset + BLOCK))
        generation, end = self._way.popleft()
        if self._outgoing is not None and generation == self._outgoing.generation:
            self._outgoing.heard = min(end, self._outgoing.emitted)
        return block

    def _speak(self, outgoing: Outgoing) -> SpeakerBlock:
        offset = outgoing.emitted
        outgoing.linger = round(self.config.linger * ENGINE_RATE_HZ) if self.lingering else 0
        sound = outgoing.take(BLOCK)
        outgoing.waited += BLOCK - len(sound)
        if not len(sound):
            return SILENCE
        fade = ramp(self._fade, 1.0, 1.0 / (self.config.fade * ENGINE_RATE_HZ), len(sound))
        seconds = self.config.ramp_down if self.lowered_db < self._gain_db else self.config.ramp_up
        gain_db = ramp(self._gain_db, self.lowered_db, 12.0 / (seconds * ENGINE_RATE_HZ), len(sound))
        self._fade, self._gain_db = float(fade[-1]), float(gain_db[-1])
        gain = np.power(10.0, gain_db / 20).astype(np.float32)
        return self._padded(outgoing.generation, offset, sound * fade * gain)

    @staticmethod
    def _padded(generation: int, offset: int, sound: Samples) -> SpeakerBlock:
        samples = np.zeros(BLOCK, np.float32)
        samples[:len(sound)] = sound
        return SpeakerBlock(generation, offset, frozen_samples(samples))
