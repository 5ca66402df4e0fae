"""Nonsense in a wish is refused and named, once, and the rest of the wish is obeyed."""
import math
from dataclasses import replace

import numpy as np
import pytest

from motion.intent import Gaze, MotionIntent
from motion.refusal import obeyable, refusal
from tests.motion_scenes import SILENCE, mover, run, ticks

LISTEN = MotionIntent(0.0, "listen", Gaze(0.4, 0.1), urgency=0.8)
NONSENSE = [({"gaze": Gaze(math.nan)}, "azimuth_rad is nan"), ({"gaze": Gaze(0.1, -math.inf)}, "elevation_rad is -inf"),
            ({"gaze": Gaze(1e6)}, "azimuth_rad is 1000000.0"), ({"gaze": Gaze("left")}, "azimuth_rad is 'left'"),
            ({"gaze": Gaze(0.1, 0.0, math.nan)}, "distance is nan"), ({"gaze": Gaze(0.1, 0.0, -1.0)}, "distance is -1"),
            ({"mode": "fly"}, "mode is 'fly'"), ({"mood": "furious"}, "mood is 'furious'"), ({"mood": None}, "mood is"),
            ({"gesture": "bow"}, "gesture is 'bow'"), ({"urgency": math.nan}, "urgency is nan"),
            ({"urgency": "now"}, "urgency is 'now'"), ({"urgency": -1e9}, "urgency is")]


@pytest.mark.parametrize(("nonsense", "named"), NONSENSE)
def test_it_is_named_with_what_was_expected(nonsense, named):
    wish, why = obeyable(replace(LISTEN, **nonsense), "speak")
    assert named in why
    assert "expected" in why
    assert obeyable(wish, "speak") == (wish, "")
    assert (wish.mode == "listen") is ("mode" not in nonsense)


def test_all_of_it_is_named():
    _, why = obeyable(MotionIntent(0.0, "fly", Gaze(math.nan), "bow", urgency=2.0, mood="odd"), "idle")
    assert [part.split()[0] for part in why.split("; ")] == ["gaze:", "mode", "mood", "gesture", "urgency"]


def test_what_makes_sense_is_left_alone():
    for wish in (LISTEN, MotionIntent(0.0), replace(LISTEN, gaze=Gaze(np.float32(0.1), 1, 2))):
        assert obeyable(wish, "idle") == (wish, "")


@pytest.mark.parametrize("nonsense", [wish for wish, _ in NONSENSE[:6]])
def test_a_gaze_that_is_refused_changes_nothing(nonsense):
    wanted = ticks(1.5, mode="listen", gaze=Gaze(0.4, 0.1), urgency=0.8)
    broken = [replace(wish, **nonsense) if 40 <= i < 90 else wish for i, wish in enumerate(wanted)]
    assert np.array_equal(run(broken).joints, run(wanted).joints)


def test_the_mover_tells_it_once_and_again_when_it_comes_back():
    body, told = mover(), []
    for i in range(60):
        lost = 10 <= i < 30 or i >= 50
        body.step(i * 0.01, replace(LISTEN, gaze=Gaze(math.nan)) if lost else LISTEN, SILENCE, None)
        if body.refused:
            told.append((i, body.refused))
    assert [i for i, _ in told] == [10, 50]
    assert "azimuth_rad is nan" in told[0][1]


def test_a_mode_that_is_none_leaves_the_one_before():
    wanted = ticks(1.0, mode="sleep") + ticks(1.0, 1.0, mode="listen")
    broken = [replace(wish, mode="fly") if 40 <= i < 90 else wish for i, wish in enumerate(wanted)]
    assert np.array_equal(run(broken).joints, run(wanted).joints)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e6, 10 ** 400, None, "left", [0.1], True])
def test_a_direction_that_is_none_is_named(value):
    assert "azimuth_rad" in refusal(value)
    assert "elevation_rad" in refusal(0.0, value)


def test_a_direction_is_not_refused():
    assert refusal(-3.1, 0.4) == ""
    assert refusal(2, 0) == ""
