"""Whom to look at: hysteresis, front or behind, quiet while ducked; and what people do without words."""
from itertools import pairwise
from math import radians

import pytest

from dialogue.attention import Attention, AttentionConfig
from dialogue.cues import Cues
from motion.intent import Gaze
from perception.people import Person
from perception.vision.frame import Gesture, Sight

CONFIG = AttentionConfig()


def person(name, azimuth_deg, t, speaking=False, attention=0.0, seen=True, heard=None, mirror_deg=None):
    return Person(name, radians(azimuth_deg), 0.0, 1.0 if seen else None, t if speaking else heard, t if seen else None,
                  attention, speaking, mirror_deg is not None, None if mirror_deg is None else radians(mirror_deg))


def gazes(attention, until, people_at, floor="idle", yaw=lambda t: 0.0):
    return [attention.step(i / 100, people_at(i / 100), floor, yaw(i / 100)) for i in range(round(until * 100))]


def test_nobody_is_there():
    look = Attention().step(0.0, (), "idle", 0.0)
    assert look.gaze is None and look.person is None


def test_two_equal_faces_in_any_order_draw_one_gaze():
    """F42."""
    looks = gazes(Attention(), 60.0, lambda t: tuple(sorted(
        (person("anna", 20, t, attention=0.8), person("ben", -20, t, attention=0.8)),
        key=lambda p: p.id, reverse=round(t * 100) % 3 == 0)))
    changes = sum(a.person != b.person for a, b in pairwise(looks))
    assert changes <= 1


def test_the_speaker_comes_first_and_keeps_the_gaze_for_a_while():
    def people(t):
        return person("anna", 20, t, attention=0.9), person("ben", -40, t, speaking=1.0 < t < 2.0,
                                                            heard=2.0 if t > 2.0 else None)
    looks = gazes(Attention(), 12.0, people)
    assert looks[90].person == "anna"
    assert looks[110].person == "ben" and looks[110].gaze.azimuth == pytest.approx(radians(-40))
    assert looks[110].reason == "speaks" and looks[500].person == "ben"


def test_a_short_word_of_somebody_else_does_not_take_the_gaze_from_the_speaker():
    def people(t):
        return (person("anna", 20, t, speaking=t < 1.0, heard=1.0 if t > 1.0 else None),
                person("ben", -40, t, speaking=1.1 < t < 1.3, heard=1.3 if t > 1.3 else None))
    assert {look.person for look in gazes(Attention(), 3.0, people)} == {"anna"}


def test_somebody_out_of_sight_is_held_briefly_and_then_let_go():
    looks = gazes(Attention(), 6.0, lambda t: (person("anna", 30, t, attention=0.9),) if t < 1.0 else ())
    assert looks[130].gaze == looks[99].gaze and looks[130].reason == "just lost sight"
    assert looks[-1].gaze is None


@pytest.mark.parametrize("side", [1, -1])
def test_a_voice_in_front_or_behind_is_decided_by_a_small_turn_to_its_side(side):
    """F11. Mirrored people draw mirrored gazes."""
    def people(t):
        decided = t > 0.5
        return (person("anna", 150 * side if decided else 30 * side, t, speaking=True, seen=False,
                       mirror_deg=None if decided else 150 * side),)
    attention = Attention()
    looks = gazes(attention, 1.0, people)
    first, last = looks[1], looks[-1]
    assert first.gaze.azimuth == pytest.approx(side * CONFIG.deciding_turn) and not first.settled
    assert radians(15) <= CONFIG.deciding_turn <= radians(25)
    assert last.gaze.azimuth == pytest.approx(radians(150 * side)) and last.settled


def test_an_undecided_voice_is_not_chased_as_its_mirror_runs_ahead():
    def people(t):
        return (person("anna", 30 + 40 * t, t, speaking=True, seen=False, mirror_deg=150),)
    looks = gazes(Attention(), 2.5, people)
    taken = {look.gaze.azimuth for look in looks if "likelier" in look.reason}
    assert len(taken) == 1


def test_facing():
    attention = Attention()
    attention.step(0.0, (person("anna", 40, 0.0, speaking=True),), "person", 0.0)
    assert not attention.facing(0.0) and attention.facing(radians(31)) and attention.facing(None)
    assert not attention.facing(radians(33), within=radians(5))


def test_the_gaze_rests_while_somebody_may_speak_over_the_robot():
    attention = Attention()
    before = attention.step(0.0, (person("anna", 40, 0.0, speaking=True),), "robot_speaking", 0.0)
    assert attention.step(0.01, (person("ben", -40, 0.01, speaking=True),), "ducked", 0.0) == before


def test_a_look_that_was_asked_for_lasts_a_while_and_gives_way_to_a_speaker():
    attention = Attention()
    quiet, loud = (person("anna", 10, 0.0, attention=0.9),), (person("anna", 10, 0.0, speaking=True),)
    attention.step(0.0, quiet, "idle", 0.0)
    attention.request(0.0, Gaze(1.0))
    assert attention.step(1.0, quiet, "robot_speaking", 0.0).gaze == Gaze(1.0)
    assert attention.step(1.1, loud, "person", 0.0).gaze != Gaze(1.0)
    assert attention.step(CONFIG.requested + 0.1, quiet, "idle", 0.0).gaze != Gaze(1.0)


def test_gestures_become_cues_once():
    cues = Cues()
    seen = [Gesture(1.0, "anna", "shake"), Gesture(1.3, "anna", "shake"), Gesture(1.4, "anna", "nod")]
    told = [cue for g in seen for cue in cues.step(g.t, Sight(g.t, gestures=(g,)), (), "robot_speaking")]
    assert [(c.t, c.name, c.person) for c in told] == [(1.0, "shakes_head", "anna"), (1.4, "nods", "anna")]


def test_a_long_look_away_from_the_speaking_robot_is_told_once():
    cues, told = Cues(), []
    for i in range(600):
        t = i / 100
        anna = person("anna", 0, t, attention=0.9 if t < 1.0 else 0.1)
        told += cues.step(t, Sight(t), (anna,), "robot_speaking")
    assert [(c.name, round(c.t, 1)) for c in told] == [("looks_away", 2.5)]


def test_a_long_pause_is_told_once():
    cues, told = Cues(), []
    for i in range(2000):
        t = i / 100
        told += cues.step(t, Sight(t), (), "robot_speaking" if t < 2.0 else "idle")
    assert [(c.name, round(c.t, 1)) for c in told] == [("long_pause", 8.0)]
