"""Sound at another sample rate: a polyphase FIR filter with the taps of scipy.signal.resample_poly (a sinc under a
Kaiser window of beta 5, ten zero crossings to each side). Loading scipy.signal takes a process a second and 60 MB."""
from functools import cache
from math import gcd

import numpy as np
from numpy.typing import ArrayLike, NDArray

CROSSINGS = 10


def resampled(samples: ArrayLike, rate_hz: int, wanted_hz: int) -> NDArray[np.float32]:
    """(n,) at rate_hz to (n * wanted / rate,) at wanted_hz, rounded up."""
    values = np.asarray(samples, np.float32)
    if rate_hz == wanted_hz or values.size == 0:
        return values
    common = gcd(rate_hz, wanted_hz)
    up, down = wanted_hz // common, rate_hz // common
    taps = _taps(up, down)
    reach = taps.shape[1] // 2
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(values, reach), taps.shape[1])
    out = np.empty(-(-values.size * up // down), np.float32)
    for first in range(min(up, out.size)):        # every up-th sample lies at the same place between two inputs
        at, between = divmod(first * down, up)
        part = out[first::up]
        part[:] = windows[at::down][:part.size] @ taps[between]
    return out


@cache
def _taps(up: int, down: int) -> NDArray[np.float32]:
    """(up, 2 * reach + 1): for a sample that lies k / up inputs behind an input, the weights of the inputs around."""
    widest = max(up, down)
    half = CROSSINGS * widest
    place = np.arange(-half, half + 1)
    response = np.sinc(place / widest) * np.kaiser(place.size, 5.0)
    response *= up / response.sum()
    reach = half // up + 1
    index = half + np.arange(up)[:, None] - up * np.arange(-reach, reach + 1)
    inside = (index >= 0) & (index < response.size)
    return np.where(inside, response[np.clip(index, 0, response.size - 1)], 0.0).astype(np.float32)
