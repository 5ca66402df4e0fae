"""A loudspeaker at 44.1 kHz and microphones at 16 kHz, each on a crystal of its own, in virtual time."""
import heapq
from collections import deque

import numpy as np
import pytest

from dialogue.engine import SILENCE, SpeakerBlock
from perception.audio.block import BLOCK
from robot.bodies.sound_backend import SoundDevice
from robot.bodies.sound_card import SoundCard
from robot.bodies.sound_config import SoundDeviceConfig

EARS, MOUTH = SoundDevice(0, "ears", 1, 0, 16000), SoundDevice(1, "mouth", 0, 1, 44100)
WAY_S = 0.05               # from the loudspeaker's device to the microphones' hand-over
REPLY_S, PAUSE_S = 4.0, 2.0
STEP = np.float32(1e-5)    # each block of a reply is constant and so much louder than the one before: its number


class Crystals:
    """A backend of two devices that never stop; `run` lets time pass. drift: of the loudspeaker's crystal."""

    def __init__(self, drift: float):
        self.t, self.drift = 0.0, drift
        self.air = deque([(-1.0, np.zeros(1, np.float32))], maxlen=20)      # (s, what is played from then on)
        self.active, self.latency_s = True, 0.0

    def devices(self):
        return [EARS, MOUTH]

    def accepts(self, device, rate_hz, channels, records):
        return rate_hz == device.rate_hz and channels == 1

    def record(self, device, rate_hz, channels, block, latency_s, heard):
        self.heard = heard
        return self

    def play(self, device, rate_hz, channels, block, latency_s, wanted):
        self.wanted, self.frames = wanted, block
        return self

    def close(self):
        pass

    def run(self, seconds: float) -> None:
        """Both sides ask and give in the order of true time."""
        plays = self.frames / MOUTH.rate_hz / (1 + self.drift)
        due = [(0.0, 0, plays), (0.0, 1, 0.02)]
        while self.t < seconds:
            self.t, side, period = heapq.heappop(due)
            heapq.heappush(due, (self.t + period, side, period))
            if side:
                self.heard(np.repeat([[self.sounds(self.t - WAY_S - s)] for s in (0.015, 0.005)], 160, axis=0), False)
            else:
                self.air.append((self.t, self.wanted(self.frames, False)[:, 0]))

    def sounds(self, t: float) -> np.float32:
        begun, sound = next((begun, sound) for begun, sound in reversed(self.air) if begun <= t)
        return sound[min(int((t - begun) * MOUTH.rate_hz), len(sound) - 1)]


@pytest.mark.parametrize("drift", [-5e-4, 5e-4])
def test_drift_costs_no_word_and_the_reference_keeps_its_distance(drift):
    """F39: 500 ppm are more than bad crystals do; when the last minute is as the one before, half an hour is too."""
    backend, made, gone, distances = Crystals(drift), [], [], []

    def hand_over(blocks):
        for block in blocks:
            n = len(made)
            talks = n * 0.01 % (REPLY_S + PAUSE_S) < REPLY_S
            made.append(SpeakerBlock(1, n * BLOCK, np.full(BLOCK, 0.1 + STEP * n, np.float32)) if talks else SILENCE)
            told, true = block.reference[BLOCK // 2], block.mics[0, BLOCK // 2]
            if 0.5 < n * 0.01 % (REPLY_S + PAUSE_S) < REPLY_S:               # away from the ends, which are faded
                distances.append(float(true - told) / STEP)

    def feed(playback):
        playback.put(made[len(gone):], 1)
        gone.extend(made[len(gone):])

    card = SoundCard(SoundDeviceConfig(input="ears", output="mouth", microphones=(0,)), backend, lambda: backend.t,
                     hand_over, feed)
    backend.run(180.0)
    assert card.rates == (16000, 44100) and card.figures.lost_s == 0.0
    said = sum(block.samples.any() for block in made)
    assert card.playback.dropped == 0 and card.playback.starved <= 0.002 * said
    assert 0 <= card.playback.waiting <= 8
    apart = np.array(distances)
    lone = np.abs(apart) > 50                            # one side silent: a block was put in or left out
    assert len(apart) > 9000 and lone.sum() <= 10
    assert np.ptp(apart[~lone]) <= 8.0 and np.ptp(apart[~lone][-4000:]) <= 5.0      # follows, and does not add up
