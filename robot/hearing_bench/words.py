"""Which words the default recogniser finds in the clean audio of people who speak over the robot."""
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from dialogue.engines.recogniser import Recogniser
from dialogue.words import words_of
from perception.audio.block import SAMPLE_RATE_HZ, Samples
from robot.hearing_bench.truth import Speech, Truth

BEFORE_S, AFTER_S = 0.3, 0.5     # of sound around the words, as an endpointer leaves it


@dataclass(frozen=True, slots=True)
class Understood:
    """One person's words, as said and as recognised."""

    speech: Speech
    words: str

    @property
    def count(self) -> int:
        return len(words_of(self.speech.text))

    @property
    def wrong(self) -> int:
        return word_errors(words_of(self.speech.text), words_of(self.words))


def word_errors(said: Sequence[str], found: Sequence[str]) -> int:
    """Words to put in, take out or change (Levenshtein)."""
    row = list(range(len(found) + 1))
    for number, word in enumerate(said, 1):
        before, row[0] = row[0], number
        for place, other in enumerate(found, 1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (word != other))
    return row[-1]


@cache
def _recogniser() -> Recogniser:
    return Recogniser()


def understood(clean: Samples, truth: Truth) -> tuple[Understood, ...]:
    """clean (n,) of a whole take; people whose words are known."""
    found = []
    for speech in truth.speech:
        if speech.addressed and speech.text:
            begin, end = max(0.0, speech.onset - BEFORE_S), speech.end + AFTER_S
            part = clean[round(begin * SAMPLE_RATE_HZ):round(end * SAMPLE_RATE_HZ)]
            found.append(Understood(speech, _recogniser().words(part)))
    return tuple(found)
