"""Expectations judged on made-up runs whose truth is known."""
import re
from dataclasses import replace

import numpy as np
import pytest

from robot.interaction.expectations import read_expectation
from robot.interaction.judgement import judge
from robot.interaction.marked import marked_text
from robot.interaction.measures import measure
from robot.interaction.trace import HeardWord, Trace, Utterance
from robot.tick import TICK_S, Event

SECONDS = 20.0


def rows(low, high):
    return slice(round(low / TICK_S), round(high / TICK_S))


def made(speech=(), events=(), utterances=(), sight=None, **rest):
    """speech: (from, to, generation); utterances: (onset, end); sight: azimuth deg as a function of t."""
    n = round(SECONDS / TICK_S)
    level, generation = np.full(n, -120.0), np.zeros(n, np.int64)
    for low, high, number in speech:
        level[rows(low, high)], generation[rows(low, high)] = -23.0, number
    azimuth = [0.0 if sight is None else np.radians(sight(i * TICK_S)) for i in range(n)]
    said = {k: Utterance("anna", "words", onset, end) for k, (onset, end) in enumerate(utterances, 1)}
    return Trace(tuple(Event(t, name, tuple(facts.items())) for t, name, facts in events), said, level, generation,
                 np.column_stack([azimuth, np.zeros(n)]), {"anna": np.full(n, np.radians(150.0))},
                 np.full((n, 2), np.nan), np.zeros((n, 9)), ((0.0, "idle"),), **rest)


def verdict(text, trace):
    return judge(read_expectation(marked_text(text, "s.yaml"), ("anna",), 3), trace)


def passes(text, trace):
    return verdict(text, trace).ok


TALK = made([(2, 8, 1), (9, 12, 2)], [(5.3, "duck", {}), (5.6, "barge_in", {}), (9.0, "reply_start", {})],
            [(0.5, 1.2), (5.2, 6.0)])


@pytest.mark.parametrize(("text", "ok"), [
    ("{event: duck}", True),
    ("{event: release}", False),
    ("{never: release}", True),
    ("{never: {event: duck}}", False),
    ("{event: duck, between: [5, 6]}", True),
    ("{event: duck, between: [6, 7]}", False),
    ("{never: duck, between: [6, 7]}", True),
    ("{event: duck, within: 0.2, onset_of: {says: 2}}", True),
    ("{event: duck, within: 0.05, onset_of: {says: 2}}", False),
    ("{event: reply_start, within: 3.1, of: {says: 2}}", True),
    ("{event: reply_start, within: 2.9, of: {says: 2}}", False),
    ("{event: duck, within: 9, of: {says: 3}}", False),
    ("{never: duck, within: 9, of: {says: 3}}", False),      # it was not put to the test
    ("{never: duck, between: [30, 40]}", False),
])
def test_events_and_windows(text, ok):
    assert passes(text, TALK) == ok


def test_silence_is_measured_at_the_loudspeaker():
    stops = made([(2, 5.5, 1)], utterances=[(0.5, 1.0), (5.2, 6.0)])
    assert passes("{silent_within_ms: 300, onset_of: {says: 2}}", stops)
    assert not passes("{silent_within_ms: 290, onset_of: {says: 2}}", stops)
    assert not passes("{silent_within_ms: 300, onset_of: {says: 2}}", TALK)
    assert verdict("{silent_within_ms: 300, onset_of: {says: 2}}", TALK).happened == "silent after 2800 ms"
    assert "not speaking" in verdict("{silent_within_ms: 300, onset_of: {says: 1}}", stops).happened
    pause = made([(2, 5.5, 1), (5.8, 9, 1)], utterances=[(0.5, 1.0), (5.2, 6.0)])   # between words: no silence
    assert not passes("{silent_within_ms: 400, onset_of: {says: 2}}", pause)


def test_keeps_talking_through():
    murmur = [(0.5, 1.0), (5.2, 5.8)]
    goes_on = made([(2, 12, 1)], [(5.4, "duck", {}), (5.9, "release", {})], murmur)
    assert passes("{keeps_talking_through: {says: 2}}", goes_on)
    assert not passes("{keeps_talking_through: {says: 1}}", goes_on)
    assert not passes("{keeps_talking_through: {says: 2}}", made([(2, 5.5, 1), (6.9, 12, 2)], utterances=murmur))
    assert not passes("{keeps_talking_through: {says: 2}}", made([(2, 12, 1)], [(5.5, "barge_in", {})], murmur))
    assert passes("{keeps_talking_through: {says: 2}}", made([(2, 6, 1)], [(6.0, "reply_end", {})], murmur))


def test_head_faces():
    turns = made(utterances=[(0.5, 1.0)], sight=lambda t: min(150.0, max(0.0, (t - 1.0) * 150)))
    assert passes("{head_faces: anna, within: 1.2, of: {says: 1}, tolerance_deg: 10}", turns)
    assert not passes("{head_faces: anna, within: 0.8, of: {says: 1}, tolerance_deg: 10}", turns)
    assert passes("{head_faces: 150, between: [3, 9]}", turns)
    assert not passes("{head_faces: anna, between: [1.5, 9]}", turns)
    assert passes("{never: {head_faces: -100}}", turns)
    assert passes("{head_faces: {azimuth_deg: -210}, within: 2, of: {says: 1}, tolerance_deg: 1}", turns)
    sweeps = made(utterances=[(0.5, 1.0)], sight=lambda t: t * 200 - 180)      # passes by in 0.1 s
    assert not passes("{head_faces: anna, within: 2, of: {says: 1}, tolerance_deg: 10}", sweeps)
    gone = replace(turns, places={"anna": np.full(len(turns.level), np.nan)})
    assert not passes("{head_faces: anna, within: 1.2, of: {says: 1}}", gone)


def test_what_people_did_without_words():
    sighed = made([(2, 9, 1)], [(1.5, "cue", {"cue": "sighs", "person": "anna"})], [(0.5, 1.0)])
    assert passes("{cue: sighs}", sighed) and passes("{cue: sighs, within: 1, of: {says: 1}}", sighed)
    assert not passes("{cue: sighs, between: [2, 9]}", sighed) and not passes("{cue: nods}", sighed)
    assert passes("{never: {cue: nods}}", sighed) and not passes("{never: {cue: sighs}}", sighed)


def test_head_still():
    moves = made(sight=lambda t: 0.3 * np.sin(6 * t) + (20 if t > 10 else 0))
    assert passes("{head_still: true, between: [1, 9]}", moves)
    assert not passes("{head_still: true, between: [9, 11]}", moves)
    across = made(sight=lambda t: 180 if int(t * 50) % 2 else -180)
    assert passes("{head_still: true}", across)


def test_what_the_robot_said():
    words = [HeardWord(2.0 + i, 1, word) for i, word in enumerate(("the", "blue", "cup", "is", "here"))]
    trace = made(words=tuple(words), utterances=[(0.5, 1.0)])
    assert passes("{robot_says: {matching: blue cup}}", trace)
    assert verdict("{robot_says: {matching: cup}}", trace).t == 4.0
    assert not passes("{never: robot_says, matching: blue}", trace)
    assert passes("{never: robot_says, matching: red}", trace)
    assert passes("{never: robot_says, matching: blue, between: [3.5, 9]}", trace)
    assert not passes("{never: robot_says}", trace)
    assert passes("{never: robot_says, within: 0.5, of: {says: 1}}", trace)
    assert not passes("{robot_says: {matching: 'cup.is'}, within: 2, of: {says: 1}}", trace)


def test_tools():
    call = (3.0, "tool", {"name": "fetch", "arguments": (("colour", "Blue"), ("thing", "cup")), "result": "done"})
    trace = made(events=[call], utterances=[(0.5, 1.0)])
    assert passes("{tool: fetch, arguments: {colour: blue}, times: 1}", trace)
    assert not passes("{tool: fetch, arguments: {colour: red}}", trace)
    assert passes("{never: {tool: fetch, arguments: {colour: red}}}", trace)
    assert not passes("{tool: fetch, times: 2}", trace)
    assert not passes("{tool: fetch, within: 1, of: {says: 1}}", trace)
    assert "fetch(colour=Blue, thing=cup) at 3.00 s" in verdict("{tool: wave}", trace).happened


def test_history_and_health():
    trace = made(history=("anna: a story please", "robot: once upon"),
                 events=[(4.0, "health", {"of": "servo_13", "level": "gone", "reason": "silent"})])
    assert passes("{history: {matching: once upon, lacks: the end}}", trace)
    assert not passes("{history: {matching: the end}}", trace)
    assert not passes("{history: {lacks: once}}", trace)
    assert passes("{health: {of: servo_13, level: gone}}", trace)
    assert passes("{health: {of: servo_13}, between: [3, 5]}", trace)
    assert not passes("{health: {of: servo_13, level: degraded}}", trace)
    assert passes("{never: {health: {of: camera}}}", trace)


def test_metrics():
    trace = made([(2, 5.7, 1), (7, 12, 2)], [(5.3, "duck", {}), (5.35, "duck", {}), (5.6, "barge_in", {}),
                                             (11.0, "barge_in", {})],
                 [(0.5, 1.2), (5.2, 6.0)], stale_blocks=3, tick_ms=np.arange(101.0))
    assert measure("stale_blocks", trace) == [3.0]
    assert measure("first_audio_ms", trace) == pytest.approx([800.0, 1000.0])
    assert measure("stop_latency_ms", trace) == pytest.approx([500.0])
    assert measure("duck_latency_ms", trace) == pytest.approx([100.0])
    assert measure("self_interruptions", trace) == [1.0]
    assert measure("self_interruptions", replace(trace, noises=((10.5, 10.8),))) == [0.0]
    assert measure("tick_p99_ms", trace) == [99.0]
    assert passes("{metric: first_audio_ms, p95_below: 1000}", trace)
    assert not passes("{metric: first_audio_ms, below: 900}", trace)
    assert passes("{metric: stale_blocks, equals: 3}", trace)
    assert not passes("{metric: duck_latency_ms, below: 150}", made())       # nothing was measured


def test_jerk_of_a_known_curve():
    t = np.arange(round(SECONDS / TICK_S)) * TICK_S
    goals = np.zeros((len(t), 9))
    goals[:, 3] = np.radians(100.0 * t ** 3 / 6)       # constant jerk of 100 deg/s^3
    assert measure("jerk_deg_s3", replace(made(), goals=goals)) == pytest.approx([100.0], rel=1e-6)


def test_every_failure_says_what_happened_instead():
    for text in ("{event: tool}", "{robot_says: {matching: x}}", "{head_faces: anna}", "{tool: x}",
                 "{history: {matching: x}}", "{silent_within_ms: 100, onset_of: {says: 1}}",
                 "{keeps_talking_through: {says: 2}}",
                 "{metric: stale_blocks, above: 0}", "{health: {of: disk}}"):
        judgement = verdict(text, TALK)
        assert not judgement.ok and re.search(r"[a-z]{3}", judgement.happened), text
