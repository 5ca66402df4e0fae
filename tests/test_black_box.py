"""The black box without its process: what makes it write, what it holds, what is on the disk."""
import errno
import json
import pickle
import resource
import shutil
import wave
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader

from dialogue.engine import SILENCE
from motion.intent import JointGoal, MotionIntent
from perception.audio.block import AudioBlock, frozen_samples
from perception.audio.scene import SoundScene
from perception.vision.frame import Sight
from robot.black_box.causes import Causes, is_complaint
from robot.black_box.config import BoxConfig
from robot.black_box.facts import event_facts, facts_of
from robot.black_box.ring import TOGETHER, Record, Ring, mind_of
from robot.black_box.shelf import ABOUT, UNFINISHED, NoRoom, Shelf, about
from robot.black_box.writing import Contents, write_box
from robot.errors import BadRequest
from robot.tape import read_tape
from robot.tick import Event, Health, Inputs, Outputs, Tick

SAID = Event(3.0, "transcript", (("turn", 1), ("text", "my secret is four"), ("reason", "words: secret")))


def record(index, sound=True, events=(), health=()):
    """A tick with a ramp as its sound."""
    t = index / 100
    ramp = np.full((4, 160), (index % 100) / 200)
    block = AudioBlock(t, frozen_samples(ramp), frozen_samples(ramp[0] * 0))
    inputs = Inputs(index, t, (block,))
    outputs = Outputs(JointGoal(t, np.zeros(9), np.zeros(9)), (SILENCE,))
    tick = Tick(outputs, SoundScene(t), Sight(t), (), MotionIntent(t))
    return Record(index, t, events, health, facts_of(inputs, tick) if index % 10 == 0 else None,
                  pickle.dumps((inputs, outputs)) if sound else None)


@pytest.mark.parametrize(("text", "is_one"), [
    ("That was wrong.", True), ("No, that's wrong!", True), ("That was not right", True), ("You got that wrong", True),
    ("that isn't correct", True), ("This was a mistake.", True), ("That’s not right", True),
    ("that's right", False), ("It was correct", False), ("what is wrong with Bob?", False), ("", False),
    ("everything went wrong at work", False)])
def test_a_complaint_is_about_what_the_robot_did(text, is_one):
    assert is_complaint(text) is is_one


def test_faults_write_one_box_until_it_is_quiet_again():
    """A loose plug that comes and goes for hours fills no disk; a person is always heard."""
    causes = Causes(BoxConfig(settle_s=10.0, quiet_s=100.0))
    gone, wrong = (Health(0, "camera", "gone", "no picture"),), (Event(0, "transcript", (("text", "that was wrong"),)),)
    assert causes.note(5.0, (), gone) is None                      # never came: the run has only begun
    assert causes.note(20.0, (), (Health(0, "camera", "degraded", "slow"),)) is None
    back = (replace(gone[0], level="ok"),)
    asked = [t for t in range(21, 6021) if causes.note(float(t), (), gone if t % 2 else back)]
    assert asked == list(range(21, 6021, 100))
    assert causes.note(6021.5, wrong, ()) and causes.note(6021.6, wrong, ())
    failed = Event(0, "health", (("of", "mind"), ("level", "degraded"), ("reason", "ZeroDivisionError: bug")))
    assert causes.note(9000.0, (failed,), ()) == "mind degraded: ZeroDivisionError: bug"


def test_without_permission_nobodys_words_are_kept():
    assert event_facts(SAID, True)["facts"]["text"] == "my secret is four"
    kept = event_facts(SAID, False)
    assert "secret" not in json.dumps(kept) and kept["facts"] == {"turn": 1.0, "text": "(17 letters)",
                                                                  "reason": "(13 letters)"}
    health = Event(3.0, "health", (("of", "camera"), ("level", "gone"), ("reason", "no picture"), ("n", float("nan"))))
    assert event_facts(health, False)["facts"] == {"of": "camera", "level": "gone", "reason": "no picture", "n": None}


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(1, 450), st.booleans(), st.integers(0, 3)), min_size=1, max_size=8))
def test_what_a_ring_gives_can_be_replayed_or_says_why(pieces):
    """Whatever is lost on the way: a replayable part begins with a mind, has no gap, ends with the newest tick."""
    ring, index, longest = Ring(BoxConfig(minutes=0.05)), 0, 0
    for ticks, mind, lost in pieces:
        index += lost
        if mind:
            ring.begin(index, b"mind before %d" % index, "")
        for _ in range(ticks):
            ring.add(Record(index, index / 100, (), (), None, b"x" * 40))
            index += 1
        longest = max(longest, ticks)
    segments, why = ring.best()
    numbers = [r.tick for segment in segments for r in segment.records()]
    assert numbers[-1] == index - 1
    if not why:
        assert mind_of(segments[0]) == b"mind before %d" % numbers[0]
        assert numbers == list(range(numbers[0], index))
    assert ring.lost == sum(lost for _, _, lost in pieces[1:])
    assert sum(s.ticks for s in ring.segments) <= 300 + longest * 2 + TOGETHER


def test_a_ring_is_bounded_in_time_and_in_memory():
    rng = np.random.default_rng(1)
    for config, most in ((BoxConfig(minutes=0.1, segment_s=5.0), 1200), (BoxConfig(minutes=9.0, memory_mb=4.0), 900)):
        ring = Ring(config)
        for index in range(3000):
            if index % 500 == 0:
                ring.begin(index, b"mind", "")
            ring.add(Record(index, index / 100, (), (), None, rng.bytes(5000)))
            assert ring.bytes < config.memory_mb * 1e6 + TOGETHER * 5000
        assert 0 < sum(s.ticks for s in ring.segments) <= most


def contents(ring, words=False, exact=True):
    segments, why = ring.best()
    return Contents(segments, {"mind": {}}, {"cause": "test", "origin": {}}, words, exact, why)


def filled(ticks=250, sound=True, mind=b"a mind"):
    ring = Ring(BoxConfig())
    ring.begin(0, mind if sound else None, "" if sound else "recorded without sound")
    for index in range(ticks):
        ring.add(record(index, sound, (SAID,) if index == 30 else (),
                        (Health(0.4, "camera", "gone", "no picture"),) if index == 40 else ()))
    return ring


def messages(path):
    """By a stock reader, with every channel's schema checked to be JSON Schema of an object."""
    with path.open("rb") as file:
        found = {}
        for schema, channel, message in make_reader(file).iter_messages():
            assert schema.encoding == "jsonschema" and json.loads(schema.data)["type"] == "object"
            assert channel.message_encoding == "json"
            found.setdefault(channel.topic, []).append(json.loads(message.data))
    return found


def test_a_box_with_sound_opens_everywhere(tmp_path):
    write_box(tmp_path, contents(filled(), words=True))
    found = messages(tmp_path / "tape.mcap")
    assert {topic: len(all_) for topic, all_ in found.items()} == {
        "/inputs": 250, "/outputs": 250, "/scene": 25, "/joints": 25, "/levels": 25, "/events": 1, "/health": 1}
    assert found["/events"][0]["facts"]["text"] == "my secret is four"
    assert found["/levels"][5]["mics_dbfs"] == [pytest.approx(20 * np.log10(0.25), abs=1e-3)] * 4
    assert set(found["/joints"][0]["goal_rad"]) >= {"body_yaw", "stewart_6", "left_antenna"}
    tape = read_tape(tmp_path)
    assert tape.mind == b"a mind" and not tape.box["unverifiable"]
    assert [inputs.index for inputs, _ in tape.pairs] == list(range(250))
    with wave.open(str(tmp_path / "audio.wav")) as sound:
        assert (sound.getnchannels(), sound.getframerate(), sound.getnframes()) == (5, 16000, 250 * 160)
        samples = np.frombuffer(sound.readframes(250 * 160), "<i2").reshape(-1, 5)
    assert samples[73 * 160, 0] == samples[73 * 160, 3] == int(73 / 200 * 32767) and not samples[:, 4].any()
    assert about(tmp_path)["verifiable"] is True


def test_a_box_without_permission_holds_no_sound_and_no_words(tmp_path):
    write_box(tmp_path, contents(filled(sound=False), exact=False))
    found = messages(tmp_path / "tape.mcap")
    assert set(found) == {"/scene", "/joints", "/levels", "/events", "/health"} and len(found["/scene"]) == 25
    assert not (tmp_path / "audio.wav").exists()
    assert all(b"secret" not in path.read_bytes() for path in tmp_path.iterdir())
    tape = read_tape(tmp_path)
    assert tape.box["unverifiable"] == "recorded without sound" and not tape.pairs and tape.events[0]["t"] == 3.0


def shelf(tmp_path, most=1e6, spare=0.0):
    return Shelf(tmp_path / "boxes", most, spare)


def content(size):
    return lambda folder: (folder / "tape.mcap").write_bytes(b"x" * size)


def test_the_oldest_boxes_go_whatever_the_wall_clock_says(tmp_path):
    """The clock jumps back by years between two boxes; order and names hold."""
    kept = shelf(tmp_path)
    for stamp in ("2026-11-30T22:00:00", "1970-01-01T00:00:01", "2026-11-30T10:00:00", "1970-01-01T00:00:01"):
        kept.put(stamp, 3e5, content(300_000))
    assert [box.name for box in kept.boxes()] == ["0002_1970-01-01T00.00.01", "0003_2026-11-30T10.00.00",
                                                  "0004_1970-01-01T00.00.01"]


def test_a_box_is_whole_or_not_there(tmp_path):
    kept = shelf(tmp_path)
    old = kept.put("a", 10, content(10))

    def fails(folder):
        content(10)(folder)
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        kept.put("b", 10, fails)
    assert list(kept.folder.iterdir()) == [old]
    (kept.folder / f"0002_x{UNFINISHED}").mkdir()                  # the power went while it was written
    assert kept.boxes() == [old]
    assert [box.name for box in (kept.put("c", 10, content(10)),)] == ["0002_c"]
    assert len(list(kept.folder.iterdir())) == 2


def test_no_old_box_goes_for_one_that_has_no_room(tmp_path):
    kept = shelf(tmp_path)
    kept.put("a", 10, content(10))
    free = shutil.disk_usage(tmp_path).free
    for full, need, said in ((kept, 2e6, "at most disk_mb"), (shelf(tmp_path, spare=2.0 * free), 10, "are free")):
        with pytest.raises(NoRoom, match=said):
            full.put("b", need, content(10))
    with pytest.raises(NoRoom, match="at most disk_mb"):
        kept.put("b", 10, content(2_000_000))                      # grew beyond what was expected
    assert [box.name for box in kept.boxes()] == ["0001_a"]


def test_a_disk_that_is_full_in_the_middle_of_a_box(tmp_path):
    """A limit on file size stands for the full disk: the same error from the same calls."""
    ring = filled(400)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(OSError) as error:
            shelf(tmp_path).put("a", 10, lambda folder: write_box(folder, contents(ring)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert error.value.errno == errno.EFBIG and not list((tmp_path / "boxes").iterdir())
    box = shelf(tmp_path, 1e8).put("b", 10, lambda folder: write_box(folder, contents(ring)))
    assert len(read_tape(box).pairs) == 400                        # nothing was lost of what the ring held


def test_forgetting_leaves_nothing_behind(tmp_path):
    kept = shelf(tmp_path)
    assert kept.forget() == []
    kept.put("a", 10, content(10))
    (kept.folder / f"0002_b{UNFINISHED}").mkdir()
    (kept.folder / "notes.txt").write_text("mine")
    assert [path.name for path in kept.forget()] == ["0001_a", f"0002_b{UNFINISHED}"]
    assert [path.name for path in kept.folder.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("text", ["", "{", "[]", "\0\0\0"])
def test_a_damaged_description_costs_no_box(tmp_path, text):
    box = shelf(tmp_path).put("a", 10, content(10))
    (box / ABOUT).write_text(text)
    assert about(box) is None and shelf(tmp_path).boxes() == [box]


def test_a_half_written_box_is_read_up_to_the_cut(tmp_path):
    write_box(tmp_path, contents(filled(600)))
    data = (tmp_path / "tape.mcap").read_bytes()
    (tmp_path / "tape.mcap").write_bytes(data[: len(data) * 3 // 4])
    tape = read_tape(tmp_path)
    assert tape.cut and tape.mind == b"a mind" and 100 < len(tape.pairs) < 600
    for part in (b"", data[:40]):
        (tmp_path / "tape.mcap").write_bytes(part)
        with pytest.raises(BadRequest, match=r"tape\.mcap"):
            read_tape(tmp_path)
