"""Impulse responses from lists of arrivals: when, how loud, and after how many walls each copy of a sound comes."""
from dataclasses import dataclass

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from calibration.frames import Array
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ
from robot.bodies.room.shoebox import EARLY_S, SPEED_OF_SOUND

TAPS = 24                    # of a fractional delay; Kaiser beta 6: flat within 0.1 dB to 7 kHz
PHASES = 256                 # delays are rounded to 1/256 sample (0.08 mm): residual below -50 dB at 4 kHz
LEAD = 16                    # samples by which every response is late, so that the nearest sound stays causal
NEAREST_M = 0.02             # m: nearer sources do not get louder
MOST_WALLS = 6               # orders from here on sound alike
WALL_LOSS_DB = 0.6           # at 8 kHz for each wall beyond its broadband loss: curtains and carpets
PARTS = int(EARLY_S * SAMPLE_RATE_HZ) // BLOCK
EARLY_TAPS = PARTS * BLOCK

Spectrum = NDArray[np.complex64]


def _kernels() -> NDArray[np.float32]:
    """Fractional delays (walls, phases, taps) with the treble that each number of walls leaves."""
    n = np.arange(TAPS)[None, :] - (TAPS // 2 - 1) - np.arange(PHASES)[:, None] / PHASES
    ideal = np.sinc(n) * np.i0(6.0 * np.sqrt(np.maximum(0.0, 1 - (2 * n / TAPS) ** 2))) / np.i0(6.0)
    spectrum = np.fft.rfft(ideal, 2 * TAPS)
    octaves_of_loss = np.linspace(0.0, 1.0, spectrum.shape[1]) ** 1.5
    loss = [10.0 ** (-WALL_LOSS_DB * walls * octaves_of_loss / 20) for walls in range(MOST_WALLS + 1)]
    return np.stack([np.fft.irfft(spectrum * gain, 2 * TAPS)[:, :TAPS] for gain in loss]).astype(np.float32)


KERNELS = _kernels()


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Copies of one sound at M microphones."""

    delay: Array     # (M, n) samples
    gain: Array      # (M, n)
    walls: Array     # (n,) whole numbers

    @classmethod
    def between(cls, sources: Array, mics: Array, strength, walls) -> "Arrivals":
        """From points (n, 3) with strength (n,) at 1 m to microphones (M, 3), spherical waves."""
        distance = np.linalg.norm(sources[None] - mics[:, None], axis=2)
        return cls(distance * (SAMPLE_RATE_HZ / SPEED_OF_SOUND), strength / np.maximum(distance, NEAREST_M),
                   np.minimum(walls, MOST_WALLS))

    def response(self, taps: int) -> NDArray[np.float32]:
        """Impulse responses (M, taps), LEAD samples late; what comes later than the last tap is left out."""
        steps = np.round((self.delay + LEAD) * PHASES).astype(np.int64)
        start, phase = steps // PHASES - (TAPS // 2 - 1), steps % PHASES
        inside = (start >= 0) & (start <= taps - TAPS)
        rows, columns = np.nonzero(inside)
        values = KERNELS[self.walls[columns], phase[rows, columns]] * self.gain[rows, columns, None]
        places = (rows * taps + start[rows, columns])[:, None] + np.arange(TAPS)
        flat = np.bincount(places.ravel(), values.ravel(), minlength=self.delay.shape[0] * taps)
        return flat.reshape(-1, taps).astype(np.float32)


def direct_response(source: Array, mics: Array, taps: int) -> NDArray[np.float32]:
    """As Arrivals.between(...).response(taps) for one source (3,) and no wall; made for every block, hence quick."""
    distance = np.maximum(np.sqrt(((mics - source) ** 2).sum(axis=1)), NEAREST_M)
    out = np.zeros((len(mics), taps), np.float32)
    steps = np.rint((distance * (SAMPLE_RATE_HZ / SPEED_OF_SOUND) + LEAD) * PHASES).astype(np.int64)
    for row, (step, gain) in enumerate(zip(steps.tolist(), (1 / distance).tolist(), strict=True)):
        start = step // PHASES - (TAPS // 2 - 1)
        if start <= taps - TAPS:
            out[row, start:start + TAPS] = KERNELS[0, step % PHASES] * np.float32(gain)
    return out


def partitioned(response: NDArray[np.float32]) -> Spectrum:
    """Spectra (M, parts, BLOCK + 1) of a response's pieces of one block each, for overlap-save."""
    pieces = response.reshape(len(response), -1, BLOCK)
    return scipy.fft.rfft(np.asarray(pieces, np.float32), 2 * BLOCK)
