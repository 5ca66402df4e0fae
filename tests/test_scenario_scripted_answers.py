"""The scripted engine of scenarios: what it hears and what it answers."""
import numpy as np
import pytest

from dialogue.engine import Clause, Commit, ToolCall
from perception.audio.block import frozen_samples
from robot.interaction.scripted_answers import TrueWords, scripted_engine

NOTHING = frozen_samples(np.zeros(0))


def answer(text):
    words = TrueWords([(0.0, 1.0, text)])
    replies = [timed.reply for timed in scripted_engine(words).handle(Commit(2.0, 1, 0.0, 1.0, 1))]
    return " ".join(r.text for r in replies if isinstance(r, Clause)), [r for r in replies if isinstance(r, ToolCall)]


def test_words_are_heard_when_at_least_half_of_them_falls_into_the_turn():
    words = TrueWords([(1.0, 2.0, "one"), (2.8, 3.8, "two")])
    assert words(NOTHING, 0.9, 2.1) == "one"
    assert words(NOTHING, 0.9, 3.9) == "one two"
    assert words(NOTHING, 1.6, 2.1) == "one"       # found late, within the engine's margin
    assert words(NOTHING, 1.8, 2.1) == ""
    assert words(NOTHING, 5.0, 6.0) == ""


@pytest.mark.parametrize(("said", "starts"), [
    ("tell me a story", "Once upon a time"), ("what is your name?", "My name is"), ("Stop!", ""), ("no stop", ""),
    ("my name is Anna", "Nice to meet you, Anna."), ("please go on", "Yes."), ("", "I heard something"),
    ("xyzzy", "I did not")])
def test_answers(said, starts):
    text, _ = answer(said)
    assert text.startswith(starts) and bool(text) == bool(starts)


def test_the_last_colour_counts():
    text, calls = answer("bring me the red cup no, I meant the blue one")
    assert "blue" in text and "red" not in text
    assert [dict(call.arguments) for call in calls] == [{"colour": "blue"}]
