"""What `talkover bench --listening` counts, on an evening made by hand."""
import numpy as np
import pytest

from robot.interaction.scripted_answers import TrueWords
from robot.service.listening_figures import Evening, Interruption, evidence_table, lines_of, tally


def made() -> Evening:
    """55 s of speech, from 30 s in motion: a stop in time at 10 s, one too late at 20 s, one for nobody at 40 s."""
    rows = [(-3.0, 0.5 if t >= 3000 else 0.0, True, 3900 <= t < 4000, 3950 <= t < 4000) for t in range(6000)]
    for index in (*range(1000, 1020), *range(5000, 5010), *range(5300, 5310)):
        rows[index] = (0.2, *rows[index][1:])
    rows[5500:] = [(-3.0, 0.0, False, False, False)] * 500
    said = [Interruption(level, t, t + 1.0) for level, t in ((0, 10.0), (-20, 20.0), (-20, 56.0))]
    return Evening(None, TrueWords(), np.random.default_rng(0), [], said, rows=rows,
                   powers=[(1.0, 10.0, 0.1)] * 6000,
                   events=[(10.4, "barge_in"), (21.6, "barge_in"), (39.0, "holds_still"), (39.5, "duck"),
                           (40.0, "barge_in"), (10.2, "duck")])


def test_hits_count_within_their_time_and_everything_else_is_false():
    found = tally([made()])
    assert found.hits[0] == [pytest.approx(0.4)] and found.hits[-20] == [None]     # nothing was interrupted at 56 s
    assert found.levels[0] == [(pytest.approx(-10.0), pytest.approx(-10.0))]
    assert found.false == {"barge_in": 1, "duck": 1, "holds_still": 1}
    assert found.hours * 3600 == pytest.approx(55 - 2 * 2.5, abs=0.05)
    assert found.moving_hours * 3600 == pytest.approx(25.0, abs=0.05)
    assert (found.held_s, found.low_s) == (pytest.approx(1.0), pytest.approx(0.5))
    text = "\n".join(lines_of("made", found))
    assert "0 dB  stopped for 1 of 1  median 400" in text and "1 false stops (72/h)" in text


def test_the_table_tells_how_often_weak_evidence_is_met_alone_and_how_early_it_stands():
    rows = {float(line.split()[0]): line for line in evidence_table([made()])[1:]}
    assert "288 /     0   100 /   - /   0 %" in rows[0.0]                          # twice in 25 s of motion
    assert "0 /     0     0 /   - /   0 %" in rows[0.5]
