"""A companion that always says the same to the same words: no model, no network, honest about what it cannot do.

What it can talk about is the table in skills.py. Here is what every talk needs: corrections, yes and no, going on.
"""
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from dialogue.engine import Surroundings
from dialogue.engines.misheard import meant
from dialogue.engines.plan import Plan, Said
from dialogue.engines.skills import SKILLS
from dialogue.memory import Memory
from dialogue.persona import Persona, introduced
from dialogue.words import is_stop, words_of

# "no wait, I meant X", "sorry, I mean X", also in the middle: what counts is what follows the last of them.
TAKEN_BACK = re.compile(r"\b(?:(?:no|wait|sorry|actually|oh|hang on|hold on|scratch that)\b[ ,.!]*)*"
                        r"\bi (?:mean|meant)\b(?: to say)?[ ,:.]*", re.IGNORECASE)
# "set it to ten, no, five": what takes the place of the last words of something that would be done.
INSTEAD = re.compile(r"^(?P<before>.+?)[ ,.!-]+(?:no|sorry|actually|rather|or rather|make (?:it|that))[ ,.!]+"
                     r"(?:make (?:it|that) |rather )?(?P<instead>[^,.!?]+)[.!?]*$", re.IGNORECASE)
ENDS = " .,;!?-–—"
DENIED = re.compile(r"^(?:oh )?(?:(?:no|wait|sorry|actually)\b[ ,.!]+)+", re.IGNORECASE)
YES = re.compile(r"^(yes|yeah|yep|sure|okay|ok|please|of course|alright|all right|why not|go ahead|i would|i do)\b")
NO = re.compile(r"^(no|nope|not|never|i don't|rather not|no thanks|stop)\b")
GO_ON = re.compile(r"^(please )?(go on|go ahead|continue|carry on|keep going|what happened next|tell me more)\b")


@dataclass
class Companion:
    """The state of a talk. start: what the clocks on the wall said at t = 0."""

    persona: Persona = field(default_factory=Persona)
    memory: Memory = field(default_factory=Memory)
    start: datetime = datetime(2026, 1, 5, 15, 0)
    around: Surroundings = field(default_factory=lambda: Surroundings(0.0, ()))
    heard: deque[Said] = field(default_factory=lambda: deque(maxlen=8))   # what people said, oldest first
    spoken: str = ""                                       # the last words of the robot that were heard
    unfinished: tuple[str, ...] = ()                       # clauses of a reply that was cut
    _follow_up: tuple[Callable[[Said], Plan], Callable[[Said], Plan]] | None = None
    _asked: str | None = None                              # whose turn the question was about
    _turns: dict[str, int] = field(default_factory=dict)

    def answer(self, said: Said) -> Plan:
        """The reply to what was said."""
        plan = self._answer(said)
        self._follow_up, self._asked = plan.follow_up, said.person
        if said.words:
            self.heard.append(said)
        return plan

    def prompted(self, text: str, t: float) -> Plan:
        """The reply to a prompt of the mind: `greet ID`, `cue:nods`, `cue:shakes_head`, `go on`."""
        if text.startswith("say: "):
            return Plan(text.removeprefix("say: "))
        if text.startswith("greet "):
            person = text.removeprefix("greet ")
            return Plan(self.next_of("greetings").format(name=introduced(self.memory.name(person))))
        answers = {"cue:nods": "yes", "cue:shakes_head": "no", "go on": "go on"}
        plan = self._answer(Said(answers.get(text, ""), self._asked, t))
        self._follow_up = plan.follow_up
        return plan

    def interjection(self, cue: str, rest: tuple[str, ...]) -> Plan | None:
        """What a cue in the middle of a reply makes of it; the `rest` that is put aside waits for `go on`."""
        if cue != "shakes_head":
            return None
        if rest:
            plan = Plan("Oh, you do not agree? Shall I go on all the same?", follow_up=(self.go_on, self._leave))
            self.unfinished = rest
        else:
            plan = Plan("Oh, you do not agree?", follow_up=(self._differ, self._leave))
        self._follow_up = plan.follow_up
        return plan

    def cut(self, heard: str, rest: tuple[str, ...]) -> None:
        """A reply was stopped. A short one does not displace the rest of a long one that waits to go on."""
        self.spoken = heard or self.spoken
        if len(rest) > 1 or not self.unfinished:
            self.unfinished = rest

    def next_of(self, kind: str) -> str:
        """The next phrase of the persona's `kind`, in turn."""
        phrases = getattr(self.persona, kind)
        turn = self._turns.get(kind, 0)
        self._turns[kind] = turn + 1
        return phrases[turn % len(phrases)]

    def said_before(self, said: Said) -> str:
        """The last words of the same person; "" for none, or when somebody else has spoken since."""
        return self.heard[-1].text if self.heard and self.heard[-1].person == said.person else ""

    def forget_words(self, person: str | None) -> None:
        """What that person said shall not be told again."""
        self.heard = deque((said for said in self.heard if said.person != person), maxlen=self.heard.maxlen)

    def go_on(self, said: Said) -> Plan:
        """The rest of what was cut."""
        rest, self.unfinished = self.unfinished, ()
        if rest:
            return Plan(" ".join(rest), whole=True)
        return Plan("I had come to the end. Shall I tell you a story?", (), (self.tell_story, self._leave), whole=True)

    def tell_story(self, said: Said) -> Plan:
        return Plan(self.persona.story, whole=True)

    def _answer(self, said: Said) -> Plan:
        if not said.words:
            return Plan(self.next_of("no_words"))
        taken_back = list(TAKEN_BACK.finditer(said.text))
        if taken_back:
            return self._corrected(said, said.text[:taken_back[-1].start()], said.text[taken_back[-1].end():])
        if GO_ON.match(said.words):
            return self.go_on(said)
        if self._follow_up is not None and said.person == self._asked:      # nobody says yes for somebody else
            for meant, follow_up in zip((YES, NO), self._follow_up, strict=True):
                if meant.match(said.words):
                    return follow_up(said)
        put = INSTEAD.match(said.text)
        known = (put and self._put_right(said, put["before"], put["instead"])) or self._known(said)
        if known is not None:
            return known
        if is_stop(said.text):
            return Plan("Okay.")
        denied = DENIED.match(said.text)
        if denied and self.heard:
            return self._corrected(said, "", said.text[denied.end():])
        return self._guessed(said) or Plan(self.next_of("not_understood"))

    def _corrected(self, said: Said, before: str, instead: str) -> Plan:
        """A correction that says something by itself is answered, as is one of a wish; another piece is repeated."""
        words = " ".join(words_of(instead))
        if not words:
            return Plan("What did you mean?")
        before = before if words_of(before) else self.said_before(said)
        known = self._put_right(said, before, instead) or self._known(Said(instead, said.person, said.t))
        if known is not None:
            return known
        return self._guessed(Said(instead, said.person, said.t)) or Plan(
            f"Ah, {instead.strip(' .!?,')}. Thank you for putting me right, but I cannot do anything with it.")

    def _guessed(self, said: Said) -> Plan | None:
        """The answer to the question that this was, if it was bent on the way; the guess is told."""
        asked = meant(said.words)
        plan = None if asked is None else self._known(Said(asked, said.person, said.t))
        return None if plan is None else replace(plan, text=f"You asked, I think: {asked}. {plan.text}")

    def _known(self, said: Said) -> Plan | None:
        for pattern, skill in SKILLS:
            found = pattern.search(said.words)
            if found:
                plan = skill(self, said, found)
                if plan is not None:
                    return plan if isinstance(plan, Plan) else Plan(plan)
        return None

    def _put_right(self, said: Said, before: str, instead: str) -> Plan | None:
        """The wish `before` with `instead` for its last words; None when that is no wish of the same kind."""
        wish = self._known(Said(before, said.person, said.t))
        if wish is None or not wish.tools:
            return None
        words, count = before.rstrip(ENDS).split(), len(instead.split())
        for dropped in (count, *(n for n in (1, 2, 3) if n != count)):
            if 0 < dropped < len(words):
                text = " ".join([*words[:-dropped], instead.strip(ENDS)])
                plan = self._known(Said(text, said.person, said.t))
                if plan is not None and [name for name, _ in plan.tools] == [name for name, _ in wish.tools]:
                    return plan
        return None

    def _differ(self, said: Said) -> Plan:
        return Plan("Then tell me how you see it.")

    def _leave(self, said: Said) -> Plan:
        return Plan("All right, I leave it there.")
