"""Sound and text of one reply, as a server streams them, out as clauses of the port.

Servers send sound in bursts and text ahead of it, with nothing that says which word sounds when (MiniCPM-o's protocol
notes speak of hundreds of ms). Clauses leave a little ahead of what can have been heard, so that the words of each are
told when most of the reply is known, and so that little is thrown away at a stop. Sound is cut at its own pauses:
pieces without a pause between them are marked as one breath.
"""
from collections import deque
from dataclasses import dataclass, field, replace

import numpy as np

from dialogue.engine import ENGINE_RATE_HZ, Clause
from perception.audio.block import Samples, frozen_samples

FRAME = 320              # samples: 20 ms, the step in which pauses are looked for
QUIET = 10 ** (-42 / 20)   # full scale 1; quieter frames of a synthetic voice are its pauses
GAP = 6                  # frames of quiet that make a pause: closures of plosives last half as long
MOST = 8000              # samples of a clause: half a second is what a changed mind costs at most
LEAST = 640              # samples of a clause while more is coming: 40 ms, so that the first sound comes at once
LETTERS_PER_S = 15.0     # of sound without pauses: 150 words a minute; used until all is known


@dataclass(frozen=True, slots=True)
class Sent:
    """Where a clause comes from. start: samples of that item before it."""

    item: str
    start: int
    length: int


@dataclass
class Outflow:
    """One reply on its way from the server to the mind. lead: s of sound that may be ahead of what can be heard."""

    generation: int
    lead: float = 2.0
    clauses: list[Clause] = field(default_factory=list)      # all that left, by index
    instead: bool = False                                    # the next clause takes the place of those not begun
    ended: bool = False                                      # no more will arrive
    _sent: list[Sent] = field(default_factory=list)
    _items: dict[str, int] = field(default_factory=dict)     # item -> samples arrived
    _cut: dict[str, int] = field(default_factory=dict)       # item -> samples that left
    _sound: deque[tuple[str, Samples]] = field(default_factory=deque)
    _text: str = ""
    _told: int = 0                                           # letters of the text that left
    _loud: int = 0                                           # frames with voice that arrived
    _loud_left: int = 0                                      # ... that left
    _marks: list[tuple[int, int]] = field(default_factory=list)   # (letters, samples) that belong together
    _again: list[Clause] = field(default_factory=list)       # to be sent once more, of a resumed reply
    _joined: bool = False
    _began: float | None = None                              # s
    _seconds: float = 0.0                                    # of sound since then

    def sound(self, item: str, samples: Samples) -> None:
        """Sound (n,) at 16 kHz of an item of the server's conversation."""
        if len(samples):
            self._items[item] = self._items.get(item, 0) + len(samples)
            self._loud += _loud_frames(samples)
            self._sound.append((item, samples))

    def text(self, fragment: str) -> None:
        self._text += fragment

    def mark(self, letters: int, seconds: float) -> None:
        """The first `letters` of the text have sounded at `seconds` of the reply: the server says so."""
        self._marks.append((letters, round(seconds * ENGINE_RATE_HZ)))

    def end(self) -> None:
        self.ended = True

    @property
    def arrived(self) -> bool:
        """Any sound at all."""
        return bool(self._items)

    @property
    def last_item(self) -> str:
        """The item that sounded last."""
        return next(reversed(self._items), "")

    @property
    def done(self) -> bool:
        """Everything has left."""
        return self.ended and not self._sound and not self._again and not self._text[self._told:].strip()

    def step(self, t: float) -> list[Clause]:
        """The clauses that are due at t (s)."""
        out = []
        while self._began is None or self._seconds - (t - self._began) < self.lead:
            clause = self._again.pop(0) if self._again else self._next()
            if clause is None:
                break
            self._began = t if self._began is None else self._began
            self._seconds += len(clause.samples) / ENGINE_RATE_HZ
            out.append(clause)
        return out

    def heard(self, index: int, seconds: float) -> dict[str, float]:
        """Item -> s of it that were heard, when clause `index` was cut after `seconds`; -1: nothing was."""
        heard = dict.fromkeys(self._items, 0.0)
        for number, sent in enumerate(self._sent[:index + 1]):
            length = sent.length / ENGINE_RATE_HZ
            heard[sent.item] = sent.start / ENGINE_RATE_HZ + (min(seconds, length) if number == index else length)
        return heard

    def heard_words(self, text: str) -> dict[str, float]:
        """The same, when the words of `text` were heard."""
        letters = 0
        for index, clause in enumerate(self.clauses):
            letters += len(clause.text) + bool(clause.text)
            if letters > len(text):
                return self.heard(index, len(clause.samples) / ENGINE_RATE_HZ)
        return self.heard(len(self.clauses) - 1, 1e9)

    def change(self) -> None:
        """The rest is thrown away; what comes now takes the place of what has not begun."""
        self._sound.clear()
        self._again.clear()
        self._text, self._told, self._marks, self._loud, self._loud_left = "", 0, [], 0, 0
        self.instead, self.ended, self._joined, self._began, self._seconds = True, False, False, None, 0.0

    def resume(self, generation: int, index: int) -> None:
        """Goes on as another reply, with clause `index` as the first."""
        self.generation = generation
        self.clauses = [replace(clause, generation=generation) for clause in self.clauses]
        self._again, self._began, self._seconds = self.clauses[index:], None, 0.0

    # inside -------------------------------------------------------------------------------------------------------

    def _next(self) -> Clause | None:
        if not self._sound:
            return self._leftover()
        item, samples = self._gathered()
        if len(samples) < LEAST and not self.ended and len(self._sound) < 2:
            return None
        length, paused = _piece(samples[:MOST])
        piece, rest = samples[:length], samples[length:]
        self._sound.popleft()
        if len(rest):
            self._sound.appendleft((item, rest))
        self._loud_left += _loud_frames(piece)
        start = self._cut.get(item, 0)
        self._cut[item] = start + length
        last = not self._sound and self.ended
        return self._made(Sent(item, start, length), piece, self._words(last), not paused)

    def _gathered(self) -> tuple[str, Samples]:
        """The sound of the first item that waits, in one piece at the head of the queue."""
        item, pieces = self._sound[0][0], []
        while self._sound and self._sound[0][0] == item:
            pieces.append(self._sound.popleft()[1])
        samples = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        self._sound.appendleft((item, samples))
        return item, samples

    def _leftover(self) -> Clause | None:
        """Words that are left when all sound is out belong to the last of it."""
        if not self.ended or not self.clauses or not self._text[self._told:].strip():
            return None
        last = self._sent[-1]
        silence = np.zeros(160, np.float32)
        return self._made(Sent(last.item, last.start + last.length, 0), silence, self._words(True), True)

    def _made(self, sent: Sent, samples: Samples, text: str, joins: bool) -> Clause:
        clause = Clause(self.generation, len(self.clauses), text, frozen_samples(samples), self.instead, self._joined)
        self.instead, self._joined = False, joins
        self.clauses.append(clause)
        self._sent.append(sent)
        return clause

    def _words(self, last: bool) -> str:
        """The whole words of the text up to where the sound is."""
        if last:
            self._told, text = len(self._text), self._text[self._told:]
            return text.strip()
        letters = self._letters()
        rest = self._text[self._told:letters]
        whole = self.ended and letters >= len(self._text)   # else the last word may go on
        end = len(rest) if whole else rest.rfind(" ") + 1
        self._told += end
        return rest[:end].strip()

    def _letters(self) -> int:
        """How much of the text belongs to the sound that left."""
        if self._marks:
            left = sum(self._cut.values())
            known = [(0, 0), *self._marks]
            return int(np.interp(left, [samples for _, samples in known], [letters for letters, _ in known]))
        if self.ended:
            return round(len(self._text) * self._loud_left / max(1, self._loud))
        return min(len(self._text), round(LETTERS_PER_S * self._loud_left * FRAME / ENGINE_RATE_HZ))


def _frames(samples: Samples) -> np.ndarray:
    """True for each whole frame with voice."""
    return np.max(np.abs(samples[:len(samples) // FRAME * FRAME].reshape(-1, FRAME)), axis=1, initial=0.0) > QUIET


def _loud_frames(samples: Samples) -> int:
    return int(np.count_nonzero(_frames(samples))) if len(samples) >= FRAME else int(np.any(np.abs(samples) > QUIET))


def _piece(samples: Samples) -> tuple[int, bool]:
    """How many of the samples make a clause, and whether a pause is at its end."""
    loud = _frames(samples)
    run = 0
    for index, voiced in enumerate(loud):
        if voiced and run >= GAP and index > run:
            return index * FRAME, True
        run = 0 if voiced else run + 1
    return len(samples), run >= GAP
