"""perception/audio/peaks.py against scipy's own."""
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import find_peaks

from perception.audio.peaks import peaks


@settings(deadline=None, max_examples=80, derandomize=True)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=60), st.integers(0, 6), st.integers(1, 9), st.floats(0, 1e-3))
def test_the_peaks_are_scipys(heights, prominence, distance, slope):
    values = np.array(heights, float) + slope * np.arange(len(heights)) ** 1.5       # ties in height when it is 0
    if slope == 0.0:
        distance = 1         # which of two equal peaks goes is nobody's business
    expected, _ = find_peaks(values, prominence=prominence, distance=distance)
    assert peaks(values, prominence, distance).tolist() == expected.tolist()
