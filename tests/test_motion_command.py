"""`talkover move`: scripts obeyed, lines refused, files named."""
import argparse
import csv
import json
import wave

import numpy as np
import pytest

from robot.commands import move
from robot.errors import BadRequest

HEADER = ("t_s,head_x_m,head_y_m,head_z_m,head_roll_rad,head_pitch_rad,head_yaw_rad,body_yaw_rad,"
          "cmd_vel_body_yaw_rad_s,cmd_vel_stewart_1_rad_s")


def write(folder, lines):
    script = folder / "script.jsonl"
    script.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return script


def moved(folder, lines, name="motion.csv"):
    """Columns of the motion by name."""
    out = folder / name
    assert move.run(argparse.Namespace(script=write(folder, lines), out=out)) == 0
    with open(out, newline="") as file:
        rows = list(csv.reader(file))
    return dict(zip(rows[0], np.array(rows[1:], float).T, strict=True))


def speech(folder, name="voice.wav", rate=16000, channels=1):
    samples = (np.random.default_rng(0).standard_normal((rate, channels)) * 3000).astype("<i2")
    with wave.open(str(folder / name), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())


def test_rows_columns_and_target(tmp_path):
    motion = moved(tmp_path, [{"t": 0, "mode": "listen"},
                              {"t": 0.2, "look_at": {"azimuth_rad": 1.0, "elevation_rad": 0.2}}, {"t": 2, "end": True}])
    assert ",".join(motion).startswith(HEADER)
    assert len(motion) == 8 + 9 + 9
    assert motion["t_s"] == pytest.approx(np.arange(201) / 100)
    assert motion["head_yaw_rad"][-1] == pytest.approx(1.0, abs=1e-6)
    assert motion["head_pitch_rad"][-1] == pytest.approx(-0.2, abs=1e-6)
    assert motion["head_z_m"] == pytest.approx(0.177, abs=0.01)
    for joint in ("body_yaw", "stewart_4", "left_antenna"):
        steps = np.diff(motion[f"joint_{joint}_rad"]) * 100
        assert motion[f"cmd_vel_{joint}_rad_s"][1:] == pytest.approx(steps, abs=1e-7)


HUGE = "1" + "0" * 400
REFUSED = [
    '{"t": 0.1, "look_at": {"azimuth_rad": NaN, "elevation_rad": 0}}', '{"t": 0.1, "voice_from": {"azimuth_rad": 1e9}}',
    '{"t": 0.1, "look_at": {"azimuth_rad": true, "elevation_rad": 0}}', '{"t": 0.1, "look_at": {}}',
    '{"t": 0.1, "look_at": {"azimuth_rad": 1}, "mode": "idle"}', '{"t": 0.1, "look_at": {"azimuth_rad": "left"}}',
    '{"t": 0.1, "mode": "fly"}', '{"t": 0.1, "mode": ["idle"]}', '{"t": 0.1, "mode": null}',
    '{"t": 0.1, "gesture": "bow"}',
    '{"t": 0.1, "jump": 1}', '{"t": 0.1, "speech_wav": 7}', '{"t": 0.1, "speech_wav": "gone.wav"}',
    '{"t": 0.1, "end": 1}', '{"t": 0.1}', '{"t": NaN, "mode": "idle"}', '{"t": -1, "mode": "idle"}',
    '{"t": 1e12, "end": true}', '{"t": "0", "mode": "idle"}', '{"t": ' + HUGE + ', "mode": "idle"}',
    '{"t": 0.1, "voice_from": {"azimuth_rad": ' + HUGE + "}}", '{"t": ' + 12 * HUGE + ', "mode": "idle"}',
    '{"mode": "idle"}', "[1, 2]", "not json", '{"t": 0.1, "mode": "idle"', "[" * 5000]


@pytest.mark.parametrize("line", REFUSED)
def test_a_line_that_cannot_be_obeyed_is_named_and_changes_nothing(tmp_path, capsys, line):
    clean = [{"t": 0, "mode": "listen"}, {"t": 0.3, "end": True}]
    expected = moved(tmp_path, clean)
    assert capsys.readouterr().err == ""
    motion = moved(tmp_path, [clean[0], line, clean[1]])
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith(f"{tmp_path / 'script.jsonl'}:2: ")
    assert "expected" in error
    assert all(np.array_equal(motion[name], expected[name]) for name in expected)


def test_a_line_out_of_order_is_refused_and_blank_ones_are_nothing(tmp_path, capsys):
    moved(tmp_path, [{"t": 0.2, "mode": "listen"}, "", {"t": 0.1, "mode": "idle"}, {"t": 0.3, "end": True}])
    assert capsys.readouterr().err.startswith(f"{tmp_path / 'script.jsonl'}:3: t is 0.1, expected seconds from 0.2")


def test_out_of_reach_is_looked_at_as_far_as_it_goes(tmp_path, capsys):
    motion = moved(tmp_path, [{"t": 0, "look_at": {"azimuth_rad": 0, "elevation_rad": 1.5}}, {"t": 2, "end": True}])
    assert 0.6 < -motion["head_pitch_rad"][-1] < 1.5
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("rate", "channels"), [(16000, 1), (48000, 2)])
def test_speech_of_any_rate_sways_the_head(tmp_path, rate, channels):
    speech(tmp_path, rate=rate, channels=channels)
    motion = moved(tmp_path, [{"t": 0, "mode": "speak"}, {"t": 0.5, "speech_wav": "voice.wav"}, {"t": 2, "end": True}])
    assert np.ptp(motion["head_yaw_rad"][:50]) == 0
    assert np.ptp(motion["head_yaw_rad"][50:]) > 0.005


def test_same_script_same_bytes(tmp_path):
    lines = [{"t": 0, "mode": "idle"}, {"t": 5, "end": True}]
    moved(tmp_path, lines, "one.csv")
    moved(tmp_path, lines, "two.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_without_an_end_it_runs_a_little_on(tmp_path):
    assert moved(tmp_path, [{"t": 1, "mode": "listen"}])["t_s"][-1] == pytest.approx(3.0)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"hello\n", b"\xff\xfe\x00", b'{"t": 0, "mode": "fly"}\n'])
def test_a_script_without_a_line_to_obey_is_a_wrong_request(tmp_path, content):
    (tmp_path / "script.jsonl").write_bytes(content)
    with pytest.raises(BadRequest, match=r"script\.jsonl.*expected"):
        move.run(argparse.Namespace(script=tmp_path / "script.jsonl", out=tmp_path / "out.csv"))
    assert not (tmp_path / "out.csv").exists()


def test_files_that_cannot_be_opened_are_named(tmp_path):
    with pytest.raises(BadRequest, match=r"gone\.jsonl"):
        move.run(argparse.Namespace(script=tmp_path / "gone.jsonl", out=tmp_path / "out.csv"))
    script = write(tmp_path, [{"t": 0, "end": True}])
    with pytest.raises(BadRequest, match="nowhere"):
        move.run(argparse.Namespace(script=script, out=tmp_path / "nowhere" / "out.csv"))
