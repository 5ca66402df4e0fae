"""A detector that listens for long hears as well as a fresh one."""
import numpy as np
import pytest

from dialogue.engines.voice import Voice
from perception.audio.block import BLOCK
from perception.audio.vad import SETTLE_WINDOWS, WINDOW, Silero

MINUTES = 6


def noise(rng: np.random.Generator, blocks: int) -> np.ndarray:
    return (1e-3 * rng.standard_normal((blocks, 1, BLOCK))).astype(np.float32)


def test_minutes_of_listening_cost_no_phrase():
    """F14: a phrase a minute; what a stream does to a detector, it does in its first half minute (silero-vad#725)."""
    assert MINUTES * 60 * 16000 / WINDOW > 30 * SETTLE_WINDOWS         # far longer than any state of it is kept
    rng, vad, heard = np.random.default_rng(1), Silero(1), []
    spoken = Voice()("what a lovely day it is today my friend").astype(np.float32)
    phrase = 0.05 * spoken[:spoken.size // BLOCK * BLOCK].reshape(-1, 1, BLOCK)
    for _ in range(MINUTES):
        for block in noise(rng, 6000 - len(phrase)):
            quiet = vad.step(block)[0]
        assert quiet < 0.1
        heard.append(np.mean([vad.step(block)[0] > 0.5 for block in phrase + noise(rng, len(phrase))]))
    assert min(heard) > 0.75
    assert np.mean(heard[-3:]) == pytest.approx(np.mean(heard[:3]), abs=0.08)
