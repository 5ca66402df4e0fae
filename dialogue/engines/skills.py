"""What the companion can talk about: patterns over lower-case words without punctuation, in order, with their answers.
"""
from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from dialogue.engines.plan import Plan, Said, table
from dialogue.engines.recall import RECALL
from dialogue.engines.wishes import WISHES, number
from dialogue.persona import introduced

if TYPE_CHECKING:
    from dialogue.engines.companion import Companion
    from dialogue.engines.plan import Skill, Table


def own_name(talk: Companion, said: Said, found: re.Match[str]) -> str:
    return f"My name is {talk.persona.name}. {talk.persona.about}"


def greeting(talk: Companion, said: Said, found: re.Match[str]) -> str:
    return talk.next_of("greetings").format(name=introduced(talk.memory.name(said.person)))


def clock(talk: Companion, said: Said, found: re.Match[str]) -> str:
    now = talk.start + timedelta(seconds=said.t)
    hour = (now.hour - 1) % 12 + 1
    half = "in the morning" if now.hour < 12 else "in the afternoon" if now.hour < 18 else "in the evening"
    minute = "o'clock" if now.minute == 0 else f"oh {now.minute}" if now.minute < 10 else str(now.minute)
    return f"It is {hour} {minute} {half}."


def date(talk: Companion, said: Said, found: re.Match[str]) -> str:
    now = talk.start + timedelta(seconds=said.t)
    return f"Today is {now:%A}, the {now.day} of {now:%B}."


def what_did_i_say(talk: Companion, said: Said, found: re.Match[str]) -> str:
    own = [before.text for before in talk.heard if before.person == said.person]
    return f"You said: {own[-1]}" if own else "You had not said anything before."


def say_again(talk: Companion, said: Said, found: re.Match[str]) -> str:
    return talk.spoken or "I had not said anything."


def story(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    return talk.tell_story(said)


def joke(talk: Companion, said: Said, found: re.Match[str]) -> str:
    return talk.next_of("jokes")


def sum_of(talk: Companion, said: Said, found: re.Match[str]) -> str | None:
    a, b = number(found["a"]), number(found["b"])
    if a is None or b is None:
        return None
    value = {"plus": a + b, "and": a + b, "minus": a - b, "times": a * b}[found["how"]]
    return f"That is {value}." if value >= 0 else f"That is minus {-value}."


def how_are_you(talk: Companion, said: Said, found: re.Match[str]) -> str:
    return talk.next_of("well")


def likes(talk: Companion, said: Said, found: re.Match[str]) -> str:
    return talk.next_of("likes")


def mood(talk: Companion, said: Said, found: re.Match[str]) -> str:
    good = found["mood"] in ("fine", "well", "good", "great", "happy", "okay", "ok")
    return "I am glad to hear that." if good else "I am sorry to hear that. I will listen, if you want to tell me more."


def always(text: str) -> Skill:
    """A skill that says the same each time."""
    return lambda talk, said, found: text


SKILLS: Table = RECALL + WISHES + table(
    (r"\bwhat (did|have) i (just )?(say|said)\b", what_did_i_say),
    (r"\b(what did you (just )?say|say (that|it) again|pardon|repeat that|come again)\b", say_again),
    (r"\b(your name|who are you|what are you|about yourself|are you a robot|introduce yourself)\b", own_name),
    (r"\b(what time|the time|time is it|how late is it)\b", clock),
    (r"\b(what day|which day|the date|what date|today's date)\b", date),
    (r"\b(story|tale)\b", story),
    (r"\b(joke|make me laugh|something funny)\b", joke),
    (r"\b(?P<a>[a-z0-9]+) (?P<how>plus|minus|times|and) (?P<b>[a-z0-9]+)$", sum_of),
    (r"\bhow (are|do) you( do| feel| feeling| doing)?( today)?$", how_are_you),
    (r"\b(i am|i'm|i feel) (very |so |a bit |quite )?(?P<mood>fine|well|good|great|happy|okay|ok|sad|tired|lonely|sick|"
     r"angry|afraid|bored)\b", mood),
    (r"\b(weather|rain|sunny|news|stock)\b", always(
        "I cannot know that. I am not connected to anything, I only hear and see this room.")),
    (r"\b(bring|fetch|get|give|carry|pour|open|close|clean)\b.*\b(me|the|a)\b", always(
        "I would like to, but I have no hands. I can look, listen and talk.")),
    (r"\b(play|sing|music|song)\b", always("I cannot sing or play music yet. I could tell you a story.")),
    (r"\b(what can you do|help me|can you do)\b", always(
        "I can talk with you, tell the time, tell a story, look at you, and remember your name and what you tell me; "
        "say forget that, or forget me, and I do. You can interrupt me at any time.")),
    (r"\bhow old are you\b", always("I am new, and I do not count my days.")),
    (r"\bwhere (are you|do you) (from|come from|live)\b", always("I live on this table.")),
    (r"\b(do|would) you (like|love|want|enjoy)\b", likes),
    (r"\b(thank you|thanks)\b", always("You are welcome.")),
    (r"\b(goodbye|bye|good night|see you)\b", always("Goodbye. It was nice talking with you.")),
    (r"\b(hello|hi|hey|good morning|good afternoon|good evening)\b", greeting),
)
