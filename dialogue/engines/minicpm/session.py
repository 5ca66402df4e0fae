"""A talk with a MiniCPM-o server: it gets a second of sound each second, and decides each second to listen or speak.

It knows no commit and no cancel. What it says is held until a turn is committed that it answers; a stop is local, and
makes it listen, unit by unit, until the person is quiet and it has listened to a unit that told it to.
"""
from collections import deque
from collections.abc import Callable

import numpy as np

from dialogue.engine import (
    Cancel,
    Candidate,
    Commit,
    EngineTrouble,
    Finished,
    Hear,
    Picture,
    Prompt,
    Reply,
    ReplyDone,
    Request,
    Resume,
    Transcript,
)
from dialogue.engines.minicpm.config import MiniCpmConfig
from dialogue.engines.minicpm.latch import Latch
from dialogue.engines.minicpm.server import ServerSide
from dialogue.engines.minicpm.utterance import Utterance
from dialogue.engines.minicpm.words import UNIT, DemoWords, GatewayWords, Words
from dialogue.engines.recent_sound import RecentSound
from dialogue.engines.remote import Message
from perception.audio.block import Samples

PACE_S = 0.9           # between two units: a stall must not become a burst, which servers drop or queue
GO_ANYWAY_S = 5.0      # without a word of the server, then it has no queue
FAREWELL_S = 3.0       # for its answer to a farewell
QUIET_S = 2.0          # s without speech before a session may be renewed
MARGIN_S = 0.3         # of sound around a turn for the recogniser on this machine
KEPT = 4               # replies that can still be resumed or drip


class MiniCpmSession(ServerSide):
    """The core of the engine `minicpm` (dialogue.engines.remote.Core)."""

    name = "minicpm"

    def __init__(self, config: MiniCpmConfig, rng: np.random.Generator,
                 recogniser: Callable[[Samples], str] | None = None):
        """rng draws the names of sessions."""
        self.config, self.recogniser, self._rng = config, recogniser, rng
        self.words: Words = DemoWords() if config.protocol == "demo" else GatewayWords()
        self.pause_s = 2.5                                 # a worker needs it to clean up
        self.busy = self.leaving = False
        self.last = self.refused = ""
        self.latch = Latch(config.quiet_s)
        self.late = self.dropped = 0                       # answers nobody wants any more; units that were too late
        self.t = 0.0
        self.state = "away"                                # away, waiting, preparing, ready, closing
        self._since = 0.0                                  # s, of the state
        self._told_queue: float | None = None              # s, last report of waiting in the queue
        self._opened_at = 0.0
        self._speech_at = -1e9
        self._recent = RecentSound()
        self._gathered: list[Samples] = []
        self._units: deque[Samples] = deque()
        self._sent = self._answered = 0
        self._sent_at = -1e9
        self._waits_since: float | None = None             # s, first unit since the server's last answer
        self._kv = 0
        self._picture: Picture | None = None
        self._guess: tuple[tuple[int, float, float], str] | None = None
        self._utterance: Utterance | None = None           # that the model is at
        self._held: Utterance | None = None                # that no turn was committed for
        self._wanted: int | None = None                    # reply that the model has not begun
        self._listened = 0                                 # units since then
        self._said: dict[int, Utterance] = {}              # by generation, newest last
        self._own = ""                                     # its last words that were heard
        self._out: list[Message] = []
        self._replies: list[Reply] = []

    def address(self) -> str:
        name = f"{int(self._rng.integers(2 ** 48)):012x}"
        return self.config.url.rstrip("/") + self.words.path(self.config.frames, name)

    # the mind -----------------------------------------------------------------------------------------------------

    def ask(self, t: float, request: Request) -> None:
        self.t = t
        match request:
            case Hear():
                self._hear(request)
            case Candidate():
                self._recognised(request, final=False)
            case Commit():
                self._recognised(request, final=True)
                self._claim(request.generation, request.onset)
            case Prompt():
                self._replies.append(ReplyDone(request.generation, silent=True))   # nothing can make it speak
            case Cancel():
                self._cancel(request)
            case Resume():
                self._resume(request)
            case Finished():
                self._remember(request.heard)
                self._said.pop(request.generation, None)
            case Picture():
                self._picture = request if self.config.frames else None

    def _hear(self, hear: Hear) -> None:
        self._recent.add(hear)
        if hear.speech:
            self._speech_at = hear.t
        if self.state != "ready":
            return
        self._gathered.append(hear.samples)
        if sum(map(len, self._gathered)) < UNIT:
            return
        sound = np.concatenate(self._gathered)
        while len(sound) >= UNIT:
            self._units.append(sound[:UNIT])
            sound = sound[UNIT:]
        self._gathered = [sound]
        while len(self._units) > self.config.in_flight:
            self._units.popleft()
            self.dropped += 1

    def _recognised(self, request: Candidate | Commit, final: bool) -> None:
        """The server writes nothing down; the recogniser on this machine does."""
        if self.recogniser is None:
            return
        key = (request.turn, request.onset, request.end)
        if self._guess is None or self._guess[0] != key:
            self._guess = (key, self.recogniser(self._recent.between(request.onset - MARGIN_S, request.end + MARGIN_S)))
        self._replies.append(Transcript(request.turn, self._guess[1], final))

    def _claim(self, generation: int, onset: float) -> None:
        """A turn is over: what the model has begun to say answers it, or what it says next."""
        if self.refused:
            self._replies.append(EngineTrouble(self.refused, generation))
            return
        self._wanted, self._listened = generation, 0
        if self._held is not None and self._held.at < onset:
            self._drop_held()                              # begun before the words: no answer to them
        if self._held is not None:
            utterance, self._held = self._held, None
            self._bind(utterance, generation)

    def _bind(self, utterance: Utterance, generation: int) -> None:
        utterance.flow.generation = generation
        self._said[generation] = utterance
        self._wanted = None
        for old in list(self._said)[:-KEPT]:
            del self._said[old]

    def _cancel(self, cancel: Cancel) -> None:
        self._remember(cancel.heard)
        self.latch.skip(self._sent)
        if self._held is not None:
            self._drop_held()
        if self._wanted == cancel.generation:
            self._wanted = None
            self.latch.close(self.t, self._sent)           # what it is about to say answers words that are taken back
        utterance = self._said.get(cancel.generation)
        if utterance is None:
            return
        utterance.dead = True
        if utterance is self._utterance:
            self._utterance = None
            self.latch.close(self.t, self._sent)

    def _resume(self, request: Resume) -> None:
        """What had come goes on; what the model would have said after it is lost."""
        utterance = self._said.pop(request.of, None)
        if utterance is None:
            self._replies.append(ReplyDone(request.generation))
            return
        utterance.dead = utterance.told = False
        utterance.flow.resume(request.generation, request.next_index)
        utterance.flow.end()
        self._bind(utterance, request.generation)

    def _remember(self, heard: str) -> None:
        self._own = f"{self._own} {heard}".strip()[-self.config.handover_letters:]

    # time -----------------------------------------------------------------------------------------------------------

    def step(self, t: float, unsent: int) -> tuple[list[Message], list[Reply]]:
        self.t = t
        if unsent == 0:
            self.latch.crossed(self._sent)
        self._look_after()
        while self._units and self._may_send(unsent):
            self._send_unit()
        if self._held is not None and t - self._held.at > self.config.held_s:
            self._drop_held()
        for utterance in list(self._said.values()):
            self._drip(utterance)
        out, self._out = self._out, []
        replies, self._replies = self._replies, []
        return out, replies

    def _may_send(self, unsent: int) -> bool:
        in_flight = self._sent - self._answered if self.words.counts else unsent
        return self.state == "ready" and in_flight < self.config.in_flight and self.t - self._sent_at >= PACE_S

    def _send_unit(self) -> None:
        self._sent, self._sent_at = self._sent + 1, self.t
        self._waits_since = self.t if self._waits_since is None else self._waits_since
        force = self.latch.force(self._sent)
        jpeg = self._picture.jpeg.tobytes() if self._picture is not None and self.config.frames else None
        self._picture = None
        self._say(self.words.unit(self._units.popleft(), self._sent, force, jpeg), sound=True)

    def _drip(self, utterance: Utterance) -> None:
        if utterance.dead:
            return
        self._replies += utterance.flow.step(self.t)
        if utterance.flow.done and not utterance.told:
            utterance.told = True
            self._replies.append(ReplyDone(utterance.flow.generation, silent=not utterance.flow.clauses))

    def _drop_held(self) -> None:
        """Nobody's turn was answered by it; if it still goes on, the model shall listen."""
        if self._held is self._utterance:
            self._utterance = None
            self.latch.close(self.t, self._sent)
        self._held = None
        self.late += 1

    def _look_after(self) -> None:
        """Ends what takes too long, and renews sessions before their caps."""
        config, age, waited = self.config, self.t - self._opened_at, self.t - self._since
        self.latch.step(self.t, self._speech_at)
        if self.state == "waiting" and self._told_queue is None and waited > GO_ANYWAY_S:
            self._prepare()
        queued = self.state == "waiting" and waited > config.queue_s
        if queued or (self.state == "preparing" and waited > config.prepare_s):
            self._leave()
        elif self.state == "ready" and self.latch.closed_for(self.t) > config.forced_s:
            self.last = "the model does not listen when it is told to"
            self._leave()
        elif self.state == "ready" and self._waits_since is not None and self.t - self._waits_since > config.answers_s:
            self._replies.append(EngineTrouble("minicpm: the model answers nothing; connects again", 0))
            self._leave()
        elif self.state == "ready":
            cap = config.rotate_video_s if config.frames else config.rotate_audio_s
            quiet = self.t - self._speech_at > QUIET_S and self._utterance is None and self._wanted is None
            full = self._kv >= config.rotate_kv
            if (quiet and (age > cap or full)) or age > cap + config.rotate_grace_s:
                self._leave()
        elif self.state == "closing" and waited > FAREWELL_S:
            self.leaving = True

    def _leave(self) -> None:
        """Say farewell, so that the worker is free for the next session."""
        self._say(self.words.bye())
        self._become("closing")
