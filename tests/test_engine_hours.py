"""Hours with a server that ends its sessions, and with one that wants nobody: in virtual time, by the real engine."""
import json
import tracemalloc
from itertools import count

import numpy as np
import pytest

from dialogue.engine import Clause, Commit, EngineReady, EngineTrouble, Finished, Hear, ReplyDone
from dialogue.engines.link import Ended, Link, Opened
from dialogue.engines.minicpm.config import MiniCpmConfig
from dialogue.engines.minicpm.session import MiniCpmSession
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.session import RealtimeSession
from dialogue.engines.remote import RemoteEngine
from tests.engine_bench import SILENCE, VOICE
from tests.fake_minicpm import Faults, Gateway
from tests.fake_realtime import Server

PIECE_S, PULSE_S = 0.1, 10.0      # s between two looks at the line, with sound and without
QUIET, LOUD = np.repeat(SILENCE, 10), np.tile(VOICE, 10)


class Wire:
    """A connection in virtual time. ends: after how many s each is ended, how, and what the server says before."""

    uplink = ()                          # nothing ever waits

    def __init__(self, make, *ends):
        self.make, self.ends, self.t = make, ends, 0.0
        self.servers, self.attempts, self.arrived, self.end_at = [], 0, [], np.inf

    def open(self, url):
        after, self.ended, self.says = self.ends[min(self.attempts, len(self.ends) - 1)]
        self.attempts += 1
        if after == 0:                   # refused at the door, or just behind it
            self.arrived += [self.ended] if self.ended.code is None else [Opened(), self.ended]
            return
        self.servers.append(self.make())
        self.arrived += [Opened(), *map(json.dumps, self.servers[-1].greeting())]
        self.end_at = self.t + after

    def receive(self):
        if self.t >= self.end_at:
            self.arrived += [*map(json.dumps, self.says), self.ended]
            self.end_at = np.inf
        arrived, self.arrived = self.arrived, []
        return arrived

    def send(self, text, sound=False):
        server = self.servers[-1]
        self.arrived += map(json.dumps, server.hear(json.loads(text)))
        if getattr(server, "active", None):
            self.arrived += map(json.dumps, server.finish())

    def leave(self):
        if self.end_at < np.inf:
            self.arrived.append(Ended(1000))
            self.end_at = np.inf


class Hours:
    """An engine, and a person who says something now and then."""

    def __init__(self, core, wire):
        self.wire, self.replies, self.turns, self.t = wire, [], 0, 0.0
        self.engine = RemoteEngine(core, wire, Link(np.random.default_rng(1)))

    def hear(self, seconds, sound=QUIET):
        for _ in range(round(seconds / PIECE_S)):
            self.t += PIECE_S
            self.ask(Hear(self.t, sound, sound is LOUD))

    def ask(self, request):
        self.wire.t = self.t
        self.replies += [timed.reply for timed in self.engine.handle(request)]

    def wait(self, seconds):
        """Without sound: as fast as it goes."""
        for _ in range(round(seconds / PULSE_S)):
            self.t += PULSE_S
            self.wire.t = self.t
            self.replies += [timed.reply for timed in self.engine.pulse(PULSE_S)]

    def turn(self, answer_s):
        """Something said, and what is answered within `answer_s`."""
        self.turns += 1
        onset = self.t
        self.hear(1.5, LOUD)
        self.ask(Commit(self.t, self.turns, onset, self.t, self.turns))
        self.hear(answer_s)
        if ReplyDone(self.turns) in self.replies:
            self.ask(Finished(self.t, self.turns, self.words(self.turns)))
        return self.words(self.turns)

    def words(self, generation):
        return " ".join(c.text for c in self.got(Clause) if c.generation == generation and c.text)

    def got(self, kind):
        return [reply for reply in self.replies if isinstance(reply, kind)]


@pytest.mark.parametrize(("after_s", "code", "sessions", "told"), [(3600.0, 1001, 3, 0), (301.0, 1006, 26, 1)])
def test_a_talk_goes_on_over_the_ends_of_sessions(after_s, code, sessions, told):
    """F28: an end at the server's limit is foreseen and never comes; one out of the blue costs a new connection."""
    numbers = count(0, 1000)                                          # of responses: no two have one name
    wire = Wire(lambda: Server(text="This is what I think.", count=next(numbers)), (after_s, Ended(code), ()))
    hours = Hours(RealtimeSession(RealtimeConfig(local_words=False)), wire)
    for _ in range(26):
        assert hours.turn(6.0) == "This is what I think."
        hours.wait(300.0 - 7.5)
    assert wire.attempts == pytest.approx(sessions, abs=1) and len(hours.got(ReplyDone)) == 26
    assert not [trouble for trouble in hours.got(EngineTrouble) if trouble.generation]
    assert bool(hours.got(EngineTrouble)) == bool(told)
    kept = [e["item"]["content"][0]["text"] for e in wire.servers[-1].of("conversation.item.create")]
    assert kept and set(kept) == {"This is what I think."}            # the talk so far, told to the newest server


@pytest.mark.parametrize(("reason", "after_s", "foreseen"), [("timeout", 600.0, True), ("context_full", 9.5, False)])
def test_a_model_that_ends_its_session_is_begun_again_and_says_nothing_twice(reason, after_s, foreseen):
    """F28: `timeout` at 600 s, and `context_full` in the middle of a sentence."""
    plans = [{7: "First I thought ", 8: "about it, ", 9: "then I ", 10: "slept."}, {}]
    closed = {"type": "session.closed", "session_id": "s", "reason": reason}
    wire = Wire(lambda: Gateway(plans.pop(0), Faults(kv_a_unit=1)), (after_s, Ended(1000), (closed,)),
                (1e9, Ended(), ()))
    hours = Hours(MiniCpmSession(MiniCpmConfig(protocol="gateway"), np.random.default_rng(1)), wire)
    hours.hear(4.5)
    first = hours.turn(20.0)
    assert first.startswith("First I thought") and first.count("thought") == 1
    hours.hear(600.0 if foreseen else 20.0)
    assert len(wire.servers) == 2 and len(hours.got(EngineReady)) == 2 and hours.words(1) == first
    assert [trouble.reason.count(reason) for trouble in hours.got(EngineTrouble)] == ([] if foreseen else [1])
    assert not foreseen or "slept" in wire.servers[1].log[0]["payload"]["system_prompt"]    # the talk so far


def test_a_network_that_comes_long_after_the_robot_brings_its_engine():
    """F57: no name is found at first; the robot is told once, a turn meanwhile is answered with the reason."""
    nothing = (0, Ended(reason="[Errno -3] Temporary failure in name resolution"), ())
    wire = Wire(lambda: Server(text="This is what I think."), *[nothing] * 7, (1e9, Ended(), ()))
    hours = Hours(RealtimeSession(RealtimeConfig(local_words=False)), wire)
    assert hours.turn(8.0) == "" and hours.got(EngineTrouble)[-1].generation == 1
    hours.wait(120.0)
    assert len(hours.got(EngineReady)) == 1 and hours.turn(6.0) == "This is what I think."
    told = [trouble.reason for trouble in hours.got(EngineTrouble) if not trouble.generation]
    assert len(told) == 2 and "name resolution" in told[0] and told[1].endswith("it is tried again")
    assert wire.attempts == 8 and hours.words(1) == ""


@pytest.mark.parametrize("end", [(0, Ended(status=401), ()), (0, Ended(1008, "policy"), ())])
def test_a_server_that_wants_nobody_costs_neither_attempts_nor_memory_in_8_hours(end):
    """F58, F29: somebody talks to the robot every ten minutes of the night."""
    wire = Wire(Server, end)
    hours = Hours(RealtimeSession(RealtimeConfig(local_words=False)), wire)
    sizes = []
    tracemalloc.start()
    for _ in range(8):
        for _ in range(6):
            hours.turn(8.0)
            assert hours.got(EngineTrouble)[-1].generation == hours.turns     # never met with silence
            hours.replies.clear()
            hours.wait(600.0)
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert wire.attempts <= 5 and hours.turns == 48
    assert sizes[-1] - sizes[1] < 20_000
