"""The table of hearing: false stops and ducks, recall and latency, distractors. Each with count and 95 % bounds."""
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from robot.hearing_bench.bounds import quantile, quantile_between, rate_below, share_between
from robot.hearing_bench.judging import Alarms, reaction
from robot.hearing_bench.listening import HeardTake
from robot.hearing_bench.truth import AFTER_NOISE_S, Class, Speech, Truth
from robot.hearing_bench.words import Understood

DECISIONS = {"stop": ("barge_in",), "duck": ("duck", "barge_in")}    # a stop counts as a duck
MOTION = {False: "quiet", True: "moving"}
JUDGED: dict[Class, str] = {"quiet": "quiet", "moving": "moving", "slip": "around slips",
                            "distractor": "in distractors"}
UNJUDGED: tuple[Class, ...] = ("backchannel", "babble")
IMPULSIVE = ("knock", "cough")
MOTORS_DB = {"motors under the person": (-np.inf, 0.0), "motors 0 to 5 dB over the person": (0.0, 5.0),
             "motors 5 to 10 dB over the person": (5.0, 10.0), "motors 10 dB and more over the person": (10.0, np.inf)}


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. low, high: 95 % bounds in the same unit, None where there are none."""

    key: str
    label: str
    value: float
    unit: str            # /h, %, ms, deg, s/s
    count: int           # events, hits or values
    of: float            # minutes, trials; 0: as many as count
    low: float | None = None
    high: float | None = None
    note: str = ""


def rate_row(key: str, label: str, count: int, seconds: float) -> list[Row]:
    """Events an hour with the one-sided bound."""
    hours = seconds / 3600
    return [Row(key, label, count / hours, "/h", count, seconds / 60, None, rate_below(count) / hours)] if hours else []


def share_row(key: str, label: str, hits: int, total: int, note: str = "", bounds: bool = True) -> list[Row]:
    """A share in % with the two-sided bounds. bounds: False where trials depend on each other."""
    if not total:
        return []
    hits, total = int(hits), int(total)       # sums of numpy's truth values are numpy's numbers
    low, high = share_between(hits, total) if bounds else (None, None)
    return [Row(key, label, 100 * hits / total, "%", hits, total, _percent(low), _percent(high), note)]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def quantile_rows(key: str, label: str, seconds: Sequence[float], high: float = 0.95) -> list[Row]:
    """Median and a high percentile in ms."""
    rows = []
    for share, name in ((0.5, "median"), (high, f"p{100 * high:.0f}")) if seconds else ():
        least, most = (None if bound is None else 1000 * bound for bound in quantile_between(seconds, share))
        rows.append(Row(f"{key}_{name}", f"{label}, {name}", 1000 * quantile(seconds, share), "ms", len(seconds), 0,
                        least, most))
    return rows


def interruption_rows(heard: Sequence[HeardTake]) -> list[Row]:
    """All that concerns duck and stop."""
    rows, alarms = [], {}
    for decision, kinds in DECISIONS.items():
        alarms[decision] = found = Alarms()
        for take in heard:
            found.add(take.truth, take.times(*kinds))
        for name, label in JUDGED.items():
            rows += rate_row(f"false_{decision}_{name}", f"false {decision}s, {label}", found.count[name],
                             found.seconds[name])
    for decision in DECISIONS:
        rows += _recall_rows(heard, decision, alarms[decision])
    rows += _distractor_rows(heard)
    for name in UNJUDGED:
        rows += rate_row(f"unjudged_stop_{name}", f"(not judged) stops on {name}", alarms["stop"].count[name],
                         alarms["stop"].seconds[name])
    return rows


def word_rows(heard: Sequence[HeardTake]) -> list[Row]:
    """Words that the recogniser gets wrong, by what else sounds and by level. Words depend on each other: no bounds."""
    groups: dict[str, list[Understood]] = {}
    for take in heard:
        place = "robot silent" if not take.truth.robot_speech else f"robot speaks, {MOTION[take.truth.moving]}"
        for one in take.understood:
            level = one.speech.over_noise_db if one.speech.over_echo_db is None else one.speech.over_echo_db
            groups.setdefault(place if level is None else f"{place}, {level:g} dB", []).append(one)
    return [Row(f"words_{name.replace(', ', '_').replace(' ', '_')}", f"word error, {name}",
                100 * sum(one.wrong for one in some) / max(1, sum(one.count for one in some)), "%",
                sum(one.wrong for one in some), sum(one.count for one in some), note=f"{len(some)} people")
            for name, some in sorted(groups.items())]


def addressed(heard: Iterable[HeardTake]) -> list[tuple[HeardTake, Speech]]:
    """Every time that a person speaks to the robot while it speaks."""
    return [(take, speech) for take in heard if take.truth.robot_speech
            for speech in take.truth.speech if speech.addressed]


def _recall_rows(heard: Sequence[HeardTake], decision: str, alarms: Alarms) -> list[Row]:
    people, rows = addressed(heard), []
    for moving, motion in MOTION.items():
        own = [(take, speech) for take, speech in people if take.truth.moving == moving]
        levels = sorted({speech.over_echo_db for _, speech in own if speech.over_echo_db is not None}, reverse=True)
        groups = {f"{level:g} dB": [one for one in own if one[1].over_echo_db == level] for level in levels}
        groups["all levels"] = own
        chance = f"{100 * alarms.chance('moving' if moving else 'quiet'):.0f} % by chance"
        for name, some in groups.items():
            rows += _reaction_rows(f"{decision}_{motion}_{name}", f"{motion}, {name}", decision, some, chance)
    if decision == "stop":
        for name, (low, high) in MOTORS_DB.items():
            some = [(take, speech) for take, speech in people if _between(take.truth, low, high)]
            rows += _reaction_rows(f"stop_{name}", name, decision, some, "")
    return rows


def _between(truth: Truth, low: float, high: float) -> bool:
    return truth.moving and truth.motors_over_near_db is not None and low <= truth.motors_over_near_db < high


def _reaction_rows(key: str, label: str, decision: str, people: Sequence[tuple[HeardTake, Speech]],
                   note: str) -> list[Row]:
    found = [reaction(take.times(*DECISIONS[decision]), speech.onset) for take, speech in people]
    hits = [one for one in found if one is not None]
    key = key.replace(" ", "_")
    return [*share_row(f"recall_{key}", f"{decision} recall, {label}", len(hits), len(found), note),
            *quantile_rows(f"latency_{key}", f"{decision} latency, {label}", hits)]


def _distractor_rows(heard: Sequence[HeardTake]) -> list[Row]:
    """For each kind of noise, how many of them stop the robot."""
    found: dict[str, list[bool]] = {}
    for take in heard:
        if take.truth.robot_speech:
            stops = take.times(*DECISIONS["stop"])
            for noise in take.truth.noises:
                struck = any(noise.start <= t < noise.end + AFTER_NOISE_S for t in stops)
                found.setdefault(noise.kind if noise.judged else f"(not judged) {noise.kind}", []).append(struck)
                if noise.kind in IMPULSIVE:
                    found.setdefault("impulsive noises together", []).append(struck)
    return [row for kind, struck in sorted(found.items())
            for row in share_row(f"stopped_by_{kind}".replace(" ", "_"), f"stopped by {kind}", sum(struck),
                                 len(struck))]
