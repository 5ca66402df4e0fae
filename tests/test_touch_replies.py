"""What a touch does to the robot, by itself and in the simulated room."""
from dataclasses import replace

import pytest

from dialogue.engines.scripted import Rule, ScriptedEngine
from dialogue.touch import TouchConfig, TouchReplies
from firmware_bridge.haptics import REST
from firmware_bridge.touch import Touch
from motion.intent import MotionIntent
from perception.people import Person
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import RoomConfig
from robot.clock import VirtualClock
from robot.runtime import run
from robot.simulation import build_simulation

ANNA = Person("person_1", 0.5, 0.1, 1.2, heard_at=1.0, seen_at=2.0, attention=0.4)
BEN = Person("person_2", -0.9, 0.0, 1.5, heard_at=None, seen_at=2.0, attention=0.9)
IDLE = MotionIntent(0.0)


def step(replies, t, kind=None, intent=IDLE, people=(), listens=False):
    touches = () if kind is None else (Touch(t, kind),)
    return replies.step(t, touches, people, replace(intent, t=t), listens)


@pytest.mark.parametrize(("kind", "pattern"), [("stroke", "purr"), ("hold", "heartbeat")])
def test_it_is_glad_of_a_hand_and_says_so_by_vibration(kind, pattern):
    replies = TouchReplies()
    intent, haptic = step(replies, 3.0, kind)
    assert (intent.mood, haptic) == ("glad", pattern)
    assert step(replies, 6.9)[0].mood == "glad" and step(replies, 7.1) == (replace(IDLE, t=7.1), None)


def test_a_tap_is_answered_with_a_tap_and_a_look_at_whom_it_heard_last():
    replies = TouchReplies()
    step(replies, 3.0, people=(ANNA, BEN))
    intent, haptic = step(replies, 4.0, "tap", people=())
    assert haptic == "tap" and intent.gaze.azimuth == ANNA.azimuth and "person_1" in intent.reason
    assert step(replies, 6.1)[0].gaze is None


def test_a_tap_by_nobody_known_or_long_gone_is_only_answered():
    assert step(TouchReplies(), 3.0, "tap")[0].gaze is None
    replies = TouchReplies()
    step(replies, 3.0, people=(ANNA,))
    assert step(replies, 3.0 + TouchConfig().known, "tap")[0].gaze is None


@pytest.mark.parametrize("mode", ["speak", "listen"])
def test_whoever_it_talks_with_keeps_its_eyes(mode):
    replies = TouchReplies()
    assert step(replies, 3.0, "tap", MotionIntent(3.0, mode), (ANNA,))[0].gaze is None


@pytest.mark.parametrize(("intent", "listens"), [
    (MotionIntent(0.0, "speak"), True), (MotionIntent(0.0, "speak", hold_still=True), False),
    (MotionIntent(0.0, "listen"), False), (MotionIntent(0.0, "still"), False), (MotionIntent(0.0, "park"), False)])
def test_nothing_vibrates_while_the_ears_try_to_hear(intent, listens):
    replies = TouchReplies()
    assert step(replies, 3.0, "stroke")[1] == "purr"
    assert step(replies, 3.1, intent=intent, listens=listens)[1] == REST
    assert step(replies, 3.2, "stroke", intent, listens=listens)[1] is None
    assert step(replies, 3.3, intent=intent, listens=listens)[1] is None


def test_quiet_lasts_a_moment_longer_than_the_listening():
    replies = TouchReplies()
    step(replies, 3.0, listens=True)
    assert step(replies, 3.4, "tap")[1] is None and step(replies, 3.6)[1] == "tap"
    assert step(replies, 3.7)[1] is None


def test_a_touch_that_nobody_could_answer_in_time_is_not_answered_late():
    replies = TouchReplies()
    step(replies, 3.0, "tap", listens=True)
    step(replies, 5.0, listens=True)
    assert step(replies, 5.6)[1] is None


def test_a_mood_that_the_engine_wants_is_not_painted_over():
    assert step(TouchReplies(), 3.0, "stroke", MotionIntent(3.0, mood="sad"))[0].mood == "sad"


def test_a_story_goes_on_through_strokes_and_purrs_only_while_nobody_is_listened_to():
    engine = lambda: ScriptedEngine((Rule(".*", "This is quite a long answer, with a second half."),),  # noqa
                                    lambda samples, onset, end: "hello")
    mind, body = build_simulation(RoomConfig(), (PersonScript("anna", 0.1, 1.0),), engine, 2)
    seen, strokes = [], []

    def script(t, room):
        if t == 0.5:
            room.person("anna").say(t, "hello robot")
        speaks = bool(seen) and seen[-1][1].floor == "robot_speaking"
        if speaks and len(strokes) < 2 and (not strokes or t - strokes[-1] > 1.2):
            strokes.append(t)
            room.skin.touch(t, "stroke")

    body.script = script
    run(mind, body, VirtualClock(), (lambda i, tick: seen.append((i, tick, body.room.skin.haptics.strength)),),
        lambda t: t >= 5.0)
    events = [event.name for _, tick, _ in seen for event in tick.events]
    assert "reply_end" in events and "barge_in" not in events
    assert sum(len(i.touches) for i, *_ in seen) == len(strokes) == 2
    assert any(tick.outputs.haptic == "purr" for _, tick, _ in seen) and max(s for *_, s in seen) > 0.2
    assert any(tick.intent.mood == "glad" for _, tick, _ in seen)
    quiet = [all(tick.intent.hold_still or tick.sound.speech for _, tick, _ in seen[k - 6:k + 1]) and s
             for k, (_, _, s) in enumerate(seen) if k > 6]
    assert max(quiet) == 0.0, "40 ms after the ears want it quiet, it is"
