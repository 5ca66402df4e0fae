"""What people tell, ask and delete in words: each hears only their own, and what is kept is kept by name."""
import sqlite3
from datetime import datetime

import pytest

from dialogue.engine import Commit, Prompt, Resume, Surroundings, ToolCall, ToolResult
from dialogue.engines.recall import to_them
from dialogue.engines.tools import GRANTED
from tests.memory_bench import Words

LATER = datetime(2026, 1, 6, 9, 0)


@pytest.mark.parametrize(("told", "asked", "answer"), [
    ("My sister lives in Rome.", "Where does my sister live?", "You told me that your sister lives in Rome."),
    ("I like strawberry ice cream.", "What do I like?", "You told me that you like strawberry ice cream."),
    ("Remember that my dog is called Rex.", "What is my dog called?", "Your dog is called Rex."),
    ("Don't forget that I have an appointment on Monday.", "What do you know about me?",
     "You told me that you have an appointment on Monday."),
    ("My birthday is the fifth of May.", "When is my birthday?", "Your birthday is the fifth of May."),
    ("My favourite colours are red and blue.", "What are my favorite colors?",
     "Your favorite colors are red and blue."),
    ("Robin, remember that I like to swim.", "What do I like?", "You told me that you like to swim."),
    ("My sister lives in Rome.", "Where does my brother live?", "You have not told me that."),
    ("Can you remember that I'm allergic to nuts?", "What have I told you?",
     "You told me that you are allergic to nuts."),
    ("Please remember my phone is in the kitchen.", "Where is my phone?", "Your phone is in the kitchen."),
])
def test_a_fact_is_told_again_when_it_is_asked_for(told, asked, answer):
    words = Words()
    words.say(told)
    assert words.say(asked) == answer


@pytest.mark.parametrize("text", [
    "Do you remember my sister?", "Is my sister in Rome?", "I remember that day.", "This is Paul.", "I like that.",
    "I like you.", "I'm tired.", "I'm anna", "What should I remember?", "Where is my phone?", "Forget it.",
    "My name is very long.", "Remember me.", "Does my sister like Rome?",
])
def test_what_tells_nothing_is_not_learned(text):
    words = Words()
    words.say(text)
    assert not words.calls or words.calls[0][0] != "remember"
    assert not words.memory.facts("person_1") and words.memory.name("person_1") is None


@pytest.mark.parametrize(("mine", "theirs"), [
    ("I am tired", "you are tired"), ("my sister and I live here", "your sister and you live here"),
    ("you are my friend", "I am your friend"), ("I've told you", "you have told me"), ("it is mine", "it is yours"),
    ("Anna's mimic", "Anna's mimic"),
])
def test_me_and_you_change_places(mine, theirs):
    assert to_them(mine) == theirs


def test_nobody_hears_what_another_told():
    words = Words()
    for person, name, city in (("person_1", "Anna", "Rome"), ("person_2", "Bo", "Oslo")):
        words.say(f"My name is {name}.", person)
        words.say(f"My sister lives in {city}.", person)
    for person, own, other in (("person_1", "Rome", "Oslo"), ("person_2", "Oslo", "Rome"), ("person_3", "", "R"),
                               (None, "", "R")):
        for question in ("What do you know about me?", "Where does my sister live?", "Who am I?"):
            answer = words.say(question, person)
            assert other not in answer.replace("Remember", "") and (own in answer or "sister" not in question)
    assert words.say("What do you know about Anna?", "person_2") == "What somebody tells me I tell nobody else."


def test_a_name_is_kept_over_runs_but_does_not_alone_prove_who_it_is(tmp_path):
    words = Words(tmp_path / "memory.sqlite3")
    words.say("My sister lives in Rome.")                    # before the name, and kept with it
    words.say("My name is Anna.")
    words.close()

    words = Words(tmp_path / "memory.sqlite3", LATER)
    assert "do not know your name" in words.say("What's my name?")      # nobody is person_1 for ever
    assert words.say("I'm Anna.") == "Anna? I know that name. Have we met before?"
    assert "nothing" in words.say("What do you know about me?")
    words.say("I'm Anna.", "person_2")
    words.say("Yes.", "person_3")                            # nobody says yes for somebody else
    assert words.memory.name("person_3") is None and words.memory.name("person_2") is None
    words.say("I'm Anna.", "person_2")
    words.say("No.", "person_2")
    assert words.say("What do you know about me?", "person_2") == "You are Anna."
    words.say("I'm Anna.", "person_4")                       # two of that name
    assert words.say("What do you know about me?", "person_4") == "You are Anna."
    words.close()

    words = Words(tmp_path / "memory.sqlite3", LATER)
    assert words.memory.name("person_2") == "Anna"           # the same run: its engine had died and started again
    assert len(words.memory.namesakes("anna")) == 3
    words.close()


def test_what_one_said_is_not_said_to_another_and_not_after_it_is_forgotten():
    words = Words()
    words.say("I like tea.")
    assert "had not said" in words.say("What did I say?", "person_2") and "tea" in words.say("What did I say?")
    words.say("Set the volume to ten.", "person_2")
    assert "cannot do anything" in words.say("No, I meant five.")           # the other one's wish
    words.say("Forget me.")
    assert "had not said" not in words.say("What did I say?")               # but for the wish itself
    assert "tea" not in str(words.companion.heard)


def test_who_comes_back_and_says_so_is_known_again(tmp_path):
    words = Words(tmp_path / "memory.sqlite3")
    words.say("My name is Anna.")
    words.say("My favourite colour is blue.")
    words.close()
    words = Words(tmp_path / "memory.sqlite3", LATER)
    words.say("My brother has a boat.")
    words.say("My name is Anna.")
    assert words.say("Yes.") == "Nice to meet you again, Anna."
    assert words.say("What's my favorite color?") == "Your favorite color is blue."
    assert "a boat" in words.say("What do you know about me?")
    words.close()


def test_a_name_that_was_misheard_is_put_right_and_another_name_is_asked_about():
    words = Words()
    words.say("My name is Hannah.")
    assert words.say("No, my name is Anna.") == "Then I call you Anna."
    assert words.say("My name is Bo.") == "I took you for Anna. Are you somebody else?"
    words.say("No.")
    assert words.memory.name("person_1") == "Bo" and not words.memory.namesakes("Anna")
    words.say("My name is Carl.")
    words.say("Yes.")
    assert words.memory.name("person_1") == "Carl" and words.memory.namesakes("Bo")


def test_what_was_just_told_or_named_is_forgotten_and_nothing_else():
    words = Words()
    for text in ("My sister lives in Rome.", "I like pizza.", "My dog is called Rex.", "My name is Anna."):
        words.say(text)
    words.say("Forget that.")
    assert "Rex" not in words.say("What do you know about me?")
    assert "nothing to forget" in words.say("Forget my car.")
    words.say("Please forget about my sister.")
    assert words.say("What do you know about me?") == "You are Anna. You told me that you like pizza."
    assert "could forget" in words.say("Forget that.")


def test_forget_me_leaves_the_others():
    words = Words()
    words.say("My name is Anna."), words.say("My name is Bo.", "person_2")
    words.say("Forget me.")
    assert "do not know" in words.say("Who am I?") and words.say("Who am I?", "person_2") == "You are Bo."
    assert words.memory.book.read("SELECT name FROM people") == [("Bo",)]


@pytest.mark.parametrize(("answers", "left"), [
    (["Yes."], 0), (["Forget everything."], 0), (["No."], 2), (["What time is it?", "Yes."], 2),
    (["No.", "Forget everything.", "No."], 2), (["No.", "Forget everything.", "Yes."], 0),
])
def test_everybody_is_forgotten_only_after_a_yes(answers, left):
    words = Words()
    words.say("My name is Anna."), words.say("My name is Bo.", "person_2"), words.say("I like tea.", "person_3")
    assert words.say("Forget everything.").startswith("Shall I forget everybody")
    for answer in answers:
        words.say(answer)
    assert words.memory.book.read("SELECT count(*) FROM people") == [(left,)]
    assert bool(words.memory.facts("person_3")) == bool(left)


def test_nothing_is_learned_or_forgotten_from_a_turn_that_was_taken_back():
    words = Words()
    words.say("My name is Anna.", granted=False)
    words.say("I like tea.", granted=False)
    assert words.memory.name("person_1") is None and not words.memory.facts("person_1")
    words.say("My name is Anna."), words.say("Forget me.", granted=False)
    assert words.memory.name("person_1") == "Anna"


def test_somebody_unknown_is_the_same_only_while_the_talk_lasts():
    words = Words()
    words.say("My name is Anna.", None), words.say("I like tea.", None)
    assert words.say("Who am I?", None, after=100.0) == "You are Anna."
    assert "do not know" in words.say("Who am I?", None, after=130.0)
    assert words.say("What do I like?", None) == "You have not told me what you like."


def test_what_is_kept_can_be_read_with_sqlite3(tmp_path):
    words = Words(tmp_path / "memory.sqlite3")
    words.say("My name is Anna."), words.say("My favorite color is blue."), words.say("I like tea.")
    with sqlite3.connect(tmp_path / "memory.sqlite3") as file:
        rows = file.execute("SELECT name, about, fact, told, f.told_to FROM people p JOIN facts f ON person = p.id")
        assert list(rows) == [("Anna", "favorite color", "blue", "2026-01-05T15:00:00", "embedded"),
                              ("Anna", "", "I like tea", "2026-01-05T15:01:00", "embedded")]
    file.close()
    words.say("Forget me.")
    raw = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"I like tea" not in raw and b"Anna" not in raw          # overwritten, not only unlinked
    words.close()


def test_a_resumed_answer_and_a_result_for_nobody_belong_to_whom_they_belong():
    words = Words()
    words.engine.words = "My name is Anna."
    call, = (r for r in words.ask(Commit(1.0, 1, 0.0, 1.0, 1, "person_1")) if isinstance(r, ToolCall))
    words.ask(Resume(2.0, 1, 2, 0)), words.ask(Prompt(2.5, "go on", 3)), words.ask(ToolResult(2.6, "nobody's", GRANTED))
    words.ask(ToolResult(3.0, call.call, GRANTED)), words.ask(ToolResult(3.0, call.call, GRANTED))
    assert words.memory.name("person_1") == "Anna" and len(words.memory.namesakes("Anna")) == 1


def test_what_it_sees_of_whom_it_talks_with():
    words = Words()
    words.say("My name is Anna.")
    people = (("person_1", 0.1, True), ("person_2", 2.0, False))
    words.companion.around = Surroundings(0.0, people, ("person_1",))
    assert words.say("Do you see me?") == "Yes, Anna, I see you in front of me."
    assert words.say("Do you see me?", "person_2") == "No, I hear you on my left, but I do not see your face."
    assert words.say("What do you see?") == "I see Anna in front of me. Of other things I know nothing."
    words.companion.around = Surroundings(0.0, ())
    assert "only hear" in words.say("Do you see me?") and "no face" in words.say("What is in front of you?")
