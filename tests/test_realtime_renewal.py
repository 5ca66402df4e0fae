"""The engine `realtime` over drops, refusals, renewals and servers with a will of their own, in virtual time."""
import pytest

from dialogue.engine import (
    Clause,
    Commit,
    EngineTrouble,
    Finished,
    Hear,
    Prompt,
)
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.session import RealtimeSession
from tests.engine_bench import SILENCE, Line
from tests.fake_realtime import Server
from tests.realtime_line import LOCAL, finished, line


def test_a_session_is_renewed_in_a_quiet_moment_with_the_talk_so_far():
    config = RealtimeConfig(local_words=False, rotate_s=5.0, rotate_at_last_s=60.0)
    bench = line(config=config)
    bench.commit(1)
    finished(bench)
    bench.ask(Finished(bench.t, 1, "Here is what I think"))
    bench.listen(6.0)
    assert bench.core.leaving
    bench.core.lost(bench.t)
    fresh = bench.server = Server()
    bench.core.opened(bench.t)
    bench.deliver(fresh.greeting())
    bench.turn()
    told = [e["item"]["content"][0]["text"] for e in fresh.of("conversation.item.create")]
    assert told == ["Here is what I think"] and bench.core.ready


def test_a_turn_that_a_drop_cost_is_asked_again_and_nothing_is_said_twice():
    bench = line(never_answers=True)
    bench.commit(1)
    bench.core.lost(bench.t)
    fresh = bench.server = Server()
    bench.core.opened(bench.t)
    bench.deliver(fresh.greeting())
    bench.turn()
    finished(bench)
    assert fresh.committed_s > 0.55 and bench.words(1) == fresh.text and not bench.got(EngineTrouble)


def test_without_a_connection_a_turn_is_told_after_a_while_and_at_once_when_refused():
    core = RealtimeSession(LOCAL)
    bench = Line(core, Server(), greeting=False)
    bench.commit(1)
    bench.listen(5.0)
    assert len(bench.got(EngineTrouble, 1)) == 1
    core.refuse(bench.t, "no key")
    bench.commit(2)
    assert bench.got(EngineTrouble)[-1] == EngineTrouble("no key", 2)


def test_a_prompt_is_said_word_for_word():
    bench = line()
    bench.ask(Prompt(bench.t, "say: I am sorry.", 4))
    assert "I am sorry." in bench.server.of("response.create")[0]["response"]["instructions"]


def test_beta_names_are_spoken_and_understood():
    bench = line(Server(beta=True))
    session = bench.server.of("session.update")[0]["session"]
    assert session["input_audio_format"] == "pcm16" and "type" not in session
    bench.commit(1)
    finished(bench)
    assert bench.words(1) == bench.server.text


def test_a_server_that_decides_by_itself_hears_all_and_its_early_answer_waits_for_the_turn():
    bench = line(config=RealtimeConfig(local_words=False, server="speech-to-speech"))
    bench.listen(1.0)
    assert bench.server.sound_s == pytest.approx(1.0, abs=0.1)
    detection = bench.server.of("session.update")[0]["session"]["audio"]["input"]["turn_detection"]
    assert detection["interrupt_response"] is False
    onset, end = bench.say_something()
    bench.deliver(bench.server.respond(None))
    assert not bench.got(Clause)
    bench.ask(Commit(bench.t, 1, onset, end, 1))
    finished(bench)
    assert not bench.server.of("response.create") and bench.words(1) == bench.server.text


def test_an_answer_that_no_turn_asked_for_is_never_heard():
    bench = line(config=RealtimeConfig(local_words=False, server="speech-to-speech"))
    bench.deliver(bench.server.respond(None))
    bench.listen(5.0)
    bench.commit(1)
    bench.listen(1.0)
    assert not bench.got(Clause) and bench.server.of("response.cancel")


def test_rubbish_from_the_server_does_no_harm():
    bench = line()
    bench.commit(1)
    for rubbish in ({}, {"type": 3}, {"type": "response.created"}, {"type": "error"}, {"type": "response.done"},
                    {"type": "response.output_audio.delta", "response_id": "resp_1", "delta": "!!"},
                    {"type": "session.updated", "session": 7}, {"type": "error", "error": "flat", "code": "x"}):
        bench.deliver([rubbish])
    bench.core.ask(bench.t, Hear(bench.t + 0.01, SILENCE, False))
    finished(bench)
    assert bench.words(1).startswith("Here is")
