"""A talk with a Realtime server: requests of the mind and events of the server go in, events to send and replies out.

Rules that everything here follows: one response at a time is asked for; a reply is bound to its response by the
metadata that comes back, or in order; a cancelled response is dead at once, whatever still comes of it; a cancel before
`response.created` is remembered; an error is bound to what it names; sessions are renewed before their cap, with the
talk so far as text.
"""
from collections import deque
from collections.abc import Callable

from dialogue.engine import (
    Cancel,
    Candidate,
    Commit,
    Cue,
    EngineTrouble,
    Finished,
    Hear,
    Picture,
    Prompt,
    Reply,
    Request,
    Resume,
    Surroundings,
    ToolResult,
    Transcript,
)
from dialogue.engines.outflow import Outflow
from dialogue.engines.realtime import events
from dialogue.engines.realtime.answers import Answer, Asked, Responses
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.dialects import DIALECTS, OPENAI, Dialect
from dialogue.engines.realtime.life import SessionLife
from dialogue.engines.realtime.sight import Sight
from dialogue.engines.realtime.sound import TurnSound
from dialogue.engines.remote import Message
from perception.audio.block import Samples

CHANGES = {"shakes_head": "The person shakes their head while you speak. React to that in one short sentence."}
KEPT = 4               # answers that can still be resumed or drip
NOTES = 6              # that a server with room for one hears together
PAUSE_S = 1.0          # without speech, then words begin anew
MARGIN_S = 0.3         # of sound around a turn for the recogniser on this machine

Recogniser = Callable[[Samples], str]


class RealtimeSession(SessionLife):
    """The core of the engine `realtime` (dialogue.engines.remote.Core)."""

    name = "realtime"

    def __init__(self, config: RealtimeConfig, recogniser: Recogniser | None = None):
        self.config, self.recogniser = config, recogniser
        self.dialect: Dialect = DIALECTS.get(config.server, OPENAI)
        self.pause_s = 0.0
        self.busy = self.leaving = self.ready = False
        self.last = ""
        self.refused = ""
        self.responses = Responses()
        self.answers: dict[int, Answer] = {}              # by generation, newest last
        self.asked: deque[Asked] = deque()                # to be asked for, in order
        self.awaiting: Asked | None = None                # asked for, not acknowledged
        self.held: deque[Answer] = deque(maxlen=2)        # replies of a server that decides by itself, bound to no turn
        self.wanted: Answer | None = None                 # turn that such a server has not answered yet
        self.listened = 0                                 # times that it has listened since
        self.history: deque[tuple[str, str]] = deque(maxlen=config.history_lines)
        self.guess: tuple[tuple[int, float, float], str] | None = None
        self.token: tuple[str, str] | None = None         # session and token to resume with (vLLM-Omni)
        self.seen = 0                                     # sequence number of the last event
        self.turns: deque[int] = deque(maxlen=32)         # whose words the server has not written down yet, if ever
        self.out: list[Message] = []
        self.replies: list[Reply] = []
        self.t = 0.0
        self._opened_at: float | None = None
        self._greeted = False                             # something was said on this connection
        self._speech_at = -1e9
        self._count = 0
        self._notes: deque[str] = deque(maxlen=NOTES)
        self.sight = Sight(config.frames)
        self._sound = self.turn_sound()

    def turn_sound(self) -> TurnSound:
        old = getattr(self, "_sound", None)
        made = TurnSound(self.dialect.in_hz, self.dialect.led, self.config.preroll_s, self.config.hang_s)
        if old is not None:
            made.recent = old.recent
        return made

    # the mind -----------------------------------------------------------------------------------------------------

    def ask(self, t: float, request: Request) -> None:
        self.t = t
        match request:
            case Hear():
                self._hear(request)
            case Candidate():
                self._recognised(request, final=False)
            case Commit():
                self._commit(request)
            case Prompt():
                self._prompt(request)
            case Cancel():
                self._cancel(request)
            case Resume():
                self._resume(request)
            case Finished():
                self._finished(request)
            case Cue():
                self._note(f"note {request.t:.1f} s: {request.name.replace('_', ' ')}")
                if request.name in CHANGES:
                    self._change(request)
            case Surroundings():
                there = ", ".join(name + (" looks at you" if looks else "") for name, _, looks in request.people)
                self._note(f"note {request.t:.1f} s: {there or 'nobody'} in sight")
            case ToolResult():
                self.tool_result(request)
            case Picture():
                self.sight.look(request)

    def _hear(self, hear: Hear) -> None:
        begins = hear.speech and hear.t - self._speech_at > PAUSE_S
        if hear.speech:
            self._speech_at = hear.t
        told = self._sound.hear(hear)
        if not self.ready:
            return
        if begins and self.dialect.led:                    # at the end of the words it would be too late
            self.send(*self.sight.item(self.t, self.dialect))
        self.send(*self.sight.with_sound(self.t, self.dialect, told), sound=True)

    def _recognised(self, request: Candidate | Commit, final: bool) -> None:
        if self.recogniser is None:
            return
        key = (request.turn, request.onset, request.end)
        if self.guess is None or self.guess[0] != key:
            sound = self._sound.recent.between(request.onset - MARGIN_S, request.end + MARGIN_S)
            self.guess = (key, self.recogniser(sound))
        self.replies.append(Transcript(request.turn, self.guess[1], final))
        if final and self.guess[1]:
            self.history.append(("user", self.guess[1]))

    def _commit(self, request: Commit) -> None:
        self._recognised(request, final=True)
        if self.recogniser is None:
            self.turns.append(request.turn)
        answer = self.begin(request.generation, (request.onset, request.end))
        if self.dialect.led and not self.refused:
            self.claim(answer)
            return
        if self.ready:
            self._hand_over(answer)
        self.enqueue(answer, "")

    def _hand_over(self, answer: Answer) -> None:
        """The words of a turn are the server's."""
        assert answer.turn is not None
        self.send(*self.sight.item(self.t, self.dialect), *self._sound.commit(*answer.turn))

    def _prompt(self, request: Prompt) -> None:
        answer = self.begin(request.generation, None)
        if self.dialect.creates and self.dialect.instructs:
            self.enqueue(answer, events.prompted(request.text))
        else:
            self.finish(answer)                           # it cannot be asked to speak: silence by choice

    def begin(self, generation: int, turn: tuple[float, float] | None) -> Answer:
        answer = Answer(generation, Outflow(generation, self.config.lead_s), self.t, turn)
        self.answers[generation] = answer
        for old in list(self.answers)[:-KEPT]:
            self.kill(self.answers.pop(old))
        return answer

    def enqueue(self, answer: Answer, instructions: str) -> None:
        if self.refused:
            answer.told = True
            self.replies.append(EngineTrouble(self.refused, answer.generation))
            return
        self._count += 1
        self.asked.append(Asked(answer.generation, f"talkover_{self._count}", instructions))

    def kill(self, answer: Answer) -> None:
        """Nothing more of this answer is wanted: the server is told, and what still comes is dropped."""
        answer.dead = True
        own = [asked for asked in self.asked if asked.generation == answer.generation]
        for asked in own:
            asked.cancelled = True
            if not self.dialect.commit_answers:            # else its reply comes all the same, in order
                self.asked.remove(asked)
        if self.awaiting is not None and self.awaiting.generation == answer.generation:
            self.awaiting.cancelled = True
        if self.wanted is answer:
            self.wanted = None
        for response in answer.responses:
            self.cancel_response(response)
        for call, result in answer.calls.items():
            if result is None:
                answer.calls[call] = "cancelled"
                self.send(events.tool_result(call, "cancelled"))

    def cancel_response(self, response: str) -> None:
        """Dead here at once; the server hears of it while it is still at it."""
        if self.responses.active == response and self.responses.cancelled_at is None:
            self.send(events.cancel(response))
            self.responses.cancelled_at = self.t
            answer = self.responses.owner.get(response)
            if answer is not None:
                answer.complete = False
        self.responses.kill(response)

    def _cancel(self, request: Cancel) -> None:
        if request.heard:
            self.history.append(("assistant", request.heard))
        answer = self.answers.get(request.generation)
        if answer is None or answer.dead:
            return
        answer.resumed = request.unheard
        self.kill(answer)
        self.forget_unheard(answer, answer.flow.heard(request.clause, request.clause_s), request.heard)

    def forget_unheard(self, answer: Answer, heard: dict[str, float], words: str) -> None:
        """The server's memory ends where the ears did. Below 1 ms there is nothing to truncate: the item goes.

        heard: item -> s of it that were heard; words: the words of all of it.
        """
        if self.dialect.rewrites:
            whole = answer.complete                        # else the server forgot it with the cancel
            self.send(*(events.delete(item) for item in heard if whole))
            self.send(*([events.said("assistant", words, self.dialect.beta)] if words else []))
            return
        for item, seconds in heard.items():
            ms = int(1000.0 * seconds)
            if self.dialect.acks and answer.responses:
                self.send(events.played(answer.responses[-1], item, ms))
            if ms >= 1 and self.dialect.truncates:
                self.send(events.truncate(item, ms))
            elif ms < 1 and self.dialect.deletes:
                self.send(events.delete(item))

    def _resume(self, request: Resume) -> None:
        """What had come goes on; of a response that was cut the server is asked for the rest."""
        answer = self.answers.pop(request.of, None)
        if answer is None:
            answer = self.begin(request.generation, None)
            self.finish(answer)
            return
        answer.generation, answer.dead, answer.told = request.generation, False, False
        answer.flow.resume(request.generation, request.next_index)
        self.answers[request.generation] = answer
        if not answer.complete and self.dialect.creates and self.dialect.instructs:
            answer.complete, answer.flow.ended = True, False
            self.enqueue(answer, "You were interrupted by mistake. Go on right after these words, without repeating "
                                 f"them: {answer.resumed}")
        else:
            self.finish(answer)

    def _finished(self, request: Finished) -> None:
        if request.heard:
            self.history.append(("assistant", request.heard))
        answer = self.answers.pop(request.generation, None)
        if answer is None:
            return
        if answer.resumed and self.dialect.items:          # was truncated away when it was cut, and was heard after all
            self.send(events.said("assistant", answer.resumed, self.dialect.beta))
        if self.dialect.acks and answer.responses:
            for item, seconds in answer.flow.heard(len(answer.flow.clauses) - 1, 1e9).items():
                self.send(events.played(answer.responses[-1], item, int(1000.0 * seconds)))
        self.kill(answer)

    def _change(self, cue: Cue) -> None:
        """What a person shows in mid-reply can change what is said next."""
        running = [a for a in self.answers.values() if not a.dead and a.flow.clauses and a.responses]
        if not running or not cue.heard or not (self.dialect.creates and self.dialect.instructs and self.ready):
            return
        answer = running[-1]
        for response in answer.responses:
            self.cancel_response(response)
        self.forget_unheard(answer, answer.flow.heard_words(cue.heard), cue.heard)
        answer.flow.change()
        answer.told, answer.complete = False, True
        self.enqueue(answer, CHANGES[cue.name])

    def _note(self, text: str) -> None:
        self._notes.append(text)
        if self.dialect.one_note:
            text = "\n".join(self._notes)
        if self.config.notes and self.ready and self.dialect.items:
            self.send(events.said("system", text, self.dialect.beta))
