"""The judge of the demo: what it praises and what it does not let pass. The scene itself runs in `make demo`."""
from dataclasses import replace

import numpy as np
import pytest

from robot.interaction.demo import behaviours, demo_scenario, figures
from robot.interaction.trace import HeardWord, Trace, Utterance
from robot.tick import Event

END = 120.0
N = round(END * 100)


def ideal() -> Trace:
    """A run as it should be: called at 2 s, story from 12 to 80 s, corrected at 80 s, head shaken at 100 s."""
    t = np.arange(N) / 100
    sight = np.zeros((N, 2))
    sight[t > 4.2, 0] = np.radians(150)
    believed = np.full((N, 2), np.nan)
    believed[200:400] = np.radians([150.0, 30.0])
    sounding = ((t > 5) & (t < 8)) | ((t > 12) & (t < 80.4)) | ((t > 83) & (t < 88)) | (t > 98)
    said = {1: Utterance("anna", "hello", 2.0, 3.8), 2: Utterance("anna", "story", 9.0, 11.0),
            3: Utterance("anna", "mm-hmm", 40.0, 40.5), 4: Utterance("anna", "no wait", 80.0, 82.0)}
    events = (Event(5.0, "reply_start"), Event(12.0, "reply_start"), Event(80.3, "barge_in"),
              Event(83.0, "reply_start"), Event(101.0, "cue", (("cue", "shakes_head"),)))
    words = (HeardWord(84.0, 3, "It"), HeardWord(84.2, 3, "is"), HeardWord(84.5, 3, "three"))
    return Trace(events, said, np.where(sounding, -30.0, -120.0), np.where(sounding, 1, 0), sight,
                 {"anna": np.full(N, np.radians(150))}, believed, np.zeros((N, 9)), ((0.0, "idle"),), words)


def verdicts(trace):
    return [behaviour.ok for behaviour in behaviours(trace)]


def events_with(trace, *more):
    return replace(trace, events=tuple(sorted((*trace.events, *more), key=lambda e: e.t)))


def test_an_ideal_run_shows_everything():
    assert verdicts(ideal()) == [True] * 5
    assert any("300 ms" in line or "400 ms" in line for line in figures(ideal()))


def slow_turn():
    trace = ideal()
    sight = trace.sight.copy()
    sight[:, 0] = np.where(np.arange(N) > 600, np.radians(150), 0.0)
    return replace(trace, sight=sight)


def deaf_to_the_correction():
    trace = ideal()
    level = trace.level.copy()
    level[8040:8300] = -30.0
    return replace(trace, level=level)


@pytest.mark.parametrize(("trace", "failing"), [
    (slow_turn(), 0),
    (replace(ideal(), believed=np.full((N, 2), np.nan)), 0),
    (events_with(ideal(), Event(30.0, "barge_in")), 1),
    (deaf_to_the_correction(), 2),
    (replace(ideal(), stale_blocks=1), 2),
    (replace(ideal(), words=()), 2),
    (replace(ideal(), events=ideal().events[:-1]), 4),
])
def test_what_is_missing_fails(trace, failing):
    assert [i for i, ok in enumerate(verdicts(trace)) if not ok] == [failing]


def test_a_murmur_that_stops_it_fails():
    trace = events_with(ideal(), Event(40.4, "barge_in"))
    assert not verdicts(trace)[3]


def test_a_scene_that_never_came_far_fails_without_a_crash():
    trace = replace(ideal(), utterances={}, events=())
    assert verdicts(trace) == [False] * 5


def test_the_scene_is_readable():
    assert [s.source for s in demo_scenario().timeline]
