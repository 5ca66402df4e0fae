"""Which of the robot's words truly left the loudspeaker, told from the sound alone.

Independent of what the dialogue believes: the sound that entered the device under each generation is laid beside the
clauses that the engine sent for it, one after the other by likeness, and words are counted by their letters.
"""
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from dialogue.engine import Clause
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples
from robot.interaction.trace import HeardWord

AUDIBLE = 10 ** (-45 / 20)   # full scale 1: below it a sample belongs to the pause around the words
LIKENESS_S = 0.5             # of sound compared to tell which clause begins
QUIETEST = 1e-5              # RMS of a piece that can be told from silence


@dataclass(frozen=True, slots=True)
class Piece:
    """10 ms that entered the device. t: s, when its last sample sounds at the loudspeaker."""

    t: float
    generation: int
    samples: Samples


def heard_words(pieces: Iterable[Piece], clauses: Mapping[int, list[Clause]]) -> tuple[HeardWord, ...]:
    """All words heard, in order. clauses: by generation, those that it may speak (a resumed one has its forebear's)."""
    replies: dict[int, list[Piece]] = {}
    for piece in pieces:
        if piece.generation in clauses:
            replies.setdefault(piece.generation, []).append(piece)
    words = [word for generation, played in replies.items() for word in _words(generation, played, clauses[generation])]
    return tuple(sorted(words, key=lambda word: word.t))


def _words(generation: int, played: list[Piece], clauses: list[Clause]) -> list[HeardWord]:
    sound = np.concatenate([piece.samples for piece in played])
    times = [piece.t for piece in played]
    found, position, left = [], 0, list(clauses)
    while left and position < len(sound):
        ahead = sound[position:]
        clause = max(left, key=lambda c: (_likeness(ahead, c.samples), -c.index))
        left = [c for c in left if c.index > clause.index]
        for end, text in word_ends(clause):
            place = position + end
            if place <= len(sound):
                row = min(len(times) - 1, max(0, place - 1) // BLOCK)
                late = (row + 1) * BLOCK - place
                found.append(HeardWord(times[row] - late / SAMPLE_RATE_HZ, generation, text))
        position += len(clause.samples)
    return found


def _likeness(sound: Samples, clause: Samples) -> float:
    """Normalised correlation of the beginnings, 0 when one of them is silent."""
    count = min(len(sound), len(clause), round(LIKENESS_S * SAMPLE_RATE_HZ))
    a, b = sound[:count].astype(np.float64), clause[:count].astype(np.float64)
    scale = np.sqrt(np.dot(a, a) * np.dot(b, b))
    return round(float(np.dot(a, b) / scale), 3) if scale > QUIETEST ** 2 * count else 0.0


def word_ends(clause: Clause) -> list[tuple[int, str]]:
    """(sample of the clause at its end, word): letters are taken as equally long between first and last sound."""
    loud = np.flatnonzero(np.abs(clause.samples) > AUDIBLE)
    first, last = (int(loud[0]), int(loud[-1]) + 1) if len(loud) else (0, len(clause.samples))
    words = clause.text.split()
    letters = np.cumsum([len(word) + 1 for word in words])
    return [(round(first + (last - first) * int(n) / int(letters[-1])), word)
            for n, word in zip(letters, words, strict=True)]
