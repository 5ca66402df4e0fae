"""What the companion is told about people and tells them again: precise rules, and nobody hears what another told.

Nothing is learned or forgotten here: the plans ask for it as tools, so that it happens once the turn stands.
"""
from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dialogue.engines.plan import Plan, Said, table, wish
from dialogue.persona import PERSONAS
from dialogue.words import words_of

if TYPE_CHECKING:
    from dialogue.engines.companion import Companion
    from dialogue.engines.plan import Table
    from dialogue.memory import Fact

NO_NAMES = frozenset(words_of("""
    a an the so not very fine good well okay ok tired sad happy sorry here there
    back bored hungry busy afraid angry sure just still going looking trying thinking
    from in at on done ready sick great"""))
LIKES = r"(really |also |do )?(like|love|enjoy|prefer|hate|don't like|do not like)"
NOT_LIKED = "(you|it|that|this|what|how)"
RELATIVE = r"(lives?|works?|studies|study|plays?|comes?|speaks?|has|have|had|likes?|loves?|was born|got)"
ADDRESSED = f"(?:hey|robot|{'|'.join(PERSONAS)}|please|and|also|so|well|oh|can you|could you|will you|you should) "
# I and you change places, in the order of this list; "you" is taken for the object unless a verb of its own follows.
CHANGED = (("i am", "you are"), ("i'm", "you are"), ("i was", "you were"), ("i've", "you have"), ("i'll", "you will"),
           ("i'd", "you would"), ("you are", "I am"), ("you're", "I am"), ("you have", "I have"), ("your", "my"),
           ("myself", "yourself"), ("mine", "yours"), ("my", "your"), ("you", "me"), ("me", "you"), ("i", "you"))
_CHANGES = re.compile(rf"\b({'|'.join(before for before, _ in CHANGED)})\b", re.IGNORECASE)


def to_them(text: str) -> str:
    """A person's sentence about themselves as the robot says it to them: `my sister` -> `your sister`."""
    changed = dict(CHANGED)
    return _CHANGES.sub(lambda found: changed[found[1].lower()], text)


def told(fact: Fact) -> str:
    """A fact as a sentence to the person who told it."""
    if fact.about:
        return property_of(fact.about, fact.text)
    return f"You told me that {to_them(fact.text)}."


def property_of(what: str, value: str) -> str:
    """`Your favorite color is blue.`"""
    verb = "are" if what.endswith("s") and not what.endswith("ss") else "is"
    return f"Your {what} {verb} {to_them(value)}."


def piece(said: Said, words: str) -> str:
    """The part of what was said that has these words, with its capitals; as they are when it is not found."""
    spread = r"[^\w']+".join(re.escape(word) for word in words.split())
    found = re.search(rf"(?<!\w){spread}(?!\w)", said.text.replace("’", "'"), re.IGNORECASE)
    return found[0] if found else words


# names ------------------------------------------------------------------------------------------------------------

def name_told(talk: Companion, said: Said, found: re.Match[str]) -> Plan | None:
    name = piece(said, found["name"])
    if found["name"] in NO_NAMES or not name[0].isupper():      # a recogniser writes names large
        return None
    known, again = talk.memory.name(said.person), f"Nice to meet you again, {name}."
    if known is not None and known.casefold() == name.casefold():
        return Plan(f"I know, {known}.")

    def met(said: Said) -> Plan:
        return wish(again, "remember", name=name, again="yes")

    def new(said: Said) -> Plan:
        return wish(f"Then nice to meet you, {name}.", "remember", name=name, again="no")

    same = talk.memory.namesakes(name)
    if len(same) > 1:
        return wish(f"I know more than one {name}, so we begin anew.", "remember", name=name, again="no")
    if same:
        return Plan(f"{name}? I know that name. Have we met before?", follow_up=(met, new))
    if known is not None and re.match(r"(oh |sorry |wait )*no\b", said.words):
        return wish(f"Then I call you {name}.", "remember", name=name, again="yes")
    if known is not None:
        def renamed(said: Said) -> Plan:
            return wish(f"Then I call you {name}.", "remember", name=name, again="yes")

        return Plan(f"I took you for {known}. Are you somebody else?", follow_up=(new, renamed))
    return wish(f"Nice to meet you, {name}. I will remember your name.", "remember", name=name)


def name_asked(talk: Companion, said: Said, found: re.Match[str]) -> str:
    name = talk.memory.name(said.person)
    return f"You are {name}." if name else "I do not know your name yet. Tell me, and I will remember it."


# facts ------------------------------------------------------------------------------------------------------------

def fact_told(talk: Companion, said: Said, found: re.Match[str]) -> Plan | None:
    fact = piece(said, found["fact"])
    if said.text.rstrip().endswith("?") and "remember" not in said.words:
        return None
    mine = re.match(r"my (?P<what>[a-z]+( [a-z]+)?) (is|are) (?P<value>[a-z0-9' ]+)$", found["fact"])
    if mine:
        return property_told(talk, said, mine)
    stays = "" if talk.memory.name(said.person) else " Tell me your name, and I will know it when we meet again."
    return wish(f"I will remember that {to_them(fact)}.{stays}", "remember", fact=fact)


def property_told(talk: Companion, said: Said, found: re.Match[str]) -> Plan | None:
    what, value = found["what"], piece(said, found["value"])
    if what == "name" or found["value"] in ("what", "it") or said.text.rstrip().endswith("?"):
        return None
    return wish(f"{property_of(what, value)} I will remember that.", "remember", about=what, fact=value)


def fact_asked(talk: Companion, said: Said, found: re.Match[str]) -> str:
    """A question about something of the person's own: the facts that name it."""
    what = found["what"]
    value = talk.memory.value(said.person, what)
    if value is not None:
        return property_of(what, value)
    wanted = words_of(what)
    while wanted:                            # "my sister live": what is asked about comes first
        known = [told(fact) for fact in talk.memory.facts(said.person)
                 if set(wanted) <= set(words_of(f"{fact.about} {fact.text}"))]
        if known:
            return " ".join(known)
        wanted.pop()
    named = len(what.split()) == 1 or re.search(r"(what is|what's|tell me) my", found[0])
    return f"You have not told me your {what}." if named else "You have not told me that."


def likes_asked(talk: Companion, said: Said, found: re.Match[str]) -> str:
    known = [told(fact) for fact in talk.memory.facts(said.person) if re.match(rf"i {LIKES}\b", fact.text.lower())]
    return " ".join(known) or "You have not told me what you like."


def known_facts(talk: Companion, said: Said, found: re.Match[str]) -> Plan | str:
    name, facts = talk.memory.name(said.person), talk.memory.facts(said.person)
    known = ([f"You are {name}."] if name else []) + [told(fact) for fact in facts]
    return Plan(" ".join(known), whole=True) if known else "I know nothing about you yet. Tell me something."


def of_another(talk: Companion, said: Said, found: re.Match[str]) -> Plan | str | None:
    whom = found["whom"]
    if whom == (talk.memory.name(said.person) or "").lower():
        return known_facts(talk, said, found)
    if not piece(said, whom)[0].isupper():
        return None
    return "What somebody tells me I tell nobody else."


# forgetting -------------------------------------------------------------------------------------------------------

def forget_newest(talk: Companion, said: Said, found: re.Match[str]) -> Plan | str:
    text = talk.memory.newest(said.person)
    if text is None:
        return "You have not told me anything just now that I could forget."
    return wish("All right, that is forgotten.", "forget", fact=text)


def forget_me(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    talk.forget_words(said.person)
    return wish("I have forgotten you: your name, and all that you told me.", "forget")


def forget_everybody(talk: Companion, said: Said, found: re.Match[str]) -> Plan:
    def sure(said: Said) -> Plan:
        talk.heard.clear()
        return wish("I have forgotten everybody, and all that anybody told me.", "forget", whose="everybody")

    def kept(said: Said) -> Plan:
        return Plan("Then I forget nothing.")

    if words_of(talk.said_before(said)) == words_of(said.text):            # said again instead of yes
        return sure(said)
    asks = "Shall I forget everybody, and all that anybody told me? That cannot be undone. Yes or no?"
    return Plan(asks, (("forget", (("whose", "everybody"),)),), (sure, kept), whole=True)


def forget_words(talk: Companion, said: Said, found: re.Match[str]) -> Plan | str:
    words = set(words_of(found["what"])) - set(words_of("that my i is are the a about"))
    known = [fact for fact in talk.memory.facts(said.person)
             if words and words <= set(words_of(f"{fact.about} {fact.text}"))]
    if not known:
        return "You have not told me that, so I have nothing to forget."
    return wish("All right, that is forgotten.", "forget", fact=" ".join(sorted(words)))


_CALLED = rf"^(?:{ADDRESSED})*"
_BESIDE = "^(?:and |so |well |oh |you know |yes |no )*"
RECALL: Table = table(
    (_CALLED + r"forget (that|it|this|what i (just )?(said|told you)|the last (one|thing|fact))$", forget_newest),
    (_CALLED + r"forget (about )?(me|my name)$", forget_me),
    (_CALLED + r"forget (everything|all)( that)?( you (know|remember))? (about me|i (ever )?(told|said)( to)? you)$",
     forget_me),
    (_CALLED + r"forget (everything|everybody|everyone|all)( you know| of us| of it)?$", forget_everybody),
    (_CALLED + r"(?:remember|don't forget|do not forget|never forget) (?:that )?"
     r"(?P<fact>(?!my name|what|me$|to\b|the time|your).+)$", fact_told),
    (_CALLED + r"forget (about |that )?(?P<what>.+)$", forget_words),
    (r"\bwhat do you (still )?(remember|know)( of me| about me)?$", known_facts),
    (r"\bwhat (have i|did i) (told|tell) you( about me| about myself)?$", known_facts),
    (r"\b(what|do you|did|tell me|anything).*\b(know|remember|tell you|told you|say|said) about "
     r"(?P<whom>(?!me\b|my\b|your|the\b|a\b)[a-z]+)$", of_another),
    (r"\b(my name is|my name's|call me|i am called|i'm called) (?P<name>[^\W\d_]+)", name_told),
    (r"^(hello |hi |hey |no |sorry |good morning |good evening )*(i am|i'm) (?P<name>[^\W\d_]+)$", name_told),
    (r"\b((what is|what's|do you know|tell me) my name|who am i|do you (know|remember) me)\b", name_asked),
    (rf"^what (else )?do i {LIKES}( to .+| most| best)?$", likes_asked),
    (r"^(?:and |so |please |well )*(?:what|where|who|when|how|which|tell me|do you (?:know|remember))\b.*?"
     r"\bmy (?P<what>[a-z ]+)$", fact_asked),
    (_BESIDE + rf"(?P<fact>i {LIKES} (?!{NOT_LIKED}\b).+)$", fact_told),
    (_BESIDE + rf"(?P<fact>my [a-z]+( [a-z]+)? {RELATIVE} .+)$", fact_told),
    (_BESIDE + r"my (?P<what>[a-z]+( [a-z]+)?) (is|are) (?P<value>[a-z0-9' ]+)$",
     property_told),
)
