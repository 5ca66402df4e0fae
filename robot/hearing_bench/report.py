"""The figures as a markdown table and as hearing.json."""
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from robot.hearing_bench.clusters import Cluster, by_take, by_voice
from robot.hearing_bench.directions import direction_rows
from robot.hearing_bench.listening import HeardTake, Way
from robot.hearing_bench.sweep import Point
from robot.hearing_bench.table import Row, interruption_rows, word_rows

TAKES_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Figures:
    """All that one way of listening came to."""

    rows: list[Row]
    voices: list[Cluster]
    takes: list[Cluster]
    sweep: list[Point]
    speed: list[Row]      # not the same in two runs


def figures(heard: Sequence[HeardTake], sweep: list[Point]) -> Figures:
    rows = [*interruption_rows(heard), *direction_rows(heard), *word_rows(heard)]
    return Figures(rows, by_voice(heard), by_take(heard), sweep, speed_rows(heard))


def speed_rows(heard: Sequence[HeardTake]) -> list[Row]:
    """User CPU over length: the slope over takes of different lengths, without what every start costs."""
    lengths, used = [take.truth.duration for take in heard], [take.user_s for take in heard]
    mean, middle = sum(used) / len(used), sum(lengths) / len(lengths)
    spread = sum((length - middle) ** 2 for length in lengths)
    slope = sum((x - middle) * (y - mean) for x, y in zip(lengths, used, strict=True)) / spread if spread else (
        mean / middle)
    return [Row("real_time_factor", "real-time factor of all hearing, one core", slope, "s/s", len(heard), 0)]


def markdown(found: Mapping[Way, Figures], source: str) -> str:
    """Tables for reading: figures by way of listening, false stops by voice and by take."""
    ways = list(found)
    lines = [f"Hearing: {source}", "", f"| what | {' | '.join(ways)} |", "|---" * (1 + len(ways)) + "|"]
    labels = {row.key: row.label for figures in found.values() for row in figures.rows + figures.speed
              if not row.key.startswith("latency") or "all_levels" in row.key}      # the others: hearing.json
    for key, label in labels.items():
        cells = (next((shown(row) for row in figures.rows + figures.speed if row.key == key), "-")
                 for figures in found.values())
        lines.append(f"| {label} | {' | '.join(cells)} |")
    first = found[ways[0]]
    lines += ["", "False stops by robot voice:", "", *_clusters(first.voices)]
    worst = [one for one in first.takes if one.stops] or first.takes
    lines += ["", f"Takes with false stops, else with false ducks ({len(worst)}, the worst {TAKES_SHOWN} shown):", "",
              *_clusters(worst[:TAKES_SHOWN])]
    return "\n".join(lines)


def shown(row: Row) -> str:
    """One cell: value, counts, 95 % bounds."""
    if row.unit == "/h":
        return f"{row.value:.1f}/h ({row.count} in {row.of:.1f} min, < {row.high:.1f})"
    value = f"{row.value:.3f}" if row.unit == "s/s" else f"{row.value:.0f} {row.unit}" if row.unit in ("%", "ms") else (
        f"{row.value:.1f} {row.unit}")
    counts = f"{row.count}/{row.of:.0f}" if row.of else f"{row.count}"
    low, high = ("..." if bound is None else f"{bound:.0f}" for bound in (row.low, row.high))
    bounds = "" if row.low is None and row.high is None else f", {low} to {high}"
    return f"{value} ({counts}{bounds}{', ' + row.note if row.note else ''})"


def _clusters(clusters: Sequence[Cluster]) -> list[str]:
    lines = ["| | stops | ducks | min | stops/h | 95 % below |", "|---|---|---|---|---|---|"]
    for one in clusters:
        below = "-" if one.below_an_hour is None else f"{one.below_an_hour:.0f}"
        lines.append(f"| {one.name} | {one.stops} | {one.ducks} | {one.minutes:.1f} | {one.stops_an_hour:.1f} | "
                     f"{below} |")
    return lines


def as_json(found: Mapping[Way, Figures], source: str) -> dict:
    """All figures, points and clusters, by way of listening."""
    return {"source": source, "ways": {way: asdict(figures) for way, figures in found.items()}}
