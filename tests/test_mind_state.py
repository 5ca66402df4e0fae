"""A mind that is kept in the middle of its life and woken goes on to the bit; bytes from a file run nothing."""
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogue.engines.scripted import Rule, ScriptedEngine
from perception.audio.vad import WebRtc
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import RoomConfig
from robot.clock import VirtualClock
from robot.codec import encoded
from robot.errors import BadRequest
from robot.mind_state import kept, laid_out, woken
from robot.runtime import run
from robot.simulation import build_simulation

KEPT = (97, 190, 270)             # ticks: in the middle of her words, of the answer, of her stop over it
AFTER = 60                        # ticks that are compared


def fingerprint(tick):
    """Everything that a tick says, to the bit."""
    return encoded(tick.outputs), repr((tick.people, tick.sight, tick.sound, tick.intent, tick.floor, tick.events))


@pytest.fixture(scope="module")
def life():
    """A few seconds with talk, an interruption and a face: ticks, and the mind as it was at some of them."""
    def engine():
        return ScriptedEngine((Rule(".*", "Hello. I am a robot and I like to talk about the weather."),),
                              lambda samples, onset, end: "hello robot")

    mind, body = build_simulation(RoomConfig(), (PersonScript("anna", azimuth=0.4, distance=1.2),), engine, 3)

    def script(t, room):
        if t in (0.5, 2.4):
            room.person("anna").say(t, "hello robot" if t == 0.5 else "stop")

    body.script = script
    ticks, minds = [], {}

    def watch(inputs, tick):
        ticks.append((inputs, fingerprint(tick)))
        if len(ticks) in KEPT:
            minds[len(ticks)] = kept(mind)

    run(mind, body, VirtualClock(), (watch,), lambda t: t >= (KEPT[-1] + AFTER) / 100)
    assert any("barge_in" in told or "turn_committed" in told for _, (_, told) in ticks)
    return ticks, minds


@pytest.mark.parametrize("at", KEPT)
def test_a_woken_mind_goes_on_to_the_bit(life, at):
    ticks, minds = life
    mind = woken(minds[at], "here")
    for inputs, wanted in ticks[at:at + AFTER]:
        assert fingerprint(mind.tick(inputs)) == wanted, f"{inputs.index - at} ticks after waking"


def test_a_mind_is_small_enough_to_be_kept_once_a_minute(life):
    assert all(0.3e6 < len(state) < 2.5e6 for state in life[1].values())


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_an_array_keeps_its_content_and_its_order_in_memory(data):
    kind = data.draw(st.sampled_from(["<f4", "<f8", "<c8", "<i2", "?"]))
    shape = tuple(data.draw(st.lists(st.integers(0, 4), min_size=0, max_size=3)))
    array = np.arange(np.prod(shape, dtype=int)).astype(kind).reshape(shape)
    array = array.transpose(data.draw(st.permutations(range(len(shape)))))
    array = array[tuple(slice(None, None, data.draw(st.sampled_from([1, 2, -1, -2]))) for _ in shape)]
    again = laid_out(array.shape, array.dtype, array.strides, array.tobytes())
    assert again.strides == array.strides and again.dtype == array.dtype and np.array_equal(again, array)


def test_webrtc_hears_on_as_before():
    sound = np.random.default_rng(5).normal(size=(600, 160)) * np.repeat((0.01, 0.02), (400, 200))[:, None]
    vad, fresh = WebRtc(1), WebRtc(1)
    before = [vad.step(block) for block in sound[:400]]
    again = pickle.loads(pickle.dumps(vad))
    heard = [again.step(block) for block in sound[400:]]
    assert heard == [vad.step(block) for block in sound[400:]]
    assert 0 < sum(before) < 400                       # it decides on this sound, and its past matters
    assert heard != [fresh.step(block) for block in sound[400:]]


def test_another_build_of_webrtc_is_refused():
    with pytest.raises(ValueError, match="another build"):
        WebRtc().__setstate__(b"\0" * 100)


class Evil:
    def __init__(self, call, *arguments):
        self.call, self.arguments = call, arguments

    def __reduce__(self):
        return self.call, self.arguments


def test_bytes_from_a_file_run_nothing(tmp_path):
    import os
    import subprocess

    from robot.mind_state import bound

    written = tmp_path / "written"
    for evil in (Evil(os.system, f"touch {written}"), Evil(subprocess.run, ["touch", str(written)]), Evil(eval, "1"),
                 Evil(bound, np.zeros(3), "tofile"), Evil(getattr, np.zeros(3), "tofile")):
        with pytest.raises(BadRequest, match=r"box: .*no (part of a mind|method of a part of the mind)"):
            woken(pickle.dumps({"mind": evil}), "box")
    assert not written.exists()


@pytest.mark.parametrize("state", [b"", b"nonsense", pickle.dumps(3), pickle.dumps({"mind": None})])
def test_what_is_no_mind_is_named(state):
    with pytest.raises(BadRequest, match=r"tape\.mcap: .*expected a mind kept by this version"):
        woken(state, "tape.mcap")
