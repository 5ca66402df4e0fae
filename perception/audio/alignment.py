"""Which sample of the reference is in the microphones now: start from the nominal delay, repair slips, search if lost.

A slip (an xrun, a jump of the playback clock) moves the echo by some ms. The filter's echo estimate still has the
right shape then, only at the wrong time: its cross-correlation with a microphone shows by how much, what is left of
the microphone with the estimate moved proves it, and the reference is moved while the filter is kept. A drifting clock
is followed by the filter; when the echo nears an end of the filter, reference and paths are moved together.
"""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from calibration.health import Health
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples
from perception.audio.misfit import Misfit


@dataclass(frozen=True, slots=True)
class AlignmentConfig:
    """Times in samples at 16 kHz unless said otherwise."""

    lead: int = 1040                  # 65 ms before the nominal delay: jumps of either sign stay causal
    stray: int = 640                  # 40 ms that the echo may drift from there: twice the error of a nominal delay
    stray_every: int = 250            # blocks between looks at that
    longest_delay: int = 16000        # 1 s: the longest playback delay that is searched
    window: int = 3200                # 200 ms of sound for a slip check ...
    least_window: int = 1280          # ... 80 ms when the echo estimate has just stopped fitting
    reach: int = 800                  # 50 ms: farthest slip that is repaired by the echo estimate
    check_every: int = 5              # blocks between checks; 2 while the estimate does not fit
    fits: float = 0.3                 # residual over mic power of a filter that has settled
    suspect: float = 0.25             # the same, above which the echo of a settled one may have moved
    peak_over_zero: float = 1.4       # the new lag must beat the old one by this ...
    peak_sigmas: float = 6.0          # ... stand out of the correlation's noise by this ...
    better: float = 0.8               # ... and leave this share of the residual; a voice over it leaves its own part
    proven: float = 0.3               # residual over mic power at the new lag that needs no second look
    ringing: int = 64                 # 4 ms: a vowel also fits itself a little later, closer lags need a second look
    search_window: int = 8000         # 0.5 s of sound for the wide search
    search_sigmas: float = 9.0        # the wide search has many more lags to be wrong at
    learnt: float = 0.02              # echo estimate over mic power (-17 dB) below which the filter knows no echo: it
                                      # learns a loudspeaker that is turned up after silence anew, faster than on
    lost_blocks: int = 150            # 1.5 s without any cancellation before the wide search starts
    unheard_blocks: int = 600         # 6 s of playing without cancellation or a find: there is no such echo


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


def shifted(sound: Samples, later: int) -> Samples:
    """The newest samples of a sound that comes `later` samples later, silence where it is not known."""
    out = np.zeros_like(sound)
    kept = max(0, sound.size - abs(later))
    if kept:
        out[max(later, 0):][:kept] = sound[max(-later, 0):][:kept]
    return out


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
        self._zeros = 0                     # blocks of the reference, up to now
        self._mic = np.zeros(config.search_window, np.float32)
        self._echo = np.zeros(config.search_window, np.float32)
        self._misfit = Misfit()
        self._heard = self._left = 0.0      # energy of a block of mic and residual, smoothed
        self._suspected = 0                 # blocks
        self._settled = False               # what never cancelled cannot have slipped
        self._lost = 0 if self.known else config.lost_blocks
        self._unheard = 0                   # blocks
        self._said = False                  # that nothing is heard
        self._candidate: int | None = None
        self._stray = 0                     # samples from the lead, at the last look
        self._next_look = config.stray_every   # block
        self._count = 0

    @property
    def suspected(self) -> bool:
        """The echo seems to have moved: until it is found nothing should be decided on the residual. Ends by itself."""
        return self._misfit.blocks > 0

    def far(self, reference: Samples) -> Samples:
        """Take the newest block of the reference; returns the two newest aligned blocks (320,)."""
        self._zeros = 0 if reference.any() else self._zeros + 1
        if self._zeros * BLOCK <= self._reference.size:      # afterwards it is zeros from end to end
            self._reference[:-BLOCK] = self._reference[BLOCK:]
            self._reference[-BLOCK:] = reference
        return self._aligned(2 * BLOCK)

    def _aligned(self, samples: int) -> Samples:
        end = self._reference.size - self.lag
        return self._reference[end - samples:end]

    def skipped(self, samples: int) -> Samples:
        """That many samples were lost on the way, of microphones and reference: the past (history,) with silence in
        their place, for EchoCanceller.replace_far."""
        for buffer in (self._reference, self._mic, self._echo):
            kept = max(0, buffer.size - samples)
            buffer[:kept] = buffer[buffer.size - kept:]
            buffer[kept:] = 0
        return self._aligned(self._history).copy()

    def moved(self, mic: Samples, echo: Samples, residual: Samples) -> Move | None:
        """Look at one block of a good microphone; what was moved, if anything."""
        config = self.config
        for buffer, block in ((self._mic, mic), (self._echo, echo)):
            buffer[:-BLOCK] = buffer[BLOCK:]
            buffer[-BLOCK:] = block
        self._count += 1
        self._watch(mic, echo, residual)
        if self._lost >= config.lost_blocks:
            found = self._wide_search() if self._count % (4 * config.check_every) == 0 else None
            return None if found is None else self._apply(found, slip=False)
        if self.suspected or self._suspected >= 9:
            slip = self._slip() if self._count % (2 if self.suspected else config.check_every) == 0 else None
            return None if slip is None else self._apply(slip, slip=True)
        if self._count >= self._next_look and self._left < config.fits * self._heard:
            return self._recentred()
        return None

    def _watch(self, mic: Samples, echo: Samples, residual: Samples) -> None:
        config = self.config
        far = self._aligned(2 * BLOCK)
        power = float(mic @ mic), float(residual @ residual)
        self._misfit.step(*power, float(echo @ echo))
        self._heard += 0.2 * (power[0] - self._heard)
        self._left += 0.2 * (power[1] - self._left)
        self._settled |= self._left < config.fits * self._heard
        if not far @ far > 1e-7 * far.size:                  # -70 dBFS: nothing plays
            self._suspected = 0
            return
        suspect = self._settled and self._left > config.suspect * self._heard > 0
        self._suspected = self._suspected + 1 if suspect else 0
        cancels = self.known and self._left < 0.5 * self._heard   # 3 dB
        self._lost = 0 if cancels else self._lost + 1
        self._unheard = 0 if cancels else self._unheard + 1

    def health(self, t: float) -> Health | None:
        """The loudspeaker, by its echo; a change only."""
        unheard = self._unheard >= self.config.unheard_blocks
        if unheard == self._said:
            return None
        self._said = unheard
        why = "no echo of what is played is heard: turn it up, or give the reference of the output in use"
        return Health(t, "loudspeaker", "degraded", why) if unheard else Health(t, "loudspeaker", "ok")

    def _confirmed(self, move: int, tolerance: int) -> int | None:
        """A move counts when two checks running agree."""
        before, self._candidate = self._candidate, move
        if before is None or abs(before - move) > tolerance:
            return None
        self._candidate = None
        return move

    def _slip(self) -> int | None:
        """Samples that the echo comes later than its estimate, if that is sure."""
        config = self.config
        window = config.window
        if self.suspected:   # what was heard before the slip speaks for the old place
            window = min(window, max(config.least_window, (self._misfit.blocks + 5) * BLOCK))
        size = fft.next_fast_len(2 * window + config.reach, real=True)
        mic, echo = self._mic[-window:], self._echo[-window - config.reach:]
        lags = np.arange(-config.reach, config.reach + 1)
        near = whitened_correlation(mic, echo, size, 0.6)[(lags - config.reach) % size]   # echo starts `reach` earlier
        lag = int(lags[np.argmax(near)])
        zero = np.abs(near[config.reach - 2:config.reach + 3]).max()
        sigma = np.sqrt(np.median(near**2) / 0.455) + 1e-20
        stands_out = near.max() > max(config.peak_over_zero * zero, config.peak_sigmas * sigma)
        left = self._left_at(lag)
        if not (8 <= abs(lag) <= config.reach - 8 and stands_out and left < config.better * self._left_at(0)):
            self._candidate = None
            return None
        if self.suspected and left < config.proven and abs(lag) >= config.ringing:
            self._candidate = None
            return lag
        return self._confirmed(lag, 1)

    def _left_at(self, lag: int) -> float:
        """Residual over mic power if the echo were `lag` later, of the sound since it stopped fitting; of an earlier
        echo the estimate ends as much before now."""
        since = (max(self._misfit.blocks, self._suspected) + 1) * BLOCK
        end = self._mic.size + min(lag, 0)
        window = min(max(since + min(lag, 0), 3 * BLOCK), self.config.window)
        mic, echo = self._mic[end - window:end], self._echo[end - window - lag:end - lag]
        left = mic - echo
        return float(left @ left) / (float(mic @ mic) + 1e-12)

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
        inside = self.known and self.lag + 80 <= peak <= self.lag + 1600   # the filter reaches it where it is ...
        learnt = float(self._echo @ self._echo) > config.learnt * float(self._mic @ self._mic)   # ... and knows it
        if by_delay[peak] < config.search_sigmas * sigma or (inside and learnt):
            self._candidate = None
            return None
        confirmed = self._confirmed(peak, 32)
        if confirmed is None:
            return None
        return 0 if inside else max(0, confirmed - config.lead) - self.lag

    def _recentred(self) -> Move | None:
        """Reference and paths moved together when the echo has drifted towards an end of the filter."""
        config = self.config
        window, far = self._echo[-config.window:], self._aligned(2 * config.window)
        size = fft.next_fast_len(3 * config.window, real=True)
        delays = np.arange(config.window)
        by_delay = whitened_correlation(window, far, size, 0.6)[(delays - config.window) % size]
        sigma = np.sqrt(np.median(by_delay**2) / 0.455) + 1e-20
        before, self._stray = self._stray, int(np.argmax(by_delay)) - config.lead
        stray = max(self._stray, -self.lag)
        sure = abs(stray) >= config.stray and by_delay.max() > config.search_sigmas * sigma
        self._next_look = self._count + (config.stray_every // 5 if sure else config.stray_every)
        if not sure or abs(before - self._stray) > 16:   # two looks agree up to a millisecond, drift included
            return None
        self.lag += stray
        self._stray = 0
        return Move(0, self._aligned(self._history).copy(), True, -stray)

    def _apply(self, move: int, slip: bool) -> Move:
        """Move the reference and what was estimated from it."""
        self._echo = shifted(self._echo, move)
        lag = min(max(0, self.lag + move), self.config.longest_delay)
        rest, self.lag = move - (lag - self.lag), lag
        self._suspected = self._lost = 0
        self._misfit.mended()
        self._settled &= slip
        self.known = True
        return Move(move, self._aligned(self._history).copy(), slip, rest)
