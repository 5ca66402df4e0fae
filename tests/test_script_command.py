"""`talkover script` as its users run it: exit status, console, JUnit, and what a failed run leaves behind."""
import xml.etree.ElementTree as ET

import pytest
from scipy.io import wavfile

from robot.__main__ import main

QUIET = """\
scenario: nobody_speaks
room: {rt60_s: 0.2, seed: 4}
people:
  anna: {azimuth_deg: 20, distance_m: 1}
timeline:
  - {at: 0.05, anna: nods}
expect:
  - {never: robot_says}
  - {metric: stale_blocks, equals: 0}
"""
FAILS = QUIET.replace("nobody_speaks", "wants_an_answer") + "  - {event: reply_start, between: [0.1, 0.3]}\n"


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return str(path)
    return write


def script(*arguments):
    return main(["script", "--engine", "scripted", *arguments])


def test_as_expected(written, capsys):
    assert script(written("quiet.yaml", QUIET)) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("ok     nobody_speaks (seed 4): 2 of 2 as expected, 2.")
    assert out[-1] == "1 run, all as expected"


def test_not_as_expected_leaves_sound_picture_and_junit(written, capsys, tmp_path):
    report, folder = tmp_path / "reports" / "out.xml", tmp_path / "left" / "here"
    assert script(written("fails.yaml", FAILS), "--junit", str(report), "--out", str(folder)) == 1
    out = capsys.readouterr().out
    assert "fails.yaml:10: expected {event: reply_start, between: [0.1, 0.3]}; reply_start never came" in out
    rate, sound = wavfile.read(folder / "fails-seed-4.wav")
    assert rate == 16000 and sound.shape[1] == 2 and sound.shape[0] > 16000
    assert (folder / "fails-seed-4.png").read_bytes().startswith(b"\x89PNG")
    top = ET.parse(report).getroot()
    assert (top.get("tests"), top.get("failures")) == ("3", "1")


def test_repeat_runs_other_seeds_and_holds_the_first_to_itself(written, capsys):
    assert script(written("quiet.yaml", QUIET), "--repeat", "2") == 0
    out = capsys.readouterr().out
    assert "(seed 4)" in out and "(seed 5)" in out and "2 runs, all as expected" in out


@pytest.mark.parametrize(("change", "says"), [
    (("anna: nods", "anna: nod"), "quiet.yaml:6: timeline[1].anna: unknown word 'nod'; did you mean 'nods'?"),
    (("anna: nods", "fault: {of: disk, kind: full}"), "quiet.yaml:6: 'full' of disk is not simulated yet"),
    (("anna: nods", "fault: {of: servo_13, kind: full}"), "expected one of gone, stall"),
    (("distance_m: 1", "distance_m: 9"), "quiet.yaml: "),
    (("anna: nods", "anna: {walks_to: {azimuth_deg: 0, distance_m: 9, in_s: 1}}"), "quiet.yaml:6: "),
])
def test_what_cannot_be_played_is_refused_in_one_line(written, capsys, change, says):
    assert script(written("quiet.yaml", QUIET.replace(*change))) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_wrong_requests(written, capsys, tmp_path):
    good = written("quiet.yaml", QUIET)
    for arguments, says in (((str(tmp_path / "none.yaml"),), "none.yaml: cannot be read"),
                            ((good, "--engine", "chatty"), "expected embedded, scripted, realtime, minicpm or chat"),
                            ((good, "--junit", str(tmp_path)), "is a folder"),
                            ((good, "--out", good), "is a file")):
        assert script(*arguments) == 2
        assert says in capsys.readouterr().err
    for repeat in ("0", "x", "-1", "1.5"):
        with pytest.raises(SystemExit) as caught:
            script(good, "--repeat", repeat)
        assert caught.value.code == 2
        assert "whole number" in capsys.readouterr().err
