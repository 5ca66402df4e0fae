"""Questions that a recogniser has bent are answered with the guess told; others are not taken for one."""
import pytest

from dialogue.engines.companion import Companion
from dialogue.engines.misheard import meant
from dialogue.engines.plan import Said

OTHERS = """i like the sea|my sister is coming on friday|the dog is under the table|where is the red cup
did you see my keys|what color is it|is it raining|can you see the tree|i had eggs for breakfast|why is the sky blue
who won the game
what is the capital of france|i am going home now|the meeting was moved to monday|do you believe in ghosts
how far is the moon|what is your favourite colour|how was your day|what are you looking at|tell me about the moon
tell me something about dogs|what did you have for lunch|who is your friend|how old is the king|turn on the light
there is a cat outside|can you count to ten|i lost my phone""".replace("\n", "|").split("|")


@pytest.mark.parametrize(("heard", "asked"), [
    ("what china is it", "what time is it"), ("what kind is it", "what time is it"), ("not is your name",
     "what is your name"), ("could you tell me about you self", "tell me about yourself"), ("", None)])
def test_what_was_bent_is_found(heard, asked):
    assert meant(heard) == asked


@pytest.mark.parametrize("heard", OTHERS)
def test_other_things_are_no_bent_questions(heard):
    assert meant(heard) is None


@pytest.mark.parametrize("text", ["What China is it?", "No, I meant what China is it."])
def test_the_guess_is_told_with_the_answer(text):
    answer = Companion().answer(Said(text, "anna", 60.0)).text
    assert answer.startswith("You asked, I think: what time is it. It is 3 ")
