"""What a person said, and what is to be answered."""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from dialogue.words import words_of

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
    """What to answer: clauses in order; tools first. follow_up: what a yes and a no to it would bring."""

    text: str
    tools: tuple[Tool, ...] = ()
    follow_up: tuple[Callable[[Said], Plan], Callable[[Said], Plan]] | None = None


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
