"""Ears and voice of the embedded engine, words from an OpenAI-compatible server, spoken clause by clause as they come.

When the server is slow or gone, the companion of the embedded engine answers instead, and goes on answering for a
while: a robot that says something simple is better than one that says nothing.
"""
import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from dialogue.engine import (
    Cancel,
    Commit,
    Cue,
    EngineTrouble,
    EngineUsage,
    Finished,
    Prompt,
    Request,
    Timed,
    ToolCall,
    ToolResult,
    Transcript,
)
from dialogue.engines.address import on_this_machine
from dialogue.engines.chat_config import ChatConfig
from dialogue.engines.chat_stream import CallPiece, ChatStream, Over, Piece, Used, Words
from dialogue.engines.embedded import EmbeddedConfig, EmbeddedEngine, Speech
from dialogue.engines.minicpm.words import ThoughtFilter
from dialogue.engines.plan import Said
from dialogue.engines.tools import BadCall, checked_call, function_schema, offered
from dialogue.memory import Memory

FIRST_LETTERS = 24       # of a first clause that is cut at a comma: the voice begins sooner
LONGEST = 120            # letters of a clause: one breath
NOTES = 12               # cues told with a turn: those of a whole evening without a word are no part of it
ROUNDS = 3               # requests for one reply: a model that only calls tools is stopped


class Stream(Protocol):
    """What ChatStream does."""

    def read(self) -> list[Piece]: ...

    def stop(self) -> None: ...


def cut_clauses(text: str, first: bool, over: bool) -> tuple[list[str], str]:
    """The clauses of a text that may go on, and its rest. first: nothing was spoken yet; over: it does not go on."""
    clauses: list[str] = []
    while True:
        end = re.search(r"[.!?…]+[\"')\]]*\s|\n", text)
        at = end.end() if end else 0
        if not at and first and not clauses and (comma := re.search(r"[,;:]\s", text[FIRST_LETTERS:])):
            at = FIRST_LETTERS + comma.end()
        if not at and len(text) > LONGEST:
            at = max(text.rfind(mark, 0, LONGEST) for mark in (", ", "; ", " ")) + 1
        if not at:
            break
        clauses.append(text[:at])
        text = text[at:]
    if over:
        clauses, text = [*clauses, text], ""
    spoken = [re.sub(r"[*_#`]|\[[^\]]*\]", "", clause).strip() for clause in clauses]
    return [clause for clause in spoken if re.search(r"\w", clause)], text


class ChatEngine(EmbeddedEngine):
    """See the module. open_stream begins a request: its body in, its stream out."""

    name = "chat"

    def __init__(self, config: ChatConfig, embedded: EmbeddedConfig, key: str = "",
                 open_stream: Callable[[dict[str, Any]], Stream] | None = None, memory: Memory | None = None):
        super().__init__(embedded, memory)
        self.chat = config
        url = config.url.rstrip("/") + "/chat/completions"
        self._open_stream = open_stream or (
            lambda body: ChatStream(url, body, key, config.connect_s, config.stall_s))
        self._stream: Stream | None = None
        self._history: deque[dict[str, Any]] = deque(maxlen=2 * config.turns)
        self._asked: list[dict[str, Any]] = []      # messages of this reply: the turn, calls, results
        self._said = Said("", None, 0.0)            # what is being answered
        self._prompt_text = ""                      # ... or of what prompt of the mind
        self._rest = ""                             # text that is no clause yet
        self._thoughts = ThoughtFilter()
        self._calls: dict[int, list[str]] = {}      # index -> call, name, arguments as they come
        self._results: dict[str, str | None] = {}   # call -> result, None while it is awaited
        self._notes: deque[str] = deque(maxlen=NOTES)   # cues since the last turn, the newest
        self._asked_at = self._word_at = 0.0        # s
        self._rounds = 0
        self._away_until = -1e9                     # s, after a failure

    def handle(self, request: Request) -> Iterator[Timed]:
        match request:
            case Cancel():
                self._hush(request.heard)
            case Finished():
                self._remember(request.heard)
            case Cue():
                self._notes.append(f"[{request.t:.1f} s: {request.name.replace('_', ' ')}]")
                if request.name == "shakes_head" and self._speech is not None:
                    self._end_stream()                    # the companion asks back in mid-reply
                    self._speech.open = False
            case ToolResult():
                yield from self._result(request)
                return
            case Prompt() if not request.text.startswith("say: "):
                asks = request.text.replace("cue:", "the person ").replace("_", " ")
                self._notes.append(f"[{asks}; answer in one short sentence]")
                yield from self._ask(request.t, request.generation, Said("", None, request.t), request.text)
                return
        if self._stream is not None:
            yield from self._listen(request.t)
        yield from super().handle(request)

    def _answer(self, request: Commit) -> Iterator[Timed]:
        timed = self._recognised(request, final=True)
        yield timed
        assert isinstance(timed.reply, Transcript)
        before = self._words.get(request.continues, "") if request.continues is not None else ""
        words = f"{before} {timed.reply.text}".strip()
        self._words = {request.turn: words}
        said = Said(words, request.person, request.t)
        if request.light and on_this_machine(self.chat.url):
            self._end_stream()
            self._said, self._prompt_text, self._asked = said, "", []
            yield from self._companion_answers(request.t, request.generation)
            return
        yield from self._ask(request.t, request.generation, said)

    # the server ---------------------------------------------------------------------------------------------------

    def _ask(self, t: float, generation: int, said: Said, prompt: str = "") -> Iterator[Timed]:
        """Begin a reply with the server's words, or the companion's while it is away."""
        self._end_stream()
        self._said, self._prompt_text = said, prompt
        if t < self._away_until or (not said.words and not prompt):
            yield from self._companion_answers(t, generation)
            return
        text = " ".join([*self._notes, said.text]).strip()
        self._notes.clear()
        self._asked, self._rounds = [{"role": "user", "content": text}], 0
        self._speech = Speech(generation, [], t, open=True)
        self._request(t)
        yield from self._listen(t)

    def _request(self, t: float) -> None:
        self._rounds += 1
        self._rest, self._thoughts, self._calls = "", ThoughtFilter(), {}
        self._asked_at = self._word_at = t
        body: dict[str, Any] = {"stream": True, "temperature": self.chat.temperature,
                                "max_tokens": self.chat.max_tokens, "messages": [
                                    {"role": "system", "content": self._instructions()}, *self._history,
                                    *self._asked]}
        if self.chat.model:
            body["model"] = self.chat.model
        if self.chat.usage:
            body["stream_options"] = {"include_usage": True}
        if self.chat.tools and self._rounds < ROUNDS:
            body["tools"] = [{"type": "function", "function": function_schema(tool)}
                             for tool in offered(own_voice=True)]
        self._stream = self._open_stream(body)

    def _instructions(self) -> str:
        return self.chat.instructions + (" Be very brief." if self.style.length == "brief" else "")

    def _listen(self, t: float) -> Iterator[Timed]:
        """Take what has come, and end what comes too late."""
        speech, stream = self._speech, self._stream
        if speech is None or stream is None:
            return
        for piece in stream.read():
            self._word_at = t
            if isinstance(piece, Words):
                self._rest += self._thoughts(piece.text)
            elif isinstance(piece, CallPiece):
                call = self._calls.setdefault(piece.index, ["", "", ""])
                call[:] = [call[0] or piece.call, call[1] or piece.name, call[2] + piece.arguments]
            elif isinstance(piece, Used):
                yield Timed(0.0, EngineUsage(speech.generation, piece.tokens))
            else:
                yield from self._over(t, speech, piece)
                return
        first = not speech.sent and not speech.queue
        clauses, self._rest = cut_clauses(self._rest, first, over=False)
        speech.queue += clauses
        waits = first and not clauses
        if waits and t - self._asked_at > self.chat.first_s:
            yield from self._over(t, speech, Over(f"no clause in {self.chat.first_s:g} s"))
        elif not waits and t - self._word_at > self.chat.stall_s:
            yield from self._over(t, speech, Over("stalled"))

    def _over(self, t: float, speech: Speech, over: Over) -> Iterator[Timed]:
        """The stream has ended: speak the rest, run the tools, or let the companion answer."""
        self._end_stream()
        clauses, self._rest = cut_clauses(self._rest + self._thoughts.rest(), False, over=True)
        speech.queue += clauses
        if over.trouble:
            self._away_until = t + self.chat.again_s
            told = f"chat: {over.trouble}; the companion answers for {self.chat.again_s:g} s"
            yield Timed(0.0, EngineTrouble(told, 0))
        if self._calls and not over.trouble:
            yield from self._call(t, speech)
        elif not speech.sent and not speech.queue:
            yield from self._companion_answers(t, speech.generation)
        else:
            speech.open = False

    def _companion_answers(self, t: float, generation: int) -> Iterator[Timed]:
        if self.chat.fallback == "none":
            self._speech = None
            yield Timed(0.0, EngineTrouble("the chat server does not answer", generation))
            return
        companion, prompt = self._companion, self._prompt_text
        plan = companion.prompted(prompt, t) if prompt else companion.answer(self._said)
        self._asked = self._asked or [{"role": "user", "content": self._said.text}]
        yield from self._begin(t, generation, plan)

    def _call(self, t: float, speech: Speech) -> Iterator[Timed]:
        """Hand the tool calls on; those that cannot be obeyed have their result at once."""
        calls, self._calls = self._calls, {}
        named = {call or f"call_{speech.generation}_{index}": (name, text)
                 for index, (call, name, text) in calls.items()}
        self._asked.append({"role": "assistant", "content": None, "tool_calls": [
            {"id": call, "type": "function", "function": {"name": name, "arguments": text}}
            for call, (name, text) in named.items()]})
        self._results = {}
        for call, (name, text) in named.items():
            try:
                self._results[call] = None
                yield Timed(0.0, ToolCall(speech.generation, call, name, checked_call(name, text)))
            except BadCall as wrong:
                self._results[call] = str(wrong)
        self._go_on(t)

    def _result(self, result: ToolResult) -> Iterator[Timed]:
        self._decided(result)                          # of the companion's, when the server was away
        if result.call in self._results:
            self._results[result.call] = result.result
            self._go_on(result.t)
        yield from ()

    def _go_on(self, t: float) -> None:
        """All results are there: the server hears them, once."""
        if self._results and None not in self._results.values() and self._speech is not None:
            self._asked += [{"role": "tool", "tool_call_id": call, "content": result}
                            for call, result in self._results.items()]
            self._results = {}
            self._request(t)

    # memory ---------------------------------------------------------------------------------------------------------

    def _hush(self, heard: str) -> None:
        self._end_stream()
        self._remember(heard)
        if self._speech is not None:
            self._speech.open = False
        self._results = {}

    def _remember(self, heard: str) -> None:
        """The server is told again what was said and what was heard of its answer, no more."""
        said = [message for message in self._asked if message["role"] == "user" and message["content"]]
        self._history.extend(said)
        if heard:
            self._history.append({"role": "assistant", "content": heard})
        self._asked = []

    def _end_stream(self) -> None:
        if self._stream is not None:
            self._stream.stop()
            self._stream = None
