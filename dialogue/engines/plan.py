"""What a person said, and what is to be answered."""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dialogue.words import words_of

if TYPE_CHECKING:
    from dialogue.engines.companion import Companion

    Skill = Callable[[Companion, "Said", re.Match[str]], "Plan | str | None"]
    Table = tuple[tuple[re.Pattern[str], Skill], ...]

Tool = tuple[str, tuple[tuple[str, str], ...]]   # name, arguments


@dataclass(frozen=True, slots=True)
class Said:
    """What a person said. t: s since the start of the run."""

    text: str
    person: str | None
    t: float

    @property
    def words(self) -> str:
        """Lower case, no punctuation."""
        return " ".join(words_of(self.text))


@dataclass(frozen=True, slots=True)
class Plan:
    """What to answer: clauses in order; tools first. follow_up: what a yes and a no to it would bring.

    whole: was asked for as it is, so that a robot which shall be brief tells all of it.
    """

    text: str
    tools: tuple[Tool, ...] = ()
    follow_up: tuple[Callable[[Said], Plan], Callable[[Said], Plan]] | None = None
    whole: bool = False


def wish(text: str, name: str, /, **arguments: str) -> Plan:
    """An answer with one tool."""
    return Plan(text, ((name, tuple(arguments.items())),))


def table(*rows: tuple[str, Skill]) -> Table:
    """Patterns over lower-case words without punctuation, in order, with what answers them."""
    return tuple((re.compile(pattern), skill) for pattern, skill in rows)


def shortened(plan: Plan) -> Plan:
    """The first sentence, and the last where it asks something."""
    sentences = re.split(r"(?<=[.!?])\s+", plan.text.strip())
    if plan.whole or len(sentences) < 2:
        return plan
    ends = sentences[-1:] if sentences[-1].endswith("?") else []
    return replace(plan, text=" ".join([sentences[0], *ends]))


def clauses_of(text: str, longest: int = 90) -> list[str]:
    """Text in pieces that can be spoken in one breath: sentences, cut again at commas when longer than `longest`."""
    pieces: list[str] = []
    for sentence in re.split(r"(?<=[.!?])\s+", text.strip()):
        current = ""
        for part in re.split(r"(?<=[,;:])\s+", sentence):
            if current and len(current) + len(part) > longest:
                pieces.append(current)
                current = ""
            current = f"{current} {part}".strip()
        pieces.append(current)
    return [piece for piece in pieces if piece]
