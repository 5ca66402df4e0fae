"""Device blocks of any size and rate to blocks of 160 samples at 16 kHz, and back: streaming, the same for any cut."""
from functools import lru_cache
from math import gcd

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from perception.audio.block import BLOCK

PASS, STOP = 0.43, 0.57            # of the lower rate: 6.9 kHz pass untouched, what folds back folds above them
BETA = 7.0                         # Kaiser: 70 dB
SPAN = 36                          # samples of the lower rate that the filter is long, for that transition and depth

Samples = NDArray[np.float32]


@lru_cache(maxsize=8)
def _phases(up: int, down: int) -> Samples:
    """(up, taps): the low-pass filter's polyphase branches, newest tap last. A sinc under a Kaiser window, made here:
    scipy.signal takes half a second to load, and a process with real-time priority is ended for such a pause."""
    taps = int(np.ceil(SPAN * max(1.0, down / up) / 2)) * 2
    cutoff = (PASS + STOP) * min(1.0, up / down) / up          # in units of half the rate between the two
    n = np.arange(up * taps + 1) - up * taps / 2
    prototype = np.sinc(cutoff * n) * np.kaiser(len(n), BETA)
    prototype = prototype[:-1] * (up / prototype.sum())
    return np.ascontiguousarray(prototype.reshape(taps, up).T[:, ::-1], np.float32)


class RateConverter:
    """(C, n) at one rate to (C, m) at another, piece by piece. Polyphase FIR; equal rates pass untouched.

    Output sample k lies at input position k * down / up: the filter's delay is taken out, so time is kept; output comes
    when half a filter of input beyond it has come.
    """

    def __init__(self, channels: int, rate_hz: int, wanted_hz: int):
        common = gcd(rate_hz, wanted_hz)
        self._up, self._down = wanted_hz // common, rate_hz // common
        self._same = self._up == self._down
        self._bank = _phases(self._up, self._down) if not self._same else np.zeros((1, 2), np.float32)
        half = self._bank.shape[1] // 2
        self._held = np.zeros((channels, half - 1), np.float32)  # input from position 1 - half on
        self._phase = 0                                          # of the next output, in 1/up input samples

    def step(self, sound: Samples) -> Samples:
        if self._same:
            return sound
        self._held = np.concatenate([self._held, sound], axis=1)
        taps = self._bank.shape[1]
        room = (self._held.shape[1] - taps) * self._up - self._phase     # the last window starts here at the latest
        count = max(0, room // self._down + 1) if room >= 0 else 0
        places = self._phase + np.arange(count, dtype=np.int64) * self._down
        windows = sliding_window_view(self._held, taps, axis=1)[:, places // self._up] if count else None
        out = (np.einsum("cnt,nt->cn", windows, self._bank[places % self._up]) if windows is not None
               else np.zeros((len(sound), 0), np.float32))
        self._phase += count * self._down
        used = min(self._phase // self._up, self._held.shape[1])
        self._held, self._phase = self._held[:, used:], self._phase - used * self._up
        return out.astype(np.float32, copy=False)


class Cutter:
    """(C, n) pieces to (C, 160) blocks."""

    def __init__(self, channels: int):
        self._rest = np.zeros((channels, 0), np.float32)

    def step(self, sound: Samples) -> list[Samples]:
        whole = np.concatenate([self._rest, sound], axis=1)
        count = whole.shape[1] // BLOCK
        self._rest = whole[:, count * BLOCK:]
        return [whole[:, i * BLOCK:(i + 1) * BLOCK] for i in range(count)]
