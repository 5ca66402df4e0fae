"""How well voices are placed, and what is placed without a voice."""
from collections.abc import Sequence

import numpy as np

from calibration.frames import wrapped
from robot.hearing_bench.bounds import quantile
from robot.hearing_bench.listening import HeardTake
from robot.hearing_bench.table import Row, quantile_rows, share_row
from robot.hearing_bench.truth import FRAME_S, Speech
from robot.hearing_events import Line

CORRECT = np.radians(10.0)       # a correct direction
SIDE = np.radians(20.0)          # near enough to be the right one of two mirrored sides
HANGOVER_S = 0.2                 # after the last sound in which a direction still is the voice's
DECIDED_AFTER_S = 1.5            # of sweeping, until which the side may be open

Case = tuple[HeardTake, Speech, list[Line]]


def direction_rows(heard: Sequence[HeardTake]) -> list[Row]:
    """A talker at rest and in sweeps, over the robot's own voice, and false directions."""
    cases: dict[str, list[Case]] = {}
    for take in heard:
        for speech in take.truth.speech:
            if speech.addressed:
                for name in _groups(take, speech):
                    cases.setdefault(name, []).append((take, speech, _during(take, speech)))
    rows = [row for name in sorted(cases) for row in _case_rows(name, cases[name])]
    return rows + _false_rows(heard)


def _groups(take: HeardTake, speech: Speech) -> list[str]:
    truth = take.truth
    if truth.robot_speech:
        return [f"robot speaks, {'moving' if truth.moving else 'quiet'}"]
    if truth.moving:
        return ["sweeping head"]
    level = "" if speech.over_noise_db is None else f", {speech.over_noise_db:g} dB"
    array = "line array" if truth.line_array else "other array"
    return [f"{array} at rest{level}"]


def _during(take: HeardTake, speech: Speech) -> list[Line]:
    return [line for line in take.lines
            if line["kind"] == "direction" and speech.onset <= line["t"] <= speech.end + HANGOVER_S]


def error(take: HeardTake, speech: Speech, line: Line) -> float:
    """rad from the truth; where a line array at rest cannot know, the nearer of the azimuth and its mirror counts."""
    candidates = [line["azimuth_rad"]]
    folds = take.truth.line_array and not (take.truth.moving and not take.truth.robot_speech)
    if folds and line["ambiguous"] and "mirror_azimuth_rad" in line:
        candidates.append(line["mirror_azimuth_rad"])
    return float(np.abs(wrapped(np.subtract(candidates, speech.azimuth))).min())


def _case_rows(name: str, cases: list[Case]) -> list[Row]:
    errors, firsts, late, decided = [], [], 0, 0
    for take, speech, lines in cases:
        own = [error(take, speech, line) for line in lines]
        errors += own
        firsts.append(next((line["t"] - speech.onset for line, off in zip(lines, own, strict=True) if off <= CORRECT),
                           None))
        after = [line for line in lines if speech.onset + DECIDED_AFTER_S <= line["t"] <= speech.end]
        late += len(after)
        decided += sum(not line["ambiguous"] and abs(wrapped(line["azimuth_rad"] - speech.azimuth)) <= SIDE
                       for line in after)
    key, people = f"direction_{name.replace(', ', '_').replace(' ', '_')}", f"{len(cases)} people"
    found = [first for first in firsts if first is not None]
    rows = []
    if errors:
        rows.append(Row(f"{key}_error", f"direction, {name}: mean error", float(np.degrees(np.mean(errors))), "deg",
                        len(errors), 0, note=f"{people}, median {np.degrees(quantile(errors, 0.5)):.1f} deg"))
    rows += share_row(f"{key}_within", f"direction, {name}: within 10 deg", sum(e <= CORRECT for e in errors),
                      len(errors), people, bounds=False)
    if name == "sweeping head":
        rows += share_row(f"{key}_side", f"direction, {name}: side decided and right", decided, late, people,
                          bounds=False)
    rows += quantile_rows(f"{key}_first", f"direction, {name}: first correct", found, 0.9)
    return rows + share_row(f"{key}_never", f"direction, {name}: never correct", len(cases) - len(found), len(cases))


def _false_rows(heard: Sequence[HeardTake]) -> list[Row]:
    """Seconds with a direction although nobody speaks, by what does sound."""
    marked: dict[str, list[int]] = {}
    for take in heard:
        truth = take.truth
        if truth.speech or truth.noises or truth.slips:
            continue
        motors = "motors" if truth.moving else "noise"
        name = ("robot alone, " + ("moving" if truth.moving else "quiet")) if truth.robot_speech else f"{motors} only"
        seconds = {int(line["t"] - FRAME_S / 2) for line in take.lines if line["kind"] == "direction"}
        counts = marked.setdefault(name, [0, 0])
        counts[0] += len(seconds)
        counts[1] += round(truth.duration)
    return [row for name, (count, seconds) in sorted(marked.items()) for row in share_row(
        f"false_direction_{name.replace(', ', '_').replace(' ', '_')}", f"seconds with a false direction, {name}",
        count, seconds, bounds=False)]
