"""The tape: lossless, comparable bit by bit, readable when cut."""
import math
import resource

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from calibration.frames import frozen
from dialogue.engine import SILENCE, Clause, Hear, ReplyDone
from motion.intent import JointGoal, MotionIntent
from perception.audio.block import AudioBlock, frozen_samples
from perception.audio.scene import SoundScene
from perception.vision.frame import Detection, FaceFrame, Sight
from robot.codec import decoded, encoded
from robot.errors import BadRequest
from robot.tape import NAME, TapeWriter, read_tape
from robot.tick import Health, Inputs, Outputs, Tick

FLOATS = st.floats(allow_nan=True, allow_infinity=True)
samples = hnp.arrays(np.float32, st.integers(0, 8), elements=st.floats(width=32, allow_nan=True)).map(frozen_samples)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(FLOATS, samples, st.text(), st.integers(-2**70, 2**70))
def test_values_come_back_to_the_bit(number, sound, text, integer):
    for value in (Clause(integer, 0, text, sound), ReplyDone(integer), Health(number, text, "ok"),
                  Hear(number, sound, True)):
        assert encoded(decoded(encoded(value))) == encoded(value)
        assert type(decoded(encoded(value))) is type(value)


def test_nan_infinity_and_negative_zero_survive():
    value = decoded(encoded(frozen([math.nan, math.inf, -0.0])))
    assert math.isnan(value[0]) and value[1] == math.inf and math.copysign(1, value[2]) == -1
    assert not value.flags.writeable


def test_an_unknown_kind_of_value_is_refused():
    with pytest.raises(TypeError, match="cannot be put on a tape"):
        encoded({1, 2})
    with pytest.raises(BadRequest, match="unknown kind 'Popen'"):
        decoded('{"is": "Popen", "args": "x"}')


def ticks(count):
    rng = np.random.default_rng(3)
    for index in range(count):
        t = index / 100
        block = AudioBlock(t, frozen_samples(rng.normal(size=(4, 160))), frozen_samples(np.zeros(160)))
        face = FaceFrame(t - 0.1, (Detection(frozen([1, 2, 3, 4]), 0.9, frozen(np.zeros((5, 2)))),))
        inputs = Inputs(index, t, (block,), None, (face,), (ReplyDone(1),))
        outputs = Outputs(JointGoal(t, frozen(rng.normal(size=9)), frozen(np.zeros(9))), (SILENCE,), 0)
        yield inputs, Tick(outputs, SoundScene(t), Sight(t), (), MotionIntent(t))


def written(folder, count=200):
    tape = TapeWriter(folder, {"seed": 5})
    for inputs, tick in ticks(count):
        tape(inputs, tick)
    tape.close()
    return folder / NAME


def test_a_tape_reads_back_whole(tmp_path):
    written(tmp_path)
    tape = read_tape(tmp_path)
    assert tape.header == {"seed": 5} and not tape.cut and len(tape.pairs) == 200
    for (inputs, outputs), (true_inputs, tick) in zip(tape.pairs, ticks(200), strict=True):
        assert encoded(inputs) == encoded(true_inputs) and encoded(outputs) == encoded(tick.outputs)


def test_a_cut_tape_keeps_what_came_before_the_cut(tmp_path):
    path = written(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 3 // 4])
    tape = read_tape(tmp_path)
    assert tape.cut and 100 <= len(tape.pairs) < 200


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89MCAP0\r\n"])
def test_what_is_no_tape_is_named(tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(BadRequest, match=NAME):
        read_tape(tmp_path)
    with pytest.raises(BadRequest, match="No such file"):
        read_tape(tmp_path / "nowhere")


def test_a_full_disk_ends_the_tape_and_not_the_run(tmp_path):
    """A limit on file size stands for the full disk: the same error from the same call."""
    told, before = [], resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, before[1]))
    try:
        tape = TapeWriter(tmp_path, {"seed": 5}, told.append)
        for inputs, tick in ticks(300):
            tape(inputs, tick)
        tape.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert tape.failed and len(told) == 1 and "the recording stops at tick" in told[0] and NAME in told[0]
    kept = read_tape(tmp_path)
    assert kept.cut and 50 < len(kept.pairs) < 300


def test_a_disk_that_is_full_from_the_start_is_told_at_the_latest_at_the_end(tmp_path):
    (tmp_path / NAME).symlink_to("/dev/full")
    told = []
    tape = TapeWriter(tmp_path, {"seed": 5}, told.append)
    tape.close()
    assert tape.failed and len(told) == 1 and "No space left on device" in told[0]
