"""Reading takes: what is right is read exactly, what is wrong is named."""
import json

import numpy as np
import pytest
from scipy.io import wavfile

from calibration.body_model import JOINTS
from perception.audio.block import BLOCK
from robot.errors import BadRequest
from robot.take import POSE_COLUMNS, read_take, read_video_times

MICS = 2


def write_take(folder, description=None, audio=None, motion=None, rate=16000):
    """A valid take of 0.3 s, with what is given in its place."""
    about = {"version": 1, "sample_rate_hz": 16000, "mics": MICS, "mic_positions_m": [[0, -0.02, 0], [0, 0.02, 0]],
                 "playback_delay_s": 0.1} | (description or {})
    (folder / "take.json").write_text(json.dumps({k: v for k, v in about.items() if v != "absent"}))
    if audio is None:
        audio = (np.arange(4800 * 3).reshape(4800, 3) % 2000 - 1000).astype(np.int16)
    wavfile.write(folder / "audio.wav", rate, audio)
    if motion is not None:
        (folder / "motion.csv").write_text(motion)
    return folder


def motion_csv(rows=3, joints=JOINTS):
    header = ",".join(["t_s", *POSE_COLUMNS, *(f"cmd_vel_{joint}_rad_s" for joint in joints)])
    lines = [",".join(str(round(row / 100 if column == 0 else column + row / 10, 6)) for column in range(17))
             for row in range(rows)]
    return "\n".join([header, *lines]) + "\n"


def test_reads_everything(tmp_path):
    take = read_take(write_take(tmp_path, motion=motion_csv()))
    sound = take.sound()
    mics, reference = sound.mics, sound.reference
    assert (take.mics, take.playback_delay_s, take.camera) == (2, 0.1, None)
    assert mics.shape == (2, 4800) and mics.dtype == np.float32
    assert reference[1] == np.float32((5 - 1000) / 32768)
    assert take.motion.position[1].tolist() == [1.1, 2.1, 3.1]
    assert take.motion.commanded_velocity[0].tolist() == list(range(8, 17))


def test_blocks_cover_the_take_and_pad_the_last_one(tmp_path):
    audio = np.ones((BLOCK * 3 + 7, MICS + 1), np.float32) * 0.5
    blocks = list(read_take(write_take(tmp_path, audio=audio)).sound().blocks())
    assert [round(block.t, 6) for block in blocks] == [0.01, 0.02, 0.03, 0.04]
    assert (blocks[-1].reference[:7] == 0.5).all() and not blocks[-1].reference[7:].any()


def test_names_of_the_antennas_may_be_the_other_way_round(tmp_path):
    other = [{"right_antenna": "antenna_right", "left_antenna": "antenna_left"}.get(joint, joint) for joint in JOINTS]
    take = read_take(write_take(tmp_path, motion=motion_csv(joints=other)))
    assert take.motion.commanded_velocity[0, 7:].tolist() == [15, 16]


def test_row_at_is_the_newest_that_is_not_later(tmp_path):
    motion = read_take(write_take(tmp_path, motion=motion_csv())).motion
    assert [motion.row_at(t) for t in (-1.0, 0.0, 0.0099, 0.01, 9.0)] == [0, 0, 0, 1, 2]


@pytest.mark.parametrize(("change", "words"), [
    ({"version": 2}, "version: expected 1"),
    ({"sample_rate_hz": 4000}, "sample_rate_hz: expected a whole number from 8000 to 192000, found 4000"),
    ({"sample_rate_hz": "absent"}, "sample_rate_hz: expected a whole number from 8000 to 192000, found None"),
    ({"mics": 0}, "mics: expected a whole number from 1 to 8"),
    ({"mics": True}, "mics: expected a whole number"),
    ({"mic_positions_m": [[0, 0, 0]]}, "mic_positions_m: expected 2 x 3 finite numbers"),
    ({"mic_positions_m": "absent"}, "mic_positions_m: expected 2 x 3 finite numbers, found nothing"),
    ({"playback_delay_s": "late"}, "playback_delay_s: expected one finite number"),
    ({"playback_delay_s": -1}, "playback_delay_s: expected 0 to 2 seconds"),
    ({"camera": 3}, "camera: expected an object"),
    ({"camera": {}}, "camera.width_px: expected one finite number"),
])
def test_a_wrong_description_is_named(tmp_path, change, words):
    with pytest.raises(BadRequest, match=r"take\.json") as caught:
        read_take(write_take(tmp_path, change))
    assert words in str(caught.value)


@pytest.mark.parametrize(("old", "new", "words"), [
    ("0.02,", "0.0,", "row 4: expected t_s to increase"),
    ("1.1", "nan", "row 3: expected finite numbers"),
    ("1.1", "x", "row 3: expected 17 numbers"),
    ("body_yaw_rad,", "yaw,", "header: expected a column body_yaw_rad"),
])
def test_wrong_motion_is_named(tmp_path, old, new, words):
    with pytest.raises(BadRequest, match=r"motion\.csv") as caught:
        read_take(write_take(tmp_path, motion=motion_csv().replace(old, new, 1)))
    assert words in str(caught.value)


@pytest.mark.parametrize(("audio", "words"), [
    (np.zeros((100, 4), np.int16), "channels: expected 2 microphones and the reference (3), found 4"),
    (np.zeros(100, np.int16), "found 1"),
    (np.zeros((100, 3), np.int32), "samples: expected 16-bit or float"),
    (np.zeros((0, 3), np.int16), "no samples"),
])
def test_wrong_sound_is_named(tmp_path, audio, words):
    with pytest.raises(BadRequest, match=r"audio\.wav") as caught:
        read_take(write_take(tmp_path, audio=audio)).sound()
    assert words in str(caught.value)


@pytest.mark.parametrize("rate", [44100, 48000])
def test_other_sample_rates_are_resampled(tmp_path, rate):
    tone = lambda hz: 0.3 * np.sin(2 * np.pi * 700 * np.arange(hz) / hz)   # noqa: E731
    audio = np.stack([tone(rate)] * 3, axis=1).astype(np.float32)
    sound = read_take(write_take(tmp_path, {"sample_rate_hz": rate}, audio, rate=rate)).sound()
    assert sound.mics.shape == (2, 16000) and sound.reference.shape == (16000,)
    np.testing.assert_allclose(sound.reference[800:-800], tone(16000)[800:-800], atol=2e-3)
    assert f"resampled from {rate}" in sound.notes[0].reason


def test_the_rate_of_the_sound_is_the_one_that_the_description_says(tmp_path):
    with pytest.raises(BadRequest, match=r"audio\.wav: sample rate: expected 16000 Hz as take\.json says, found 48000"):
        read_take(write_take(tmp_path, rate=48000)).sound()


@pytest.mark.parametrize("mics", [1, 2])
def test_a_missing_reference_is_silence_and_named(tmp_path, mics):
    audio = np.full((320, mics) if mics > 1 else 320, 500, np.int16)
    description = {"mics": mics, "mic_positions_m": [[0, 0, 0]] * mics}
    sound = read_take(write_take(tmp_path, description, audio)).sound()
    assert sound.mics.shape == (mics, 320) and sound.mics.any() and not sound.reference.any()
    assert [(note.part, note.level) for note in sound.notes] == [("reference", "gone")]


@pytest.mark.parametrize("lost", [0.0, np.nan])
def test_lost_sound_is_marked_where_it_goes_on(tmp_path, lost):
    audio = np.random.default_rng(1).normal(0, 0.01, (4800, 3)).astype(np.float32)
    audio[100:900, 0] = lost             # one microphone alone is none of it: that is for the ears
    audio[1000:1400, :2] = lost
    audio[4000:, :2] = lost              # nor is an end, after which nothing goes on
    sound = read_take(write_take(tmp_path, audio=audio)).sound()
    assert [block.t for block in sound.blocks() if block.gap] == [pytest.approx(0.09)]
    assert [(note.part, note.level, note.reason[:10]) for note in sound.notes] == [("audio", "degraded", "25 ms lost")]


def test_broken_files_are_named(tmp_path):
    with pytest.raises(BadRequest, match=r"take\.json"):
        read_take(tmp_path)
    write_take(tmp_path)
    (tmp_path / "audio.wav").write_bytes(b"RIFF")
    with pytest.raises(BadRequest, match=r"audio\.wav"):
        read_take(tmp_path).sound()
    (tmp_path / "take.json").write_text("{")
    with pytest.raises(BadRequest, match="expected JSON"):
        read_take(tmp_path)


def test_video_times(tmp_path):
    file = tmp_path / "video.csv"
    file.write_text("frame,t_capture_s\n0,0.03\n1,0.06\n")
    assert read_video_times(file).tolist() == [0.03, 0.06]
    file.write_text("frame,t_capture_s\n0,0.03\n2,0.06\n")
    with pytest.raises(BadRequest, match="row 3: expected frame 1"):
        read_video_times(file)
