"""What the companion does when it is asked: look, nod, speak louder or slower, sleep; and what it sees."""
from __future__ import annotations

import re
from math import degrees
from typing import TYPE_CHECKING

from dialogue.engines.plan import Plan, Said, table, wish
from dialogue.persona import PERSONAS
from dialogue.words import words_of

if TYPE_CHECKING:
    from dialogue.engines.companion import Companion
    from dialogue.engines.plan import Table

NUMBERS = {word: value for value, word in enumerate(words_of(
    "zero one two three four five six seven eight nine ten eleven twelve"))}
TENS = {word: 10 * value for value, word in enumerate(words_of(
    "twenty thirty forty fifty sixty seventy eighty ninety"), 2)} | {"hundred": 100, "half": 50}
STEP = "20"                 # percent of a "louder": 2 dB at the top, 6 dB near the bottom
AHEAD, BEHIND = 25, 135     # degrees: in front of me, behind me


def number(words: str) -> int | None:
    """A number in words or figures: `fifty five`, `55`, `a hundred`."""
    figures = [int(word) if word.isdigit() else NUMBERS.get(word, TENS.get(word))
               for word in re.sub(r"^(a|one) (?=hundred|half)", "", words).split()]
    match figures:
        case [int(value)]:
            return value
        case [int(tens), int(ones)] if tens in range(20, 100, 10) and 0 < ones < 10:
            return tens + ones
    return None


def volume_set(talk: Companion, said: Said, found: re.Match[str]) -> Plan | None:
    """Up to ten they are steps of ten, as on a knob; with `percent`, or above ten, they are percent."""
    value = number(found["value"])
    if value is None:
        return None
    percent = value if value > 10 or found["percent"] or "%" in said.text else 10 * value
    if percent > 100:
        return Plan("I can go from zero to ten.")
    return wish("Is that better?" if percent else "Then I speak without a sound.", "set_volume", percent=str(percent))


def louder(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    return wish("Is that better?", "set_volume", change=STEP)


def lower(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    return wish("Is that better?", "set_volume", change=f"-{STEP}")


def sleep(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    return wish("Good night. Say wake up when you want me.", "sleep")


def pace(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    how = {"slow": "slower", "norm": "normal"}.get(found["how"][:4], "faster")
    return wish("I speak like this now.", "speak", pace=how)


def brief(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    return wish("Okay.", "speak", length="brief")


def at_length(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    return wish("Gladly, I say more again.", "speak", length="normal")


def become(talk: Companion, said: Said, found: re.Match[str]) -> Plan | None:
    persona = PERSONAS.get(found["persona"])
    return None if persona is None else wish("One moment.", "speak", persona=found["persona"])


# the body -----------------------------------------------------------------------------------------------------------

def look_here(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    return wish("I am looking at you.", "look_at", **({"person": said.person} if said.person else {}))


def look_aside(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    return wish("Like this?", "look_at", azimuth_deg={"left": "60", "right": "-60"}.get(found["side"], "0"))


def gesture(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    return wish("There you are.", "gesture", name=found["what"])


# the eye ------------------------------------------------------------------------------------------------------------

def where(azimuth: float) -> str:
    """azimuth: rad in base."""
    angle = degrees(azimuth)
    if abs(angle) < AHEAD:
        return "in front of me"
    return "behind me" if abs(angle) > BEHIND else "on my left" if angle > 0 else "on my right"


def who_is_there(talk: Companion, said: Said, found: re.Match[str]) -> str:
    around = talk.around
    if not around.people:
        return "I see nobody at the moment."
    places = []
    for person, azimuth, _ in around.people:
        known = talk.memory.name(person) or "somebody whose name I do not know"
        places.append(f"{known} {where(azimuth)}" + ("" if person in around.seen else ", whom I only hear"))
    count = "one person" if len(places) == 1 else f"{len(places)} people"
    return f"I know of {count}: {', and '.join(places)}."


def see_me(talk: Companion, said: Said, found: re.Match[str]) -> str:
    place = next((where(azimuth) for person, azimuth, _ in talk.around.people if person == said.person), None)
    if place is None:
        return "No, I only hear you."
    if said.person not in talk.around.seen:
        return f"No, I hear you {place}, but I do not see your face."
    name = talk.memory.name(said.person)
    return f"Yes, {name}, I see you {place}." if name else f"Yes, I see you {place}."


def what_is_there(talk: Companion, said: Said, found: re.Match[str]) -> str:
    faces = [(person, azimuth) for person, azimuth, _ in talk.around.people if person in talk.around.seen]
    if not faces:
        return "I see no face at the moment, and faces are all that I know."
    named = [f"{talk.memory.name(person) or 'a face that I have no name for'} {where(azimuth)}"
             for person, azimuth in faces]
    return f"I see {', and '.join(named)}. Of other things I know nothing."


def hear_me(talk: Companion, said: Said, found: re.Match[str]) -> str:
    return "Yes, I hear you."


WISHES: Table = table(
    (r"\bvolume (?:up |down )?(?:to |at |on )?(?P<value>(?:a |one )?[a-z]+(?: (?!percent)[a-z]+)?|[0-9]+)"
     r"(?P<percent> percent)?$", volume_set),
    (r"\b(speak|talk) (up|louder)\b|\b(a bit |a little |much )?louder( please)?$|\bvolume up\b"
     r"|\bturn (it|yourself|the volume) up\b|\b(you are|you're) too (quiet|low)\b", louder),
    (r"\b(quieter|softer|lower)( please)?$|\b(speak|talk) (more )?(quietly|softly|quieter|softer|lower)\b"
     r"|\bvolume down\b|\bturn (it|yourself|the volume) down\b|\b(too|so) loud\b", lower),
    (r"^(please |now |you can |you may )*(go to sleep|sleep now|take a nap|go to bed)( now| please)?$", sleep),
    (r"^(please )?wake up\b", lambda talk, said, found: "I am awake."),
    (r"\b(speak|talk|go) (a bit |a little |more |much )*(?P<how>slow(ly|er)?|fast(er)?|quick(ly|er)|normal(ly)?)\b",
     pace),
    (r"^(please )?(?P<how>slower|faster)( please)?$", pace),
    (r"\b(be brief|be short|keep it short|shorter answers|answer briefly|less words|fewer words)\b", brief),
    (r"\b(longer answers|say more again|you can say more|be less brief)\b", at_length),
    (r"\b(be|become|talk like|speak like|switch to|let me talk to|i want to talk to) "
     rf"(?P<persona>{'|'.join(PERSONAS)})$", become),
    (r"\b(look at me|look here|look over here|face me)\b", look_here),
    (r"\blook (to the |to your )?(?P<side>left|right|straight|ahead)\b", look_aside),
    (r"\b(?P<what>nod|shake(?= your)|tilt(?= your))\b", gesture),
    (r"\b(who is|who's) in front of you\b|\b(who is (there|here|around|with)|who's (there|here)|who (do|can) you see|"
     r"anybody (there|here)|how many people)\b", who_is_there),
    (r"\b(do|can) you see me\b", see_me),
    (r"\bwhat (do|can) you see\b|\bwhat is in front of you\b|\bwhat's in front of you\b", what_is_there),
    (r"\b(do|can) you hear me\b", hear_me),
)
