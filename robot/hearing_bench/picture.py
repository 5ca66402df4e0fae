"""Recall against false stops an hour as a picture: quiet and moving, stop and duck, every way of listening."""
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from robot.hearing_bench.bounds import rate_below, share_between
from robot.hearing_bench.sweep import Point

COLOURS = {"stop": "#d9534f", "duck": "#e8a24c"}     # as in the timeline picture
MARKS = {"stop": "X", "duck": "v"}
LINES = ("-", "--", ":")
LINEAR_BELOW = 1.0           # false events an hour: a logarithmic axis has no place for none
LEFT = -0.15                 # of the axis, so that marks at none are seen whole


def draw_sweep(sweeps: Mapping[str, Sequence[Point]], path: Path, title: str) -> None:
    """Write a PNG; sweeps: points by way of listening."""
    with matplotlib.rc_context({"font.size": 8.0}):
        figure = Figure(figsize=(10.0, 4.6), layout="constrained")
        FigureCanvasAgg(figure)
        for panel, moving in zip(figure.subplots(1, 2, sharey=True), (False, True), strict=True):
            _draw_panel(panel, sweeps, moving)
        figure.suptitle(title)
        figure.savefig(path, dpi=110, metadata={"Software": ""})


def _draw_panel(panel: Axes, sweeps: Mapping[str, Sequence[Point]], moving: bool) -> None:
    people = hours = 0.0
    for line, (way, points) in zip(LINES, sweeps.items(), strict=False):
        for decision, colour in COLOURS.items():
            own = sorted((p for p in points if p.moving == moving and p.decision == decision and p.people and p.hours),
                         key=lambda p: p.shift)
            panel.plot([p.false_an_hour for p in own], [100 * p.recall for p in own], line, color=colour, linewidth=1.2,
                       label=decision if way == "as built" else f"{decision}, {way}")
            for point in own:
                people, hours = point.people, point.hours
                if point.shift == 0:
                    _mark(panel, point, bounds=way == "as built")
    panel.set_xscale("symlog", linthresh=LINEAR_BELOW)
    panel.set_xlim(left=LEFT)
    panel.set_ylim(-3, 103)
    panel.set_xlabel("false an hour of robot speech")
    panel.set_ylabel("people who are heard within 1.5 s, %")
    panel.set_title(f"{'moving' if moving else 'quiet'}: {people:.0f} people, {60 * hours:.0f} min without one")
    panel.grid(color="#dddddd", linewidth=0.5)
    if panel.get_legend_handles_labels()[0]:
        panel.legend(loc="lower right", fontsize=6)


def _mark(panel: Axes, point: Point, bounds: bool) -> None:
    """The operating point in use, with its 95 % bounds."""
    x, y, colour = point.false_an_hour, 100 * point.recall, COLOURS[point.decision]
    panel.plot([x], [y], MARKS[point.decision], color=colour, markersize=7, markeredgecolor="black")
    if bounds:
        low, high = (100 * bound for bound in share_between(point.hits, point.people))
        panel.errorbar([x], [y], yerr=[[y - low], [high - y]],
                       xerr=[[0.0], [rate_below(point.false) / point.hours - x]], color=colour, linewidth=0.7,
                       capsize=2)
