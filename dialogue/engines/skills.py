"""What the companion can talk about: patterns over lower-case words without punctuation, in order, with their answers.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from math import degrees
from typing import TYPE_CHECKING

from dialogue.engines.plan import Plan, Said
from dialogue.persona import introduced
from dialogue.words import words_of

if TYPE_CHECKING:
    from dialogue.engines.companion import Companion

    Skill = Callable[[Companion, Said, re.Match[str]], Plan | str | None]

NO_NAMES = frozenset(words_of("""
    a an the so not very fine good well okay ok tired sad happy sorry here there
    back bored hungry busy afraid angry sure just still going looking trying thinking
    from in at on done ready sick great"""))
NUMBERS = {word: value for value, word in enumerate(words_of(
    "zero one two three four five six seven eight nine ten eleven twelve"))}


def name_told(talk: Companion, said: Said, found: re.Match[str]) -> str | None:
    name = found["name"]
    if name in NO_NAMES or not re.search(rf"\b{name.capitalize()}\b", said.text):  # a recogniser writes names large
        return None
    talk.memory.learn_name(said.person, name.capitalize())
    return f"Nice to meet you, {name.capitalize()}. I will remember your name."


def name_asked(talk: Companion, said: Said, found: re.Match[str]) -> str:
    name = talk.memory.name(said.person)
    return f"You are {name}." if name else "I do not know your name yet. Tell me, and I will remember it."


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


def who_is_there(talk: Companion, said: Said, found: re.Match[str]) -> str:
    if not talk.around:
        return "I see nobody at the moment."
    places = []
    for person, azimuth, _ in talk.around:
        angle = degrees(azimuth)
        where = "in front of me" if abs(angle) < 25 else "behind me" if abs(angle) > 135 else (
            "on my left" if angle > 0 else "on my right")
        places.append(f"{talk.memory.name(person) or 'somebody whose name I do not know'} {where}")
    count = "one person" if len(places) == 1 else f"{len(places)} people"
    return f"I know of {count}: {', and '.join(places)}."


def what_did_i_say(talk: Companion, said: Said, found: re.Match[str]) -> str:
    return f"You said: {talk.heard[-1]}" if talk.heard else "You had not said anything before."


def say_again(talk: Companion, said: Said, found: re.Match[str]) -> str:
    return talk.spoken or "I had not said anything."


def remember(talk: Companion, said: Said, found: re.Match[str]) -> str:
    talk.memory.learn_fact(said.person, found["fact"])
    return "I will remember that."


def property_told(talk: Companion, said: Said, found: re.Match[str]) -> str | None:
    if found["what"] == "name" or found["value"] in ("what", "it"):
        return None
    talk.memory.learn_property(said.person, found["what"], found["value"])
    return f"Your {found['what']} is {found['value']}. I will remember that."


def property_asked(talk: Companion, said: Said, found: re.Match[str]) -> str:
    value = talk.memory.property(said.person, found["what"])
    return f"Your {found['what']} is {value}." if value else f"You have not told me your {found['what']}."


def known_facts(talk: Companion, said: Said, found: re.Match[str]) -> str:
    name = talk.memory.name(said.person)
    known = ([f"You are {name}."] if name else []) + talk.memory.known(said.person)
    return " ".join(known) if known else "I know nothing about you yet. Tell me something."


def forget(talk: Companion, said: Said, found: re.Match[str]) -> str:
    talk.memory.forget(said.person)
    return "I have forgotten all that you told me."


def look_here(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    return _with_tool("I am looking at you.", "look_at", *((("person", said.person),) if said.person else ()))


def look_aside(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    side = {"left": "60", "right": "-60"}.get(found["side"], "0")
    return _with_tool("Like this?", "look_at", ("azimuth_deg", side))


def gesture(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    return _with_tool("There you are.", "gesture", ("name", found["what"]))


def _with_tool(text: str, name: str, *arguments: tuple[str, str]) -> Plan:
    return Plan(text, ((name, arguments),))


def story(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    return talk.tell_story(said)


def joke(talk: Companion, said: Said, found: re.Match[str]) -> str:
    return talk.next_of("jokes")


def sum_of(talk: Companion, said: Said, found: re.Match[str]) -> str | None:
    numbers = [int(word) if word.isdigit() else NUMBERS.get(word) for word in (found["a"], found["b"])]
    if numbers[0] is None or numbers[1] is None:
        return None
    a, b = numbers[0], numbers[1]
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


def _table(*rows: tuple[str, Skill]) -> tuple[tuple[re.Pattern[str], Skill], ...]:
    return tuple((re.compile(pattern), skill) for pattern, skill in rows)


SKILLS = _table(
    (r"\bwhat (did|have) i (just )?(say|said)\b", what_did_i_say),
    (r"\b(what did you (just )?say|say (that|it) again|pardon|repeat that|come again)\b", say_again),
    (r"\bremember (that )?(?P<fact>(?!my name|what|me\b).+)", remember),
    (r"\bforget (everything|all|me|about me|what i)\b", forget),
    (r"\bwhat do you (remember|know)( about me)?\b", known_facts),
    (r"\b(my name is|my name's|call me|i am called|i'm called) (?P<name>[a-z]+)", name_told),
    (r"^(hello |hi |hey )?(i am|i'm|this is) (?P<name>[a-z]+)$", name_told),
    (r"\b((what is|what's|do you know) my name|who am i|do you (know|remember) me)\b", name_asked),
    (r"\b(what is|what's|tell me) my (?P<what>[a-z ]+)$", property_asked),
    (r"\bmy (?P<what>[a-z]+( [a-z]+)?) (is|are) (?P<value>[a-z0-9 ]+)$", property_told),
    (r"\b(your name|who are you|what are you|about yourself|are you a robot|introduce yourself)\b", own_name),
    (r"\b(what time|the time|time is it|how late is it)\b", clock),
    (r"\b(what day|which day|the date|what date|today's date)\b", date),
    (r"\b(who is (there|here|around|with)|who's (there|here)|who (do|can) you see|anybody (there|here)|"
     r"how many people)\b", who_is_there),
    (r"\b(look at me|look here|look over here|face me)\b", look_here),
    (r"\blook (to the |to your )?(?P<side>left|right|straight|ahead)\b", look_aside),
    (r"\b(?P<what>nod|shake(?= your)|tilt(?= your))\b", gesture),
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
        "I can talk with you, tell the time, tell a story, remember your name and what you tell me, and look at you. "
        "You can interrupt me at any time.")),
    (r"\bhow old are you\b", always("I am new. Every time that I am switched on, I start from the beginning.")),
    (r"\bwhere (are you|do you) (from|come from|live)\b", always("I live on this table.")),
    (r"\b(can|do) you (hear|see) me\b", always("Yes, I do.")),
    (r"\b(do|would) you (like|love|want|enjoy)\b", likes),
    (r"\b(thank you|thanks)\b", always("You are welcome.")),
    (r"\b(goodbye|bye|good night|see you)\b", always("Goodbye. It was nice talking with you.")),
    (r"\b(hello|hi|hey|good morning|good afternoon|good evening)\b", greeting),
)
