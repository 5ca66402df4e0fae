"""Sigh candidates: a breath let out audibly, 0.5 to 2 s of noise from an open throat that swells and dies away.

What tells it from its like: speech has syllables and a pitch, a cough or a knock starts within 50 ms and is over soon,
a fan goes on, a hiss for silence ("shh") lies above 2 kHz. A sigh with a voice in it is not looked for.
"""
from dataclasses import dataclass

import numpy as np

from perception.audio.manner import Sigh
from perception.audio.voice_frames import Batch, Values, VoiceFrames, joined, smoothed, soft

FRAME_S = 0.01


@dataclass(frozen=True, slots=True)
class SighConfig:
    """Softness of each bound is a fifth to a third of it: none was measured on people, only on simulated breath."""

    above_floor: float = 7.0       # dB from which something sounds
    below_peak: float = 18.0       # dB under the loudest at which it is over: room tails go on
    quiet_for: float = 0.12        # s below these before it is over
    shortest: float = 0.5          # s
    longest: float = 2.0           # s
    ragged: float = 2.2            # dB of deviation from a smooth swell; syllables have 4 to 8
    attack: float = 0.1            # s from 12 dB below to the loudest; coughs and knocks 0.02 to 0.05
    voiced_from: float = 0.6       # periodicity; noise reaches 0.5 by chance
    voiced_share: float = 0.25     # of voiced frames
    low_share: float = 0.5         # of power below 2 kHz
    fall: float = 6.0              # dB from the loudest to the last sixth
    clear: float = 9.0             # dB over the floor
    certain: float = 0.5           # confidence from which it is told


class Sighs:
    """Watches the level; judges a sound when it is over."""

    def __init__(self, config: SighConfig = SighConfig()):
        self.config = config
        self._parts: list[Batch] = []
        self._noise: list[float] = []
        self._peak = -120.0
        self._quiet = 0            # frames

    def step(self, t: float, batch: Batch, floor: float, noise: float) -> Sigh | None:
        """batch: the newest frames, ending at t (s); floor dBFS; noise 0..1, share of the robot's own sound."""
        config = self.config
        loudest = float(batch.level.max())
        sounds = loudest > max(floor + config.above_floor, self._peak - config.below_peak)
        if not sounds and not self._parts:
            return None
        self._parts.append(batch)
        batch.measured()     # now, not all of them at the end
        self._noise.append(noise)
        self._peak = max(self._peak, loudest)
        self._quiet = 0 if sounds else self._quiet + len(batch.level)
        if self._quiet * FRAME_S < config.quiet_for:
            if len(self._noise) * len(batch.level) * FRAME_S > 2 * config.longest:   # a fan, a talk: not kept
                self._parts, self._noise = self._parts[-1:], self._noise[-1:]
            return None
        frames, most = joined(self._parts), max(self._noise)
        self._parts, self._noise, self._peak, self._quiet = [], [], -120.0, 0
        found = self._judged(t, frames, floor, most)
        return found if found is not None and found.confidence >= config.certain else None

    def _judged(self, t: float, frames: VoiceFrames, floor: float, noise: float) -> Sigh | None:
        config = self.config
        level = smoothed(frames.level, 7)
        peak = float(level.max())
        over = np.flatnonzero(level > max(peak - config.below_peak, floor + 3.0))
        if not over.size:          # a click: nothing is left of it on the average
            return None
        first, last = int(over[0]), int(over[-1]) + 1
        seconds = (last - first) * FRAME_S
        if seconds < 0.7 * config.shortest or seconds > 1.3 * config.longest:
            return None
        level = level[first:last]
        voiced = float(np.mean(frames.strength[first:last] > config.voiced_from))
        low = float(np.average(frames.low[first:last], weights=10 ** (level / 10)))
        parts = (
            soft(seconds, config.shortest, 0.05), soft(seconds, config.longest, -0.1),
            soft(_raggedness(level), config.ragged, -0.3), soft(_attack(level), config.attack, 0.02),
            soft(voiced, config.voiced_share, -0.06), soft(low, config.low_share, 0.08),
            soft(peak - float(level[-len(level) // 6:].mean()), config.fall, 1.0),
            soft(peak - floor, config.clear, 1.5))
        end = t - (len(frames.level) - last) * FRAME_S
        return Sigh(end - seconds, end, float(np.prod(parts)) * (1 - noise))


def _raggedness(level: Values) -> float:
    """dB: deviation of the level from a cubic."""
    x = np.linspace(-1, 1, level.size)
    return float(np.std(level - np.polynomial.Polynomial.fit(x, level, 3)(x)))


def _attack(level: Values) -> float:
    """s from 12 dB below the loudest (or the start) to within 1 dB of it."""
    near = int(np.argmax(level >= level.max() - 1.0))
    below = np.flatnonzero(level[:near] < level.max() - 12.0)
    return (near - (int(below[-1]) if below.size else 0)) * FRAME_S
