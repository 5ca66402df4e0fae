"""Realtime servers that begin to speak by themselves: nothing of it is heard but as the one answer to a turn."""
import dataclasses

import numpy as np
import pytest

from dialogue.engine import Cancel, Clause, Commit, EngineTrouble, Picture, Prompt, ReplyDone
from dialogue.engines.realtime.dialects import DIALECTS, recognised
from tests.fake_realtime import Server
from tests.realtime_line import LOCAL, finished, line

LED = dataclasses.replace(LOCAL, server="speech-to-speech")
TOLD = "Answer {n} is that."


def turn(bench, generation, pause=0.4, seconds=0.6):
    """Words, a pause in which the server's own detection ends the turn, and then our commit."""
    onset, end = bench.say_something(seconds)
    bench.listen(pause)
    bench.ask(Commit(bench.t, generation, onset, end, generation))


def generations(bench):
    return {clause.generation for clause in bench.got(Clause)}


def test_a_detection_that_is_on_and_told_may_lead_and_nothing_is_asked_twice():
    bench = line(Server(text=TOLD, vad="told"))
    assert bench.core.dialect.led and bench.core.dialect.truncates
    for generation in (1, 2, 3):
        turn(bench, generation)
        finished(bench)
        assert bench.words(generation) == f"Answer {generation} is that."
        assert len(bench.got(ReplyDone, generation)) == 1
        bench.listen(2.0)
    assert bench.server.count == 3 and not bench.server.of("response.create")
    assert not bench.server.of("input_audio_buffer.commit")


def test_an_early_reply_is_silent_until_the_turn_is_committed():
    bench = line(Server(text=TOLD, vad="told"))
    onset, end = bench.say_something()
    bench.listen(1.0)
    assert bench.server.count == 1 and not bench.got(Clause)
    bench.ask(Commit(bench.t, 1, onset, end, 1))
    assert bench.words(1)


@pytest.mark.parametrize("pause", [0.1, 0.29, 0.31, 0.6])
def test_a_detection_that_is_on_and_not_told_brings_one_answer_and_its_own_is_refused(pause):
    bench = line(Server(text=TOLD, vad="untold"))
    for generation in (1, 2):
        turn(bench, generation, pause)
        for _ in range(3):                                  # what is cancelled ends, what is asked for begins
            finished(bench)
        assert len(bench.got(ReplyDone, generation)) == 1 and not bench.got(EngineTrouble)
        assert bench.words(generation).startswith("Answer") and bench.words(generation).count("Answer") == 1
        bench.listen(2.0)
    assert generations(bench) == {1, 2}


def test_a_reply_by_itself_over_ours_is_refused_and_ours_goes_on():
    """Somebody speaks in the room, and the server answers them while it answers us."""
    bench = line(Server(text=TOLD))
    bench.commit(1)
    first, bench.server.active = bench.server.active, None
    bench.deliver(bench.server.respond(None))
    second = bench.server.active
    bench.turn()
    assert [event["response_id"] for event in bench.server.of("response.cancel")] == [second]
    bench.server.active = first
    finished(bench)
    assert bench.words(1) == "Answer 1 is that." and generations(bench) == {1}
    bench.ask(Cancel(bench.t, 1, "Answer 1", "is that.", 0, 0.1))
    turn(bench, 2)
    finished(bench)
    assert bench.words(2) == "Answer 3 is that."


def test_a_reply_begun_before_the_last_words_is_no_answer_to_them():
    """A correction: the server took the first words for all of them."""
    bench = line(Server(text=TOLD), LED)
    onset, _ = bench.say_something(0.5)
    bench.deliver(bench.server.respond(None))
    bench.listen(0.2)
    _, end = bench.say_something(0.8)
    bench.listen(0.3)
    bench.ask(Commit(bench.t, 1, onset, end, 1))
    assert bench.server.of("response.cancel") and not bench.got(Clause)
    bench.deliver(bench.server.respond(None))
    finished(bench)
    assert bench.words(1) == "Answer 2 is that."


def test_a_turn_that_a_drop_took_along_is_heard_again_by_the_next_session():
    bench = line(Server(text=TOLD, vad="told"), LED)
    onset, end = bench.say_something()
    bench.ask(Commit(bench.t, 1, onset, end, 1))
    bench.core.lost(bench.t)
    bench.listen(1.0)
    bench.server = Server(text=TOLD, vad="told", count=7)
    bench.core.opened(bench.t)
    bench.deliver(bench.server.greeting())
    bench.listen(1.0)
    finished(bench)
    assert bench.words(1) == "Answer 8 is that." and len(bench.got(ReplyDone, 1)) == 1 and bench.server.count == 8


def test_a_reply_to_a_turn_that_was_taken_back_never_sounds():
    bench = line(Server(text=TOLD), LED)
    onset, end = bench.say_something()
    bench.ask(Commit(bench.t, 1, onset, end, 1))
    bench.ask(Cancel(bench.t, 1))
    bench.deliver(bench.server.respond(None))               # the server had begun with it
    bench.listen(0.3)
    turn(bench, 2)
    bench.deliver(bench.server.respond(None))
    finished(bench)
    assert bench.words(2) == "Answer 2 is that." and generations(bench) == {2}


def test_what_we_ask_for_and_what_it_begins_by_itself_are_told_apart():
    """Where the server gives the mark of a request back, its own reply is never taken for what was asked."""
    bench = line(Server(text=TOLD), LED)
    bench.hold = True
    bench.ask(Prompt(bench.t, "say: Good evening.", 1))
    asked, bench.waiting = bench.waiting, []
    bench.hold = False
    bench.server.active = None
    bench.deliver(bench.server.respond(None))
    bench.listen(0.2)
    assert not bench.got(Clause)
    bench.server.active = "resp_1"
    bench.deliver(asked)
    finished(bench)
    assert bench.words(1) == "Answer 1 is that." and generations(bench) == {1}


def test_of_a_stopped_answer_the_server_is_told_what_was_heard_where_it_keeps_all_or_nothing():
    """F25 with speech-to-speech: a whole answer stays in its memory, one that was cancelled goes altogether."""
    whole, cut = line(Server(vad="told"), LED), line(Server(vad="told"), LED)
    for bench, ends in ((whole, True), (cut, False)):
        turn(bench, 1)
        bench.listen(0.3)
        item = next(iter(bench.server.items))
        if ends:
            bench.deliver(bench.server.finish())
        bench.ask(Cancel(bench.t, 1, "Here is", "what I think", 0, 0.3))
        deleted = [event["item_id"] for event in bench.server.of("conversation.item.delete")]
        assert deleted == ([item] if ends else []) and not bench.server.of("conversation.item.truncate")
        said = [event["item"] for event in bench.server.of("conversation.item.create")]
        assert [(i["role"], i["content"][0]["text"]) for i in said] == [("assistant", "Here is")]


def test_a_server_with_room_for_one_note_gets_the_newest_together():
    bench = line(Server(), LED)
    for number in range(9):
        bench.core._note(f"note {number}")
    bench.turn()
    notes = [event["item"]["content"][0]["text"] for event in bench.server.of("conversation.item.create")]
    assert notes[1] == "note 0\nnote 1" and notes[-1].split("\n") == [f"note {n}" for n in range(3, 9)]


def test_a_picture_goes_with_the_first_words_where_the_server_leads_and_only_once():
    jpeg = Picture(0.0, np.frombuffer(b"\xff\xd8jpeg", np.uint8))
    bench = line(Server(vad="told"), dataclasses.replace(LED, frames=True))
    bench.ask(jpeg)
    bench.listen(0.5)
    assert not bench.server.of("conversation.item.create")
    turn(bench, 1)
    kinds = [event["type"] for event in bench.server.log]
    place = kinds.index("conversation.item.create")
    assert "input_audio_buffer.append" in kinds[place:] and kinds.count("conversation.item.create") == 1


def test_the_server_is_recognised_by_what_it_writes_out():
    """As speech-to-speech 1.1.0 says it (tests/peers/peer_speech_to_speech.py)."""
    audio = {"input": {"format": None, "turn_detection": None}, "output": {"format": None, "voice": None}}
    told = {"type": "session.created", "session": {"type": "realtime", "audio": audio, "id": "session_1aa03117"}}
    assert recognised(told) is DIALECTS["speech-to-speech"]
    assert recognised(Server().greeting()[0]).name == "openai"

