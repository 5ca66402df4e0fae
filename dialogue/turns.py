"""When a person's turn is over, and whether a sound over the robot's voice takes the floor.

The pause alone decides late; the words recognised ahead decide earlier (complete) or let the person think (incomplete).
"""
from dataclasses import dataclass
from typing import Literal

from dialogue.words import (
    completeness,
    is_echo,
    is_empty,
    is_fragment,
    is_hum,
    is_made_up,
    is_murmur,
    is_stop,
    may_be_stop,
)
from perception.audio.scene import SoundScene

Kind = Literal["commit", "murmur", "empty", "echo", "hush"]


@dataclass(frozen=True, slots=True)
class TurnConfig:
    """Pauses (s) after the last voiced moment, and what counts as a murmur."""

    candidate: float = 0.20        # pauses inside a sentence are mostly shorter (gaps inside turns: median near 0.2 s)
    stop: float = 0.25             # a stop word is obeyed at once
    complete: float = 0.35         # leaves 0.15 s to recognise after the candidate
    unsure: float = 0.60           # words that may be all or may go on; also a voice without words
    unrecognised: float = 0.80     # no words yet: the engine is slow or hears by itself (F17)
    incomplete: float = 1.10       # "and ...", "I meant ..."
    pace_share: float = 1.3        # somebody who pauses long in mid-turn is given this times that pause
    longest: float = 28.0          # s of one turn: the recogniser's window is 30 s
    below_peak: float = 20.0       # dB under the loudest of the turn at which a sound is the room's, not the voice's
    peak_decay: float = 10.0       # dB/s, of that loudest: people grow quiet towards the end of a sentence
    ask_for: float = 0.5           # s that words are waited for; recognition takes 0.1 s
    goes_on: float = 2.0           # log-odds at the end of that time at which the words before it were not over
    rises: float = -1.0            # log-odds: below it no evidence of a voice stands ...
    rise_s: float = 0.1            # s: ... that are the mean of so long
    old_voice: float = 0.7         # s from the reply's start in which evidence of the words before it still stands
    new_voice: float = 1.2         # s, the same of evidence that rose with the reply: its echo, until that is learned
    sure: float = 3.0              # log-odds of a voice that begins within old_voice: echo reached 2.5, words reach 5
    gone: float = 15.0             # dB under the loudest of a murmur at which it is over ...
    gone_for: float = 0.35         # s: ... the two halves of "mm-hmm" are 0.2 s apart
    murmur_longest: float = 2.0    # s: a longer hum wants the floor ("mm-hmm" lasts 0.4 to 0.9, its evidence 1 s more)
    murmur_hum: float = 0.5        # 0..1, highest hum of a sound without words that was a murmur
    sure_hum: float = 0.6          # 0..1, a closed mouth: 9 of 10 hums over the robot reach it at once, 3 % of words
    word_hum: float = 0.4          # 0..1, below it a hum has turned into words
    settle: float = 0.15           # s after a confirmed voice before its absence is believed
    wordless: float = 0.45         # s from onset to end: a voice that long said something, even if no word was made out
    edges: float = 0.15            # s by which the voice found is shorter than its words, at most
    call: float = 1.4              # s from onset to end: "stop stop" lasts 0.9 s, evidence of it up to 0.5 s longer


@dataclass
class PersonTurn:
    """What a person has said since the last decision."""

    onset: float                   # s
    last_voice: float              # s
    voiced: float = 0.0            # s
    hum: float = 0.0               # 0..1, like a closed mouth
    turn: int | None = None        # number of the standing candidate
    guess: str | None = None       # words recognised ahead for it
    longest_pause: float = 0.0     # s, inside this turn


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a finished sound was. hush: it may have been a stop word; silence answers that, and hurts nobody else."""

    kind: Kind
    reason: str
    pause: float                   # s


@dataclass(frozen=True, slots=True)
class Context:
    """What the sound came into. said: the robot's words that sounded when it began."""

    interrupted: bool = False      # an answer stands still or waits because of it
    over: bool = False             # it was said over the robot's voice, and stopped it
    asked: bool = False            # the robot had asked something
    said: str = ""
    at_once: bool = False          # it began with the robot's voice, sooner than anybody can react to that


class Turns:
    """The person's side of the floor."""

    def __init__(self, config: TurnConfig = TurnConfig()):
        self.config = config
        self.open: PersonTurn | None = None
        self._number = 0
        self._last_t = 0.0
        self._over = -1e9          # s, last voice of the turn before: its words belong to no other turn
        self._peak = -120.0        # dBFS, loudest of the open turn
        self._pace = 0.0           # s: this speaker's usual longest pause in mid-turn

    def hear(self, t: float, sound: SoundScene, began: bool = False) -> None:
        """Follow the voice up to t (s). began: it is confirmed now, whatever the scene's flags say."""
        dt, self._last_t = t - self._last_t, t
        self._peak = max(sound.level_db, self._peak - self.config.peak_decay * dt) if sound.speech else sound.level_db
        loud = sound.level_db >= self._peak - self.config.below_peak
        voiced = began or (sound.speech and sound.evidence >= 0.0 and loud)
        if not voiced:
            return
        if self.open is None:
            onset = sound.onset if sound.onset is not None and sound.onset <= t else t
            self.open = PersonTurn(max(onset, min(self._over, t)), t, hum=sound.hum)
            return
        turn = self.open
        pause = t - turn.last_voice
        if turn.turn is not None:  # goes on after a pause that looked like the end
            turn.longest_pause = max(turn.longest_pause, pause)
            turn.turn = turn.guess = None
        turn.voiced += min(dt, pause)
        turn.last_voice, turn.hum = t, max(turn.hum, sound.hum)

    def candidate(self, t: float) -> PersonTurn | None:
        """The turn, when at t (s) it has just paused long enough to be recognised ahead; its number is fresh."""
        turn = self.open
        if turn is None or turn.turn is not None:
            return None
        if t - turn.last_voice < self.config.candidate and t - turn.onset < self.config.longest:
            return None
        self._number += 1
        turn.turn = self._number
        return turn

    def guess(self, number: int, text: str) -> None:
        """Words recognised ahead for turn `number`; words for another one are late and ignored."""
        if self.open is not None and self.open.turn == number:
            self.open.guess = text

    def verdict(self, t: float, context: Context) -> Verdict | None:
        """What the open turn was, once that can be said at t (s)."""
        turn = self.open
        if turn is None or turn.turn is None:
            return None
        pause = t - turn.last_voice
        if t - turn.onset >= self.config.longest and turn.guess is not None:
            return Verdict("commit", "long enough", pause)
        kind, wait, reason = self._reading(turn, context)
        return Verdict(kind, reason, pause) if pause >= wait else None

    def _reading(self, turn: PersonTurn, context: Context) -> tuple[Kind, float, str]:
        """What it is as things stand, after which pause (s) that is decided, and why."""
        config, guess = self.config, turn.guess
        if guess is None:
            return "commit", config.unrecognised, "paused, no words yet"
        span = turn.last_voice - turn.onset
        long = span >= config.wordless and not context.at_once     # else it may be the robot's own, not yet cancelled
        hums = is_empty(guess) and turn.hum >= config.murmur_hum and not context.asked
        if hums and (context.interrupted or not long):
            return "murmur", config.complete, "hums"
        calls = context.over and not context.asked and turn.last_voice - turn.onset <= config.call
        if calls and ((is_empty(guess) and long) or (may_be_stop(guess) and not is_stop(guess))):
            return "hush", config.complete, "maybe a stop word"
        if is_empty(guess) and long:
            return "commit", config.unsure, "a voice, but no words"
        if is_empty(guess):
            return "empty", config.complete, "no words"
        if is_stop(guess):
            return "commit", config.stop, "stop word"
        if is_echo(guess, context.said, context.asked):
            return "echo", config.complete, "the robot's own words"
        if context.interrupted and is_made_up(guess, span + config.edges):
            return "murmur", config.complete, "too many words for so short a sound"
        if (is_hum(guess) or (context.interrupted and is_murmur(guess))) and not context.asked:
            return "murmur", config.complete, "only listens"
        paced = config.pace_share * self._pace
        state = completeness(guess)
        if state == "complete":
            return "commit", max(config.complete, min(paced, config.unsure)), "complete"
        if state == "unsure":
            return "commit", max(config.unsure, min(paced, config.incomplete)), "paused"
        if context.interrupted and not context.asked and is_fragment(guess):
            return "murmur", config.incomplete, "said nothing by itself"
        return "commit", config.incomplete, "incomplete, but silent"

    def ask(self, onset: float, end: float) -> PersonTurn:
        """A turn with a fresh number, open already: a sound from onset to end (s) of which the words shall tell."""
        self._number += 1
        return PersonTurn(onset, end, turn=self._number)

    def close(self) -> None:
        """The open turn is decided."""
        if self.open is not None and self.open.voiced > 1.0:  # murmurs say nothing about somebody's pace
            self._pace = 0.5 * (self._pace + self.open.longest_pause)
        self._over = self._over if self.open is None else self.open.last_voice
        self.open = None


Overlapping = Literal["duck", "stop", "ask", "release"] | None   # None: nobody is heard


class Overlap:
    """Somebody may be speaking over the robot: lower the voice, and tell a murmur from an interruption.

    A hum is no proof of a murmur ("no", "wait"): before it is let go, the recogniser is asked what it was.
    """

    def __init__(self, config: TurnConfig = TurnConfig()):
        self.config = config
        self._confirmed: float | None = None
        self.onset = 0.0               # s, of the voice that is judged
        self._hummed = False           # with a closed mouth, and no word since
        self._loud_at = self._peak = -1e9
        self._old = False              # a voice from before the reply stood at its start
        self._since = 0.0              # s, the start of that reply
        self._rose: float | None = None  # s, when the evidence that stands rose

    def step(self, t: float, sound: SoundScene, since: float) -> tuple[Overlapping, str]:
        """What the robot's voice should do at t (s), and why; None: nobody is heard. since: s, when it began."""
        self._old, self._since = self._old and since == self._since, since
        rose = t - self.config.rise_s if self._rose is None else self._rose
        self._rose = rose if sound.evidence >= self.config.rises else None
        if sound.onset is not None and sound.onset < since and t - since < self.config.old_voice:
            self._old = self._old or sound.barge_in
            return None, "the words before"
        if self._old:
            if sound.speech and sound.evidence >= self.config.goes_on:
                fell_before = rose > since - 0.5 * self.config.rise_s    # what stands at the start rose a rise_s before
                if fell_before and t - since < self.config.new_voice:
                    return "duck", "goes on?"
                self._old = False
                self.onset = t if sound.onset is None else sound.onset
                return "stop", "goes on"
            self._old = False
        self._hummed = sound.hum >= self.config.word_hum and (self._hummed or sound.hum >= self.config.sure_hum)
        self._peak = max(self._peak, sound.level_db) if sound.duck or self._confirmed is not None else sound.level_db
        if sound.level_db >= self._peak - self.config.gone:
            self._loud_at = t
        in_a_gap = any(heard.kind == "speech_start" for heard in sound.heard)   # between clauses: nothing to barge into
        if (sound.barge_in or in_a_gap) and self._confirmed is None:
            self._confirmed = t
            self.onset = max(rose, since)    # the ears' may be that of the words before, when evidence never quite went
            if sound.onset is not None and sound.onset >= since:
                self.onset = sound.onset
        if self._confirmed is None:
            return ("duck", "somebody?") if sound.duck else (None, "")
        age = t - self.onset
        settled = t - self._confirmed >= self.config.settle
        gone = settled and t - self._loud_at > self.config.gone_for
        if sound.release or gone or (settled and not sound.speech and not sound.duck):
            return self._decided("ask", "murmur?")
        if not self._hummed and (sound.evidence >= self.config.sure or self.onset - since >= self.config.old_voice):
            return self._decided("stop", "words")
        if age > self.config.murmur_longest and sound.evidence >= 0.0:
            return self._decided("stop", "goes on")
        return "duck", "murmur?"

    def _decided(self, verdict: Overlapping, reason: str) -> tuple[Overlapping, str]:
        self._confirmed = None
        return verdict, reason
