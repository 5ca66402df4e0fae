"""The engine `realtime` with vLLM-Omni's duplex extensions: it hears all, decides by itself, resumes after a drop."""
import dataclasses
import json

import numpy as np
import pytest

from dialogue.engine import Cancel, Clause, Commit, EngineReady, EngineTrouble, Picture, ReplyDone
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.session import RealtimeSession
from tests.engine_bench import Line
from tests.fake_duplex import Served, Session
from tests.test_engine_link import SWIFT, Robot

CONFIG = RealtimeConfig(server="vllm-omni", local_words=False, model="m", key_from="")


class Quiet(Session):
    """Says nothing before the client does."""

    def greeting(self):
        return []


def line(**settings):
    return Line(RealtimeSession(CONFIG), Quiet(**settings))


def test_it_is_greeted_first_and_told_that_it_only_listens_while_we_speak():
    bench = line()
    session = bench.server.log[0]["session"]
    assert session["turn_detection"] is None and session["overlap_policy"] == "listen_only"
    assert session["playback_commit_policy"] == "ack_only" and session["sample_rate_hz"] == 16000
    assert bench.got(EngineReady) and "autostart=0" in bench.core.address() and "duplex=1" in bench.core.address()


@pytest.mark.parametrize("rate", [24000, 22050])
def test_what_it_says_by_itself_answers_the_turn(rate):
    bench = line(rate_hz=rate)
    bench.listen(1.0)
    bench.commit(1, seconds=1.0)
    bench.listen(4.0)
    assert bench.words(1) == bench.server.text and bench.got(ReplyDone) == [ReplyDone(1)]
    assert bench.seconds(1) == pytest.approx(1.0, abs=0.01)


def test_its_marks_tell_which_words_sounded():
    bench = line(pieces=4)
    bench.listen(1.0)
    bench.commit(1, seconds=1.0)
    bench.listen(4.0)
    half = [c.text for c in bench.got(Clause, 1)][:2]
    assert len(" ".join(half)) == pytest.approx(len(bench.server.text) / 2, abs=7)


def test_a_stop_is_told_with_what_was_played():
    bench = line()
    bench.listen(1.0)
    bench.commit(1, seconds=1.0)
    bench.listen(1.2)
    bench.ask(Cancel(bench.t, 1, "I heard", "", 0, 0.25))
    kinds = [event["type"] for event in bench.server.log if "audio_buffer" not in event["type"]]
    assert kinds[1:] == ["response.cancel", "playback.ack", "conversation.item.truncate"]
    assert bench.server.log[-1]["audio_end_ms"] == 250


def test_a_picture_goes_with_the_sound_that_closes_a_second_and_only_where_wanted():
    for wanted in (True, False):
        bench = Line(RealtimeSession(dataclasses.replace(CONFIG, frames=wanted)), Quiet(plan=()))
        for _ in range(3):
            bench.listen(0.7)
            for at in (-9.0, 0.0):                        # too old, overtaken by the newest
                bench.ask(Picture(bench.t + at, np.frombuffer(b"\xff\xd8jpeg", np.uint8)))
        bench.listen(0.9)
        sound = [event for event in bench.server.log if event["type"] == "input_audio_buffer.append"]
        seen = [place for place, event in enumerate(sound) if "video_frames" in event]
        assert seen == ([24, 49, 74] if wanted else [])
        assert all(len(sound[place]["video_frames"]) == 1 for place in seen)


def test_what_it_says_to_nobody_is_never_heard_and_its_memory_is_told():
    """It speaks on by itself over our playback, and once more in the silence after it."""
    bench = line(plan=(3, 5, 8, 13), text="Answer.")
    bench.listen(1.0)
    bench.commit(1, seconds=1.0)
    bench.listen(8.0)
    assert bench.server.count == 3 and {clause.generation for clause in bench.got(Clause)} == {1}
    onset = bench.t
    bench.commit(2, seconds=1.0)
    bench.listen(5.0)
    assert bench.server.count == 4 and bench.words(2) == "Answer." and onset > 9.0
    unheard = {event["item_id"]: event["played_ms"] for event in bench.server.log if event["type"] == "playback.ack"}
    assert unheard["item_resp_2"] == unheard["item_resp_3"] == 0


def test_events_that_come_twice_count_once():
    bench = line()
    bench.listen(1.0)
    bench.commit(1, seconds=1.0)
    bench.listen(1.5)
    bench.deliver(json.loads(json.dumps(bench.server.journal)))
    bench.listen(3.0)
    assert bench.words(1) == bench.server.text and bench.seconds(1) == pytest.approx(1.0, abs=0.01)


def test_a_drop_in_mid_reply_is_resumed_and_nothing_is_lost_or_said_twice():
    served = Served(drops=(100,))
    config = RealtimeConfig(url=served.url, server="vllm-omni", local_words=False, key_from="", model="m", link=SWIFT)
    robot = Robot(RealtimeSession(config))
    robot.until(lambda: robot.got(EngineReady))
    start = robot.t
    robot.until(lambda: robot.t > start + 2.5, speech=True)
    robot.ask(Commit(robot.t, 1, start, robot.t, 1))      # begun in the third second, cut in the fourth
    robot.until(lambda: robot.got(ReplyDone))
    assert " ".join(c.text for c in robot.got(Clause) if c.text) == "I heard you very well."
    assert len(served.sessions) == 1 and len(served.paths) == 2
    assert not [t for t in robot.got(EngineTrouble) if t.generation]
    robot.connection.stop()
    served.close()


def test_a_session_that_cannot_be_resumed_is_begun_anew():
    bench = line()
    bench.core.lost(bench.t)
    bench.core.opened(bench.t)
    bench.turn()
    assert bench.sent[-1]["type"] == "session.resume"
    bench.server = Quiet(number=2)
    bench.core.seen = 0
    bench.deliver([{"type": "error", "error": {"code": "invalid_resume_token", "message": "no"}}])
    bench.turn()
    assert bench.server.log[-1]["type"] == "session.update" and bench.core.ready
