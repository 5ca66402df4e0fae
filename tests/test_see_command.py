"""`talkover see`: events of a take, and one line for a take that is wrong."""
import json
import shutil

import cv2
import numpy as np
import pytest

from calibration.body_model import reachy_mini
from calibration.frames import wrapped
from perception.vision.rays import Lens
from robot.__main__ import main
from tests.vision_scene import picture

FRAMES = 8
EYES = (400, 200)


@pytest.fixture(scope="module")
def good_take(tmp_path_factory):
    """Eight frames of a still face before a still head."""
    folder = tmp_path_factory.mktemp("take")
    camera = reachy_mini().camera
    video = cv2.VideoWriter(str(folder / "video.mp4"), cv2.VideoWriter.fourcc(*"mp4v"), 15, (640, 480))
    for i in range(FRAMES):
        video.write(picture([(*EYES, 24, 0.0)], seed=i))
    video.release()
    rows = [f"{i},{0.05 + i / 15:.5f}" for i in range(FRAMES)]
    (folder / "video.csv").write_text("\n".join(["frame,t_capture_s", *rows]) + "\n")
    (folder / "take.json").write_text(json.dumps({
        "version": 1, "sample_rate_hz": 16000, "mics": 1, "mic_positions_m": [[0, 0, 0]],
        "camera": {"width_px": 640, "height_px": 480, "fps": 15, "k": camera.k.tolist(),
                   "distortion": camera.distortion.tolist(), "position_m": camera.position.tolist(),
                   "rotation_rpy_rad": [0, 0, 0]}}))
    return folder


@pytest.fixture
def take(good_take, tmp_path):
    return shutil.copytree(good_take, tmp_path / "take")


def edited(take, **camera):
    data = json.loads((take / "take.json").read_text())
    data["camera"] |= camera
    (take / "take.json").write_text(json.dumps(data))


def refusal(take, capsys):
    assert main(["see", str(take), "--out", str(take / "events.jsonl")]) == 2
    text = capsys.readouterr().err
    assert text.count("\n") == 1 and "Traceback" not in text
    return text


def test_events_say_who_is_where_and_when(take):
    out = take / "events.jsonl"
    assert main(["see", str(take), "--out", str(out)]) == 0
    events = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(events) >= FRAMES - 2
    assert {e["kind"] for e in events} == {"face"} and {e["id"] for e in events} == {"face_1"}
    assert all(e["t"] >= e["t_capture"] + 0.05 - 1e-9 for e in events)
    assert [e["t"] for e in events] == sorted(e["t"] for e in events)
    ray = Lens(reachy_mini().camera).rays(np.array([EYES], float))[0]
    place = reachy_mini().camera.position + events[-1]["distance_m"] * ray
    assert abs(wrapped(events[-1]["azimuth_rad"] - np.arctan2(place[1], place[0]))) < 0.01
    again = take / "again.jsonl"
    assert main(["see", str(take), "--out", str(again)]) == 0
    assert again.read_bytes() == out.read_bytes()


def test_without_out_the_events_go_to_standard_output(take, capsys):
    assert main(["see", str(take)]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["kind"] == "face"


@pytest.mark.parametrize("name", ["video.mp4", "video.csv", "take.json"])
def test_a_missing_file_is_named(take, capsys, name):
    (take / name).unlink()
    assert name in refusal(take, capsys)


def test_a_take_without_a_camera_is_refused(take, capsys):
    data = json.loads((take / "take.json").read_text())
    del data["camera"]
    (take / "take.json").write_text(json.dumps(data))
    assert "take.json: camera: expected the camera's description" in refusal(take, capsys)


def test_a_video_of_another_size_or_length_is_refused(take, capsys):
    with open(take / "video.csv", "a") as file:
        file.write(f"{FRAMES},{0.05 + FRAMES / 15:.5f}\n")
    assert f"video.mp4: frame {FRAMES}: expected {FRAMES + 1} frames" in refusal(take, capsys)
    edited(take, width_px=320, height_px=240)
    assert "video.mp4: frame 0: expected 320 x 240 px" in refusal(take, capsys)


def test_something_that_is_no_video_is_refused(take, capfd):
    (take / "video.mp4").write_bytes(b"not a video at all" * 50)
    assert main(["see", str(take), "--out", str(take / "e.jsonl")]) == 2
    last = capfd.readouterr().err.strip().splitlines()[-1]
    assert "video.mp4: expected a readable video" in last


def test_an_output_that_cannot_be_written_is_refused(take, capsys):
    assert main(["see", str(take), "--out", str(take / "nowhere" / "e.jsonl")]) == 2
    assert "e.jsonl: expected a file that can be written" in capsys.readouterr().err
