"""The core of the engine `minicpm` against fake servers, in virtual time."""
import numpy as np
import pytest

from dialogue.engine import Cancel, Clause, Commit, EngineReady, EngineTrouble, Finished, Picture, ReplyDone, Resume
from dialogue.engines.minicpm.config import MiniCpmConfig
from dialogue.engines.minicpm.latch import Latch
from dialogue.engines.minicpm.session import MiniCpmSession
from dialogue.engines.minicpm.words import ThoughtFilter
from tests.engine_bench import Line
from tests.fake_minicpm import Demo, Faults, Gateway

TALK = {7: "Hi there, ", 8: "this is what I think ", 9: "about it."}


def line(server=None, config=None, **settings):
    server = server or Demo(TALK)
    protocol = "gateway" if isinstance(server, Gateway) else "demo"
    config = config or MiniCpmConfig(protocol=protocol, **settings)
    return Line(MiniCpmSession(config, np.random.default_rng(1)), server)


def talked(bench, generation=1):
    """A turn from 4 to 6 s, answered from the seventh second on."""
    bench.listen(4.0)
    onset, end = bench.say_something(2.0)
    bench.listen(0.5)
    bench.ask(Commit(bench.t, generation, onset, end, generation))
    return bench


@pytest.mark.parametrize("server", [Demo(dict(TALK)), Gateway(dict(TALK))])
def test_what_the_model_says_after_a_turn_is_the_reply(server):
    bench = talked(line(server))
    bench.listen(7.0)
    assert bench.words(1) == "Hi there, this is what I think about it."
    assert bench.seconds(1) == pytest.approx(3.0, abs=0.01)
    assert bench.got(ReplyDone) == [ReplyDone(1)] and bench.got(EngineReady)


def test_units_are_whole_seconds_at_real_time_and_a_stall_makes_no_burst():
    """F27: too fast uploads are dropped by servers, without a word."""
    bench = line()
    bench.listen(2.5)
    assert bench.server.units == 2
    for _ in range(6):                                   # six seconds of sound at once, as after a stall
        bench.core.ask(bench.t, hear_second(bench.t))
    bench.turn()
    assert bench.server.units <= 3 and bench.core.dropped >= 3


def hear_second(t):
    from dialogue.engine import Hear
    return Hear(t, np.zeros(16000, np.float32), False)


def test_the_silence_of_listening_units_is_never_played():
    bench = line(Demo())
    talked(bench)
    bench.listen(4.0)
    assert not bench.got(Clause)


def test_a_model_that_only_listens_chose_silence():
    bench = talked(line(Demo()))
    bench.listen(8.0)
    assert bench.got(ReplyDone) == [ReplyDone(1, silent=True)]


def test_an_end_that_is_not_told_is_the_next_listening_unit():
    bench = talked(line(Demo(dict(TALK), Faults(no_end_of_turn=True))))
    bench.listen(8.0)
    assert bench.got(ReplyDone) == [ReplyDone(1)]


@pytest.mark.parametrize("server", [Demo, Gateway])
def test_after_a_stop_it_is_told_to_listen_until_the_person_is_quiet(server):
    plan = dict.fromkeys(range(7, 40), "and more ")
    bench = talked(line(server(plan)))
    bench.listen(3.0)
    assert bench.got(Clause, 1)
    bench.ask(Cancel(bench.t, 1, "and more"))
    before = len(bench.got(Clause))
    bench.listen(3.0, speech=True)
    forced = list(bench.server.forced)
    assert len(forced) >= 2 and np.all(np.diff(forced) == 1)
    bench.listen(1.0)
    assert len(bench.got(Clause)) == before                # nothing of the old reply
    bench.ask(Commit(bench.t, 2, bench.t - 4.0, bench.t - 1.0, 2))
    bench.listen(4.0)
    assert bench.got(Clause, 2) and bench.server.units > max(bench.server.forced)


def test_speaking_answers_to_earlier_units_are_dropped_after_a_stop():
    plan = dict.fromkeys(range(7, 40), "and more ")
    bench = talked(line(Demo(plan, Faults(late=2))))
    bench.listen(3.0)
    bench.ask(Cancel(bench.t, 1, "and more"))
    before = len(bench.got(Clause))
    bench.listen(3.0, speech=True)
    assert len(bench.got(Clause)) == before and bench.core.late >= 2


def test_an_answer_that_was_on_its_way_at_a_stop_is_nobodys():
    bench = talked(line(Demo({7: "one ", 10: "stale "})))
    bench.listen(2.8)
    bench.hold = True
    bench.listen(0.9)                                     # the tenth unit leaves, its answer does not come yet
    assert bench.server.units == 10 and bench.got(ReplyDone, 1)
    bench.ask(Cancel(bench.t, 1, "one"))
    bench.release()
    bench.ask(Commit(bench.t, 2, bench.t - 1.0, bench.t, 2))
    bench.listen(3.0)
    assert not bench.got(Clause, 2)


def test_a_model_that_does_not_listen_costs_the_session():
    plan = dict.fromkeys(range(7, 60), "and more ")
    bench = talked(line(Demo(plan, Faults(ignores_force=True))))
    bench.listen(3.0)
    bench.ask(Cancel(bench.t, 1))
    bench.listen(17.0)
    assert (bench.core.leaving and "listen" in bench.core.last) or bench.core.last


def test_words_that_no_turn_asked_for_are_never_heard():
    bench = line(Demo({5: "Hello all of you. "}))
    bench.listen(12.0)
    assert not bench.got(Clause)
    bench.ask(Commit(bench.t, 1, bench.t - 1.0, bench.t - 0.5, 1))
    bench.listen(2.0)
    assert not bench.got(Clause)


def test_words_begun_before_the_commit_are_its_answer():
    bench = line()
    bench.listen(4.0)
    onset, end = bench.say_something(2.0)
    bench.listen(1.5)                                      # the seventh unit speaks before the floor has decided
    assert not bench.got(Clause)
    bench.ask(Commit(bench.t, 1, onset, end, 1))
    bench.listen(5.0)
    assert bench.words(1).startswith("Hi there,")


def test_a_false_stop_goes_on_with_what_had_come():
    bench = talked(line())
    bench.listen(3.0)
    sent = bench.got(Clause, 1)
    bench.ask(Cancel(bench.t, 1))
    bench.ask(Resume(bench.t, 1, 3, 1))
    bench.listen(4.0)
    assert np.array_equal(bench.got(Clause, 3)[0].samples, sent[1].samples)
    assert bench.got(ReplyDone, 3)


def test_a_model_that_stops_while_somebody_speaks_gives_way():
    bench = talked(line(Demo({7: "one ", 8: "two "}, Faults(no_end_of_turn=True))))
    bench.listen(2.0)
    bench.listen(1.2, speech=True)
    assert bench.got(ReplyDone) == [ReplyDone(1, yielded=True)]


@pytest.mark.parametrize(("settings", "server"), [({"rotate_audio_s": 12.0}, Demo(dict(TALK))),
                                                  ({"rotate_kv": 400}, Demo(dict(TALK)))])
def test_a_session_is_renewed_in_a_quiet_moment_and_told_what_was_said(settings, server):
    bench = talked(line(server, **settings))
    bench.listen(8.0)
    bench.ask(Finished(bench.t, 1, bench.words(1)))
    bench.listen(4.0)
    assert server.log[-1] == {"type": "stop"} and bench.core.leaving
    bench.core.lost(bench.t)
    bench.server = Demo()
    bench.core.opened(bench.t)
    bench.deliver(bench.server.greeting())
    bench.turn()
    assert "this is what I think" in bench.server.log[0]["system_prompt"]
    assert bench.server.log[0]["system_prompt"].startswith("You are a helpful assistant.")


def test_a_queue_is_told_and_a_silent_server_is_greeted_anyway():
    bench = line(Demo(faults=Faults(queued=3)))
    told = bench.got(EngineTrouble)
    assert len(told) == 1 and "place 1" in told[0].reason and told[0].generation == 0
    quiet = line(Demo(faults=Faults(no_queue_done=True)))
    quiet.listen(6.0)
    assert quiet.server.log[0]["type"] == "prepare"


def test_pictures_leave_only_when_configured():
    for frames in (False, True):
        bench = line(Demo(), frames=frames)
        bench.ask(Picture(0.0, np.frombuffer(b"jpeg", np.uint8)))
        bench.listen(1.5)
        unit = next(m for m in bench.server.log if m["type"] == "audio_chunk")
        assert ("frame_base64_list" in unit) == frames


def test_the_whole_config_is_sent_each_time_under_its_exact_keys():
    prepare = line().server.log[0]
    assert {"type", "system_prompt", "config", "max_slice_nums"} == set(prepare)
    assert {"decode_mode", "length_penalty", "temperature"} <= set(prepare["config"])


@pytest.mark.parametrize("cut", range(1, 24))
def test_thoughts_are_left_out_wherever_a_fragment_ends(cut):
    text = "a <think>no <b>x</think> b < c"
    thoughts = ThoughtFilter()
    assert thoughts(text[:cut]) + thoughts(text[cut:]) + thoughts.rest() == "a  b < c"


def test_the_latch_needs_a_listening_answer_to_a_forced_unit_and_quiet():
    latch = Latch(quiet=0.45)
    latch.skip(4)                                         # a reply was cancelled that the model had ended
    assert not latch.lets(False, 4) and latch.lets(False, 5)
    latch.close(1.0, sent=5)
    assert not latch.lets(True, 5)                        # of a unit from before
    latch.step(9.0, 1.0)
    assert latch.force(6)
    assert not latch.lets(True, 6)
    latch.step(9.0, 8.8)                                  # somebody still speaks
    assert latch.force(7)
    latch.step(9.3, 8.8)
    assert not latch.force(8) and latch.lets(False, 8) and not latch.lets(False, 7)
