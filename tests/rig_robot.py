"""A mind that only speaks one tone and keeps what it hears, on the real sound process and a rig."""
import os
import select
import time
from collections.abc import Callable

import numpy as np

from dialogue.engine import SILENCE, SpeakerBlock
from robot.bodies.sound_config import SoundDeviceConfig
from robot.bodies.sound_process import SoundProcess
from robot.rig.pulse import PulseRig

LIMIT_S = 60.0
HERTZ = 500.0


class RigRobot:
    """Its sound process, what that told, and the blocks it heard. generation: of what it says, 0: nothing."""

    def __init__(self, rig: PulseRig, config: SoundDeviceConfig):
        os.environ.update(rig.environment)
        self.rig, self.sound = rig, SoundProcess(config)
        self.told, self.blocks, self.said, self.generation = [], [], 0, 0
        self.checks = 0

    def live(self, done: Callable[[], bool], what: str, limit_s: float = LIMIT_S) -> None:
        """Ticks until `done`."""
        end = time.monotonic() + limit_s
        while not done():
            assert time.monotonic() < end, f"{what}: not within {limit_s:g} s; {self.told[-4:]}"
            select.select([self.sound.fileno()] if self.sound.fileno() >= 0 else [], [], [], 0.01)
            self.tick()
        self.checks += 1
        print(f"  {what}", flush=True)

    def tick(self) -> None:
        blocks = self.sound.read()
        self.blocks += blocks
        self.told += self.sound.health()
        self.sound.write([self._block() for _ in blocks], self.generation)

    def _block(self) -> SpeakerBlock:
        if not self.generation:
            return SILENCE
        n = self.said + np.arange(160)
        self.said += 160
        return SpeakerBlock(self.generation, self.said - 160,
                            (0.3 * np.sin(2 * np.pi * HERTZ * n / 16000)).astype(np.float32))

    def heard(self, level: str, *words: str) -> bool:
        return any(h.part == "sound_card" and h.level == level and all(w in h.reason for w in words)
                   for h in self.told)

    def fresh(self) -> None:
        self.told.clear()
        self.blocks.clear()

    def hears_itself(self) -> bool:
        """The newest half second of the loopback is the tone."""
        if len(self.blocks) < 60:
            return False
        sound = np.concatenate([b.reference for b in self.blocks[-50:]])
        spectrum = np.abs(np.fft.rfft(sound * np.hanning(sound.size)))
        return sound.std() > 0.1 and abs(np.argmax(spectrum) * 16000 / sound.size - HERTZ) < 3

    def silent_loudspeaker(self) -> bool:
        return len(self.blocks) >= 10 and not any(b.reference.any() for b in self.blocks[-10:])
