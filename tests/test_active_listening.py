"""Active listening: one step after the other on evidence, all of it taken back when it is refuted, nothing jerked."""
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogue.loop import DialogueConfig
from motion.intent import Gaze, MotionIntent
from perception.audio.active_listening import AT_EASE, ActiveListening, ListeningConfig, Manner
from perception.audio.scene import SoundScene
from tests.dialogue_bench import Said, Talk
from tests.motion_scenes import mover, run, ticks

CONFIG = ListeningConfig()
WEAK, STRONG, NONE = CONFIG.still_at + 0.2, CONFIG.low_at + 0.5, -5.0


def manners(*parts, config=CONFIG):
    """Manner of each tick for parts (seconds, evidence, motors, duck)."""
    listening, t, found = ActiveListening(config), 0.0, []
    for seconds, evidence, motors, duck in parts:
        for _ in range(round(seconds * 100)):
            t += 0.01
            found.append(listening.step(t, evidence, motors, duck))
    return found


def steps(*parts, config=CONFIG):
    """The steps in order, without repetition."""
    names = [manner.step for manner in manners(*parts, config=config)]
    return [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]


def test_weak_evidence_over_motion_rests_the_motors_and_leaves_the_voice_alone():
    found = manners((0.5, NONE, 0.6, False), (0.1, WEAK, 0.6, False))
    assert found[49] == AT_EASE and found[50] == Manner("still", True, 0.0, True)


@pytest.mark.parametrize(("evidence", "motors"), [(CONFIG.still_at - 0.1, 0.6), (STRONG, CONFIG.motors_from - 0.05)])
def test_neither_less_evidence_nor_quiet_motors_change_anything(evidence, motors):
    assert steps((2.0, evidence, motors, False)) == ["speaks"]


def test_the_voice_goes_down_once_the_evidence_stands_without_motors_and_further_when_the_ears_are_sure():
    found = manners((0.2, STRONG, 0.6, False), (0.2, STRONG, 0.1, False), (0.1, STRONG, 0.0, True),
                    (0.4, STRONG, 0.0, True))
    assert {m.gain_db for m in found[:25]} == {0.0}
    assert {m.gain_db for m in found[30:60]} == {CONFIG.low_db}
    assert found[-1] == Manner("deep", True, CONFIG.deep_db, True)


def test_in_a_pause_of_the_motion_it_does_not_set_out_again():
    rests, moves = (0.5, NONE, 0.1, False), (0.5, NONE, 0.6, False)
    assert steps(moves, rests, (0.1, WEAK, 0.1, False)) == ["speaks", "still"]
    assert steps(moves, rests, rests, rests, (0.1, WEAK, 0.1, False)) == ["speaks"]


def test_what_is_refuted_is_taken_back_and_harder_for_a_while():
    again = (0.3, WEAK, 0.6, False)
    rested = sum(m.hold for m in manners((0.1, WEAK, 0.6, False), (1.0, NONE, 0.6, False)))
    assert rested == pytest.approx(100 * (0.1 + CONFIG.refuted_after), abs=2)
    assert steps((0.1, WEAK, 0.6, False), (1.0, NONE, 0.6, False), again) == ["still", "speaks"]
    assert steps((0.1, WEAK, 0.6, False), (60.0, NONE, 0.6, False), again) == ["still", "speaks", "still"]


def test_a_release_by_the_ears_releases_all():
    found = manners((0.3, STRONG, 0.0, True), (0.1, NONE, 0.0, False))
    assert found[0].gain_db == CONFIG.low_db and found[29].gain_db == CONFIG.deep_db and found[30] == AT_EASE


def test_switched_off_only_the_ears_duck_is_left():
    off = ListeningConfig(active=False)
    found = manners((1.0, STRONG, 0.9, False), (0.1, STRONG, 0.9, True), (0.1, NONE, 0.9, False), config=off)
    assert set(found[:100]) | set(found[110:]) == {AT_EASE}
    assert set(found[100:110]) == {Manner("deep", True, CONFIG.deep_db, False)}


tick = st.tuples(st.floats(-6, 6), st.floats(0, 1), st.sampled_from([False, False, False, True]))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(1, 80), tick), max_size=25))
def test_whatever_comes_rests_without_a_duck_are_short_and_the_voice_is_low_only_at_rest(parts):
    listening, t, rested = ActiveListening(), 0.0, 0
    for count, (evidence, motors, duck) in parts:
        for _ in range(count):
            t += 0.01
            manner = listening.step(t, evidence, motors, duck)
            rested = rested + 1 if manner.hold and not duck else 0
            assert rested <= CONFIG.longest * 100 + 2
            assert manner.gain_db in (0.0, CONFIG.low_db, CONFIG.deep_db)
            assert manner.hold or manner == AT_EASE
            assert not duck or manner.gain_db < 0.0
    assert listening.rest() == AT_EASE and listening.step(t + 0.01, NONE, 1.0, False) == AT_EASE


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.floats(-6, 6), st.floats(0, 1), st.booleans(), st.floats(0, 1e4))
def test_a_later_start_of_the_clock_changes_nothing(evidence, motors, duck, start):
    early, late = ActiveListening(), ActiveListening()
    late.rest()
    for index in range(40):
        t = index * 0.25     # exact in binary, so that no rounding decides
        start = float(round(start))
        assert early.step(t, evidence, motors, duck) == late.step(start + t, evidence, motors, duck)


def test_a_robot_in_a_noise_that_it_does_not_know_soon_stops_listening_to_it():
    rests = [m.hold for m in manners((120.0, 0.5, 0.8, False))]
    begun = np.flatnonzero(np.diff(np.array([0, *rests], int)) > 0) / 100
    assert np.sum(begun < 10) >= 2
    assert np.sum(begun > 60) <= 8 and np.mean(rests[6000:]) < 0.1


def test_thresholds_that_could_never_be_met_are_refused():
    with pytest.raises(ValueError, match=r"expected refuted_below < still_at <= low_at, found -2.0, -3.0"):
        ListeningConfig(still_at=-3.0)


class WeakTalk(Talk):
    """Ears that are not sure: a voice over the moving robot that only raises the evidence."""

    def _sound(self, t, count):
        scene = super()._sound(t, count)
        said = any(s.begin + 0.1 <= t < s.end + 0.05 for s in self.said)
        speaking = self.dialogue.floor.state in ("robot_speaking", "ducked")
        if not (said and speaking):
            return scene
        return SoundScene(t, scene.clean, evidence=WEAK, motors=0.7)


@pytest.mark.parametrize("active", [True, False])
def test_in_a_talk_weak_evidence_rests_the_motors_and_nothing_else(active):
    said = (Said(0.5, 1.5, "tell me a story."), Said(4.0, 4.4, "hm", confirmed=False))
    talk = WeakTalk(said, config=DialogueConfig(listening=ListeningConfig(active=active))).run(6.0)
    held = np.array([turn.intent.hold_still for turn in talk.turns])
    assert held[412:440].all() == active and held[380:409].any() == held[480:].any() == False   # noqa: E712
    assert not talk.events("duck", "release", "barge_in")
    assert len(talk.events("holds_still")) == active


def test_resting_and_going_on_stays_within_the_limits_of_every_joint():
    rng = np.random.default_rng(4)
    listening, intents = ActiveListening(), []
    for index in range(2500):
        t = index * 0.01
        if index % 97 == 0:
            gaze = Gaze(rng.uniform(-1.0, 1.0), 0.1)
        burst = WEAK + rng.uniform(0, 4) if (index // 25) % 5 == 0 else NONE
        manner = listening.step(t, burst, 0.8, False)
        intents.append(MotionIntent(t, "speak", gaze, hold_still=manner.hold, urgency=1.0))
    assert sum(after.hold_still and not before.hold_still for before, after in pairwise(intents)) >= 5
    motion = run(intents, lambda i: 0.2 * rng.standard_normal(160))
    assert motion.derivative(2).max() < 1500
    assert motion.jerk_50hz().max() < 5e4


def test_a_gesture_waits_for_a_short_rest_to_end_and_is_dropped_by_a_long_one():
    gaze = {"mode": "speak", "gaze": Gaze(0.0), "urgency": 1.0}

    def nod(rest_s):
        wanted = [*ticks(1, **gaze), MotionIntent(1.0, gesture="nod", **gaze), *ticks(0.1, 1.01, **gaze)]
        wanted += ticks(rest_s, 1.11, hold_still=True, **gaze) + ticks(2, 1.11 + rest_s, **gaze)
        return run(wanted, body=mover()).rpy[:, 1]
    assert np.degrees(nod(0.6)[171:].min()) < -0.2       # on its way back up a nod goes over the middle
    assert np.degrees(nod(1.4)[251:].min()) > -0.05
