"""From the microphones' device to blocks of 10 ms: channels, rate, cut, time, reference. Called by the device."""
from dataclasses import replace

import numpy as np

from perception.audio.block import BLOCK_S, SAMPLE_RATE_HZ, AudioBlock, Samples
from robot.bodies.reference_line import ReferenceLine
from robot.bodies.sound_clock import CaptureClock
from robot.bodies.sound_config import SoundDeviceConfig
from robot.bodies.sound_rate import Cutter, RateConverter


class Capture:
    """What the microphones' device hands over, as AudioBlocks. reference: None where the device records it."""

    def __init__(self, config: SoundDeviceConfig, rate_hz: int, latency_s: float,
                 reference: ReferenceLine | None = None):
        self.config = config
        looped = (config.reference,) if config.reference >= 0 else ()
        self._channels = [*config.microphones, *looped]
        self._line = reference if not looped else None
        self._clock = CaptureClock(rate_hz, latency_s)
        self._rate = RateConverter(len(self._channels), rate_hz, SAMPLE_RATE_HZ)
        self._cutter = Cutter(len(self._channels))
        self._made_s = 0.0                   # of blocks, lost sound included
        self._gap = True                     # nobody knows what was before the first block
        self.lost_s = 0.0                    # of sound that never came
        self.losses = 0
        self.silent_s = 0.0                  # since any microphone gave anything but exact zeros

    def step(self, frames: Samples, arrived: float, overflow: bool) -> list[AudioBlock]:
        """frames (n, input channels), handed over at `arrived` (s); overflow: the driver lost sound before them."""
        lost = self._clock.step(arrived, len(frames), overflow)
        if lost or overflow:
            self.lost_s, self.losses, self._gap = self.lost_s + lost, self.losses + 1, True
            self._made_s += lost
            if self._line is not None:
                self._line.lost(lost)
        sound = np.ascontiguousarray(frames[:, self._channels].T, np.float32)
        heard = bool(sound[:len(self.config.microphones)].any())
        self.silent_s = 0.0 if heard else self.silent_s + len(frames) / self._clock.rate_hz
        return [self._block(piece) for piece in self._cutter.step(self._rate.step(sound))]

    def _block(self, piece: Samples) -> AudioBlock:
        self._made_s += BLOCK_S
        mics = len(self.config.microphones)
        reference = self._line.take() if self._line is not None else piece[-1]
        block = AudioBlock(self._clock.time(self._made_s), piece[:mics], reference)
        if self._gap:
            block, self._gap = replace(block, gap=True), False
        return block
