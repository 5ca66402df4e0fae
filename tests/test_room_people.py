"""People stand, walk, look and nod where their script says."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.body_model import reachy_mini
from robot.bodies.room.people import AWAY, SHAKE, TURN_S, Figure, PersonScript
from robot.bodies.room.portraits import EYE_DISTANCE_M, FACES, portrait
from robot.bodies.room.room import Room, RoomConfig
from robot.bodies.room.shoebox import HEAD_AT
from robot.errors import BadRequest

PLACES = {"robot": HEAD_AT}


def angle(a, b) -> float:
    return float(np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1)))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.floats(-3.1, 3.1), st.floats(0.5, 2.4), st.floats(0.2, 1.0), st.floats(0.0, 100.0))
def test_a_person_stands_there_and_looks_at_the_robot(azimuth, distance, height, t):
    pose = Figure(PersonScript("anna", azimuth, distance, height), seed=1).pose(t, PLACES)
    wanted = np.array([distance * np.cos(azimuth), distance * np.sin(azimuth), height])
    assert np.linalg.norm(pose.eyes - wanted) < 0.015            # sways a little
    assert angle(pose.rotation[:, 0], HEAD_AT - pose.eyes) < 0.01
    assert 0.04 < pose.eyes[2] - pose.mouth[2] < 0.09


def test_looking_away_turns_the_face_and_takes_its_time():
    figure = Figure(PersonScript("anna", 0.5), seed=1)
    figure.look(2.0, "away")
    turned = [angle(figure.pose(t, PLACES).rotation[:, 0], HEAD_AT - figure.pose(t, PLACES).eyes)
              for t in (1.9, 2.0 + TURN_S / 2, 2.0 + TURN_S + 0.01)]
    assert turned[0] < 0.01 and 0.4 < turned[1] / AWAY < 0.6 and turned[2] == pytest.approx(AWAY, abs=0.05)


def test_looking_at_somebody():
    figure = Figure(PersonScript("anna", 0.5, looks="bo"), seed=1)
    bo = np.array([0.5, -1.0, 0.4])
    pose = figure.pose(0.0, {**PLACES, "bo": bo})
    assert angle(pose.rotation[:, 0], bo - pose.eyes) < 0.01


def test_walking_arrives_without_a_jerk():
    figure = Figure(PersonScript("anna", 0.5, 1.0), seed=1)
    figure.walk_to(1.0, -1.0, 2.0, 3.0)
    track = np.array([figure.eyes_at_rest(t) for t in np.arange(0.0, 5.0, 0.01)])
    azimuth, distance = np.arctan2(track[-1, 1], track[-1, 0]), np.hypot(track[-1, 0], track[-1, 1])
    assert azimuth == pytest.approx(-1.0, abs=0.01) and distance == pytest.approx(2.0, abs=0.01)
    speed = np.linalg.norm(np.diff(track, axis=0), axis=1) / 0.01
    assert speed.max() < 2.5 and speed[:95].max() < 0.05 and np.abs(np.diff(speed)).max() < 0.08


def test_the_walk_takes_the_shorter_way_round():
    figure = Figure(PersonScript("anna", np.radians(170), 1.0), seed=1)
    figure.walk_to(0.0, np.radians(-170), 1.0, 2.0)
    track = np.array([figure.eyes_at_rest(t) for t in np.arange(0.0, 2.5, 0.1)])
    assert (track[:, 0] < -0.9).all() and track[-1, 1] < -0.1


def test_gestures_move_the_face_as_they_are_named():
    figure = Figure(PersonScript("anna", 0.0, 1.0), seed=1)
    still = figure.pose(0.9, PLACES)
    for begin, kind, up, side in ((1.0, "nod", True, False), (4.0, "shake", False, True)):
        figure.gesture(begin, kind)
        poses = [figure.pose(begin + dt, PLACES) for dt in np.arange(0.0, 1.5, 0.02)]
        way = np.array([p.eyes - still.eyes for p in poses])
        assert (np.ptp(way[:, 2]) > 0.02) == up and (np.ptp(way[:, 1]) > 0.03) == side
        assert np.linalg.norm(poses[-1].eyes - still.eyes) < 0.01
    turn = [figure.pose(4.0 + dt, PLACES).rotation[1, 0] for dt in np.arange(0.0, 1.4, 0.01)]
    crossings = np.sum(np.diff(np.sign(turn)) != 0)
    assert crossings >= 4 and np.abs(turn).max() == pytest.approx(np.sin(SHAKE[0]), rel=0.1)
    assert figure.hand(4.0) is None
    figure.gesture(8.0, "wave")
    assert figure.hand(8.5) is not None and figure.hand(11.0) is None


@pytest.mark.parametrize("face", FACES)
def test_a_portrait_is_life_size(face):
    marks = portrait(face).landmarks
    assert np.linalg.norm(marks[0] - marks[1]) == pytest.approx(EYE_DISTANCE_M, rel=1e-3)
    assert marks[0, 1] < 0 < marks[1, 1] and (marks[3:, 2] < marks[2, 2]).all() and marks[2, 2] < 0
    _, _, low_z, high_z = portrait(face).head.extent
    assert 0.18 < 2 * portrait(face).outline.half_width.max() < 0.26 and 0.22 < high_z - low_z < 0.30


def room(*scripts: PersonScript) -> Room:
    return Room(RoomConfig(), reachy_mini(), scripts, seed=1)


@pytest.mark.parametrize("scripts, error", [
    ((PersonScript("anna", 0.0, 9.0),), "anna: expected a place in the room"),
    ((PersonScript("anna", 0.0), PersonScript("anna", 1.0)), "person 'anna': expected a name of its own"),
    ((PersonScript("robot", 0.0),), "person 'robot'"),
    ((PersonScript("anna", 0.0, looks="ana"),), "person 'ana': did you mean 'anna'"),
    ((PersonScript("anna", 0.0, face="mona lisa"),), "face 'mona lisa': expected one of: astronaut"),
])
def test_impossible_people_are_refused(scripts, error):
    with pytest.raises(BadRequest, match=error):
        room(*scripts)


def test_impossible_deeds_are_refused():
    stage = room(PersonScript("anna", 0.0), PersonScript("bo", 1.0, present=False))
    stage.turn_head(_rest())
    for deed, error in ((lambda: stage.person("ann"), "did you mean 'anna'"),
                        (lambda: stage.person("anna").look(0.0, "bob"), "did you mean 'bo'"),
                        (lambda: stage.person("anna").walk_to(0.0, 0.0, 8.0, 2.0), "anna walks_to: expected a place"),
                        (lambda: stage.person("anna").walk_to(0.0, 0.0, 1.0, 0.0), "in_s: expected more than 0"),
                        (lambda: stage.person("bo").sigh(0.0), "bo is not there"),
                        (lambda: stage.person("anna").say(0.0, np.zeros(800, np.float32)), "found silence"),
                        (lambda: stage.noise(0.0, "thunder"), "noise 'thunder': expected one of: knock"),
                        (lambda: stage.fault(0.0, "camera", "tired"), "fault camera tired")):
        with pytest.raises(BadRequest, match=error):
            deed()


def _rest():
    from calibration.frames import HeadPose, frozen
    return HeadPose(0.0, frozen(HEAD_AT), frozen(np.zeros(3)), 0.0)
