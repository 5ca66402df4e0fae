"""The head moves with the voice: how fast follows how loud, from the very samples that are being played.

Speakers' head motion goes with the energy of their voice (Munhall et al., "Visual prosody and speech intelligibility",
Psychological Science 15, 2004). The head travels along a closed curve, mostly roll, which leaves the line of sight
alone; loudness is the speed of travel, so the motion begins and ends with the voice whatever the curve. Only the
reference signal is read, never a microphone.
"""
from dataclasses import dataclass
from math import cos, exp, radians, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from calibration.frames import Array
from motion.limiter import DT

NOTHING = 1e-6      # share of full size that nobody sees
BROKEN = 4.0        # full scale 1: a sample beyond is no sound but a fault


@dataclass(frozen=True, slots=True)
class SwayConfig:
    """Sizes are what a listener at 1 m sees without being distracted; times are from the bench's speech."""

    roll: float = radians(1.5)          # rad
    pitch: float = radians(0.9)         # rad: with yaw below 1.1 deg of gaze error
    yaw: float = radians(0.5)           # rad
    turns_s: float = radians(400.0)     # rad/s of phase at full voice
    attack_s: float = 0.01              # s, loudness up: the lag that is seen
    release_s: float = 0.05             # s, loudness down: holds over a closure inside a word
    rise_s: float = 0.25                # s to full size after silence
    fall_s: float = 1.2                 # s back to the middle in silence
    silence: float = 0.02               # share of full voice below which it is silent
    reference_fall_s: float = 20.0      # s in which the memory of the loudest voice fades
    quietest: float = 0.01              # RMS, full scale 1: voices below this count as quiet, not as a low volume
    gap_ticks: int = 3                  # ticks without samples (a bursty sound card) that keep the loudness


class Sway:
    """Loudness in, (roll, pitch, yaw) out."""

    def __init__(self, config: SwayConfig | None = None):
        self.config = config or SwayConfig()
        self._loud = 0.0
        self._loudest = self.config.quietest
        self._phase = 0.0
        self._size = 0.0
        self._gap = 0
        self._middle = np.zeros(3)

    def step(self, spoken: NDArray[np.floating], weight: float) -> Array:
        """Offset (3,) rad of this tick. spoken: samples (160 n,) at 16 kHz, full scale 1, that are being played now."""
        c = self.config
        self._listen(spoken)
        if self._loud < NOTHING and self._size < NOTHING:
            self._size = 0.0
            return self._middle
        self._phase += c.turns_s * self._loud * DT
        wanted, time_s = (weight, c.rise_s) if self._loud > c.silence else (0.0, c.fall_s)
        self._size += (wanted - self._size) * (1 - exp(-DT / time_s))
        a, b = self._phase, self._size
        return np.array((b * c.roll * sin(a), b * c.pitch * cos(1.27 * a), b * c.yaw * sin(0.73 * a)))

    def _listen(self, spoken: NDArray[np.floating]) -> None:
        c = self.config
        if len(spoken) == 0:
            self._gap += 1
            if self._gap > c.gap_ticks:
                self._loud *= exp(-DT / c.release_s)
            return
        self._gap = 0
        whole = float(np.abs(spoken).max()) <= BROKEN     # false for nan; a broken block is silence to the neck
        rms = sqrt(float(np.dot(spoken, spoken)) / len(spoken)) if whole else 0.0
        self._loudest = max(rms, c.quietest, self._loudest * exp(-DT / c.reference_fall_s))
        loud = rms / self._loudest
        time_s = c.attack_s if loud > self._loud else c.release_s
        self._loud += (loud - self._loud) * (1 - exp(-DT / time_s))
