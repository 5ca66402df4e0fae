"""From the mind's blocks to the loudspeaker's device: gate, volume, soft clipping, rate. Called by the device."""
from collections import deque
from collections.abc import Iterable

import numpy as np

from dialogue.engine import SILENCE, SpeakerBlock
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples, frozen_samples
from robot.bodies.last_gate import LastGate
from robot.bodies.reference_line import ReferenceLine
from robot.bodies.sound_config import SoundDeviceConfig
from robot.bodies.sound_rate import RateConverter

KNEE = np.float32(0.8)     # of full scale: below it nothing is changed
DECLICK = 48               # samples (3 ms) over which a jump at a cut is smoothed
MOST_WAITING = 25          # blocks: the mind was stuck for longer; the oldest go, silent ones first
SPARE = 2                  # blocks that always waited in a window: latency for nothing
WINDOW = 100               # device blocks: 2 s

_FADE = np.linspace(1.0, 0.0, DECLICK, dtype=np.float32)


def softly_clipped(samples: Samples) -> Samples:
    """Within +-1: as it is up to the knee, bent smoothly above."""
    over = np.abs(samples) - KNEE
    if not (over > 0).any():
        return samples
    bent = KNEE + (1 - KNEE) * np.tanh(over / (1 - KNEE))
    return np.where(over > 0, np.copysign(bent, samples), samples).astype(np.float32)


class Playback:
    """What the loudspeaker's device plays. `put` and `fill` from the device's thread only."""

    def __init__(self, config: SoundDeviceConfig, rate_hz: int, reference: ReferenceLine | None = None):
        self.config, self.rate_hz = config, rate_hz
        self.gate = LastGate(deque([SILENCE, SILENCE]))
        self.volume = 0.0 if config.muted else config.volume
        self.starved = 0                       # blocks of silence because the mind was late in the middle of a reply
        self.stale = 0                         # blocks that were taken out because their reply was not live any more
        self.dropped = 0                       # blocks that came so late that they were left out
        self.sounds = False                    # the newest block is not silent
        self._reference = reference
        self._rate = RateConverter(1, SAMPLE_RATE_HZ, rate_hz)
        self._ready = np.zeros(0, np.float32)  # at the device's rate
        self._gain = np.float32(self.volume)
        self._before = SILENCE
        self._last = np.float32(0.0)           # the last sample that was given out
        self._least, self._seen = MOST_WAITING, 0

    @property
    def waiting(self) -> int:
        """Blocks between mind and device."""
        return len(self.gate.queue)

    def put(self, blocks: Iterable[SpeakerBlock], live_generation: int) -> None:
        """From the mind. What is not live any more is taken out at once, and silence behind keeps the distance."""
        self.gate.put(blocks, live_generation)
        stale = self.gate.skip_stale()
        self.stale += stale
        queue = self.gate.queue
        queue.extend([SILENCE] * stale)
        while len(queue) > MOST_WAITING:
            silent = next((i for i, block in enumerate(queue) if not block.samples.any()), 0)
            self.dropped += bool(queue[silent].samples.any())
            del queue[silent]

    def fill(self, frames: int) -> Samples:
        """(frames, output channels) for the device."""
        out = np.zeros((frames, self.config.outputs), np.float32)
        while len(self._ready) < frames:
            block = self._next()
            if self._reference is not None:
                self._reference.push(block)
            self._ready = np.concatenate([self._ready, self._rate.step(block[None])[0]])
        out[:, list(self.config.voice)] = self._ready[:frames, None]
        self._ready = self._ready[frames:]
        self._shorten()
        return out

    def _next(self) -> Samples:
        """The next 10 ms as they leave for the loudspeaker."""
        if not self.gate.queue and self._before.samples.any():
            self.starved += 1
        block = self.gate.next()
        target = np.float32(self.volume)
        gain = self._gain if self._gain == target else np.linspace(self._gain, target, BLOCK, dtype=np.float32)
        sound = softly_clipped(block.samples * gain)
        self._gain = target
        if not self._goes_on(block) and abs(self._last - sound[0]) > 1e-4:
            sound = sound.copy()
            sound[:DECLICK] += (self._last - sound[0]) * _FADE
        self._before, self._last = block, sound[-1]
        self.sounds = bool(sound.any())
        return frozen_samples(sound)

    def _goes_on(self, block: SpeakerBlock) -> bool:
        before = self._before
        silent = not before.samples.any() and not block.samples.any()
        return silent or (block.generation == before.generation != 0 and block.offset == before.offset + BLOCK)

    def _shorten(self) -> None:
        """When blocks always wait, one silent one is left out: the mind was late once and need not be for ever."""
        queue = self.gate.queue
        self._least, self._seen = min(self._least, len(queue)), self._seen + 1
        if self._seen < WINDOW:
            return
        if self._least <= SPARE:
            self._least, self._seen = MOST_WAITING, 0
        elif not queue[0].samples.any():
            queue.popleft()
            self._least, self._seen = MOST_WAITING, 0
