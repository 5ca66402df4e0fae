"""Which words of a reply have left the loudspeaker, told from the position in its sound."""
from dataclasses import dataclass

import numpy as np

from dialogue.engine import Clause

QUIET = 10 ** (-45 / 20)   # full scale 1: below it a sample belongs to the pause around the words, not to a word


@dataclass(frozen=True, slots=True)
class Spoken:
    """A clause that has begun. start: samples of the reply before it; first, last: where it sounds, samples of it."""

    clause: Clause
    start: int
    first: int
    last: int

    @classmethod
    def begun(cls, clause: Clause, start: int) -> "Spoken":
        loud = np.flatnonzero(np.abs(clause.samples) > QUIET)
        return cls(clause, start, *((int(loud[0]), int(loud[-1]) + 1) if len(loud) else (0, len(clause.samples))))

    @property
    def end(self) -> int:
        return self.start + len(self.clause.samples)

    def words(self, position: int) -> str:
        """The words of this clause that were complete at `position` (samples of the reply): a prefix of its text.

        Letters are taken as equally long between the first and the last sound of the clause; a word that is not over
        yet does not count, so that memory never holds more than was heard.
        """
        if position >= self.end:
            return self.clause.text
        share = (position - self.start - self.first) / max(1, self.last - self.first)
        letters = int(min(max(share, 0.0), 1.0) * len(self.clause.text))
        text = self.clause.text[:letters + 1]
        if letters >= len(self.clause.text):
            return self.clause.text
        return text[:text.rfind(" ")].rstrip() if " " in text else ""


def joined(texts: list[str]) -> str:
    """Clauses as one text."""
    return " ".join(text for text in texts if text)


def heard_words(spoken: list[Spoken], position: int) -> str:
    """All words heard at `position` (samples of the reply): a prefix of the reply's text."""
    return joined([piece.words(position) for piece in spoken if piece.start < position])


def unheard_words(spoken: list[Spoken], waiting: list[Clause], position: int) -> str:
    """All words known of the reply that were not heard."""
    rests = [piece.clause.text[len(piece.words(position) if piece.start < position else ""):].lstrip()
             for piece in spoken]
    return joined(rests + [clause.text for clause in waiting])
