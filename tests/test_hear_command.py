"""`talkover hear`: files in, events and sound out, wrong requests refused in one line."""
import json

import numpy as np
import pytest
from scipy.io import wavfile

from calibration.body_model import JOINTS
from robot.__main__ import main
from robot.take import POSE_COLUMNS
from tests.hearing_sounds import LINE, RATE, echo_of, hiss, talking

SECONDS = 1.0


@pytest.fixture
def take(tmp_path):
    folder = tmp_path / "take"
    folder.mkdir()
    reference = talking(1, SECONDS)
    mics = echo_of(reference, 0.1) + hiss(1, 4, reference.size, 1e-4)
    sound = (np.vstack([mics, reference]).T[:-50] * 32767).round().astype(np.int16)   # not a whole number of blocks
    wavfile.write(folder / "audio.wav", RATE, sound)
    about = {"version": 1, "sample_rate_hz": RATE, "mics": 4, "mic_positions_m": LINE.tolist(), "playback_delay_s": 0.1}
    (folder / "take.json").write_text(json.dumps(about))
    header = ",".join(["t_s", *POSE_COLUMNS, *(f"cmd_vel_{joint}_rad_s" for joint in JOINTS)])
    rows = [",".join(["%.2f" % (row / 100), *["0"] * 16]) for row in range(100)]
    (folder / "motion.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder


def test_writes_events_clean_and_residual(take, tmp_path):
    out, clean, residual = (tmp_path / name for name in ("events.jsonl", "clean.wav", "residual.wav"))
    arguments = ["hear", str(take), "--out", str(out), "--clean", str(clean), "--residual", str(residual)]
    assert main(arguments) == 0
    before = out.read_text()
    events = [json.loads(line) for line in before.splitlines()]
    assert [event["t"] for event in events] == sorted(event["t"] for event in events)
    assert {event["kind"] for event in events} <= {"speech", "duck", "barge_in", "release", "direction"}
    samples = RATE - 50
    assert wavfile.read(clean)[1].shape == (samples,)
    rate, cancelled = wavfile.read(residual)
    assert rate == RATE and cancelled.shape == (samples, 4) and cancelled.any()
    assert main(arguments) == 0 and out.read_text() == before   # the same take, the same bytes


def test_settings_reach_the_stages(take, tmp_path):
    out = tmp_path / "events.jsonl"
    settings = ["--set", "barge_in.duck_at=-7", "--set", "barge_in.stop_at=-7"]
    assert main(["hear", str(take), "--out", str(out), *settings]) == 0
    assert "barge_in" in {json.loads(line)["kind"] for line in out.read_text().splitlines()}


@pytest.mark.parametrize(("arguments", "words"), [
    (["--set", "barge_in.stop=5"], "stop_at"),
    (["--set", "barge_in.stop_at"], "KEY=VALUE"),
    (["--set", "barge_in.stop_at=loud"], "a number"),
    (["--set", "plays_above=1", "--set", "plays_above.x=2"], "expected a section"),
    (["--out", "/nowhere/at/all/events.jsonl"], "can be written"),
])
def test_wrong_requests_are_refused_in_one_line(take, capsys, arguments, words):
    assert main(["hear", str(take), *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_a_take_that_is_none(tmp_path, capsys):
    assert main(["hear", str(tmp_path / "none")]) == 2
    assert "take.json" in capsys.readouterr().err
