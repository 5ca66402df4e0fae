"""Which of the robot's words left the loudspeaker, from the sound alone."""
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogue.engine import Clause
from dialogue.engines.scripted import tone_voice
from perception.audio.block import BLOCK, frozen_samples
from robot.interaction.heard_words import Piece, heard_words

RNG = np.random.default_rng(5)


def clause(index, text, generation=1):
    tone = tone_voice(text)
    return Clause(generation, index, text, frozen_samples(tone * RNG.uniform(0.3, 1.0, len(tone))))


CLAUSES = [clause(0, "Once upon a time,"), clause(1, "there was a small robot"), clause(2, "that nobody could stop.")]


def pieces(sound, generation=1, start=0.0):
    padded = np.pad(sound, (0, -len(sound) % BLOCK)).reshape(-1, BLOCK)
    return [Piece(start + (i + 1) * 0.01, generation, frozen_samples(row)) for i, row in enumerate(padded)]


def said(played, clauses):
    return " ".join(word.text for word in heard_words(played, clauses))


def whole(clauses):
    return np.concatenate([c.samples for c in clauses])


def test_a_whole_reply():
    words = heard_words(pieces(whole(CLAUSES)), {1: CLAUSES})
    assert " ".join(word.text for word in words) == "Once upon a time, there was a small robot that nobody could stop."
    assert abs(words[3].t - len(CLAUSES[0].samples) / 16000) < 0.1
    assert [word.t for word in words] == sorted(word.t for word in words)


def test_lowered_playback_is_heard_too():
    assert said(pieces(0.25 * whole(CLAUSES)), {1: CLAUSES}).endswith("could stop.")


def test_what_was_put_in_place_of_the_rest():
    instead = clause(2, "Oh, I see you shake your head.")
    sound = whole([CLAUSES[0], instead])
    assert said(pieces(sound), {1: [*CLAUSES, instead]}) == "Once upon a time, Oh, I see you shake your head."


def test_a_resumed_reply_goes_on_with_its_forebears_clauses():
    first = pieces(whole(CLAUSES)[:len(CLAUSES[0].samples) + 4000])
    second = pieces(whole(CLAUSES[1:]), 2, 9.0)
    text = said([*first, *second], {1: CLAUSES, 2: CLAUSES})
    assert text.startswith("Once upon a time, there")
    assert text.endswith("there was a small robot that nobody could stop.")


def test_sound_of_nobodys_reply_has_no_words():
    assert said(pieces(whole(CLAUSES), generation=7), {1: CLAUSES}) == ""
    assert said([], {1: CLAUSES}) == ""


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.integers(0, 60000))
def test_a_cut_reply_gives_a_prefix_that_grows_with_the_cut(cut):
    everything = said(pieces(whole(CLAUSES)), {1: CLAUSES}).split()
    shorter = said(pieces(whole(CLAUSES)[:cut // BLOCK * BLOCK]), {1: CLAUSES}).split()
    longer = said(pieces(whole(CLAUSES)[:cut // BLOCK * BLOCK + 8000]), {1: CLAUSES}).split()
    assert everything[:len(shorter)] == shorter
    assert len(shorter) <= len(longer)
