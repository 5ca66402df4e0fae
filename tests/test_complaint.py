"""A recording becomes a scenario that can be read, edited and played."""
from pathlib import Path
from types import SimpleNamespace

import pytest

from calibration.health import Health
from firmware_bridge.touch import Touch
from perception.people import Person
from robot.commands.replay import keep
from robot.errors import BadRequest
from robot.interaction.complaint import Complaint
from robot.interaction.scenario import scenario_from_text
from robot.interaction.stage import check_playable
from robot.interaction.timeline import Fault, Looks, Says, Signs, Touches
from robot.tick import Event, Inputs

ANNA = Person("person_1", 0.5, 0.0, 1.4, 1.0, 1.0)
EVENTS = (
    (2.5, "turn_candidate", {"turn": 1, "onset": 1.0, "end": 2.2}),
    (2.9, "turn_candidate", {"turn": 2, "onset": 1.0, "end": 2.6}),       # went on after a pause: one turn
    (3.0, "turn_committed", {"turn": 2, "guess": "tell me a", "person": "person_1"}),
    (3.1, "transcript", {"turn": 2, "text": 'tell me "a story"'}),
    (3.2, "reply_start", {"turn": 2}),
    (4.0, "cue", {"cue": "nods", "person": "person_1", "seen": 3.9}),
    (4.5, "cue", {"cue": "speaks_fast", "person": "person_1", "seen": 2.6}),
    (4.6, "cue", {"cue": "looks_away", "person": "person_1", "seen": 4.6}),
    (5.1, "duck", {"onset": 5.0}),
    (5.6, "release", {"reason": "murmur"}),
    (7.3, "barge_in", {"onset": 7.0}),
    (7.6, "turn_candidate", {"turn": 3, "onset": 7.0, "end": 7.4}),
    (7.7, "turn_committed", {"turn": 3, "guess": "what time is it?", "person": None}),
    (7.8, "tool", {"name": "gesture"}),
    (7.9, "reply_start", {"turn": 3}),
    (9.0, "reply_end", {"heard": "It is ten. (Really.)"}),
)


def lived(events=EVENTS):
    complaint = Complaint()
    complaint(Inputs(0, 0.5, touches=(Touch(0.5, "stroke"),), health=(
        Health(0.5, "microphone", "gone", ""), Health(0.5, "servo_12", "gone", ""))),
        SimpleNamespace(people=(ANNA,), events=()))
    for t, name, facts in events:
        complaint(Inputs(1, t), SimpleNamespace(people=(ANNA,), events=(Event(t, name, tuple(facts.items())),)))
    return complaint


def test_what_was_said_and_done_is_the_timeline():
    scenario = scenario_from_text(lived().scenario("complaint", "tape.mcap"), Path("complaint.yaml"))
    check_playable(scenario)
    assert [(p.name, p.azimuth_deg, p.distance_m) for p in scenario.people] == [("person_1", 29.0, 1.4)]
    assert [said.text for said in scenario.utterances] == ['tell me "a story"', "mm-hmm", "what time is it?"]
    whens = [step.when for step in scenario.timeline for action in step.actions if isinstance(action, Says)]
    assert [when.at for when in whens] == [1.0, None, None]
    assert [when.heard_ms for when in whens] == [None, 1800.0, 3800.0]
    others = [action for step in scenario.timeline for action in step.actions if not isinstance(action, Says)]
    assert {type(action) for action in others} == {Fault, Looks, Signs, Touches} and len(others) == 4


def test_what_came_of_it_is_expected():
    text = lived().scenario("complaint", "tape.mcap")
    for line in ("{event: turn_committed, within: 0.9, of: {says: 1}}", "{silent_within_ms: 600, onset_of: {says: 3}}",
                 r'{robot_says: {matching: "It\\W+is\\W+ten\\W+Really"}, within: 2.1, of: {says: 3}}',
                 "{tool: gesture, times: 1}", "{cue: nods}", "{cue: looks_away}", "{metric: stale_blocks, equals: 0}"):
        assert f"- {line}\n" in text, line
    assert "barge_in" not in text and "{never: barge_in}" in lived(EVENTS[:5]).scenario("x", "y")


def test_a_recording_of_nobody_is_no_scenario(tmp_path):
    with pytest.raises(BadRequest, match=r"tape\.mcap: nobody said or did anything"):
        keep(Complaint(), tmp_path / "nothing.yaml", Path("tape.mcap"))
    assert not list(tmp_path.iterdir())


def test_a_scenario_is_never_written_over(tmp_path):
    file = tmp_path / "complaint.yaml"
    keep(lived(), file, Path("tape.mcap"))
    assert scenario_from_text(file.read_text(), file).name == "complaint"
    with pytest.raises(BadRequest, match=r"complaint\.yaml: File exists, expected a new file"):
        keep(lived(), file, Path("tape.mcap"))
