"""The engine of the machine itself: what the companion answers, and whole requests with real recognition and voice.

Declared costs: `OMP_NUM_THREADS=1 python -m tests.measure_embedded` prints CPU seconds of both stages with their fit.
"""
from itertools import pairwise

import numpy as np
import pytest

from dialogue.engine import (
    Cancel,
    Candidate,
    Clause,
    Commit,
    Cue,
    Finished,
    Hear,
    Prompt,
    ReplyDone,
    Resume,
    Surroundings,
    ToolCall,
    Transcript,
)
from dialogue.engines.embedded import EmbeddedConfig, EmbeddedEngine
from dialogue.engines.plan import Said, clauses_of
from dialogue.engines.voice import Voice
from dialogue.persona import Persona
from tests.memory_bench import Words


def talk(*texts, words=None, person="person_1"):
    """The answers to these words, each heard to its end."""
    words = words or Words()
    return [words.say(text, person, after=60.0 if number else 0.0) for number, text in enumerate(texts)]


@pytest.mark.parametrize("words, answer", [
    (["Hello."], "Hello!"), (["What time is it?"], "It is 2 58 in the afternoon."),
    (["x", "x", "What's the time?"], "It is 3 o'clock in the afternoon."),
    (["What day is it?"], "Today is Monday, the 5 of January."),
    (["My name is Anna.", "What is my name?"], "You are Anna."), (["I'm Ben", "Who am I?"], "You are Ben."),
    (["I'm fine."], "I am glad"), (["Who is there?"], "I see nobody"), (["What is two plus three?"], "That is 5."),
    (["My favourite colour is blue.", "What's my favorite color?"], "Your favorite color is blue."),
    (["Remember that I have two brothers.", "What do you know about me?"], "You told me that you have two brothers."),
    (["Call me Anna", "Forget everything.", "Yes.", "What's my name?"], "I do not know your name"),
    (["Tell me a story.", "What did I say?"], "You said: Tell me a story."),
    (["Tell me a joke", "Say that again."], "Why did the robot"), (["How are you?"], "I am well"),
    (["What's the weather like?"], "I cannot know that."), (["Bring me the red cup."], "I would like to, but"),
    (["Bring me the red cup. No, I meant the blue one."], "Ah, the blue one."),
    (["Tell me a story.", "No wait, I meant tell me the time."], "It is"),
    (["Stop."], "Okay."), (["No, what time is it?"], "It is"), (["Go on."], "I had come to the end."),
    (["Go on.", "Yes."], "Once upon a time"), (["Go on.", "No."], "All right"),
    (["Colourless green ideas"], "I did not"), ([""], "I heard something"),
])
def test_what_it_answers(words, answer):
    assert talk(*words)[-1].startswith(answer) or answer in talk(*words)[-1]


def test_names_belong_to_persons():
    words = Words()
    talk("My name is Anna.", words=words, person="person_1")
    talk("My name is Ben.", words=words, person="person_2")
    people = (("person_1", 0.1, True), ("person_2", -2.9, False), ("person_3", 1.5, False))
    words.companion.around = Surroundings(0.0, people, ("person_1", "person_3"))
    there = talk("Who is there?", words=words)[0]
    assert there == ("I know of 3 people: Anna in front of me, and Ben behind me, whom I only hear, "
                     "and somebody whose name I do not know on my left.")
    assert "Anna" in talk("Hello", words=words, person="person_1")[0]


def test_what_it_does_not_understand_it_says_in_changing_words():
    answers = talk(*["Colourless green ideas sleep furiously."] * 5)
    assert all(a != b for a, b in pairwise(answers)) and len(set(answers)) == len(Persona().not_understood)


def test_a_nod_and_a_shake_answer_its_question():
    words = Words()
    talk("Go on.", words=words)
    assert words.companion.prompted("cue:nods", 1.0).text.startswith("Once upon a time")
    talk("Go on.", words=words)
    assert words.companion.prompted("cue:shakes_head", 1.0).text.startswith("All right")


def test_clauses_are_short_and_lose_nothing():
    story = Persona().story
    clauses = clauses_of(story)
    assert " ".join(clauses) == story and max(map(len, clauses)) <= 120


# with real recognition and voice ----------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def voice():
    return Voice()


@pytest.fixture
def engine():
    return EmbeddedEngine()


def hear(engine, sound, t=0.0):
    """Feed sound block by block from t (s); returns what the engine said meanwhile, and the time reached."""
    replies = []
    for start in range(0, len(sound), 160):
        t += 0.01
        replies += list(engine.handle(Hear(t, sound[start:start + 160], True)))
    return replies, t


def asked(engine, voice, text, turn=1, generation=1, t=0.0):
    """Replies to spoken words, and the time of the commit."""
    _, end = hear(engine, np.concatenate([np.zeros(4800, np.float32), voice(text)]), t)
    guess = list(engine.handle(Candidate(end, turn, t + 0.3, end - 0.3)))
    replies = list(engine.handle(Commit(end + 0.2, turn, t + 0.3, end - 0.3, generation, "person_1")))
    return guess, replies, end + 0.2


def test_words_recognised_ahead_are_not_recognised_again(engine, voice):
    guess, replies, _ = asked(engine, voice, "What time is it?")
    assert guess[0].reply == Transcript(1, "What time is it?", False) and 0.03 < guess[0].cost < 0.2
    assert replies[0].reply == Transcript(1, "What time is it?", True) and replies[0].cost == 0.0
    clause = replies[1].reply
    assert isinstance(clause, Clause) and clause.text == "It is 3 o'clock in the afternoon."
    assert 0 < replies[1].cost < 0.1
    assert replies[-1].reply == ReplyDone(1)


def test_look_at_me_calls_a_tool(engine, voice):
    _, replies, _ = asked(engine, voice, "Look at me.")
    assert ToolCall(1, "1.0", "look_at", (("person", "person_1"),)) in [timed.reply for timed in replies]


def told(replies):
    return [timed.reply for timed in replies if isinstance(timed.reply, Clause)]


def test_a_story_is_spoken_only_a_little_ahead_and_lasts_a_minute(engine):
    clauses = told(engine.handle(Prompt(0.0, "", 1)))
    engine.handle(Finished(0.0, 1, ""))
    clauses = told(engine._begin(0.0, 2, engine._companion.tell_story(Said("", None, 0.0))))
    ready = sum(len(c.samples) for c in clauses) / 16000
    assert EmbeddedConfig().lead <= ready < EmbeddedConfig().lead + 8.0
    more, _ = hear(engine, np.zeros(160 * 12000, np.float32))
    clauses += told(more)
    assert [c.index for c in clauses] == list(range(len(clauses)))
    assert sum(len(c.samples) for c in clauses) / 16000 > 60.0
    assert " ".join(c.text for c in clauses) == Persona().story and more[-1].reply == ReplyDone(2)


def story_told(engine, voice):
    """The clauses of the first seconds of a story, and the time."""
    _, replies, t = asked(engine, voice, "Tell me a story.")
    more, t = hear(engine, np.zeros(160 * 300, np.float32), t)
    return told(replies + more), t


def test_a_cut_story_goes_on_where_it_was_cut_and_can_be_resumed(engine, voice):
    first, t = story_told(engine, voice)
    heard = f"{first[0].text} {first[1].text[:10]}"
    assert list(engine.handle(Cancel(t, 1, heard, "..."))) == []
    resumed = told(engine.handle(Resume(t + 1.0, 1, 3, len(first))))
    assert resumed[0].generation == 3 and resumed[0].index == len(first)
    assert Persona().story.startswith(" ".join([c.text for c in first + resumed]))
    list(engine.handle(Cancel(t + 2.0, 3, heard, "...")))
    _, again, _ = asked(engine, voice, "Please continue.", 2, 4, t + 3.0)
    assert told(again)[0].text == first[1].text


def test_a_head_shake_changes_the_story_and_keeps_its_rest(engine, voice):
    first, t = story_told(engine, voice)
    changed = told(engine.handle(Cue(t, "shakes_head", "person_1", heard="Once upon a")))
    assert changed[0].instead and changed[0].index == len(first) and changed[0].text.startswith("Oh, you do not agree?")
    list(engine.handle(Finished(t + 6.0, 1, "...")))
    rest = told(engine.handle(Prompt(t + 7.0, "cue:nods", 2)))
    assert rest[0].text == first[1].text


def test_what_a_correction_goes_on_with_is_taken_together(engine, voice):
    asked(engine, voice, "Bring me the red cup.")
    list(engine.handle(Cancel(3.0, 1, "", "...")))
    _, end = hear(engine, np.concatenate([np.zeros(4800, np.float32), voice("No, I meant the time.")]), 3.0)
    replies = list(engine.handle(Commit(end, 2, 3.3, end - 0.3, 2, "person_1", continues=1)))
    assert told(replies)[0].text.startswith("It is 3")
