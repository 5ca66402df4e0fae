"""perception/audio/resampling.py against scipy's own."""
import numpy as np
import pytest
from scipy.signal import resample_poly

from perception.audio.resampling import resampled


@pytest.mark.parametrize(("rate", "wanted"), [(24000, 16000), (48000, 16000), (16000, 24000), (44100, 16000),
                                              (8000, 16000), (22050, 16000)])
@pytest.mark.parametrize("count", [1, 7, 4000])
def test_it_is_scipys_polyphase_filter(rate, wanted, count):
    sound = np.random.default_rng(count).standard_normal(count).astype(np.float32)
    common = np.gcd(rate, wanted)
    expected = resample_poly(sound, wanted // common, rate // common)
    found = resampled(sound, rate, wanted)
    assert found.dtype == np.float32 and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=3e-6)
