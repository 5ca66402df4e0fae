"""Servers that stand and say nothing, text that runs ahead of its sound, and an engine's process that dies."""
import dataclasses
import os
import signal
import time

import numpy as np
import pytest

from dialogue.engine import Cancel, Clause, Commit, EngineReady, EngineTrouble, Hear, ReplyDone
from dialogue.engines.link import Ended
from dialogue.engines.minicpm.config import MiniCpmConfig
from dialogue.engines.minicpm.session import MiniCpmSession
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.session import RealtimeSession
from robot.worker import ChildWorker
from tests import fake_duplex, fake_realtime
from tests.engine_bench import VOICE, Line
from tests.fake_minicpm import Demo, Gateway
from tests.realtime_line import LOCAL, finished, line
from tests.test_engine_hours import Hours, Wire
from tests.test_engine_link import PATIENCE_S

LED = dataclasses.replace(LOCAL, server="speech-to-speech")


class Mute(fake_realtime.Server):
    """Says when it stands, and nothing more."""

    def hear(self, event):
        return super().hear(event) if event["type"] == "session.update" else []


@pytest.mark.parametrize("config", [LOCAL, LED])
def test_a_server_that_never_answers_is_told_once_for_each_turn(config):
    bench = line(Mute(), config)
    for generation in (1, 2):
        bench.commit(generation)
        bench.listen(30.0)
        assert [trouble.reason for trouble in bench.got(EngineTrouble, generation)] == ["the server did not answer"]
    assert not bench.got(Clause) and not bench.got(ReplyDone)


def test_a_reply_that_comes_after_its_turn_was_given_up_is_not_heard():
    bench = line(Mute(), LED)
    bench.commit(1)
    bench.listen(12.0)
    bench.deliver(bench.server.respond(None))
    bench.listen(1.0)
    bench.commit(2)
    assert not bench.got(Clause)


def test_a_model_that_only_listens_chose_to_say_nothing():
    server = fake_duplex.Session(plan=())
    server.greeting = list
    bench = Line(RealtimeSession(dataclasses.replace(LOCAL, server="vllm-omni")), server)
    bench.commit(1)
    bench.listen(8.0)
    assert bench.got(ReplyDone) == [ReplyDone(1, silent=True)] and not bench.got(EngineTrouble)


def test_a_response_that_hangs_is_cancelled_and_the_next_turn_is_answered():
    """It is begun, and neither sound nor end comes; the mind loses its patience."""
    bench = line(fake_realtime.Server(text="Answer {n}."))
    bench.hold = True
    bench.commit(1)
    created = next(message for message in bench.waiting if message["type"] == "response.created")
    bench.hold, bench.waiting = False, []
    bench.deliver([created])
    bench.server.active = None                             # it has lost it, and will not say that it is over
    bench.listen(8.0)
    bench.ask(Cancel(bench.t, 1))
    bench.commit(2)
    bench.listen(4.0)
    finished(bench)
    assert bench.server.of("response.cancel") and bench.words(2) == "Answer 2." and not bench.got(Clause, 1)


@pytest.mark.parametrize("kind", [Demo, Gateway])
def test_a_model_that_answers_no_unit_any_more_costs_its_session_and_the_turn_is_told(kind):
    class Stuck(kind):
        def hear(self, message):
            told = super().hear(message)
            return told if self.units <= 3 else []

    makes = [Stuck, kind]
    wire = Wire(lambda: makes.pop(0)({8: "Here I am again."}), (1e9, Ended(), ()))
    protocol = "gateway" if kind is Gateway else "demo"
    hours = Hours(MiniCpmSession(MiniCpmConfig(protocol=protocol), np.random.default_rng(1)), wire)
    hours.hear(4.0)
    assert hours.turn(20.0) == ""
    assert [trouble.generation for trouble in hours.got(EngineTrouble)] == [0, 1]
    assert "answers nothing" in hours.got(EngineTrouble)[0].reason and len(hours.got(EngineReady)) == 2
    assert len(wire.servers) == 2
    assert wire.servers[0].log[-1]["type"] in ("stop", "session.close")


class HalfOpen(Wire):
    """The first line stands, what is sent goes nowhere after a second, and nobody tells."""

    def send(self, text, sound=False):
        if self.t < 1.0 or len(self.servers) > 1:
            super().send(text, sound)


@pytest.mark.parametrize("config", [LOCAL, LED])
def test_a_half_open_line_ends_the_wait_for_an_answer_within_a_bounded_time(config):
    """F31: open for 60 s, then the ping that nobody answered ends it; the talk goes on over the next one."""
    wire = HalfOpen(lambda: fake_realtime.Server(vad="told" if config is LED else ""), (60.0, Ended(), ()),
                    (1e9, Ended(), ()))
    hours = Hours(RealtimeSession(config), wire)
    hours.hear(2.0)
    assert hours.turn(11.0) == ""
    assert [trouble.generation for trouble in hours.got(EngineTrouble)] == [1]     # the mind says so, and listens
    hours.wait(60.0)
    assert hours.turn(6.0) == "Here is what I think about it."


def test_text_that_leads_its_sound_is_not_heard_before_it_sounds():
    """F27: each second of sound comes with the words of the next 0.4 s as well. A stop at any clause."""
    words = [f"word{number:02d}" for number in range(20)]          # 2.5 a second
    told = {5: words[:4], 6: words[4:6], 7: words[6:9], 8: words[9:]}
    bench = Line(MiniCpmSession(MiniCpmConfig(), np.random.default_rng(1)),
                 Demo({unit: " ".join(some) + " " for unit, some in told.items()}))
    bench.listen(4.0)
    onset = bench.t
    bench.listen(0.3, speech=True)
    bench.ask(Commit(bench.t, 1, onset, bench.t, 1))
    bench.listen(2.9)
    clauses = bench.got(Clause, 1)
    told, seconds = 0, 0.0
    for clause in clauses:
        told += len(clause.text.split())
        seconds += len(clause.samples) / 16000
        assert told <= 2.5 * seconds
    assert seconds >= 2.0 and told >= 3


def test_an_engine_process_that_is_killed_in_mid_reply_costs_that_reply_alone():
    served = fake_realtime.Served(lambda: fake_realtime.Server(text="A story of {n}. " * 9, pieces=30))
    config = RealtimeConfig(url=served.url, key_from="", local_words=False)
    worker = ChildWorker("robot.engines:realtime", {"config": config, "seed": 1, "start": "2026-12-01T05:00:00"})
    replies, t = [], 0.0

    def until(condition):
        nonlocal t
        limit = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < limit, replies
            t += 0.01
            worker.submit(t, Hear(t, VOICE, False))
            replies.extend(worker.poll(t))
            time.sleep(0.003)

    def turn(generation):
        nonlocal t
        for _ in range(60):
            t += 0.01
            worker.submit(t, Hear(t, VOICE, True))
        worker.submit(t, Commit(t, generation, t - 0.6, t, generation))

    def of(generation):
        return [reply for reply in replies if isinstance(reply, Clause) and reply.generation == generation]

    until(lambda: any(isinstance(reply, EngineReady) for reply in replies))
    turn(1)
    until(lambda: len(of(1)) >= 3)
    os.kill(worker.pid, signal.SIGKILL)
    until(lambda: any(isinstance(reply, EngineTrouble) for reply in replies))
    trouble = next(reply for reply in replies if isinstance(reply, EngineTrouble))
    assert (trouble.generation, trouble.died) == (1, True)
    heard = len(of(1))
    until(lambda: sum(isinstance(reply, EngineReady) for reply in replies) == 2)
    turn(2)
    until(lambda: len(of(2)) >= 3)
    assert len(of(1)) == heard and worker.deaths == 1 and len(served.sessions) == 2
    worker.close()
    served.close()
