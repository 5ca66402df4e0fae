"""Sound that arrives in pieces, at another sample rate; the size of the pieces changes nothing."""
from math import gcd

import numpy as np
from scipy.signal import firwin

from perception.audio.block import Samples

ZEROS = 12     # of the sinc on each side: 60 dB of stop band with a Kaiser window of 6


class StreamRate:
    """A polyphase FIR filter, as in scipy.signal.resample_poly, that keeps its past.

    Its output lags by ZEROS samples of the lower rate, which it needs from the future.
    """

    def __init__(self, rate_hz: int, wanted_hz: int):
        common = gcd(rate_hz, wanted_hz)
        self.up, self.down = wanted_hz // common, rate_hz // common
        self.same = rate_hz == wanted_hz
        widest = max(self.up, self.down)
        half = ZEROS * widest
        taps = firwin(2 * half + 1, 1.0 / widest, window=("kaiser", 6.0)) * self.up if not self.same else np.ones(1)
        count = -(-len(taps) // self.up)
        self._phases = np.zeros((self.up, count), np.float32)     # [phase, tap], newest sample first
        for phase in range(self.up):
            own = taps[phase::self.up]
            self._phases[phase, :len(own)] = own
        self._half = half
        self._next = 0                                            # index of the next output sample
        self._start = -count                                      # index of the first sample that is kept
        self._kept: Samples = np.zeros(count, np.float32)

    def __call__(self, samples: Samples) -> Samples:
        """The samples (n,) that are complete now, about (len(samples) * up / down,)."""
        if self.same:
            return samples
        self._kept = np.concatenate([self._kept, np.asarray(samples, np.float32)])
        end = self._start + len(self._kept)                       # index behind the newest input
        # output n is centred at n * down + half of the upsampled, delayed signal; it needs input up to that // up
        last = (end * self.up - 1 - self._half) // self.down
        places = np.arange(self._next, max(self._next, last + 1)) * self.down + self._half
        newest, phase = places // self.up, places % self.up
        index = newest[:, None] - np.arange(self._phases.shape[1])[None, :] - self._start
        out: Samples = np.einsum("nt,nt->n", self._kept[index], self._phases[phase])
        self._next += len(places)
        needed = (self._next * self.down + self._half) // self.up - self._phases.shape[1] - self._start
        drop = min(max(0, needed), len(self._kept))
        self._kept, self._start = self._kept[drop:], self._start + drop
        return out
