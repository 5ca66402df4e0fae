"""The robot's side of the floor: from a committed turn to the last heard word of its answer.

One counter gives every reply its generation; the quiet after a stop has one too, so no stopped reply is live again.
"""
from dataclasses import dataclass, field, replace

import numpy as np

from dialogue.engine import Cancel, Clause, Commit, EngineTrouble, Finished, Prompt, ReplyDone, Resume, ToolCall
from dialogue.events import Line, Notes
from dialogue.floor import ROBOT_SOUNDS, Floor
from dialogue.speaker import Rest, Speaker
from dialogue.turns import PersonTurn, Verdict
from perception.audio.block import SAMPLE_RATE_HZ, Samples, frozen_samples


@dataclass(frozen=True, slots=True)
class AnsweringConfig:
    """Patience with the engine and with interruptions."""

    silence: float = 8.0           # s from a committed turn (or in mid-reply) without sound until the robot says so
    facing_wait: float = 1.5       # s after the commit that a ready answer waits for the head to face the person
    resumes: int = 2               # false interruptions after which an answer goes on; a third means something
    news: float = 60.0             # s that something to announce waits for a free floor; later it is no news
    act_after: float = 0.3         # s after the commit before a tool acts: a correction begun by then is heard by then
    remembered: int = 200          # lines of the talk kept here, an evening's last quarter of an hour: nobody is told
                                   # more, engines keep their own (chat 24 messages, realtime 40 lines)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Something the robot can say when its engine cannot speak: words and sound (n,) at 16 kHz."""

    text: str
    samples: Samples = field(repr=False)


@dataclass(frozen=True, slots=True)
class Phrases:
    """What is said when an answer is lost. Without recordings, two falling tones."""

    lost: Phrase                   # the engine said nothing
    trouble: Phrase                # the engine broke


def earcon() -> Samples:
    """Two falling tones, 0.36 s: "something went wrong" without words."""
    t = np.arange(round(0.18 * SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ
    envelope = 0.2 * np.sin(np.pi * t / t[-1])
    return frozen_samples(np.concatenate([envelope * np.sin(2 * np.pi * f * t) for f in (660.0, 440.0)]))


TONES = Phrases(Phrase("(falling tones)", earcon()), Phrase("(falling tones)", earcon()))


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply that is owed or spoken."""

    generation: int
    since: float                               # s, when it became owed
    turn: int | None = None                    # None: of the robot's own accord
    onset: float = 0.0                         # s, of the words it answers
    end: float = 0.0                           # s, of the words it answers
    person: str | None = None
    resumes: int = 0
    local: bool = False                        # the engine knows nothing of it
    clauses: int = 0                           # arrived
    stopped: "tuple[Rest, Answer] | None" = None   # what was interrupted by a turn whose words are not known yet


class Answering:
    """Keeps the running reply, the stopped one, and what was said."""

    def __init__(self, floor: Floor, speaker: Speaker, config: AnsweringConfig = AnsweringConfig(),
                 phrases: Phrases = TONES):
        self.config, self.floor, self.speaker, self.phrases = config, floor, speaker, phrases
        self.running: Answer | None = None
        self.stopped: tuple[Rest, Answer] | None = None   # an answer that stands still, and its rest
        self.history: tuple[Line, ...] = ()                # the newest lines, oldest first
        self.asked = False                                 # the robot's last words were a question
        self.calls: list[ToolCall] = []                    # tools that wait for their moment
        self._generation = 0
        self._news = ("", 0.0)                             # words to announce, and since when (s)
        self._sound_at = 0.0                               # s, last time the running reply made progress
        self._told = ""

    # from the person's side ---------------------------------------------------------------------------------------

    def commit(self, notes: Notes, turn: PersonTurn, person: str | None, verdict: Verdict) -> None:
        """The turn is over: what was being answered is superseded, the engine answers this."""
        assert turn.turn is not None
        if self.floor.state == "both_waiting":
            self._stand_still(notes)
        stopped, self.stopped = self.stopped, None
        continues = None
        if stopped is not None:
            rest, answer = stopped
            stopped = rest, replace(answer, stopped=None)
            notes.tell("reply_superseded", generation=rest.generation, heard=rest.heard, unheard=rest.unheard,
                       reason=verdict.reason)
            continues = answer.turn if not rest.heard else None
        generation = self._next()
        self.floor.happen("commit")
        self.speaker.begin(generation)
        self.running = Answer(generation, notes.t, turn.turn, turn.onset, turn.last_voice, person,
                              stopped=stopped if turn.guess is None else None)
        notes.ask(Commit(notes.t, turn.turn, turn.onset, turn.last_voice, generation, person, continues))
        notes.tell("turn_committed", turn=turn.turn, generation=generation, onset=turn.onset, end=turn.last_voice,
                   pause=verdict.pause, reason=verdict.reason, guess=turn.guess or "", person=person)

    def prompt(self, notes: Notes, text: str) -> None:
        """The robot speaks of its own accord; the engine finds the words."""
        generation = self._next()
        self.floor.happen("prompt")
        self.speaker.begin(generation)
        self.running = Answer(generation, notes.t)
        notes.ask(Prompt(notes.t, text, generation))

    def announce(self, notes: Notes, words: str, anybody: bool) -> None:
        """Say words of the robot's own once the floor is free, if anybody can hear them. words: "" for nothing new."""
        self._news = (words, notes.t) if words else self._news
        waiting, since = self._news
        if waiting and self.floor.state == "idle" and anybody and notes.t - since <= self.config.news:
            self._news = ("", 0.0)
            self.prompt(notes, f"say: {waiting}")

    def stop(self, notes: Notes, reason: str, onset: float | None) -> None:
        """Fall silent: somebody speaks over the robot."""
        self._stand_still(notes)
        assert self.stopped is not None
        rest = self.stopped[0]
        self.floor.happen("stop")
        notes.tell("barge_in", onset=onset, generation=rest.generation, heard=rest.heard, unheard=rest.unheard,
                   reason=reason)

    def resume(self, notes: Notes, reason: str) -> bool:
        """The interruption was false: go on from the clause that was cut. False when nothing is left to go on with."""
        if self.stopped is None:
            return False
        (rest, answer), self.stopped = self.stopped, None
        if answer.resumes >= self.config.resumes or (rest.done and not rest.clauses) or answer.local:
            return False
        generation = self._next()
        self.floor.happen("resume")
        self.speaker.resume(rest, generation)
        if rest.done:
            self.speaker.done(generation)
        self.running = replace(answer, generation=generation, resumes=answer.resumes + 1, since=notes.t,
                               clauses=len(rest.clauses), stopped=None)
        notes.ask(Resume(notes.t, rest.generation, generation, rest.next_index))
        notes.tell("reply_resumed", generation=generation, of=rest.generation, reason=reason)
        return True

    def hush(self, notes: Notes, reason: str) -> None:
        """What stopped the answer may have been a stop word: stay silent. The engine keeps the rest for "go on"."""
        if self.stopped is not None:
            rest = self.stopped[0]
            notes.tell("reply_superseded", generation=rest.generation, heard=rest.heard, unheard=rest.unheard,
                       reason=reason)
        self.stopped = None

    def recover(self, notes: Notes, reason: str) -> None:
        """A committed turn turns out to hold no words: give back the answer that it superseded, if it did."""
        answer = self.running
        if answer is None or answer.stopped is None or self.floor.state != "robot_thinking":
            return
        notes.ask(Cancel(notes.t, answer.generation))
        self.stopped, self.running = answer.stopped, None
        if not self.resume(notes, reason):
            self.speaker.stop(self._next())
            self.floor.happen("end")

    # from the engine's side ---------------------------------------------------------------------------------------

    def clause(self, notes: Notes, clause: Clause) -> None:
        """A piece of an answer has arrived; one that belongs to no running answer is dropped here, and told."""
        if not self.speaker.add(clause):
            notes.tell("stale_clause", generation=clause.generation, index=clause.index)
            return
        assert self.running is not None
        self.running = replace(self.running, clauses=self.running.clauses + 1)
        self._sound_at = notes.t

    def done(self, notes: Notes, reply: ReplyDone) -> None:
        """The engine has sent all of an answer. One without a word is an answer only when the engine chose silence."""
        answer = self.running
        if answer is None or reply.generation != answer.generation:
            return
        self.speaker.done(reply.generation)
        if answer.clauses == 0 and reply.silent:
            self._finish(notes, "the engine chose silence")
        elif answer.clauses == 0:
            self._say(notes, self.phrases.lost, "the answer was empty")
        elif reply.yielded and self.floor.state in ROBOT_SOUNDS:
            self._finish(notes, "the engine gave the floor away")

    def trouble(self, notes: Notes, trouble: EngineTrouble) -> None:
        """The engine broke: fade out what it was saying, and say so when it owed something."""
        notes.tell("engine", state="trouble", reason=trouble.reason, generation=trouble.generation)
        answer = self.running
        if answer is None or answer.local or trouble.generation not in (None, answer.generation):
            return
        self._say(notes, self.phrases.trouble, "the engine broke")
        if trouble.died and answer.turn is not None:       # an apology that is lost too is not repeated
            self._news = ("I am sorry, I lost my thread.", notes.t)

    # in time ------------------------------------------------------------------------------------------------------

    def start(self, notes: Notes, facing: bool) -> None:
        """Let a ready answer out, once the head faces the person (or has had its time to)."""
        answer = self.running
        if self.floor.state != "robot_thinking" or answer is None or not self.speaker.ready:
            return
        if not facing and notes.t - answer.since < self.config.facing_wait:
            return
        self.speaker.start()
        self.floor.happen("start")
        self._sound_at, self._told = notes.t, ""
        facts = {"waited_for": answer.end} if answer.turn is not None else {}
        notes.tell("reply_start", generation=answer.generation, turn=answer.turn, resumed=answer.resumes > 0, **facts)

    def follow(self, notes: Notes, person_quiet_since: float) -> None:
        """After the blocks of this tick: what was heard, whether the answer is over, whether it fails to come."""
        answer = self.running
        if answer is None:
            return
        if self.floor.state in ROBOT_SOUNDS:
            heard = self.speaker.heard_text
            if heard != self._told:
                self._told = heard
                notes.tell("heard_text", generation=answer.generation, text=heard, heard_s=self.speaker.heard_seconds)
            if self.speaker.over:
                self._finish(notes, "said")
            elif self.speaker.sounding:
                self._sound_at = notes.t
            elif notes.t - self._sound_at > self.config.silence:
                self._say(notes, self.phrases.lost, "the answer stopped coming")
        elif notes.t - max(answer.since, person_quiet_since) > self.config.silence:
            self._say(notes, self.phrases.lost, "no answer came")

    # inside -------------------------------------------------------------------------------------------------------

    def _next(self) -> int:
        self._generation += 1
        return self._generation

    def _stand_still(self, notes: Notes) -> None:
        """Take the running answer away from the loudspeaker and the engine; its rest is kept."""
        answer = self.running
        assert answer is not None
        rest = self.speaker.stop(self._next())
        if not answer.local:
            notes.ask(Cancel(notes.t, answer.generation, rest.heard, rest.unheard, rest.clause,
                             rest.clause_s))
        self._remember(notes.t, rest.heard)
        self.stopped, self.running, self.calls = (rest, answer), None, []

    def _finish(self, notes: Notes, reason: str) -> None:
        answer = self.running
        assert answer is not None
        heard = self.speaker.heard_text
        self.speaker.stop(self._next())
        if not answer.local:
            notes.ask(Finished(notes.t, answer.generation, heard))
        self._remember(notes.t, heard)
        self.running = None
        self.floor.happen("end")
        notes.tell("reply_end", generation=answer.generation, heard=heard, reason=reason)

    def _say(self, notes: Notes, phrase: Phrase, reason: str) -> None:
        """Speak without the engine."""
        self._stand_still(notes)
        generation = self._next()
        notes.tell("engine", state="lost", reason=reason)
        self.floor.happen("prompt")
        self.speaker.begin(generation)
        self.speaker.add(Clause(generation, 0, phrase.text, phrase.samples))
        self.speaker.done(generation)
        self.running = Answer(generation, notes.t, local=True, clauses=1)
        self.stopped = None

    def note(self, t: float, who: str, words: str) -> None:
        """Words that somebody said, or of the robot's that were heard, into the history."""
        self.history = (*self.history, Line(t, who, words))[-self.config.remembered:]

    def _remember(self, t: float, heard: str) -> None:
        if heard:
            self.note(t, "robot", heard)
            self.asked = heard.rstrip().endswith("?")
