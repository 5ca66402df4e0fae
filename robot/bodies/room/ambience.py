"""Noise that is always there: the room's own, diffuse, and each microphone's."""
from dataclasses import dataclass, field

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from calibration.frames import Array
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ
from robot.bodies.room.late_field import diffuse_mixing

FRAME = 2560         # samples of one piece of diffuse noise; pieces overlap by half
HOP = FRAME // 2
SLOPE = -1.2         # of power over frequency: rooms hum more than they hiss
KNEE_HZ = 120.0      # below it the spectrum is flat


@dataclass
class DiffuseNoise:
    """Endless noise from everywhere at points (M, 3) in `head`, unit RMS at each."""

    points: Array
    rng: np.random.Generator
    slope: float = SLOPE
    _overlap: NDArray[np.float32] = field(init=False)
    _ready: NDArray[np.float32] = field(init=False)
    _at: int = HOP

    def __post_init__(self):
        bins = HOP + 1
        frequency = np.maximum(np.linspace(0.0, SAMPLE_RATE_HZ / 2, bins), KNEE_HZ)
        shape = frequency ** (self.slope / 2)
        shape[0] = 0.0
        shape *= np.sqrt(bins / (shape ** 2).sum())
        self._mixing = diffuse_mixing(self.points, bins) * shape[:, None, None].astype(np.float32)
        # halves of a sine window: overlapping pieces add up in power
        self._window = np.sin(np.pi * (np.arange(FRAME) + 0.5) / FRAME).astype(np.float32)
        self._overlap = np.zeros((len(self.points), HOP), np.float32)
        self._next_piece()

    def _next_piece(self) -> None:
        white = self.rng.standard_normal((len(self.points), FRAME), dtype=np.float32)
        spectrum = scipy.fft.rfft(white).T[..., None]
        piece = scipy.fft.irfft((self._mixing @ spectrum)[..., 0].T, FRAME) * self._window
        self._ready = self._overlap + piece[:, :HOP]
        self._overlap = piece[:, HOP:]
        self._at = 0

    def step(self) -> NDArray[np.float32]:
        """(M, BLOCK), the next 10 ms."""
        if self._at >= HOP:
            self._next_piece()
        out = self._ready[:, self._at:self._at + BLOCK]
        self._at += BLOCK
        return out


@dataclass(frozen=True, slots=True)
class MicrophoneConfig:
    """What the microphones add. Full scale is 94 dB SPL (1 Pa) RMS: speech at 1 m stands at -34 dBFS."""

    ambient_dbfs: float = -62.0       # the room without anybody: 32 dB SPL, a quiet evening at home
    self_noise_dbfs: float = -84.0    # of a MEMS capsule with 64 dB SNR and the board's gain
    gain_error_db: float = 0.7        # one standard deviation between capsules; data sheets say +-1 dB


@dataclass
class Microphones:
    """Capsules of unequal gain that add their own noise and clip at full scale."""

    config: MicrophoneConfig
    count: int
    rng: np.random.Generator
    gain: NDArray[np.float32] = field(init=False)   # (M, 1)

    def __post_init__(self):
        errors = self.rng.normal(0.0, self.config.gain_error_db, (self.count, 1))
        self.gain = (10 ** (errors / 20)).astype(np.float32)
        self._floor = np.float32(10 ** (self.config.self_noise_dbfs / 20))

    def recorded(self, sound: NDArray[np.float32]) -> NDArray[np.float32]:
        """(M, BLOCK) as recorded, from what the capsules give, their gain included."""
        noise = self.rng.standard_normal(sound.shape, dtype=np.float32) * self._floor
        return np.clip(sound + noise, -1.0, 1.0)
