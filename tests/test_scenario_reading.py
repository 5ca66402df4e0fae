"""The scenario format: every word of CONTRACTS.md is understood, everything else is refused with file and line."""
import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import wavfile

from robot.errors import BadRequest
from robot.interaction import timeline
from robot.interaction.expectations import (
    CallsTool,
    FallsSilent,
    Happens,
    HeadFaces,
    HealthIs,
    History,
    KeepsTalking,
    Metric,
    Moment,
    RobotSays,
    Window,
)
from robot.interaction.scenario import read_scenario, scenario_from_text
from robot.interaction.timeline import Fault, Looks, Noise, Says, Signs, Walks, When

CONTRACT = """\
scenario: corrects_itself_before_the_answer
room: {rt60_s: 0.4, noise_db: -55, seed: 7}
people:
  anna: {azimuth_deg: 150, distance_m: 1.5, voice: slt, face: astronaut}
  bob: {azimuth_deg: -20, distance_m: 2}
timeline:
  - {at: 0.5, anna: {says: "bring me the red cup"}}
  - {after: {event: turn_candidate, ms: 180}, anna: {says: "no, I meant the blue one"}}
  - {while: robot_speaking, after: {heard_ms: 800}, anna: {says: "mm-hmm"}}
expect:
  - {within: 1.2, of: {says: 1}, head_faces: anna, tolerance_deg: 10}
  - {never: robot_says, matching: red}
  - {tool: fetch, arguments: {colour: blue}, times: 1}
  - {metric: stale_blocks, equals: 0}
  - {metric: first_audio_ms, p95_below: 1000}
"""
PATH = Path("folder/talk.yaml")


def read(text=CONTRACT):
    return scenario_from_text(text, PATH)


def with_step(step):
    return read(CONTRACT.replace("expect:", f"  - {step}\nexpect:"))


def with_expectation(entry):
    return read(CONTRACT + f"  - {entry}\n").expect[-1]


def refusal(text):
    with pytest.raises(BadRequest) as caught:
        read(text)
    assert str(caught.value).count("\n") == 0
    return str(caught.value)


def test_example_of_the_contract():
    scenario = read()
    assert scenario.name == "corrects_itself_before_the_answer"
    assert dataclasses.astuple(scenario.room) == (0.4, -55.0, 7, "raw")
    assert [(p.name, p.azimuth_deg, p.voice, p.present) for p in scenario.people] == [
        ("anna", 150.0, "slt", True), ("bob", -20.0, "slt", True)]
    assert [step.when for step in scenario.timeline] == [
        When(at=0.5), When(event="turn_candidate", event_ms=180.0), When(heard_ms=800.0, during="robot_speaking")]
    assert [says.text for says in scenario.utterances] == ["bring me the red cup", "no, I meant the blue one", "mm-hmm"]
    assert scenario.expect[0].check == HeadFaces("anna", 10.0)
    assert scenario.expect[0].window == Window(1.2, Moment(1))
    assert scenario.expect[1].never and scenario.expect[1].check.pattern.search("the Red cup")
    assert scenario.expect[2].check == CallsTool("fetch", (("colour", "blue"),), 1)
    assert scenario.expect[4].check == Metric("first_audio_ms", "p95_below", 1000.0)
    assert scenario.expect[1].source == "{never: robot_says, matching: red}" and scenario.expect[1].line == 12


@pytest.mark.parametrize("word", timeline.SIGNS)
@pytest.mark.parametrize("step", ["{at: 3, anna: WORD}", "{at: 3, anna: {WORD: true}}", "{at: 3, anna: {WORD: }}"])
def test_signs(word, step):
    assert with_step(step.replace("WORD", word)).timeline[-1].actions == (Signs("anna", word),)


@pytest.mark.parametrize("event", timeline.EVENTS)
def test_events_to_wait_for_and_to_expect(event):
    assert with_step(f"{{after: {{event: {event}}}, anna: nods}}").timeline[-1].when == When(event=event)
    assert with_expectation(f"{{event: {event}, between: [1, 2]}}").check == Happens(event)
    for denied in (f"{{never: {event}}}", f"{{never: {{event: {event}}}}}"):
        expectation = with_expectation(denied)
        assert expectation.never and expectation.check == Happens(event)


def test_all_conditions_of_when():
    for state in timeline.STATES:
        step = f"{{at: 1, after: {{event: duck, ms: 5, heard_ms: 9}}, while: {state}, bob: nods}}"
        assert with_step(step).timeline[-1].when == When(1.0, "duck", 5.0, 9.0, state)


def test_what_people_do():
    step = with_step('{at: 9, anna: {says: "one <0.8> two", voice: rms, level_db: 5, looks: bob},'
                     " bob: {looks: away, walks_to: {azimuth_deg: 10, distance_m: 1, in_s: 2}}}").timeline[-1]
    assert step.actions == (Looks("anna", "bob"), Says("anna", ("one", 0.8, "two"), "rms", 5.0), Looks("bob", "away"),
                            Walks("bob", 10.0, 1.0, 2.0))


def test_a_recording_is_found_beside_the_scenario(tmp_path):
    wavfile.write(tmp_path / "hello.wav", 16000, np.full(160, 1000, np.int16))
    (tmp_path / "bad.wav").write_bytes(b"RIFF")
    path = tmp_path / "talk.yaml"
    path.write_text(CONTRACT.replace('says: "mm-hmm"', "wav: hello.wav"))
    assert read_scenario(path).utterances[-1] == Says("anna", (), wav=tmp_path / "hello.wav")
    for name, says in (("gone.wav", "No such file"), ("bad.wav", "expected a WAV file")):
        path.write_text(CONTRACT.replace('says: "mm-hmm"', f"wav: {name}"))
        with pytest.raises(BadRequest, match=f"talk.yaml:9: .*{says}"):
            read_scenario(path)


@pytest.mark.parametrize("kind", timeline.NOISES)
def test_noises(kind):
    for step in (f"{{at: 1, noise: {{kind: {kind}, level_db: -20, for_s: 2}}}}",
                 f"{{at: 1, room: {{noise: {{kind: {kind}, level_db: -20, for_s: 2}}}}}}"):
        assert with_step(step).timeline[-1].actions == (Noise(kind, -20.0, 2.0),)


def test_faults():
    for part in timeline.PARTS:
        for kind in timeline.FAULTS:
            step = with_step(f"{{at: 1, fault: {{of: {part}, kind: {kind}, for_s: 3}}}}").timeline[-1]
            assert step.actions == (Fault(part, kind, 3.0),)
    for word in timeline.ENGINE_FAULTS[1:]:
        step = with_step(f"{{at: 1, fault: {{of: engine, {word}: true}}}}").timeline[-1]
        assert step.actions == (Fault("engine", word),)
    step = with_step("{at: 1, fault: {of: engine, close: 1006}}").timeline[-1]
    assert step.actions == (Fault("engine", "close", None, 1006),)


def test_somebody_whose_first_action_is_to_enter_is_not_there_before():
    text = CONTRACT.replace("timeline:\n", "timeline:\n  - {at: 0.1, bob: enters}\n")
    assert [person.present for person in read(text).people] == [True, False]
    assert all(person.present for person in with_step("{at: 9, anna: nods, bob: enters}").people[:1])


@pytest.mark.parametrize(("entry", "check"), [
    ("{silent_within_ms: 300, onset_of: {says: 2}}", FallsSilent(300.0, Moment(2, True))),
    ("{silent_within_ms: 300, of: {says: 2}}", FallsSilent(300.0, Moment(2))),
    ("{keeps_talking_through: {says: 3}}", KeepsTalking(3)),
    ("{head_faces: {azimuth_deg: 30}, between: [1, 2]}", HeadFaces(30.0)),
    ("{head_faces: -30, tolerance_deg: 5}", HeadFaces(-30.0, 5.0)),
    ("{tool: fetch, arguments: {n: 3}}", CallsTool("fetch", (("n", "3"),))),
    ("{health: {of: servo_13, level: gone}}", HealthIs("servo_13", "gone")),
    ("{metric: tick_p99_ms, below: 8}", Metric("tick_p99_ms", "below", 8.0)),
])
def test_expectations(entry, check):
    assert with_expectation(entry).check == check


def test_what_the_robot_says():
    for entry in ("{robot_says: {matching: blue}}", "{never: {robot_says: {matching: blue}}}",
                  "{never: robot_says, matching: blue}"):
        check = with_expectation(entry).check
        assert check.pattern.search("a BLUE one") and not check.pattern.search("red")
    assert with_expectation("{never: robot_says, within: 2, of: {says: 1}}").check == RobotSays(None)
    history = with_expectation("{history: {matching: cup, lacks: red}}").check
    assert isinstance(history, History) and history.matching.pattern == "cup" and history.lacks.pattern == "red"


@pytest.mark.parametrize(("good", "bad", "line", "says"), [
    ("says:", "sayz:", 7, "did you mean 'says'?"),
    ("scenario:", "scene:", 1, "did you mean 'scenario'?"),
    ("timeline:", "timline:", 6, "did you mean 'timeline'?"),
    ("rt60_s", "rt60", 2, "did you mean 'rt60_s'?"),
    ("voice:", "void:", 4, "did you mean 'voice'?"),
    ("voice: slt", "voice: sly", 4, "did you mean 'slt'?"),
    ("astronaut", "astronot", 4, "did you mean 'astronaut'?"),
    ("turn_candidate", "turn_kandidate", 8, "did you mean 'turn_candidate'?"),
    ("robot_speaking", "robot_speeking", 9, "did you mean 'robot_speaking'?"),
    ("heard_ms", "herd_ms", 9, "did you mean 'heard_ms'?"),
    ("anna: {says", "ana: {says", 7, "did you mean 'anna'?"),
    ("head_faces: anna", "head_faces: ana", 11, "did you mean 'anna'?"),
    ("tolerance_deg", "tolerance", 11, "did you mean 'tolerance_deg'?"),
    ("never: robot_says", "never: robot_sais", 12, "did you mean 'robot_says'?"),
    ("metric: stale_blocks", "metric: stale_block", 14, "did you mean 'stale_blocks'?"),
    ("equals: 0", "equal: 0", 14, "did you mean 'equals'?"),
    ("of: {says: 1}", "of: {says: 4}", 11, "a whole number of 1 to 3"),
    ("of: {says: 1}, ", "", 11, "'within' needs 'of'"),
    ("at: 0.5", "at: .nan", 7, "a number of 0 to 3600 s"),
    ("at: 0.5", "at: -1", 7, "a number of 0 to 3600 s"),
    ("at: 0.5", "at: [0.5]", 7, "found a list"),
    ("at: 0.5", 'at: "0.5"', 7, "found a text"),
    ("at: 0.5", "at: true", 7, "found a truth value"),
    ("at: 0.5", "at: 1e400", 7, "expected a number"),
    ("at: 0.5, ", "", 7, "when?"),
    ('says: "mm-hmm"', "says: no", 9, "expected a text"),
    ('says: "mm-hmm"', 'says: "<0.5>"', 9, "expected words"),
    ('says: "mm-hmm"', 'says: "a <nan> b"', 9, "expected a pause"),
    ('says: "mm-hmm"', 'says: "a", pause_s: 1', 9, "inside the text"),
    ('says: "mm-hmm"', "nods: false", 9, "expected true"),
    ('says: "mm-hmm"', "looks: anna", 9, "cannot look at"),
    ("seed: 7", "seed: 7, seed: 8", 2, "'seed' comes twice"),
    ("seed: 7", "seed: 7.5", 2, "whole number"),
    ("noise_db: -55", "noise_db: .inf", 2, "a number of -120 to 0 dB"),
    ("distance_m: 1.5", "distance_m: 0", 4, "a number of 0.3 to 10 m"),
    ("azimuth_deg: 150, ", "", 4, "'azimuth_deg' is missing"),
    ("  anna: {az", "  robot: {az", 4, "cannot be a name"),
    ("  anna: {az", "  yes: {az", 4, "expected a word before the colon"),
    ("matching: red", "matching: 're('", 12, "regular expression"),
    ("never: robot_says", "never: {keeps_talking_through: {says: 1}}", 12, "keeps_talking_through"),
    ("tool: fetch", "tool: fetch, metric: stale_blocks", 13, "tool and metric"),
    ("times: 1", "times: -1", 13, "whole number"),
    ("p95_below: 1000", "p95_below: many", 15, "a finite number"),
    ("expect:", "expect: [", 11, "malformed YAML"),
    ("scenario: c", "\tscenario: c", 1, "malformed YAML"),
    ("scenario: c", "%bad", 2, "malformed YAML"),
    ("bring me", "bring \x00 me", 7, "malformed YAML"),
    ("at: 0.5", "at: &a [*a]", 7, "found a list"),
    ("at: 0.5", "at: !!python/object:os.system 1", 7, "expected a number"),
    ("voice: slt", "<<: {x: 1}", 4, "expected a word"),
])
def test_refusals_name_line_and_expectation(good, bad, line, says):
    assert good in CONTRACT
    text = refusal(CONTRACT.replace(good, bad, 1))
    assert text.startswith(f"folder/talk.yaml:{line}:"), text
    assert says in text


@pytest.mark.parametrize(("step", "says"), [
    ("{at: 1}", "nothing happens"),
    ("{at: 1, anna: {}}", "what does anna do?"),
    ("{at: 1, anna: {level_db: 3}}", "need 'says'"),
    ("{at: 1, after: {ms: 3}, anna: nods}", "needs an 'event'"),
    ("{at: 1, after: {}, anna: nods}", "expected 'event'"),
    ("{at: 1, fault: {of: engine}}", "found none"),
    ("{at: 1, fault: {of: camera, close: 1006}}", "not of camera"),
    ("{at: 1, fault: {of: engine, close: 7}}", "1000 to 4999"),
    ("{at: 1, fault: {of: engine, kind: gone, close: 1006}}", "kind and close"),
    ("{at: 1, noise: {kind: knok}}", "did you mean 'knock'?"),
    ("{at: 1, anna: {walks_to: {azimuth_deg: 1}}}", "is missing"),
    ("7", "expected a mapping"),
])
def test_refused_steps(step, says):
    with pytest.raises(BadRequest, match=r"^folder/talk\.yaml:10: ") as caught:
        with_step(step)
    assert says in str(caught.value)


@pytest.mark.parametrize(("entry", "says"), [
    ("{event: duck, between: [3, 2]}", "from before to"),
    ("{event: duck, between: [1, 2], within: 3}", "either"),
    ("{event: duck, matching: x}", "does not go with"),
    ("{silent_within_ms: 3}", "needs 'onset_of'"),
    ("{history: {}}", "'matching' or 'lacks'"),
    ("{metric: stale_blocks}", "found none"),
    ("{robot_says: blue}", "expected a mapping"),
    ("{robot_says: {matching: a}, matching: b}", "inside"),
    ("{never: {head_still: true}}", "unknown word 'head_still'"),
    ("{within: 1, of: {says: 1}}", "found none"),
])
def test_refused_expectations(entry, says):
    with pytest.raises(BadRequest, match=r"^folder/talk\.yaml:16: ") as caught:
        with_expectation(entry)
    assert says in str(caught.value)


def test_nothing_proves_nothing():
    assert "proves nothing" in refusal(CONTRACT[: CONTRACT.index("expect:")] + "expect: []\n")
    assert "empty file" in refusal("# nothing\n")
    assert "expected a mapping" in refusal("- a\n")
    assert "a single document" in refusal(CONTRACT + "---\na: 1\n")
    assert "nested too deep" in refusal("[" * 5000)


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(BadRequest, match="cannot be read"):
            read_scenario(path)
    (tmp_path / "latin.yaml").write_bytes("scenario: é".encode("latin-1"))
    with pytest.raises(BadRequest, match="UTF-8"):
        read_scenario(tmp_path / "latin.yaml")


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.integers(0, len(CONTRACT) - 1), st.integers(0, 12), st.text("{}[],:-&*!|>'\"%@`#<> \nabn01.~\t", max_size=4))
def test_a_damaged_file_is_read_or_refused_in_one_line(start, length, inserted):
    text = CONTRACT[:start] + inserted + CONTRACT[start + length:]
    try:
        assert read(text).expect
    except BadRequest as error:
        assert str(error).startswith("folder/talk.yaml") and "\n" not in str(error)
