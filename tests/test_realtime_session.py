"""The core of the engine `realtime` against a fake server, in virtual time."""
import numpy as np
import pytest

from dialogue.engine import (
    Cancel,
    Candidate,
    Clause,
    Cue,
    EngineTrouble,
    ReplyDone,
    Resume,
    ToolCall,
    ToolResult,
    Transcript,
)
from dialogue.engines.realtime.config import RealtimeConfig
from tests.fake_realtime import Server
from tests.realtime_line import finished, line


def test_a_turn_becomes_a_reply_with_its_words_and_sound():
    bench = line()
    bench.commit(1)
    finished(bench)
    assert bench.words(1) == bench.server.text
    assert bench.seconds(1) == pytest.approx(1.0, abs=0.01)
    assert bench.got(ReplyDone) == [ReplyDone(1)]
    assert [c.index for c in bench.got(Clause)] == list(range(len(bench.got(Clause))))


def test_our_floor_decides():
    bench = line()
    session = bench.server.of("session.update")[0]["session"]
    assert session["audio"]["input"]["turn_detection"] is None
    assert session["type"] == "realtime" and session["output_modalities"] == ["audio"]


def test_only_turns_are_sent_with_a_little_before_them():
    bench = line()
    bench.listen(2.0)
    assert not bench.server.of("input_audio_buffer.append")
    bench.commit(1, seconds=0.6)
    assert bench.server.committed_s == pytest.approx(0.9, abs=0.05)


def test_sound_that_no_turn_took_is_taken_back():
    bench = line()
    bench.say_something(0.3)
    bench.listen(2.0)
    assert bench.server.sound_s == 0.0 and bench.server.of("input_audio_buffer.clear")


def test_a_cancel_kills_the_response_and_truncates_to_what_was_heard():
    bench = line()
    bench.commit(1)
    clauses = bench.got(Clause)
    bench.ask(Cancel(bench.t, 1, "Here", "is what", clauses[0].index, 0.3))
    assert bench.server.of("response.cancel")[0]["response_id"] == "resp_1"
    assert bench.server.of("conversation.item.truncate")[0]["audio_end_ms"] == 300
    before = len(bench.replies)
    bench.deliver(bench.server.respond(None)[1:])          # whatever still comes
    bench.listen(1.0)
    assert not [r for r in bench.replies[before:] if isinstance(r, Clause)]


def test_a_cancel_before_the_response_is_created_is_remembered():
    bench = line()
    bench.hold = True
    bench.commit(1)
    bench.ask(Cancel(bench.t, 1))
    assert not bench.server.of("response.cancel")
    bench.release()
    bench.turn()
    assert bench.server.of("response.cancel")[0]["response_id"] == "resp_1"
    bench.listen(1.0)
    assert not bench.got(Clause)


def test_after_a_finished_response_there_is_a_truncation_but_no_cancel():
    bench = line()
    bench.commit(1)
    bench.deliver(bench.server.finish())
    bench.ask(Cancel(bench.t, 1, "Here", "is", 0, 0.2))
    assert not bench.server.of("response.cancel")
    assert bench.server.of("conversation.item.truncate")[0]["audio_end_ms"] == 200


def test_what_was_not_heard_at_all_is_deleted_not_truncated():
    bench = line()
    bench.commit(1)
    bench.ask(Cancel(bench.t, 1))
    assert not bench.server.of("conversation.item.truncate")
    assert bench.server.of("conversation.item.delete")[0]["item_id"] == "item_1"


def test_late_deltas_and_a_second_reply_are_dropped():
    bench = line(late_deltas=20)
    bench.commit(1)
    bench.ask(Cancel(bench.t, 1, "", "", 0, 0.1))
    bench.commit(2)
    finished(bench)
    assert bench.seconds(2) == pytest.approx(1.0, abs=0.01) and bench.core.responses.late >= 20
    doubled = line(double_reply=True)
    doubled.commit(1)
    finished(doubled)
    assert doubled.words(1) == doubled.server.text and len(doubled.got(ReplyDone)) == 1
    assert doubled.server.of("response.cancel")[0]["response_id"] == "resp_2"


def test_the_next_reply_is_asked_for_when_the_cancelled_one_is_over():
    bench = line()
    bench.commit(1)
    bench.hold = True
    bench.ask(Cancel(bench.t, 1))
    bench.commit(2)
    assert len(bench.server.of("response.create")) == 1
    bench.release()
    bench.turn()
    assert len(bench.server.of("response.create")) == 2
    finished(bench)
    assert bench.words(2) == bench.server.text


def test_an_error_ends_the_wait_for_what_it_names():
    bench = line(refuse_create="server_error")
    bench.commit(1)
    assert [t.generation for t in bench.got(EngineTrouble)] == [1]
    assert bench.core.awaiting is None


def test_an_error_about_something_else_costs_no_reply():
    bench = line()
    bench.commit(1)
    bench.deliver([{"type": "error", "error": {"type": "invalid_request_error", "code": "response_cancel_not_active",
                                               "message": "nothing active", "event_id": None}}])
    finished(bench)
    assert bench.got(ReplyDone) == [ReplyDone(1)] and not bench.got(EngineTrouble)


def test_a_server_that_never_answers_is_told_once():
    bench = line(never_answers=True)
    bench.commit(1)
    bench.listen(11.0)
    assert [t.generation for t in bench.got(EngineTrouble)] == [1]


@pytest.mark.parametrize("rate", [16000, 22050, 24000, 48000])
def test_any_rate_that_the_server_tells_sounds_at_the_right_speed(rate):
    bench = line(rate_hz=rate)
    bench.commit(1)
    finished(bench)
    sound = np.concatenate([c.samples for c in bench.got(Clause)])
    assert len(sound) / 16000 == pytest.approx(1.0, abs=0.02)
    spectrum = np.abs(np.fft.rfft(sound[4000:12000]))
    assert np.argmax(spectrum) * 2 == pytest.approx(220, abs=4)


def test_tools_are_called_and_the_server_goes_on_once_all_have_results():
    bench = line(Server(calls=(("call_1", "gesture", '{"name":"nod"}'), ("call_2", "look_at", '{"azimuth_deg": 30}'))))
    bench.commit(1)
    bench.deliver(bench.server.finish())
    calls = bench.got(ToolCall)
    assert [(c.name, c.arguments) for c in calls] == [("gesture", (("name", "nod"),)),
                                                      ("look_at", (("azimuth_deg", "30.0"),))]
    bench.ask(ToolResult(bench.t, "call_1", "done"))
    assert len(bench.server.of("response.create")) == 1
    bench.ask(ToolResult(bench.t, "call_2", "done"))
    assert len(bench.server.of("response.create")) == 2
    finished(bench)
    assert bench.words(1) == bench.server.text and bench.got(ReplyDone) == [ReplyDone(1)]


def test_a_call_that_cannot_be_obeyed_is_answered_at_once_and_never_reaches_the_mind():
    bench = line(Server(calls=(("call_1", "look_at", '{"azimuth_deg": "left"}'),)))
    bench.commit(1)
    bench.deliver(bench.server.finish())
    bench.turn()
    item = bench.server.of("conversation.item.create")[0]["item"]
    assert "expected a number" in item["output"] and not bench.got(ToolCall)
    assert len(bench.server.of("response.create")) == 2


def test_a_false_interruption_goes_on_and_the_server_is_asked_for_the_rest():
    bench = line()
    bench.commit(1)
    sent = bench.got(Clause)
    bench.ask(Cancel(bench.t, 1, "Here", "is what I think about it.", sent[0].index, 0.2))
    bench.ask(Resume(bench.t, 1, 3, 1))
    finished(bench)
    again = bench.got(Clause, 3)
    assert again[0].index == 1 and np.array_equal(again[0].samples, sent[1].samples)
    assert "without repeating" in bench.server.of("response.create")[-1]["response"]["instructions"]
    assert bench.got(ReplyDone, 3)


def test_a_reply_that_goes_on_takes_nothing_late_from_the_response_that_was_cut():
    bench = line()
    bench.commit(1)
    bench.hold = True                                     # its end is still on the way
    bench.ask(Cancel(bench.t, 1, "Here", "is", 0, 0.2))
    bench.ask(Resume(bench.t, 1, 3, 0))
    late = bench.core.responses.late
    bench.core.take(bench.t, {"type": "response.output_audio.delta", "response_id": "resp_1", "item_id": "item_1",
                              "delta": "AAAA"})
    assert bench.core.responses.late == late + 1


def test_a_head_shake_in_mid_reply_changes_what_is_said_next():
    bench = line()
    bench.commit(1)
    bench.ask(Cue(bench.t, "shakes_head", "anna", heard="Here is"))
    assert "note" in bench.server.of("conversation.item.create")[0]["item"]["content"][0]["text"]
    finished(bench)
    instead = [c for c in bench.got(Clause, 1) if c.instead]
    assert len(instead) == 1 and len(bench.server.of("response.create")) == 2


def test_words_ahead_of_the_commit_come_from_this_machine():
    bench = line(config=RealtimeConfig(), recogniser=lambda sound: f"{len(sound)} samples")
    onset, end = bench.say_something()
    bench.ask(Candidate(bench.t, 5, onset, end))
    assert [r.final for r in bench.got(Transcript)] == [False]
    assert "transcription" not in bench.server.of("session.update")[0]["session"]["audio"]["input"]


def test_the_servers_transcript_is_handed_on():
    bench = line()
    bench.commit(1, turn=7)
    bench.deliver([{"type": "conversation.item.input_audio_transcription.completed", "item_id": "i",
                    "content_index": 0, "transcript": " hello "}])
    bench.turn()
    assert bench.got(Transcript) == [Transcript(7, "hello", True)]
