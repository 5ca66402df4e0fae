"""Whatever is said when, and however blocks arrive: sound is neither lost, doubled nor reordered."""
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perception.audio.block import BLOCK, SAMPLE_RATE_HZ
from robot.bodies.room.arrivals import LEAD
from robot.bodies.room.tracks import Arrival, Track

SPEECH = st.lists(st.tuples(st.floats(0.0, 0.6), st.integers(1, 3000), st.booleans()), max_size=6)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(SPEECH, st.integers(0, 20))
def test_blocks_of_a_track_are_its_sounds(sounds, before):
    """Told before or in the middle: every sample comes out once, at its time or at once."""
    track, rng = Track(), np.random.default_rng(len(sounds))
    blocks = [track.next_block() for _ in range(before)]
    wanted = np.zeros(400 * BLOCK)
    for t, count, in_turn in sounds:
        samples = rng.standard_normal(count).astype(np.float32)
        begin = track.add(t, samples, in_turn)
        assert begin >= max(round(t * SAMPLE_RATE_HZ), LEAD + before * BLOCK) - 1e-9
        wanted[begin:begin + count] += samples
    blocks += [track.next_block() for _ in range(300)]
    np.testing.assert_allclose(np.concatenate(blocks), wanted[LEAD:LEAD + len(blocks) * BLOCK], atol=1e-6)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(SPEECH)
def test_who_speaks_in_turn_never_talks_over_himself(sounds):
    track, end = Track(), 0
    for t, count, _ in sounds:
        begin = track.add(t, np.ones(count, np.float32), in_turn=True)
        assert begin >= end
        end = begin + count


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 8), st.integers(0, 1000))
def test_arrivals_keep_every_block_in_order(most, seed):
    arrival = Arrival(most, np.random.default_rng(seed))
    got, waiting = [], 0
    for index in range(200):
        came = arrival.delivered([index])
        waiting = waiting + 1 - len(came)
        assert len(came) <= most and waiting < most
        got += came
    assert got == list(range(len(got))) and len(got) > 200 - most
