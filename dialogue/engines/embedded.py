"""The engine that needs nothing but this machine: whisper hears, the companion answers, hibari speaks.

It speaks clause by clause and only a few seconds ahead of what is being heard, so that a cue can still change the reply
and the next words of a person do not wait. The costs that it declares are CPU seconds measured on one core of the
development machine (`python -m tests.measure_embedded`); virtual time uses them, so that a run is the same everywhere.
"""
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from dialogue.engine import (
    ENGINE_RATE_HZ,
    Cancel,
    Candidate,
    Clause,
    Commit,
    Cue,
    Finished,
    Hear,
    Prompt,
    ReplyDone,
    Request,
    Resume,
    Surroundings,
    Timed,
    ToolCall,
    ToolResult,
    Transcript,
)
from dialogue.engines.companion import Companion
from dialogue.engines.plan import Plan, Said, Tool, clauses_of, shortened
from dialogue.engines.recent_sound import RecentSound
from dialogue.engines.recogniser import Recogniser, RecogniserConfig
from dialogue.engines.voice import Voice, VoiceConfig
from dialogue.memory import Memory
from dialogue.persona import PERSONAS, Length, Pace, Persona

# Declared costs, s = base + rate * seconds of sound.
RECOGNITION_S, RECOGNITION_RATE = 0.030, 0.026   # measured 0.024 + 0.019 x alone, 0.028 + 0.026 x on the busy machine
VOICE_S, VOICE_RATE = 0.008, 0.011               # measured 0.007 + 0.007 x alone, 0.007 + 0.011 x on the busy machine


@dataclass(frozen=True, slots=True)
class EmbeddedConfig:
    """start: ISO date and time at t = 0 of the run, for "what time is it"; the engine reads no clock."""

    recogniser: RecogniserConfig = field(default_factory=RecogniserConfig)
    voice: VoiceConfig = field(default_factory=VoiceConfig)
    persona: Persona = field(default_factory=Persona)
    start: str = "2026-01-05T15:00:00"
    margin: float = 0.3        # s of sound before the onset and after the end that is recognised too
    lead: float = 3.0          # s of speech that are ready ahead of what can have been heard


@dataclass
class Speech:
    """A reply on its way."""

    generation: int
    queue: list[str]                                     # clauses to send
    began: float                                         # s, when its first clause was made
    sent: list[str] = field(default_factory=list)        # by index
    script: list[str] = field(default_factory=list)      # those of them that are to be heard, in order
    seconds: float = 0.0                                 # of sound sent since `began`
    instead: bool = False                                # the next clause takes the place of those not begun
    done: bool = False
    open: bool = False                                   # more may come into the queue
    calls: dict[str, Tool] = field(default_factory=dict)   # not decided by the mind yet

    def unheard(self, heard: str) -> list[str]:
        """Clauses from the first that was not heard to its end."""
        rest, length = self.script + self.queue, 0
        while rest and length + len(rest[0]) <= len(heard):
            length += len(rest.pop(0)) + 1
        return rest


class EmbeddedEngine:
    """See the module. The same requests always bring the same replies."""

    name = "embedded"

    def __init__(self, config: EmbeddedConfig = EmbeddedConfig(), memory: Memory | None = None,
                 models: tuple[Recogniser, Voice] | None = None):
        """models: loaded already, of the same config; they keep nothing from one sound to the next."""
        self.config, self.style = config, config.persona.style
        self._recogniser, self._voice = models or (Recogniser(config.recogniser), Voice(config.voice))
        self._companion = Companion(config.persona, memory or Memory(),
                                    datetime.fromisoformat(config.start))
        self._sound = RecentSound()
        self._guess: tuple[tuple[int, float, float], str] | None = None   # of (turn, onset, end)
        self._words: dict[int, str] = {}                                   # turn -> words, for those that go on
        self._speech: Speech | None = None
        self._stopped: dict[int, Speech] = {}                              # by generation, newest last

    def handle(self, request: Request) -> Iterator[Timed]:
        match request:
            case Hear():
                self._sound.add(request)
                yield from self._speak_on(request.t)
            case Candidate():
                yield self._recognised(request, final=False)
            case Commit():
                yield from self._answer(request)
            case Prompt():
                yield from self._begin(request.t, request.generation, self._companion.prompted(request.text, request.t))
            case Cue():
                yield from self._interject(request)
            case Cancel():
                self._cut(request)
            case Resume():
                yield from self._resume(request)
            case Finished():
                self._companion.spoken = request.heard
                self._speech = None
            case Surroundings():
                self._companion.around = request
            case ToolResult():
                self._decided(request)

    # words --------------------------------------------------------------------------------------------------------

    def _recognised(self, request: Candidate | Commit, final: bool) -> Timed:
        """The words of a turn; those of the candidate are kept for its commit."""
        key = (request.turn, request.onset, request.end)
        cost = 0.0
        if self._guess is None or self._guess[0] != key:
            margin = self.config.margin
            sound = self._sound.between(request.onset - margin, request.end + margin)
            self._guess = (key, self._recogniser.words(sound))
            cost = RECOGNITION_S + RECOGNITION_RATE * len(sound) / ENGINE_RATE_HZ
        return Timed(cost, Transcript(request.turn, self._guess[1], final))

    def _answer(self, request: Commit) -> Iterator[Timed]:
        timed = self._recognised(request, final=True)
        yield timed
        assert isinstance(timed.reply, Transcript)
        before = self._words.get(request.continues, "") if request.continues is not None else ""
        words = f"{before} {timed.reply.text}".strip()
        self._words = {request.turn: words}
        yield from self._begin(request.t, request.generation,
                               self._companion.answer(Said(words, request.person, request.t)))

    # speech -------------------------------------------------------------------------------------------------------

    def _begin(self, t: float, generation: int, plan: Plan) -> Iterator[Timed]:
        plan = shortened(plan) if self.style.length == "brief" else plan
        self._speech = Speech(generation, clauses_of(plan.text), t)
        yield from self._call_tools(self._speech, plan.tools)
        yield from self._speak_on(t)

    def _call_tools(self, speech: Speech, tools: Iterable[Tool]) -> Iterator[Timed]:
        speech.calls = {f"{speech.generation}.{number}": tool for number, tool in enumerate(tools)}
        for call, (name, arguments) in tuple(speech.calls.items()):
            yield Timed(0.0, ToolCall(speech.generation, call, name, arguments))

    def _decided(self, result: ToolResult) -> None:
        """The mind has done a call, or will never do it."""
        for speech in (self._speech, *self._stopped.values()):
            if speech is not None:
                speech.calls.pop(result.call, None)

    def speak(self, pace: Pace | None = None, length: Length | None = None, persona: str | None = None) -> str:
        """Another way of speaking from the next clause on; what became of it, in words for an engine."""
        if persona is not None:
            if persona.lower() not in PERSONAS:
                return f"no persona {persona!r}, expected one of: {', '.join(PERSONAS)}"
            self._companion.persona = PERSONAS[persona.lower()]
            self.style = self._companion.persona.style
        if pace is not None:
            self.style = self.style.paced(pace, self._companion.persona.style.pace)
        if length is not None:
            self.style = replace(self.style, length=length)
        return "done"

    def _speak_on(self, t: float) -> Iterator[Timed]:
        """Clauses until `lead` s are ready ahead of time t (s)."""
        speech = self._speech
        while speech is not None and not speech.done and speech.seconds - (t - speech.began) < self.config.lead:
            if not speech.queue and speech.open:
                return
            if not speech.queue:
                speech.done = True
                yield Timed(0.0, ReplyDone(speech.generation))
                return
            text, instead = speech.queue.pop(0), speech.instead
            samples = self._voice(text, self.style)
            seconds = len(samples) / ENGINE_RATE_HZ
            speech.sent.append(text)
            speech.script.append(text)
            speech.seconds, speech.instead = speech.seconds + seconds, False
            yield Timed(VOICE_S + VOICE_RATE * seconds,
                        Clause(speech.generation, len(speech.sent) - 1, text, samples, instead))

    def _interject(self, cue: Cue) -> Iterator[Timed]:
        """A cue may change the running reply after the clause that is being spoken."""
        speech = self._speech
        if speech is None:
            return
        rest = speech.unheard(cue.heard)[1:]
        plan = self._companion.interjection(cue.name, tuple(rest))
        if plan is None:
            return
        kept = len(speech.script) + len(speech.queue) - len(rest)
        speech.script, speech.queue = speech.script[:kept], clauses_of(plan.text)
        speech.instead, speech.done, speech.began, speech.seconds = True, False, cue.t, 0.0
        yield from self._speak_on(cue.t)

    def _cut(self, cancel: Cancel) -> None:
        speech = self._speech
        if speech is None or speech.generation != cancel.generation:
            return
        self._speech = None
        self._stopped = {**dict(list(self._stopped.items())[-3:]), cancel.generation: speech}
        self._companion.cut(cancel.heard, tuple(speech.unheard(cancel.heard)))

    def _resume(self, request: Resume) -> Iterator[Timed]:
        speech = self._stopped.pop(request.of, None)
        if speech is None:
            yield Timed(0.0, ReplyDone(request.generation))
            return
        self._companion.unfinished = ()
        again = speech.sent[request.next_index:]   # were on their way when the reply was stopped
        script = speech.script[:len(speech.script) - len(again)]
        self._speech = Speech(request.generation, again + speech.queue, request.t, speech.sent[:request.next_index],
                              script, instead=speech.instead)
        yield from self._call_tools(self._speech, speech.calls.values())     # those that the interruption kept
        yield from self._speak_on(request.t)
