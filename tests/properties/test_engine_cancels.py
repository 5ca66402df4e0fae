"""Random cancels over all engines, with late, repeated and reordered deltas: nothing stale passes the gate.

Each engine is the pure core (or the engine itself where it has no server); the gate is the mind's own Speaker.
"""
from collections import deque

import numpy as np
import pytest

from dialogue.engine import Cancel, Clause, Commit, Hear, ReplyDone, Resume
from dialogue.engines import embedded
from dialogue.engines.chat import ChatEngine
from dialogue.engines.chat_config import ChatConfig
from dialogue.engines.chat_stream import Over, Words
from dialogue.engines.embedded import EmbeddedConfig, EmbeddedEngine
from dialogue.engines.minicpm.config import MiniCpmConfig
from dialogue.engines.minicpm.session import MiniCpmSession
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.session import RealtimeSession
from dialogue.engines.scripted import Faults, Rule, ScriptedEngine
from dialogue.speaker import Speaker
from perception.audio.block import frozen_samples
from tests import fake_minicpm, fake_realtime

SOUND = frozen_samples(np.zeros(800))
ROUNDS = {"openai": 800, "openai-beta": 500, "localai": 500, "minicpm-demo": 500, "minicpm-gateway": 500,
          "embedded": 1200, "chat": 3000, "scripted": 3000}     # cancels, 10,000 in all; fewer where they cost more


class Unruly:
    """Messages of a server: each may come late, twice, or after a later one. orderly: only late."""

    def __init__(self, rng, orderly):
        self.rng, self.waiting, self.orderly = rng, [], orderly

    def add(self, messages):
        for message in messages:
            if self.orderly:
                least = self.waiting[-1][0] if self.waiting else 0
                self.waiting.append([max(least, int(self.rng.integers(0, 25))), message])
                continue
            for _ in range(2 if self.rng.random() < 0.1 else 1):
                wait = int(self.rng.integers(1, 12)) if self.rng.random() < 0.2 else 0
                self.waiting.append([wait, message])

    def due(self):
        for entry in self.waiting:
            entry[0] -= 1
        out = [message for wait, message in self.waiting if wait < 0]
        self.waiting = [entry for entry in self.waiting if entry[0] >= 0]
        return out


class ServedCore:
    """A core and its fake server, as an engine."""

    def __init__(self, core, server, rng, finish, orderly=False):
        self.core, self.server, self.line, self.finish = core, server, Unruly(rng, orderly), finish
        self.core.opened(0.0)
        for message in server.greeting():
            core.take(0.0, message)
        self.exchange(0.0, orderly=True)

    def exchange(self, t, orderly=False):
        messages, replies = self.core.step(t, 0)
        for message in messages:
            answers = self.server.hear(message.body)
            if orderly:
                for answer in answers:
                    self.core.take(t, answer)
            else:
                self.line.add(answers)
        return replies

    def handle(self, t, request):
        self.core.ask(t, request)
        if self.finish and self.server.active and self.line.rng.random() < 0.3:
            self.line.add(self.server.finish())
        for message in self.line.due():
            self.core.take(t, message)
        return self.exchange(t)


    @property
    def count(self):
        """What the server has made: responses, or units."""
        return getattr(self.server, "count", 0) or getattr(self.server, "units", 0)


class Plain:
    """An engine without a server."""

    def __init__(self, engine):
        self.engine = engine

    def handle(self, t, request):
        return [timed.reply for timed in self.engine.handle(request)]


    count = 0


class Babble:
    """A chat server's stream: a clause at each look."""

    def __init__(self, body):
        self.left = 6

    def read(self):
        self.left -= 1
        return [Words("One more. ")] if self.left > 0 else [Over()]

    def stop(self):
        """It goes on talking all the same."""


def served(name):
    def make(rng):
        config = RealtimeConfig(local_words=False, server=name)
        faults = fake_realtime.Faults(late_deltas=3)
        server = fake_realtime.Server("{n} {n} {n} {n} {n} ", beta="beta" in name, faults=faults,
                                      commit_answers=name == "localai")
        return ServedCore(RealtimeSession(config), server, rng, finish=True,
                          orderly=name == "localai")     # only order binds its responses to what asked for them
    return make


def duplex(protocol, fake):
    def make(rng):
        faults = fake_minicpm.Faults(kv_a_unit=0)
        config = MiniCpmConfig(protocol=protocol, rotate_audio_s=1e9, forced_s=1e9)    # one session: no reconnect here
        plan = {unit: f"{unit} " for unit in range(4, 100000) if unit % 7 < 4}
        return ServedCore(MiniCpmSession(config, rng), fake(plan, faults, sound_s=0.2), rng, finish=False,
                          orderly=protocol == "demo")   # the answers are counted
    return make


class FakeEars:
    def __init__(self, config):
        pass

    def words(self, samples):
        return "tell me a long story"


ENGINES = {
    "openai": served("openai"), "openai-beta": served("openai-beta"), "localai": served("localai"),
    "minicpm-demo": duplex("demo", fake_minicpm.Demo), "minicpm-gateway": duplex("gateway", fake_minicpm.Gateway),
    "embedded": lambda rng: Plain(EmbeddedEngine(EmbeddedConfig())),
    "chat": lambda rng: Plain(ChatEngine(ChatConfig(), EmbeddedConfig(), open_stream=Babble)),
    "scripted": lambda rng: Plain(ScriptedEngine((Rule(".", "One. Two. Three. Four."),), lambda s, a, b: "go",
                                                 lambda text: SOUND, Faults(late_deltas=3, duplicate_reply=True))),
}


class Talk:
    """Turns, cancels and false interruptions at random, and what reaches the loudspeaker's gate."""

    def __init__(self, engine, rng):
        self.engine, self.rng, self.speaker = engine, rng, Speaker()
        self.generation = self.cancels = self.heard = self.stale = self.made = 0
        self.live = None
        self.of, self.least = {}, {}     # of: generations whose clauses belong to one; least: the newest made before it
        self.resumes = deque()
        self.on_the_way = []

    def begins(self) -> int:
        self.generation += 1
        return self.generation

    def request(self, t, sound, often):
        """What the mind asks at t (s); often: share of the requests that cancel."""
        chance = self.rng.random()
        if self.live is None:
            self.live = live = self.begins()
            self.speaker.begin(live)
            self.speaker.start()
            self.of[live], self.least[live] = {live}, self.made
            return Commit(t, live, t - 0.1, t, live)
        if chance >= often:
            return Hear(t, sound, False)
        before, self.live = self.live, None
        rest = self.speaker.stop(self.begins())
        self.cancels, self.made = self.cancels + 1, self.engine.count
        if chance < 0.2 * often:
            self.resumes.append((rest, before))
        return Cancel(t, before, rest.heard, rest.unheard, rest.clause, rest.clause_s)

    def resume(self, t):
        """Replies of a reply that goes on because its interruption was false."""
        rest, before = self.resumes.pop()
        self.live = live = self.begins()
        self.speaker.resume(rest, live)
        self.speaker.start()
        self.of[live], self.least[live] = self.of[before] | {live}, self.least[before]
        return self.engine.handle(t, Resume(t, before, live, rest.next_index))

    def take(self, replies) -> None:
        for reply in replies:
            if isinstance(reply, Clause):
                accepted = self.speaker.add(reply)
                self.stale += accepted and reply.generation != self.live
                self.stale += reply.generation not in self.of      # of a reply that nobody ever asked for
                words = (int(word) for word in reply.text.split() if word.isdecimal())
                self.stale += any(word <= self.least[reply.generation] for word in words)
            elif isinstance(reply, ReplyDone):
                self.speaker.done(reply.generation)

    def sounds(self, blocks: int) -> None:
        for block in self.speaker.step(blocks):
            self.heard += block.generation != 0
            self.stale += block.generation not in (0, self.live)


@pytest.mark.parametrize("name", ENGINES)
def test_no_stale_block_passes_the_gate(name, monkeypatch):
    monkeypatch.setattr(embedded, "Recogniser", FakeEars)
    monkeypatch.setattr(embedded, "Voice", lambda config: lambda text, style: SOUND)
    duplex = name.startswith("minicpm")           # decides once a second: whoever stops it sooner never hears it
    tick, often = (0.2, 0.1) if duplex else (0.05, 0.15)           # s between two requests; share of them that cancel
    often = 0.3 if name in ("embedded", "chat", "scripted") else often
    sound = frozen_samples(np.zeros(round(16000 * tick)))
    rng = np.random.default_rng([7, list(ENGINES).index(name)])
    talk, t = Talk(ENGINES[name](rng), rng), 0.0
    while talk.cancels < ROUNDS[name]:
        t += tick
        replies = talk.engine.handle(t, talk.request(t, sound, often))
        if talk.resumes:
            replies += talk.resume(t)
        talk.on_the_way += replies                      # an engine is another process: what it says may come later
        if rng.random() < 0.6:
            talk.take(talk.on_the_way)
            talk.on_the_way = []
        talk.sounds(round(100 * tick))
    assert talk.stale == 0
    assert talk.heard > 50, talk.heard
