"""What a run leaves behind: console lines, JUnit, a stereo WAV and a picture."""
import xml.etree.ElementTree as ET
from pathlib import Path

import cv2
import numpy as np
from scipy.io import wavfile

from robot.interaction.junit import write_junit
from robot.interaction.recording import write_stereo
from robot.interaction.report import lines_of, summary
from robot.interaction.result import Result, outcomes_of
from robot.interaction.scenario import scenario_from_text
from robot.interaction.timeline_picture import draw_timeline
from tests.test_scenario_judgement import TALK, made

SCENARIO = scenario_from_text("""\
scenario: talks <loudly>
people: {anna: {azimuth_deg: 150, distance_m: 1}}
timeline:
  - {at: 0.5, anna: {says: "tell me \\u0007 a story"}}
expect:
  - {event: duck}
  - {never: barge_in}
""", Path("talk.yaml"))


def result(trace=TALK, seed=3):
    return Result(SCENARIO, seed, trace, outcomes_of(SCENARIO, trace))


def test_console_names_place_expectation_and_what_happened_instead():
    assert lines_of(result()) == [
        "FAILED talks <loudly> (seed 3): 1 of 2 as expected, 20.0 s",
        "  talk.yaml:7: expected {never: barge_in}; barge_in came at 5.60 s (at 5.60 s)"]
    good = result(made(events=[(5.3, "duck", {})]))
    assert lines_of(good) == ["ok     talks <loudly> (seed 3): 2 of 2 as expected, 20.0 s"]
    assert summary([good, result()]) == "2 runs, 1 not as expected"
    assert summary([good]) == "1 run, all as expected"


def test_a_step_that_never_happened_fails_the_run():
    run = result(made(events=[(5.3, "duck", {})], undone=((4, "{...}", "no duck came"),)))
    assert not run.ok and "never happened: no duck came" in lines_of(run)[1]


def test_a_mind_that_raised_fails_the_run():
    facts = {"of": "mind", "level": "degraded", "reason": "KeyError: 3"}
    run = result(made(events=[(1.0, "health", facts), (5.3, "duck", {})]))
    assert not run.ok and "it failed: KeyError: 3 (at 1.00 s)" in lines_of(run)[1]


def test_junit(tmp_path):
    write_junit([result(), result(seed=4)], tmp_path / "out.xml")
    top = ET.parse(tmp_path / "out.xml").getroot()
    assert (top.tag, top.get("tests"), top.get("failures")) == ("testsuites", "4", "2")
    suite = top.find("testsuite")
    assert suite.get("name") == "talks <loudly>" and len(suite.findall("testcase")) == 4
    failure = suite.findall("testcase")[1].find("failure")
    assert "barge_in came at 5.60 s" in failure.get("message")


def test_stereo(tmp_path):
    write_stereo(np.linspace(0, 0.1, 100, dtype=np.float32), np.full(50, 0.5, np.float32), tmp_path / "a.wav")
    rate, data = wavfile.read(tmp_path / "a.wav")
    assert rate == 16000 and data.shape == (100, 2)
    assert data[-1, 0] == data[0, 1] == round(0.9 * 32767) and not data[50:, 1].any()
    write_stereo(np.zeros(0, np.float32), np.zeros(0, np.float32), tmp_path / "empty.wav")


def test_picture_is_drawn_and_the_same_each_time(tmp_path):
    for name in ("a.png", "b.png"):
        draw_timeline(TALK, tmp_path / name, "a talk")
    picture = cv2.imread(str(tmp_path / "a.png"))
    assert picture.shape[0] > 300 and picture.std() > 5
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
