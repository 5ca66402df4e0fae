"""The bench of hearing: bounds, truth, judging, the sweep, drawn takes, and the whole command on a few seconds."""
import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perception.audio.barge_in import BargeInConfig
from perception.audio.block import BLOCK, BLOCK_S
from perception.audio.ears import EarsConfig
from robot.__main__ import main
from robot.bodies.room.voices import active_level
from robot.errors import BadRequest
from robot.hearing_bench.bounds import quantile_between, rate_below, share_between
from robot.hearing_bench.clusters import by_take, by_voice
from robot.hearing_bench.directions import direction_rows
from robot.hearing_bench.drawn import drawn
from robot.hearing_bench.judging import HIT_WINDOW_S, REFRACTORY_S, Alarms, merged, reaction
from robot.hearing_bench.listening import HeardTake, NotingBargeIn, listened, replayed
from robot.hearing_bench.plans import ROUND, SECONDS, Plan, plans
from robot.hearing_bench.sweep import swept
from robot.hearing_bench.table import interruption_rows, word_rows
from robot.hearing_bench.truth import CLASSES, Noise, Slip, Speech, Truth, read_truth
from robot.hearing_bench.words import Understood, word_errors
from tests.hearing_takes import write_recording

ALONE = Truth("robot_alone", 20.0, False, ((0.0, 20.0),), robot_voice="kal16")
PERSON = Speech(5.0, 7.0, azimuth=0.5, over_echo_db=-10.0)


def heard_take(truth, stops=(), ducks=(), directions=(), name="take"):
    """A take as if the ears had decided so. directions: (t, azimuth, ambiguous, mirror)."""
    lines = [{"t": t, "kind": "barge_in"} for t in stops] + [{"t": t, "kind": "duck"} for t in ducks]
    for t, azimuth, ambiguous, mirror in directions:
        line = {"t": t, "kind": "direction", "azimuth_rad": azimuth, "spread_rad": 0.1, "ambiguous": ambiguous}
        lines.append(line | ({"mirror_azimuth_rad": mirror} if ambiguous else {}))
    return HeardTake(name, truth, tuple(sorted(lines, key=lambda line: line["t"])), np.zeros((0, 6)), 1.0)


def rows_of(*takes):
    return {row.key: row for row in interruption_rows(takes) + direction_rows(takes)}


# ---- bounds, against printed tables

def test_bounds_are_the_exact_ones():
    assert [round(rate_below(n), 2) for n in (0, 1, 4)] == [3.0, 4.74, 9.15]
    assert np.round(share_between(6, 6), 3).tolist() == [0.541, 1.0]
    assert np.round(share_between(0, 10), 3).tolist() == [0.0, 0.308]
    assert np.round(share_between(15, 18), 3).tolist() == [0.586, 0.964]
    low, high = quantile_between(range(1, 21), 0.5)
    assert (low, high) == (6, 15)                         # ranks of the sign test, n = 20
    assert quantile_between([1.0, 2.0], 0.95)[1] is None


# ---- truth and judging

def test_the_most_specific_class_wins_and_the_first_of_equals():
    truth = replace(ALONE, speech=(PERSON, Speech(15.0, 15.4, 0.0, addressed=False)),
                    noises=(Noise("knock", 6.0, 9.0), Noise("babble", 9.5, 12.0, judged=False)), slips=(Slip(12.5),))
    classes = truth.classes()
    found = {t: CLASSES[classes[round(100 * t)]] for t in (1.0, 5.0, 8.49, 8.5, 9.99, 10.0, 12.99, 13.0, 14.0, 15.2)}
    assert found == {1.0: "quiet", 5.0: "person", 8.49: "person", 8.5: "distractor", 9.99: "distractor",
                     10.0: "babble", 12.99: "babble", 13.0: "slip", 14.0: "quiet", 15.2: "backchannel"}
    drifting = replace(ALONE, moving=True, slips=(Slip(3.0, drifts=True),)).classes()
    assert [CLASSES[drifting[at]] for at in (299, 300, 1999)] == ["moving", "slip", "slip"]


BENCH_TRUTH = {"kind": "barge_in", "duration_s": 10, "array": "linear", "moving": True, "robot_speech": [[0.5, 10]],
               "speech": [{"onset_s": 5, "end_s": 7, "role": "addressed", "azimuth_rad": 1.0, "ner_db": -10},
                          {"onset_s": 8, "end_s": 8.4, "role": "backchannel", "azimuth_rad": 2.0}],
               "distractors": [{"kind": "music", "start_s": 1, "end_s": 2, "counts_as_false_alarm": True}],
               "slips": [{"t_s": 3, "drift_ppm": 50}], "robot_voice": "someone", "mnr_db": 6.0}


def test_truth_of_the_bench_is_read(tmp_path):
    file = tmp_path / "truth.json"
    file.write_text(json.dumps(BENCH_TRUTH))
    truth = read_truth(file)
    people = (Speech(5.0, 7.0, 1.0, True, -10, None), Speech(8.0, 8.4, 2.0, False))
    assert truth == Truth("barge_in", 10.0, True, ((0.5, 10.0),), people,
                          (Noise("music", 1.0, 2.0),), (Slip(3.0, True),), "someone", 6.0)


@pytest.mark.parametrize(("text", "words"), [
    ("{", "expected JSON"), (json.dumps(BENCH_TRUTH | {"robot_speech": [3]}), "expected the hearing bench's truth"),
    (json.dumps({key: BENCH_TRUTH[key] for key in BENCH_TRUTH if key != "slips"}), "slips: expected it, found nothing"),
    ("[]", "expected the hearing bench's truth")])
def test_wrong_truth_is_named(tmp_path, text, words):
    (tmp_path / "truth.json").write_text(text)
    with pytest.raises(BadRequest, match=r"truth\.json") as caught:
        read_truth(tmp_path / "truth.json")
    assert words in str(caught.value)


times = st.lists(st.integers(0, 1999).map(lambda n: n / 100), max_size=12).map(sorted)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(times)
def test_alarms_count_once_in_two_seconds_and_each_in_one_class(found):
    kept = merged(found)
    assert all(b - a >= REFRACTORY_S - 1e-6 for a, b in pairwise(kept))
    assert all(any(k <= t < k + REFRACTORY_S for k in kept) for t in found)
    truth = replace(ALONE, speech=(PERSON,), noises=(Noise("knock", 12.0, 13.0),))
    alarms = Alarms().add(truth, found)
    assert alarms.count["quiet"] + alarms.count["person"] + alarms.count["distractor"] >= len(kept)
    assert sum(alarms.seconds.values()) == pytest.approx(20.0)
    hit = reaction(found, PERSON.onset)
    assert (hit is None) == (not any(5.0 <= t <= 5.0 + HIT_WINDOW_S for t in found))


def test_interruptions_are_counted_by_level_motion_and_motors():
    quiet = replace(ALONE, speech=(PERSON,))
    moving = replace(quiet, moving=True, motors_over_near_db=7.0)
    rows = rows_of(heard_take(quiet, stops=(1.0, 2.5, 5.3), ducks=(5.1,)), heard_take(quiet),
                   heard_take(moving, stops=(6.6,), ducks=(6.4,)),
                   heard_take(replace(ALONE, noises=(Noise("knock", 3.0, 4.0), Noise("cough", 8.0, 9.0))),
                              stops=(4.5,)))
    assert (rows["false_stop_quiet"].count, rows["false_stop_distractor"].count) == (1, 1)     # 1.0 and 2.5 are one
    assert rows["false_stop_quiet"].of == pytest.approx((2 * 16.5 + 16.0) / 60)
    assert rows["false_stop_quiet"].high == pytest.approx(4.744 * 3600 / 49.0, rel=1e-3)
    assert (rows["recall_stop_quiet_-10_dB"].count, rows["recall_stop_quiet_-10_dB"].of) == (1, 2)
    assert (rows["recall_stop_moving_all_levels"].count, rows["recall_duck_moving_all_levels"].count) == (0, 1)
    assert rows["latency_stop_quiet_all_levels_median"].value == pytest.approx(300)
    assert rows["latency_duck_quiet_all_levels_median"].value == pytest.approx(100)
    assert rows["recall_stop_motors_5_to_10_dB_over_the_person"].of == 1
    assert (rows["stopped_by_knock"].value, rows["stopped_by_cough"].value) == (100, 0)
    assert rows["stopped_by_impulsive_noises_together"].value == 50


def test_alarms_are_told_by_voice_and_by_take():
    takes = [heard_take(ALONE, stops=(3.0, 9.0, 15.0), name="bad"), heard_take(ALONE, name="good"),
             heard_take(replace(ALONE, robot_voice="own"), ducks=(4.0,), name="ducked")]
    assert [(one.name, one.stops, one.ducks) for one in by_voice(takes)] == [("kal16", 3, 3), ("own", 0, 1)]
    assert [one.name for one in by_take(takes)] == ["bad", "ducked"]
    assert by_voice(takes)[0].stops_an_hour == pytest.approx(3 * 3600 / 40)


def test_a_mirror_counts_at_rest_and_not_in_a_sweep():
    talker = Truth("talker", 8.0, False, (), (replace(PERSON, onset=1.0, end=5.0, over_noise_db=20.0),))
    right, folded, wrong = (1.2, 0.55, False, None), (2.0, np.pi - 0.5, True, 0.5), (3.0, 2.0, False, None)
    rows = rows_of(heard_take(talker, directions=(wrong[:0] + folded, wrong)), heard_take(talker, directions=(right,)))
    assert rows["direction_line_array_at_rest_20_dB_within"].count == 2
    assert rows["direction_line_array_at_rest_20_dB_first_median"].value == pytest.approx(600)
    assert rows["direction_line_array_at_rest_20_dB_never"].count == 0
    sweep = rows_of(heard_take(replace(talker, moving=True), directions=(right, (3.0, 0.7, False, None), folded)))
    assert (sweep["direction_sweeping_head_within"].count, sweep["direction_sweeping_head_within"].of) == (1, 3)
    assert (sweep["direction_sweeping_head_side"].count, sweep["direction_sweeping_head_side"].of) == (1, 1)
    empty = rows_of(heard_take(Truth("noise_only", 12.0, False, ()), directions=(right, wrong)))
    assert (empty["false_direction_noise_only"].count, empty["false_direction_noise_only"].of) == (2, 12)


@pytest.mark.parametrize(("said", "found", "wrong"), [
    ("please turn around", "please turn around", 0), ("turn around", "please turn a round", 3), ("stop", "", 1),
    ("", "stop it", 2), ("one two three four", "one three for", 2)])
def test_word_errors_are_the_fewest_changes(said, found, wrong):
    assert word_errors(said.split(), found.split()) == wrong


def test_word_errors_are_told_by_level():
    speech = replace(PERSON, text="No, stop! I meant")
    take = replace(heard_take(replace(ALONE, speech=(speech,))), understood=(Understood(speech, "stop I met"),))
    (row,) = word_rows([take, heard_take(ALONE)])
    assert (row.label, row.count, row.of, row.value) == ("word error, robot speaks, quiet, -10 dB", 2, 4, 50.0)


# ---- the sweep

@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 2**31))
def test_a_replay_decides_as_the_ears_did(seed):
    rng = np.random.default_rng(seed)
    values = np.clip(np.cumsum(rng.normal(0, 1.5, 600)) % 14 - 7, -6, 6)
    noting = NotingBargeIn(BargeInConfig())
    decided = [noting.step(n * BLOCK_S, float(v), n % 200 > 20, n == 333, n > 50, float(rng.uniform()))
               for n, v in enumerate(values)]
    evidence = np.array(noting.noted, float).tolist()
    stops, ducks = replayed(evidence, BargeInConfig())
    assert stops == [h.t for h in decided if h and h.kind == "barge_in"]
    assert ducks == [h.t for h in decided if h and h.kind != "release"]


def test_the_sweep_trades_false_stops_for_people():
    truth = replace(ALONE, speech=(PERSON,))
    log_odds = np.full(2000, -6.0)
    log_odds[505:650], log_odds[1200:1260] = 3.0, 1.5     # a person, and something weaker that is none
    evidence = np.array([(n * BLOCK_S, value, 1, 0, 1, 0) for n, value in enumerate(log_odds)])
    take = HeardTake("take", truth, (), evidence, 1.0)
    config = BargeInConfig(duck_at=0.0, stop_at=2.0)
    stops = {p.shift: (p.hits, p.false) for p in swept([take], config, (-1.0, 0.0, 1.5))
             if p.decision == "stop" and not p.moving}
    assert stops == {-1.0: (1, 1), 0.0: (1, 0), 1.5: (0, 0)}


# ---- drawn takes

def test_a_longer_draw_begins_with_the_shorter_one():
    short, long = list(plans(6)), list(plans(20))
    assert long[:len(short)] == short and set(SECONDS) == {plan.kind for plan in long} == set(ROUND)
    assert {plan.level_db for plan in long if plan.kind == "barge_in_moving"} == {0.0, -10.0, -20.0}
    assert len({plan.name for plan in long}) == len(long)


SHORT = Plan("barge_in_moving_0001", "barge_in_moving", 4.0, 1, -10.0)
BRIEF = replace(SHORT, seconds=1.5)


@pytest.fixture(scope="module")
def short():
    return drawn(SHORT, 3)


@pytest.fixture(scope="module")
def brief():
    return drawn(BRIEF, 3)


def test_drawn_takes_are_the_same_again_and_others_with_another_seed(brief):
    take, again, other = brief, drawn(BRIEF, 3), drawn(replace(BRIEF, seconds=0.5), 4)
    assert np.array_equal(take.sound.mics, again.sound.mics) and take.truth == again.truth
    assert np.array_equal(take.motion.commanded_velocity, again.motion.commanded_velocity)
    assert not np.array_equal(take.sound.mics[:, :8000], other.sound.mics)


def test_drawn_takes_stand_as_planned(short):
    take = short
    assert take.sound.mics.shape == (4, 4 * 16000) and take.echo.shape == take.sound.mics.shape
    assert np.abs(take.motion.commanded_velocity).max() > 0.3 and np.ptp(take.motion.rpy[:, 2]) > 0.05
    (person,), rest = take.truth.speech, take.sound.mics - take.echo
    assert person.over_echo_db == -10 and 0 < person.onset < person.end < 4.0
    before = slice(0, round(take.truth.robot_speech[0][0] * 16000))
    assert not take.echo[:, before].any()                # the echo is that of the robot's voice and nothing else
    lag = np.argmax(np.correlate(take.echo[0, :48000], take.sound.reference[:48000], "full")) - 47999
    assert lag / 16000 == pytest.approx(take.playback_delay_s, abs=0.025)
    assert active_level(rest[0]) > 0 and take.truth.motors_over_near_db is not None


def test_levels_of_a_drawn_take_are_exact():
    take = drawn(replace(SHORT, name="barge_in_0002", kind="barge_in", level_db=0.0), 5)
    assert take.motion is None and take.truth.motors_over_near_db is None
    near = take.sound.mics[0] - take.echo[0]
    assert 20 * np.log10(active_level(near) / active_level(take.echo[0])) == pytest.approx(0.0, abs=0.7)


def test_slips_and_distractors_are_in_the_truth():
    slip = drawn(Plan("slip_0000", "slip", 4.0), 1).truth
    assert slip.slips and not slip.speech
    noisy = drawn(Plan("distractor_0000", "distractor", 6.0), 1).truth
    assert {noise.kind: noise.judged for noise in noisy.noises} == {"knock": True, "cough": True, "music": True,
                                                                  "babble": False}
    assert [speech.addressed for speech in noisy.speech] == [False]


# ---- ears and command

def test_ways_of_listening_take_away_echo_and_telemetry(short):
    take = short
    take = replace(take, sound=replace(take.sound, mics=take.sound.mics[:, :16000],
                                       reference=take.sound.reference[:16000]), echo=take.echo[:, :16000])
    found = {way: listened(take, EarsConfig(), way) for way in ("as built", "perfect canceller", "no telemetry")}
    motors = {way: one.evidence[:, 5].max() for way, one in found.items()}
    assert all(one.evidence.shape == (16000 // BLOCK, 6) for one in found.values())
    assert motors["as built"] > 0 and motors["no telemetry"] == 0
    assert not np.array_equal(found["as built"].evidence[:, 1], found["perfect canceller"].evidence[:, 1])
    with pytest.raises(ValueError, match="whose echo is known"):
        listened(replace(take, echo=None), EarsConfig(), "perfect canceller")


def test_the_command_scores_a_folder(brief, tmp_path, capsys):
    for number in (1, 2):
        write_recording(tmp_path / "takes" / f"take_{number}", brief)
    out = tmp_path / "out"
    arguments = ["bench", "--hearing", "--takes", str(tmp_path / "takes"), "--out", str(out), "--no-telemetry"]
    assert main(arguments) == 0
    said = capsys.readouterr()
    assert "| false stops, moving |" in said.out and "real-time factor" in said.out and "2/2 take_2" in said.err
    data = json.loads((out / "hearing.json").read_text())
    assert set(data["ways"]) == {"as built", "no telemetry"}
    people = {row["key"]: row["of"] for row in data["ways"]["as built"]["rows"]}
    assert people["recall_stop_moving_-10_dB"] == 2
    assert (out / "hearing.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(("arguments", "words"), [
    (["--takes", "nowhere"], "expected folders with take.json"),
    (["--takes", ".", "--ceiling"], "--ceiling: expected drawn takes"),
    (["--set", "barge_in.stop=1"], "stop_at"),
])
def test_wrong_requests_are_refused_in_one_line(arguments, words, capsys):
    assert main(["bench", "--hearing", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1
