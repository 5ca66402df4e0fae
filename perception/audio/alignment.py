"""Which sample of the reference is in the microphones now: start from the nominal delay, repair slips, search if lost.

A slip (an xrun, a jump of the playback clock) moves the echo by some ms. The filter's echo estimate still has the
right shape then, only at the wrong time: its cross-correlation with a microphone shows by how much, and the reference
is moved while the filter is kept (36 of 42 jumps of 8-40 ms found in the prototype, one false move in 91 minutes).
"""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples


@dataclass(frozen=True, slots=True)
class AlignmentConfig:
    """Times in samples at 16 kHz unless said otherwise."""

    lead: int = 1040                  # 65 ms before the nominal delay: jumps of either sign stay causal
    longest_delay: int = 16000        # 1 s: the longest playback delay that is searched
    window: int = 3200                # 200 ms of sound for a slip check
    reach: int = 800                  # 50 ms: farthest slip that is repaired by the echo estimate
    check_every: int = 5              # blocks between checks
    suspect: float = 0.25             # residual over mic power above which the echo may have moved
    peak_over_zero: float = 1.4       # the new lag must beat the old one by this
    peak_sigmas: float = 6.0          # and stand out of the correlation's noise by this
    search_window: int = 8000         # 0.5 s of sound for the wide search
    search_sigmas: float = 9.0        # the wide search has many more lags to be wrong at
    lost_blocks: int = 150            # 1.5 s without any cancellation before the wide search starts


@dataclass(frozen=True, slots=True)
class Move:
    """The echo was found `samples` later than before; `history` is the re-aligned past of the reference."""

    samples: int
    history: Samples
    slip: bool          # the old echo paths still hold, `rest` samples later; otherwise nothing was aligned before
    rest: int           # what the reference could not be moved by, because nothing is earlier than playing


def whitened_correlation(sound: Samples, model: Samples, size: int, exponent: float) -> NDArray[np.float32]:
    """Circular cross-correlation (size,) at lags sound - model, 300-4300 Hz, spectrum flattened by `exponent`."""
    cross = fft.rfft(sound, size) * fft.rfft(model, size).conj()
    cross *= (np.abs(cross) + 1e-12) ** -exponent
    hertz = np.arange(cross.size) * SAMPLE_RATE_HZ / size
    cross[(hertz < 300) | (hertz > 4300)] = 0
    return fft.irfft(cross, size)


class Alignment:
    """The reference, delayed to what the canceller needs. `lag` samples are between playing and the filter's start."""

    def __init__(self, playback_delay_s: float | None, history: int, config: AlignmentConfig = AlignmentConfig()):
        """history: samples of aligned reference that the canceller wants after a move."""
        self.config = config
        self.known = playback_delay_s is not None
        nominal = 0 if playback_delay_s is None else round(playback_delay_s * SAMPLE_RATE_HZ)
        self.lag = max(0, nominal - config.lead)
        self._history = history
        longest = max(config.search_window, history)
        self._reference = np.zeros(longest + config.longest_delay + BLOCK, np.float32)
        self._mic = np.zeros(config.search_window, np.float32)
        self._echo = np.zeros(config.window, np.float32)
        self._suspected = 0
        self._lost = 0 if self.known else config.lost_blocks
        self._powers = np.zeros(2)          # mic, residual; smoothed
        self._candidate: int | None = None
        self._count = 0

    def far(self, reference: Samples) -> Samples:
        """Take the newest block of the reference; returns the two newest aligned blocks (320,)."""
        self._reference[:-BLOCK] = self._reference[BLOCK:]
        self._reference[-BLOCK:] = reference
        return self._aligned(2 * BLOCK)

    def _aligned(self, samples: int) -> Samples:
        end = self._reference.size - self.lag
        return self._reference[end - samples:end]

    def moved(self, mic: Samples, echo: Samples, residual: Samples) -> Move | None:
        """Look at one block of a good microphone; what was moved, if anything."""
        self._mic[:-BLOCK] = self._mic[BLOCK:]
        self._mic[-BLOCK:] = mic
        self._echo[:-BLOCK] = self._echo[BLOCK:]
        self._echo[-BLOCK:] = echo
        self._count += 1
        far = self._aligned(2 * BLOCK)
        playing = float(far @ far) / far.size > 1e-7        # -70 dBFS
        power = np.array([mic @ mic, residual @ residual]) / BLOCK
        self._powers += 0.2 * (power - self._powers)
        suspect = playing and self._powers[1] > self.config.suspect * self._powers[0] > 0
        self._suspected = self._suspected + 1 if suspect else 0
        cancels = self._powers[1] < 0.5 * self._powers[0]   # 3 dB
        if playing:
            self._lost = 0 if cancels and self.known else self._lost + 1
        if self._lost >= self.config.lost_blocks:
            move = self._wide_search() if self._count % (4 * self.config.check_every) == 0 else None
            return None if move is None else self._apply(move, slip=False)
        move = self._slip() if self._suspected >= 9 and self._count % self.config.check_every == 0 else None
        return None if move is None else self._apply(move, slip=True)

    def _confirmed(self, move: int, tolerance: int) -> int | None:
        """A move counts when two checks running agree."""
        before, self._candidate = self._candidate, move
        if before is None or abs(before - move) > tolerance:
            return None
        self._candidate = None
        return move

    def _slip(self) -> int | None:
        config = self.config
        size = fft.next_fast_len(2 * config.window, real=True)
        correlation = whitened_correlation(self._mic[-config.window:], self._echo, size, 0.6)
        near = np.concatenate([correlation[-config.reach:], correlation[:config.reach + 1]])
        peak = int(np.argmax(near))
        lag = peak - config.reach
        zero = np.abs(near[config.reach - 2:config.reach + 3]).max()
        sigma = np.sqrt(np.median(near**2) / 0.455) + 1e-20
        if abs(lag) < 8 or near[peak] < config.peak_over_zero * zero or near[peak] < config.peak_sigmas * sigma:
            self._candidate = None
            return None
        return self._confirmed(lag, 1)

    def _wide_search(self) -> int | None:
        config = self.config
        size = fft.next_fast_len(config.search_window + config.longest_delay, real=True)
        reference = self._reference[-(config.search_window + config.longest_delay):]
        if not self._mic.any() or not reference.any():
            return None
        correlation = whitened_correlation(self._mic, reference, size, 0.7)
        # the microphone window starts longest_delay after the reference window: lag d sits at longest_delay - d
        by_delay = correlation[(-config.longest_delay + np.arange(config.longest_delay)) % size]
        peak = int(np.argmax(by_delay))
        sigma = np.sqrt(np.median(by_delay**2) / 0.455) + 1e-20
        inside = self.known and self.lag + 80 <= peak <= self.lag + 1600   # the filter reaches it where it is
        if by_delay[peak] < config.search_sigmas * sigma or inside:
            self._candidate = None
            return None
        confirmed = self._confirmed(peak, 32)
        return None if confirmed is None else max(0, confirmed - config.lead) - self.lag

    def _apply(self, move: int, slip: bool) -> Move | None:
        lag = min(max(0, self.lag + move), self.config.longest_delay)
        rest, self.lag = move - (lag - self.lag), lag
        self._suspected = self._lost = 0
        self.known = True
        return Move(move, self._aligned(self._history).copy(), slip, rest)
