"""The robot's voice: fades, duck, what was heard, resume, and nothing of an old reply."""
import numpy as np
import pytest

from dialogue.engine import Clause
from dialogue.speaker import Speaker, SpeakerConfig
from perception.audio.block import BLOCK, frozen_samples

DELAY = SpeakerConfig().playback_delay


def clause(generation, index, text="some words here", seconds=0.5, level=0.5, **more):
    return Clause(generation, index, text, frozen_samples(np.full(round(seconds * 16000), level)), **more)


def speaking(*clauses, done=True):
    speaker = Speaker()
    speaker.begin(1)
    assert all(speaker.add(c) for c in clauses)
    if done:
        speaker.done(1)
    speaker.start()
    return speaker


def sound(speaker, blocks):
    return np.concatenate([block.samples for block in speaker.step(blocks)])


def test_it_waits_until_started():
    speaker = Speaker()
    speaker.begin(1)
    speaker.add(clause(1, 0))
    assert speaker.ready and not sound(speaker, 5).any()
    speaker.start()
    assert sound(speaker, 5).any()


def test_it_fades_in_over_15_ms():
    out = sound(speaking(clause(1, 0)), 4)
    assert np.all(np.diff(out[:240]) > 0) and out[0] < 0.01
    assert np.allclose(out[240:], 0.5)


def test_a_stop_fades_out_within_15_ms_and_is_live_elsewhere_at_once():
    speaker = speaking(clause(1, 0))
    sound(speaker, 10)
    speaker.stop(2)
    assert speaker.live == 2
    blocks = speaker.step(10)
    assert all(block.generation == 0 for block in blocks)
    out = np.concatenate([block.samples for block in blocks])
    assert np.all(np.diff(out[:240]) < 0) and 0.45 < out[0] < 0.5
    assert not out[240:].any()


def test_a_stop_before_the_start_makes_no_sound():
    speaker = Speaker()
    speaker.begin(1)
    speaker.add(clause(1, 0))
    speaker.stop(2)
    assert not sound(speaker, 10).any()


def test_the_voice_is_lowered_fast_and_raised_slowly_and_both_smoothly():
    speaker = speaking(clause(1, 0, seconds=2.0))
    sound(speaker, 5)
    speaker.lower(-12.0)
    low = sound(speaker, 6)
    assert np.isclose(20 * np.log10(low[-1] / 0.5), -12.0, atol=0.01)
    assert np.flatnonzero(np.isclose(low, low[-1]))[0] == pytest.approx(320, abs=2)   # 20 ms
    speaker.lower(0.0)
    high = sound(speaker, 15)
    assert np.flatnonzero(np.isclose(high, 0.5))[0] == pytest.approx(1920, abs=2)     # 120 ms
    assert np.max(np.abs(np.diff(np.concatenate([low, high])))) < 0.0025
    speaker.lower(-6.0)
    assert np.isclose(20 * np.log10(sound(speaker, 6)[-1] / 0.5), -6.0, atol=0.01)


def test_a_gap_between_clauses_is_lengthened_while_it_lingers_and_nothing_is_lost():
    def silence(linger, pause, until=100):
        quiet = frozen_samples(np.concatenate([np.full(1600, 0.5), np.zeros(round(pause * 16000))]))
        speaker = speaking(Clause(1, 0, "one", quiet), clause(1, 1, "two", seconds=0.1))
        speaker.lower(0.0, linger)
        first = sound(speaker, until)
        speaker.lower(0.0)
        out = np.concatenate([first, sound(speaker, 100)])
        loud = np.flatnonzero(out)
        assert speaker.heard_text == "one two" and speaker.over
        return np.max(np.diff(loud)) / 16000
    linger = SpeakerConfig().linger
    assert silence(False, 0.12) == pytest.approx(0.12, abs=0.001)
    assert silence(True, 0.12) == pytest.approx(linger, abs=0.011)
    assert silence(True, 0.5) == pytest.approx(0.5, abs=0.001)                        # long enough by itself
    assert silence(True, 0.12, until=30) == pytest.approx(0.2, abs=0.011)             # nobody came: it goes on at once


def test_clauses_follow_without_a_gap_and_blocks_tell_their_offset():
    speaker = speaking(clause(1, 0, seconds=0.105), clause(1, 1, seconds=0.105))
    blocks = speaker.step(22)
    assert [b.offset for b in blocks[:21]] == [i * BLOCK for i in range(21)]
    assert all(b.generation == 1 for b in blocks[:21]) and blocks[21].generation == 0
    assert np.allclose(np.concatenate([b.samples for b in blocks])[240:21 * BLOCK], 0.5)


def test_clauses_in_any_order_are_spoken_in_theirs_and_duplicates_are_refused():
    speaker = speaking(clause(1, 1, "b", level=0.2), clause(1, 0, "a", level=0.1), done=False)
    assert not speaker.add(clause(1, 1, "b"))
    out = sound(speaker, 100)
    assert np.isclose(out[5000], 0.1) and np.isclose(out[12000], 0.2)
    assert not speaker.add(clause(1, 0, "a"))
    assert not speaker.add(clause(2, 2)) and not speaker.over


def test_a_lost_clause_is_waited_for_until_the_engine_has_sent_all():
    speaker = speaking(clause(1, 0, seconds=0.1), clause(1, 2, seconds=0.1), done=False)
    assert not sound(speaker, 50)[1600:].any()
    speaker.done(1)
    assert sound(speaker, 5).any()


def test_instead_takes_the_place_of_what_has_not_begun():
    speaker = speaking(clause(1, 0, "first"), clause(1, 1, "second"))
    sound(speaker, 10)
    assert speaker.add(clause(1, 2, "other", instead=True))
    speaker.done(1)
    sound(speaker, 200)
    assert speaker.heard_text == "first other" and speaker.over


def test_only_what_has_left_the_loudspeaker_counts_as_heard():
    speaker = speaking(clause(1, 0, "one two three four five six seven eight nine ten", seconds=1.0))
    sound(speaker, round(DELAY / 0.01))
    assert speaker.heard_seconds == 0.0 and speaker.heard_text == ""
    sound(speaker, 50)
    assert speaker.heard_seconds == pytest.approx(0.5)
    assert speaker.heard_text == "one two three four five"
    rest = speaker.stop(2)
    assert (rest.heard, rest.unheard) == ("one two three four five", "six seven eight nine ten")


def test_over_only_when_the_last_sample_was_heard():
    speaker = speaking(clause(1, 0, seconds=0.5))
    sound(speaker, 50)
    assert not speaker.over and speaker.sounding
    sound(speaker, round(DELAY / 0.01))
    assert speaker.over and not speaker.sounding


def test_resume_begins_the_cut_clause_again_and_keeps_the_rest():
    speaker = speaking(clause(1, 0, "alpha beta", seconds=0.3, level=0.1), clause(1, 1, "gamma delta", level=0.2),
                       clause(1, 2, "epsilon", level=0.3))
    sound(speaker, 50)
    rest = speaker.stop(2)
    assert [c.index for c in rest.clauses] == [1, 2] and rest.next_index == 3 and rest.done
    speaker.resume(rest, 3)
    speaker.done(3)
    speaker.start()
    blocks = speaker.step(150)
    assert {b.generation for b in blocks if b.offset} == {3}
    assert speaker.heard_text == "gamma delta epsilon" and speaker.over
    assert not speaker.add(clause(1, 3))
