"""A soak of a minute: what must hold for hours is looked at here with few ticks, in the same way."""
from dataclasses import replace

import numpy as np
import pytest

from robot.service.soak import RAW, STANDARD, Share, SoakPlan, live, shares_of
from robot.service.soak_gauge import Period, handed_out_mb
from robot.service.soak_life import LifeConfig
from robot.service.soak_report import Lived, growth, share_lines, slope, unmet
from robot.service.trend import Trend

DENSE = LifeConfig(acts=1.5, faults=5.0, longest=3.0, day=12.0, night=5.0, stirs=2.0)
PLAN = SoakPlan(28 / 3600, seed=5, engine="scripted", pictures=0.0, firmware=(STANDARD,), periods=4, life=DENSE)


@pytest.fixture(scope="module")
def lived():
    lines = []
    return live(shares_of(PLAN)[0], lines.append), lines


def test_nothing_fails_and_no_stale_sound_comes_out(lived):
    told = lived[0]
    assert told.failures == [] and told.strange == []
    assert [p.failed for p in told.periods] == [0] * 4 and told.periods[-1].stale == 0
    assert sum(p.answers for p in told.periods) >= 3
    assert sum(count for what, count in told.done.items() if " " in what and "night" not in what) >= 3    # faults
    assert told.done["night"] == 1 and told.done["morning"] == 1


def test_nothing_is_left_behind(lived):
    _, before, *_, last = lived[0].periods
    assert [p.garbage for p in lived[0].periods[1:]] == [0, 0, 0]
    assert last.files == before.files
    assert last.objects - before.objects < 300            # what holds a talk, not what a talk leaves


def test_the_robots_own_part_of_a_wait_is_bounded(lived):
    assert max(p.worst_s for p in lived[0].periods) <= 1.6       # a head that cannot turn is waited for 1.5 s
    assert 0.1 < max(p.talk for p in lived[0].periods) <= 1.0


def test_each_stretch_is_told_as_it_ends(lived):
    told, lines = lived
    assert len(lines) == 4 and lines[0].split()[:2] == ["5:", "7"]
    assert "0 failed ticks, 0 stale blocks" in share_lines(5, told)[1]


def test_shares_end_together():
    shares = shares_of(SoakPlan(8.0, seed=3, jobs=2))
    assert [(s.seed, s.firmware) for s in shares] == [(3, RAW), (4, STANDARD)]
    assert sum(s.hours for s in shares) == pytest.approx(8.0) and shares[0].hours < shares[1].hours
    assert shares_of(SoakPlan(1.0)) == [Share(SoakPlan(1.0), 1, 1.0, RAW)]


def made(**fields):
    blank = dict.fromkeys(Period.__dataclass_fields__, 0)
    return Period(**{**blank, **fields})


def test_growth_is_told_over_eight_hours_and_without_the_warm_up():
    lived = Lived([], {}, 0, 1.0, [], [], Trend())
    periods = [made(end_s=900.0 * (i + 1), rss_mb=500.0 + 0.5 * i, answers=1, own_s=0.1) for i in range(8)]
    periods[0] = replace(periods[0], rss_mb=100.0)
    periods[5] = replace(periods[5], rss_mb=900.0)        # one burst is no trend
    assert slope([(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) == 2.0
    assert growth(periods, "rss_mb") == pytest.approx(8 * 2.0 / 500.5)
    assert "memory +3.20%" in "".join(share_lines(1, replace(lived, periods=periods)))
    assert unmet(replace(lived, periods=periods)) == ["memory grows by +3.20% in 8 h"]
    assert unmet(replace(lived, periods=periods[:3])) == []    # too short to tell


@pytest.mark.parametrize(("what", "told"), [
    ({"periods": [made(end_s=1.0), made(end_s=2.0, files=9), made(end_s=3.0, files=10)]}, "files"),
    ({"periods": [made(end_s=1.0, answers=1, own_s=0.31)]}, "own part"),
    ({"periods": [made(end_s=1.0, stale=1)]}, "superseded"),
    ({"failures": ["x"]}, "ticks failed"), ({"strange": ["x"]}, "lost")])
def test_what_must_hold_is_told_when_it_does_not(what, told):
    lived = replace(Lived([], {}, 0, 1.0, [], [], Trend()), **what)
    assert len(unmet(lived)) == 1 and told in unmet(lived)[0] and "NOT MET" in share_lines(1, lived)[-1]


def test_a_drift_is_told_once_it_is_sure():
    rng, trend = np.random.default_rng(1), Trend()
    times, noise = np.sort(rng.uniform(0.0, 7200.0, 500)), rng.normal(0.0, 0.02, 500)
    for t, value in zip(times, 0.2 + 0.03 * times / 7200 + noise, strict=True):
        trend.add(float(t), float(value))
    expected = np.polyfit(times, 0.2 + 0.03 * times / 7200 + noise, 1)[0] * 7200 / trend.value
    drift, error = trend.drift(7200.0)
    assert drift == pytest.approx(expected) and 0.005 < error < 0.02
    periods = [made(end_s=1800.0 * (i + 1)) for i in range(4)]
    assert unmet(Lived(periods, {}, 0, 1.0, [], [], trend)) == [f"the response drifts by {drift:+.1%}"]
    assert np.isnan(Trend().drift(1.0)[0])


def test_what_is_handed_out_follows_what_is_taken():
    before = handed_out_mb()
    if np.isnan(before):
        pytest.skip("no glibc that tells")
    kept = np.ones(4_000_000)
    assert handed_out_mb() - before == pytest.approx(32.0, abs=1.0) and kept.any()
