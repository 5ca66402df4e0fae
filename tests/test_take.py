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


def write_take(folder, description=None, audio=None, motion=None):
    """A valid take of 0.3 s, with what is given in its place."""
    about = {"version": 1, "sample_rate_hz": 16000, "mics": MICS, "mic_positions_m": [[0, -0.02, 0], [0, 0.02, 0]],
                 "playback_delay_s": 0.1} | (description or {})
    (folder / "take.json").write_text(json.dumps({k: v for k, v in about.items() if v != "absent"}))
    if audio is None:
        audio = (np.arange(4800 * 3).reshape(4800, 3) % 2000 - 1000).astype(np.int16)
    wavfile.write(folder / "audio.wav", 16000, audio)
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
    mics, reference = take.audio()
    assert (take.mics, take.playback_delay_s, take.camera) == (2, 0.1, None)
    assert mics.shape == (2, 4800) and mics.dtype == np.float32
    assert reference[1] == np.float32((5 - 1000) / 32768)
    assert take.motion.position[1].tolist() == [1.1, 2.1, 3.1]
    assert take.motion.commanded_velocity[0].tolist() == list(range(8, 17))


def test_blocks_cover_the_take_and_pad_the_last_one(tmp_path):
    audio = np.ones((BLOCK * 3 + 7, MICS + 1), np.float32) * 0.5
    blocks = list(read_take(write_take(tmp_path, audio=audio)).blocks())
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
    ({"sample_rate_hz": 44100}, "sample_rate_hz: expected 16000"),
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
    (np.zeros((100, 2), np.int16), "channels: expected 2 microphones and the reference (3), found 2"),
    (np.zeros(100, np.int16), "found 1"),
    (np.zeros((100, 3), np.int32), "samples: expected 16-bit or float"),
    (np.zeros((0, 3), np.int16), "no samples"),
])
def test_wrong_sound_is_named(tmp_path, audio, words):
    with pytest.raises(BadRequest, match=r"audio\.wav") as caught:
        read_take(write_take(tmp_path, audio=audio)).audio()
    assert words in str(caught.value)


def test_broken_files_are_named(tmp_path):
    with pytest.raises(BadRequest, match=r"take\.json"):
        read_take(tmp_path)
    write_take(tmp_path)
    (tmp_path / "audio.wav").write_bytes(b"RIFF")
    with pytest.raises(BadRequest, match=r"audio\.wav"):
        read_take(tmp_path).audio()
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
