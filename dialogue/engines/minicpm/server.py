"""What a MiniCPM-o server says, and the life of a session with it: queue, preparation, end."""
from collections import deque
from typing import Any

from dialogue.engine import EngineReady, EngineTrouble, EngineUsage, Reply, ReplyDone
from dialogue.engines.minicpm.config import MiniCpmConfig
from dialogue.engines.minicpm.latch import Latch
from dialogue.engines.minicpm.utterance import Utterance
from dialogue.engines.minicpm.words import VOICE_HZ, Said, Words
from dialogue.engines.outflow import Outflow
from dialogue.engines.remote import Message
from perception.audio.block import Samples

YIELD_S = 0.5          # s: a model that stops in mid-reply while somebody speaks gives way to them


class ServerSide:
    """The server's half of a session. The other half (MiniCpmSession) keeps the state."""

    name: str
    config: MiniCpmConfig
    words: Words
    latch: Latch
    t: float
    state: str
    busy: bool
    leaving: bool
    last: str
    refused: str
    late: int
    _since: float
    _opened_at: float
    _told_queue: float | None
    _speech_at: float
    _sent: int
    _answered: int
    _kv: int
    _waits_since: float | None
    _listened: int
    _units: deque[Samples]
    _gathered: list[Samples]
    _own: str
    _utterance: Utterance | None
    _held: Utterance | None
    _wanted: int | None
    _out: list[Message]
    _replies: list[Reply]

    def _bind(self, utterance: Utterance, generation: int) -> None: ...

    # the server -------------------------------------------------------------------------------------------------------

    def opened(self, t: float) -> None:
        self.t = self._opened_at = t
        self.busy, self.last, self._told_queue = False, "", None
        self._become("waiting")

    def take(self, t: float, message: dict[str, Any]) -> None:
        self.t = t
        said = self.words.read(message)
        self._kv = said.kv or self._kv
        match said.kind:
            case "queued":
                self._queued(said)
            case "go" if self.state == "waiting":
                self._prepare()
            case "ready" if self.state == "preparing":
                self._begin()
            case "listen" | "speak":
                self._decided(said)
            case "closed":
                self.last = f"closed: {said.text}"
                self.leaving = self.state == "closing"
            case "error":
                self.last = said.text
                self.busy = "ueue" in said.text or "busy" in said.text or "worker" in said.text

    def _queued(self, said: Said) -> None:
        if self._told_queue is None or self.t - self._told_queue > self.config.queue_told_s:
            self._told_queue = self.t
            self._replies.append(EngineTrouble(
                f"minicpm: others use the server; place {said.position}, about {said.wait_s:.0f} s", 0))

    def _prepare(self) -> None:
        prompt = self.config.system_prompt
        if self._own:
            prompt += f"\nYou have just said: {self._own}"
        self._say(self.words.hello(self.config, prompt))
        self._become("preparing")

    def _begin(self) -> None:
        self._become("ready")
        self._sent = self._answered = self._kv = 0
        self._waits_since = None
        self._units.clear()
        self._gathered.clear()
        self.latch.open()
        self._replies.append(EngineReady(self.name))

    def _decided(self, said: Said) -> None:
        """The model's decision about one unit."""
        self._answered, self._waits_since = self._answered + 1, None
        number = self._answered if self.words.counts else said.number
        if not self.latch.lets(said.kind == "listen", number):
            self.late += said.kind == "speak"
            return
        if said.kind == "listen":
            self._listens()
            return
        if self._utterance is None:
            self._utterance = Utterance(Outflow(0, self.config.lead_s), self.t)
            if self._wanted is not None:
                self._bind(self._utterance, self._wanted)
            else:
                self._held = self._utterance
        utterance = self._utterance
        utterance.flow.text(utterance.thoughts(said.text))
        utterance.flow.sound("turn", utterance.rate(said.samples))
        if said.cost_s and len(said.samples):
            utterance.pieces.append((said.cost_s, len(said.samples) / VOICE_HZ))
        if said.ends:
            self._end(utterance)

    def _listens(self) -> None:
        utterance = self._utterance
        if utterance is not None:
            spoken_over = self.t - self._speech_at < YIELD_S and utterance is not self._held
            if spoken_over and not utterance.told:
                utterance.told = utterance.dead = True
                self._replies.append(ReplyDone(utterance.flow.generation, yielded=True))
            self._end(utterance)
        elif self._wanted is not None:
            self._listened += 1
            if self._listened >= self.config.listens:
                self._replies.append(ReplyDone(self._wanted, silent=True))
                self._wanted = None

    def _end(self, utterance: Utterance) -> None:
        utterance.flow.text(utterance.thoughts.rest())
        utterance.flow.end()
        self._utterance = None
        if utterance.pieces:
            self._replies.append(EngineUsage(utterance.flow.generation, pieces=tuple(utterance.pieces)))

    def lost(self, t: float) -> None:
        """What had come is still said; a turn that was not answered is told."""
        self.t, self.leaving = t, False
        self._out = []
        self._become("away")
        if self._utterance is not None:
            self._end(self._utterance)
        if self._wanted is not None:
            self._replies.append(EngineTrouble("the connection was lost before the answer", self._wanted))
            self._wanted = None

    def refuse(self, t: float, reason: str) -> None:
        self.refused = reason

    def _become(self, state: str) -> None:
        self.state, self._since = state, self.t

    def _say(self, body: dict[str, Any], sound: bool = False) -> None:
        self._out.append(Message(body, sound))
