"""Streamed sound and text of a reply as clauses, and sound at another rate in pieces."""
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import resample_poly

from dialogue.engine import Clause, Commit, ReplyDone
from dialogue.engines.outflow import MOST, Outflow
from dialogue.engines.rate import StreamRate
from dialogue.heard import Spoken
from dialogue.speaker import Speaker
from tests.dialogue_bench import Said, Talk


def voice(seconds):
    return 0.3 * np.sin(2 * np.pi * 200 * np.arange(round(seconds * 16000)) / 16000).astype(np.float32)


def silence(seconds):
    return np.zeros(round(seconds * 16000), np.float32)


def all_of(flow):
    return flow.step(0.0) + flow.step(1e6)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.lists(st.integers(1, 9000), min_size=1, max_size=12), st.text("ab .", min_size=0, max_size=60))
def test_nothing_is_lost_and_words_stay_in_order(sizes, text):
    sound = np.random.default_rng(0).uniform(-0.5, 0.5, sum(sizes)).astype(np.float32)
    flow, begin, out, t = Outflow(1), 0, [], 0.0
    for n, size in enumerate(sizes):
        flow.sound("item", sound[begin:begin + size])
        flow.text(text[len(text) * n // len(sizes):len(text) * (n + 1) // len(sizes)])
        begin += size
        t += 0.1
        out += flow.step(t)
    flow.end()
    out += flow.step(1e6)
    spoken = np.concatenate([c.samples for c in out])
    assert np.array_equal(spoken[:len(sound)], sound) and len(spoken) - len(sound) in (0, 160) and flow.done
    assert " ".join(c.text for c in out if c.text).split() == text.split()
    assert [c.index for c in out] == list(range(len(out)))
    assert all(len(c.samples) <= MOST for c in out)


def test_it_stays_only_a_little_ahead_of_what_can_be_heard():
    flow = Outflow(1, lead=2.0)
    flow.sound("item", voice(10.0))
    ahead = [sum(len(c.samples) for c in flow.step(t)) / 16000 for t in (0.0, 1.0, 5.0)]
    assert 2.0 <= ahead[0] <= 2.5 and sum(ahead[:2]) <= 3.5 and sum(ahead) <= 7.5


def test_the_first_sound_leaves_at_once_and_a_crumb_waits_for_more():
    flow = Outflow(1)
    flow.sound("item", voice(0.02))
    assert not flow.step(0.0)
    flow.sound("item", voice(0.03))
    assert len(flow.step(0.01)) == 1


def test_text_ahead_of_its_sound_is_not_told_as_heard():
    """F27: the text leads by 400 ms."""
    flow = Outflow(1)
    words = "one two three four five six seven eight nine ten eleven twelve"
    flow.text(words)
    flow.sound("item", voice(1.0))                        # of about four seconds
    told = " ".join(c.text for c in flow.step(0.0) if c.text)
    assert words.startswith(told) and len(told) <= 16
    flow.sound("item", voice(3.0))
    flow.end()
    rest = " ".join(c.text for c in flow.step(1e6) if c.text)
    assert f"{told} {rest}".split() == words.split()


def test_pauses_do_not_count_as_words():
    flow = Outflow(1)
    flow.text("before after")
    for piece in (voice(0.6), silence(2.0), voice(0.6)):
        flow.sound("item", piece)
    flow.end()
    out = all_of(flow)
    when = next(n for n, c in enumerate(out) if "after" in c.text)
    assert sum(len(c.samples) for c in out[:when + 1]) / 16000 > 2.5


def test_pieces_without_a_pause_between_them_are_one_breath():
    flow = Outflow(1)
    for piece in (voice(1.2), silence(0.3), voice(0.8)):
        flow.sound("item", piece)
    flow.end()
    out = all_of(flow)
    starts = np.cumsum([0, *(len(c.samples) for c in out)])[:-1] / 16000
    first = [start for start, c in zip(starts, out, strict=True) if not c.joined]
    assert len(first) == 2 and first[1] == pytest.approx(1.5, abs=0.03)


def test_heard_seconds_are_told_for_each_item():
    flow = Outflow(1)
    flow.sound("a", voice(0.7))
    flow.sound("b", voice(0.7))
    flow.end()
    out = all_of(flow)
    of_b = next(n for n, sent in enumerate(flow._sent) if sent.item == "b")
    assert flow.heard(of_b, 0.1) == pytest.approx({"a": 0.7, "b": 0.1})
    assert flow.heard(-1, 0.0) == {"a": 0.0, "b": 0.0}
    assert flow.heard(len(out) - 1, 9.0) == pytest.approx({"a": 0.7, "b": 0.7})


def test_a_changed_mind_throws_the_rest_away():
    flow = Outflow(1)
    flow.sound("a", voice(6.0))
    before = flow.step(0.0)
    flow.change()
    flow.sound("b", voice(0.3))
    flow.end()
    after = flow.step(1.0)
    assert after[0].instead and not after[-1].joined and after[0].index == before[-1].index + 1
    assert sum(len(c.samples) for c in after) == 4800


@pytest.mark.parametrize(("rate", "wanted"), [(24000, 16000), (16000, 24000), (22050, 16000), (48000, 16000),
                                              (16000, 16000)])
@settings(deadline=None, max_examples=8, derandomize=True)
@given(sizes=st.lists(st.integers(0, 1500), min_size=1, max_size=8))
def test_the_size_of_pieces_changes_no_sample(rate, wanted, sizes):
    sound = np.random.default_rng(1).standard_normal(sum(sizes)).astype(np.float32)
    whole, parts = StreamRate(rate, wanted), StreamRate(rate, wanted)
    cuts = np.cumsum([0, *sizes])
    pieces = [parts(sound[a:b]) for a, b in itertools.pairwise(cuts)]
    assert np.array_equal(whole(sound), np.concatenate(pieces))


@pytest.mark.parametrize(("rate", "wanted"), [(24000, 16000), (16000, 24000), (22050, 16000)])
def test_it_is_the_same_sound_at_another_rate(rate, wanted):
    t = np.arange(rate) / rate
    sound = (0.5 * np.sin(2 * np.pi * 440 * t) + 0.2 * np.sin(2 * np.pi * 3000 * t)).astype(np.float32)
    out = StreamRate(rate, wanted)(sound)
    common = np.gcd(rate, wanted)
    reference = resample_poly(sound, wanted // common, rate // common)[:len(out)]
    assert len(out) == pytest.approx(wanted, abs=0.001 * wanted)
    assert np.max(np.abs(out - reference)[200:-200]) < 0.005


def clause(index, seconds=0.4, joined=False, text="some words"):
    return Clause(1, index, text, voice(seconds), joined=joined)


def speaking(*clauses):
    speaker = Speaker()
    speaker.begin(1)
    for piece in clauses:
        speaker.add(piece)
    speaker.done(1)
    speaker.start()
    return speaker


def test_a_lowered_voice_leaves_gaps_between_breaths_but_not_within():
    for joined, gap in ((True, False), (False, True)):
        speaker = speaking(clause(0), clause(1, joined=joined))
        speaker.lower(-12.0, linger=True)
        quiet = [not block.samples.any() for block in speaker.step(80)]
        assert any(quiet[35:60]) == gap


def test_a_cut_reply_says_where_and_goes_on_from_its_breath():
    speaker = speaking(clause(0), clause(1), clause(2, joined=True), clause(3))
    speaker.step(round((0.9 + speaker.config.playback_delay) * 100))
    rest = speaker.stop(2)
    assert (rest.clause, rest.clause_s) == (2, pytest.approx(0.1)) and [c.index for c in rest.clauses] == [1, 2, 3]
    assert Spoken.begun(clause(1), 0).words(0) == ""
    unheard = speaking(clause(0)).stop(2)
    assert (unheard.clause, unheard.clause_s) == (-1, 0.0)


class Yielding:
    """Sends a long reply at once, and gives the floor away a second later."""

    name = "yielding"

    def handle(self, request):
        from dialogue.engine import Timed
        if isinstance(request, Commit):
            yield Timed(0.0, Clause(request.generation, 0, "a very long answer", voice(5.0)))
            yield Timed(1.5, ReplyDone(request.generation, yielded=True))


def test_an_engine_that_gives_the_floor_away_is_silent_at_once():
    """F18: five seconds in one burst, a yield after one; history ends at the last heard word."""
    from robot.worker import InlineWorker
    talk = Talk((Said(0.2, 0.8, "tell me a story"),))
    talk.worker = InlineWorker(Yielding)
    talk.run(8.0)
    events = [event for turn in talk.turns for event in turn.events]
    start = next(event.t for event in events if event.name == "reply_start")
    end = next(event.t for event in events if event.name == "reply_end")
    sounds = [turn.intent.t for turn in talk.turns if np.any(turn.spoken)]
    assert max(sounds) - end <= 0.1 and end - start < 2.0
    assert "very long answer" not in talk.turns[-1].history[-1].text
