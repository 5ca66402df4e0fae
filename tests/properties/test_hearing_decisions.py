"""What holds for any evidence: the order of decisions, and that time only shifts them."""
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perception.audio.barge_in import BargeIn
from perception.audio.block import BLOCK_S
from perception.audio.speech_activity import SpeechActivity

odds = st.lists(st.tuples(st.floats(-6, 6), st.integers(1, 60)), min_size=1, max_size=12)
playing = st.lists(st.tuples(st.booleans(), st.integers(1, 80)), min_size=1, max_size=8)


def spread(pieces, count):
    """Runs (value, length) as one list of `count` values."""
    values = [value for value, length in pieces for _ in range(length)]
    return (values * (count // len(values) + 1))[:count]


def run(log_odds, plays, start=0.0):
    barge_in, speech, out = BargeIn(), SpeechActivity(), []
    for number, (value, on) in enumerate(zip(log_odds, plays, strict=True)):
        t = start + number * BLOCK_S
        found = barge_in.step(t, value, on, False, True, 0.0)
        confirmed = found is not None and found.kind == "barge_in"
        spoken = speech.step(t, value, barge_in.onset, barge_in.listens_over_playback, confirmed, 0.0)
        out += [(number, heard) for heard in ((found,) if found else ()) + spoken]
    return out


@settings(deadline=None, max_examples=60, derandomize=True)
@given(odds, playing)
def test_decisions_alternate_and_come_only_over_playback(pieces, on_off):
    count = 400
    plays = spread(on_off, count)
    ducked = spoke = False
    for number, heard in run(spread(pieces, count), plays):
        assert heard.onset is None or heard.onset <= heard.t + 1e-9
        if heard.kind == "duck":
            assert not ducked
            ducked = True
        elif heard.kind == "release":
            assert ducked
            ducked = False
        elif heard.kind == "barge_in":
            ducked = False
        if heard.kind in ("duck", "barge_in"):
            assert any(plays[max(0, number - 31):number + 1])
        if heard.kind == "speech_start":
            assert not spoke
            spoke = True
        elif heard.kind == "speech_end":
            assert spoke
            spoke = False


@settings(deadline=None, max_examples=30, derandomize=True)
@given(odds, playing, st.integers(0, 10_000))
def test_time_only_shifts(pieces, on_off, blocks):
    log_odds, plays = spread(pieces, 300), spread(on_off, 300)
    now = [(number, heard.kind) for number, heard in run(log_odds, plays)]
    later = [(number, heard.kind) for number, heard in run(log_odds, plays, blocks * BLOCK_S)]
    assert now == later


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.integers(0, 200), st.floats(-6, 6))
def test_more_evidence_never_stops_later(onset, weak):
    """The stop of a stronger voice comes no later than that of a weaker one."""
    def stop(value):
        log_odds = [-6.0] * onset + [value] * 100
        return next((n for n, heard in run(log_odds, [True] * len(log_odds)) if heard.kind == "barge_in"), np.inf)
    assert stop(6.0) <= stop(weak)
