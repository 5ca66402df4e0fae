"""What a soak has shown, in words: a line for each stretch, and what drifted, grew and failed in all of it."""
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from robot.service.soak_gauge import Period
from robot.service.trend import Trend

AIM_H = 8.0          # h, over which growth is told, whatever was lived through
OWN_S = 0.3          # s of the robot's own in the mean response (this and what follows: issue 5)
DRIFT, SURE = 0.05, 2.0   # share of the response, beyond so many standard errors
GROWTH, LEAST_H = 0.01, 1.0   # share of the memory over AIM_H; told from so many hours on, before that it is warm-up
HEAD = ("seed: until s  answers  response  own ms (worst)  stops lost resumed  talk night  tick ms  rss MB  used MB"
        "  objects  garbage files  took")


@dataclass(frozen=True)
class Lived:
    """What became of one process' share."""

    periods: list[Period]
    done: dict[str, int]          # what happened how often
    levels: int                   # changes of the degradation level
    wall_s: float
    failures: list[str]           # of ticks
    strange: list[str]            # answers lost without a reason
    trend: Trend                  # of the responses, s


def period_line(seed: int, p: Period) -> str:
    """One stretch, under HEAD."""
    return (f"{seed:3d}: {p.end_s:7.0f}  {p.answers:7d}  {1000 * p.response_s:8.0f}  {1000 * p.own_s:6.0f} "
            f"({1000 * p.worst_s:5.0f})  {p.stops:5d} {p.lost:4d} {p.resumed:7d}  {p.talk:4.0%} {p.night:5.0%}  "
            f"{p.tick_ms:7.2f}  {p.rss_mb:6.1f}  {p.used_mb:7.1f}  {p.objects:7d}  {p.garbage:7d} {p.files:5d}  "
            f"{p.wall_s:7.0f} s")


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Median of the slopes between all pairs (Theil 1950, Sen 1968): one burst does not make a trend."""
    return median((b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2))


def growth(periods: Sequence[Period], what: str) -> float:
    """Share by which a figure grows over AIM_H hours, from the second stretch on: the first one warms up."""
    points = [(p.end_s / 3600, float(getattr(p, what))) for p in periods[1:]]
    return slope(points) * AIM_H / max(points[0][1], 1.0)


def mean_own(periods: Sequence[Period]) -> float:
    """s, the robot's own part of the response, over all answers."""
    return sum(p.own_s * p.answers for p in periods) / max(1, sum(p.answers for p in periods))


def unmet(lived: Lived) -> list[str]:
    """What must hold and did not."""
    periods = lived.periods
    found = [what for what, failed in (
        (f"{len(lived.failures)} ticks failed", lived.failures),
        (f"{len(lived.strange)} answers were lost while the engine was well", lived.strange),
        ("superseded sound came out", periods and periods[-1].stale),
        ("open files have changed", len(periods) > 1 and periods[-1].files != periods[1].files),
        (f"the robot's own part of the response is more than {OWN_S:g} s", mean_own(periods) > OWN_S)) if failed]
    hours = periods[-1].end_s / 3600 if periods else 0.0
    if hours >= LEAST_H and len(periods) > 3:
        drift, error = lived.trend.drift(3600 * hours)
        if abs(drift) - SURE * error > DRIFT:
            found.append(f"the response drifts by {drift:+.1%}")
        if growth(periods, "rss_mb") > GROWTH:
            found.append(f"memory grows by {growth(periods, 'rss_mb'):+.2%} in {AIM_H:g} h")
    return found


def share_lines(seed: int, lived: Lived) -> list[str]:
    """What drifted and grew (once it was long enough to tell), and what happened."""
    periods = lived.periods
    hours = periods[-1].end_s / 3600 if periods else 0.0
    drift, error = lived.trend.drift(3600 * hours)
    lines = [f"seed {seed}: response {1000 * lived.trend.value:.0f} ms, of it {1000 * mean_own(periods):.0f} ms over "
             f"the engine's own; drift in {hours:.2f} h {drift:+.1%} +- {error:.1%} of it (a standard error)"]
    if hours >= LEAST_H and len(periods) > 3:
        lines.append(
            f"  over {AIM_H:g} h, as from the second stretch on: memory {growth(periods, 'rss_mb'):+.2%}, of it handed "
            f"out {growth(periods, 'used_mb'):+.2%}, objects {growth(periods, 'objects'):+.2%}, files "
            f"{periods[-1].files - periods[1].files:+d}")
    answers, lost = sum(p.answers for p in periods), sum(p.lost for p in periods)
    happened = ", ".join(f"{n} {what}" for what, n in sorted(lived.done.items()))
    stale = periods[-1].stale if periods else 0
    lines.append(f"  {answers} answers, {lost} lost, {len(lived.strange)} of them while the engine was well; "
                 f"{len(lived.failures)} failed ticks, {stale} stale blocks, {lived.levels} changes of level")
    lines.append(f"  {happened}")
    lines += [f"  seed {seed} {what}" for what in (*lived.strange[:8], *lived.failures[:3])]
    return lines + [f"  NOT MET: {what}" for what in unmet(lived)]
