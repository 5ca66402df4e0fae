"""A stream that died without a word, microphones that give zeros, a server that went."""
import numpy as np
import pytest

from robot.bodies.sound_config import SoundDeviceConfig
from robot.bodies.sound_watch import SoundWatch

CONFIG = SoundDeviceConfig(stall_s=1.0, first_s=4.0)
BOTH = (True, True)


def watch() -> SoundWatch:
    out = SoundWatch(CONFIG, patience_s=3.0)
    out.begin(0.0)
    return out


def until(verdict_of, end_s: float) -> tuple[float, str] | None:
    """The first verdict and its time, looked for ten times a second."""
    for now in np.arange(0.1, end_s, 0.1):
        reason = verdict_of(round(float(now), 3))
        if reason is not None:
            return float(now), reason
    return None


def test_blocks_that_come_keep_it_content():
    w = watch()
    assert until(lambda now: w.verdict(now, int(now * 50), int(now * 50), BOTH, 0.0, True), 60.0) is None


@pytest.mark.parametrize("side", [0, 1])
def test_a_stream_that_stops_silently_is_found_in_a_second(side):
    w = watch()

    def verdict(now: float) -> str | None:
        counts = [int(now * 50)] * 2
        counts[side] = min(counts[side], 250)
        return w.verdict(now, *counts, BOTH, 0.0, False)
    at, reason = until(verdict, 20.0)
    assert at == pytest.approx(6.1, abs=0.2) and ("microphones", "loudspeaker")[side] in reason


def test_a_stream_that_never_begins_gets_more_time():
    w = watch()
    at, reason = until(lambda now: w.verdict(now, 0, int(now * 50), BOTH, 0.0, False), 20.0)
    assert at == pytest.approx(4.1, abs=0.15) and "stalled" in reason


def test_an_ended_stream_is_told_at_once():
    assert "microphones ended" in watch().verdict(0.1, 5, 5, (False, True), 0.0, False)
    assert "loudspeaker ended" in watch().verdict(0.1, 5, 5, (True, False), 0.0, False)


def test_zeros_are_a_fault_only_while_something_could_be_heard():
    """F34."""
    w = watch()
    assert w.verdict(0.1, 1, 1, BOTH, 10.0, False) is None
    assert w.verdict(0.2, 2, 2, BOTH, 2.9, True) is None
    assert "exact zeros" in w.verdict(0.3, 3, 3, BOTH, 3.1, True)
