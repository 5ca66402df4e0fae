"""Whatever is asked of the speaker, and however late, doubled or reordered its clauses come: nothing stale leaves."""
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogue.engine import Clause
from dialogue.speaker import Rest, Speaker, SpeakerConfig
from perception.audio.block import BLOCK, frozen_samples

FADE_BLOCKS = 2     # 15 ms
TEXTS = ("one two", "three, four five", "six.", "seven eight nine")


def clause(generation: int, index: int) -> Clause:
    """Its sound is its generation, so that a stale sample gives itself away."""
    return Clause(generation, index, TEXTS[index % len(TEXTS)], frozen_samples(np.full(700 + 300 * index, generation)))


operations = st.one_of(
    st.tuples(st.just("begin")), st.tuples(st.just("start")), st.tuples(st.just("stop")), st.tuples(st.just("resume")),
    st.tuples(st.just("done"), st.integers(0, 3)),
    st.tuples(st.just("lower"), st.sampled_from([0.0, -6.0, -12.0]), st.booleans()),
    st.tuples(st.just("clause"), st.integers(0, 3), st.integers(0, 5)),     # of the reply so many generations ago
    st.tuples(st.just("step"), st.integers(0, 4)),
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(operations, max_size=60), st.sampled_from([0.0, 0.03, 0.12]))
def test_no_block_of_a_reply_that_is_not_live_is_ever_emitted(todo, delay):
    speaker = Speaker(SpeakerConfig(playback_delay=delay))
    generation, rest, faded = 0, None, 0
    for name, *given_ in todo:
        if name in ("begin", "stop", "resume"):
            generation += 1
        if name == "begin":
            speaker.begin(generation)
        elif name == "stop":
            before = speaker.heard_text
            rest = speaker.stop(generation)
            faded = FADE_BLOCKS
            assert isinstance(rest, Rest) and rest.heard == before
        elif name == "resume":
            speaker.resume(rest or Rest(0, (), 0, True, "", ""), generation)
        elif name == "start":
            speaker.start()
        elif name == "lower":
            speaker.lower(*given_)
        elif name == "done":
            speaker.done(generation - given_[0])
        elif name == "clause":
            taken = speaker.add(clause(generation - given_[0], given_[1]))
            assert not taken or generation - given_[0] == speaker.live
        else:
            blocks = speaker.step(*given_)
            assert len(blocks) == given_[0]
            for block in blocks:
                assert block.samples.shape == (BLOCK,) and np.isfinite(block.samples).all()
                assert block.generation in (0, speaker.live)
                assert faded > 0 or block.generation or not block.samples.any()
                faded = max(0, faded - 1)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.permutations(range(4)), st.integers(0, 80), st.lists(st.integers(0, 3), max_size=3))
def test_what_was_heard_is_a_prefix_of_the_reply_and_the_rest_is_its_end(order, blocks, doubled):
    speaker = Speaker(SpeakerConfig(playback_delay=0.05))
    speaker.begin(1)
    for index in [*order, *doubled]:
        speaker.add(clause(1, index))
    speaker.done(1)
    speaker.start()
    reply = " ".join(TEXTS)
    heard = []
    for _ in range(blocks):
        speaker.step(1)
        heard.append(speaker.heard_text)
        assert reply.startswith(heard[-1]) and (not heard[1:] or heard[-1].startswith(heard[-2]))
    rest = speaker.stop(2)
    assert f"{rest.heard} {rest.unheard}".strip() == reply


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_the_sound_does_not_depend_on_how_many_blocks_a_tick_takes(counts):
    def spoken(pieces):
        speaker = Speaker()
        speaker.begin(1)
        for index in range(3):
            speaker.add(clause(1, index))
        speaker.start()
        return np.concatenate([block.samples for n in pieces for block in speaker.step(n)] or [np.zeros(0)])

    assert np.array_equal(spoken(counts), spoken([sum(counts)]))
