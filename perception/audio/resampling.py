"""Sound at another sample rate: polyphase FIR filters (scipy.signal.resample_poly)."""
from math import gcd

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import resample_poly


def resampled(samples: ArrayLike, rate_hz: int, wanted_hz: int) -> NDArray[np.float32]:
    """(n,) at rate_hz to (n * wanted / rate,) at wanted_hz."""
    values = np.asarray(samples, np.float32)
    if rate_hz == wanted_hz or values.size == 0:
        return values
    common = gcd(rate_hz, wanted_hz)
    return resample_poly(values, wanted_hz // common, rate_hz // common).astype(np.float32)
