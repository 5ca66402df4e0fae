"""A run as a picture: who speaks, what the robot decided, where it looks and who has the floor, over time."""
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from robot.interaction.trace import WORD_GAP_S, Trace
from robot.tick import TICK_S

FLOOR_COLOURS = {"idle": "#e6e6e6", "person": "#4c9be8", "robot_thinking": "#f2d16b", "both_waiting": "#e8a24c",
                 "robot_speaking": "#6cbf6c", "ducked": "#b7dfb7", "interrupted": "#d9534f"}
MARKS = {"duck": ("#e8a24c", "v"), "release": ("#6cbf6c", "^"), "barge_in": ("#d9534f", "X"),
         "reply_superseded": ("#8b3a3a", "x"), "turn_committed": ("#2b5f9e", "|"), "cue": ("#9b59b6", "*"),
         "tool": ("#555555", "s"), "health": ("#000000", "D")}
INCHES_A_SECOND = 0.18
WIDTHS = (9.0, 60.0)     # inches
PEOPLE_COLOURS = ("#4c9be8", "#9b59b6", "#e86ca8", "#3bb3a3")


def draw_timeline(trace: Trace, path: Path, title: str = "") -> None:
    """Write a PNG with lanes speech, events, direction and head yaw, floor."""
    width = float(np.clip(INCHES_A_SECOND * trace.end + 2.0, *WIDTHS))
    with matplotlib.rc_context({"font.size": 8.0}):
        figure = Figure(figsize=(width, 6.0), layout="constrained")
        FigureCanvasAgg(figure)
        speech, decisions, direction, floor = figure.subplots(
            4, 1, sharex=True, gridspec_kw={"height_ratios": [1.1, 1.1, 2.4, 0.35]})
        _draw_speech(speech, trace)
        _draw_decisions(decisions, trace)
        _draw_direction(direction, trace)
        _draw_floor(floor, trace)
        floor.set_xlabel("time in s")
        floor.set_xlim(0.0, max(trace.end, TICK_S))
        for lane in (speech, decisions, direction):
            lane.grid(axis="x", color="#dddddd", linewidth=0.5)
        figure.suptitle(title)
        figure.savefig(path, dpi=100, metadata={"Software": ""})


def _spans(on: np.ndarray) -> list[tuple[float, float]]:
    """(start, length) in s of the runs of True in a row a tick."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], on, [False])).astype(int)))
    return [(low * TICK_S, (high - low) * TICK_S) for low, high in zip(edges[::2], edges[1::2], strict=True)]


def _closed(on: np.ndarray) -> np.ndarray:
    """Gaps shorter than those between words filled."""
    out = on.copy()
    for start, length in _spans(~on):
        first = round(start / TICK_S)
        last = round((start + length) / TICK_S)
        if length < WORD_GAP_S and first > 0 and last < len(on):
            out[first:last] = True
    return out


def _colours(trace: Trace) -> dict[str, str]:
    names = sorted(set(trace.places) | {utterance.person for utterance in trace.utterances.values()})
    return {name: PEOPLE_COLOURS[i % len(PEOPLE_COLOURS)] for i, name in enumerate(names)}


def _draw_speech(lane: Axes, trace: Trace) -> None:
    rows = ["robot", *_colours(trace)]
    lane.broken_barh(_spans(_closed(trace.sounding())), (-0.35, 0.7), color=FLOOR_COLOURS["robot_speaking"])
    for utterance in trace.utterances.values():
        row = rows.index(utterance.person)
        lane.broken_barh([(utterance.onset, utterance.end - utterance.onset)], (row - 0.35, 0.7),
                         color=_colours(trace)[utterance.person])
        text = utterance.text if len(utterance.text) <= 40 else utterance.text[:37] + "..."
        lane.text(utterance.onset, row + 0.4, text, fontsize=6, va="bottom", clip_on=True)
    for low, high in trace.noises:
        lane.axvspan(low, high, color="#bbbbbb", alpha=0.4)
    lane.set_yticks(range(len(rows)), rows)
    lane.set_ylim(-0.6, len(rows) - 0.1)


def _draw_decisions(lane: Axes, trace: Trace) -> None:
    rows = list(MARKS)
    for row, name in enumerate(rows):
        colour, mark = MARKS[name]
        times = [event.t for event in trace.named(name)]
        lane.plot(times, [row] * len(times), mark, color=colour, markersize=5, linestyle="none")
    lane.set_yticks(range(len(rows)), rows, fontsize=6)
    lane.set_ylim(len(rows) - 0.5, -0.5)


def _draw_direction(lane: Axes, trace: Trace) -> None:
    t = np.arange(len(trace.level)) * TICK_S
    for name, colour in _colours(trace).items():
        if name in trace.places:
            lane.plot(t, np.degrees(trace.places[name]), color=colour, linewidth=3, alpha=0.35, label=f"{name} (true)")
    lane.plot(t, np.degrees(trace.believed[:, 1]), ".", color="#f5c6a5", markersize=2, label="mirror of the voice")
    lane.plot(t, np.degrees(trace.believed[:, 0]), ".", color="#e8a24c", markersize=2, label="voice, as heard")
    lane.plot(t, np.degrees(trace.sight[:, 0]), color="#333333", linewidth=1.2, label="head yaw (true)")
    lane.set_ylim(-185, 185)
    lane.set_yticks(range(-180, 181, 60))
    lane.set_ylabel("azimuth in deg")
    lane.legend(loc="upper right", fontsize=6, ncol=4)


def _draw_floor(lane: Axes, trace: Trace) -> None:
    ends = [t for t, _ in trace.floor[1:]] + [trace.end]
    for (start, state), end in zip(trace.floor, ends, strict=False):
        lane.broken_barh([(start, end - start)], (0, 1), color=FLOOR_COLOURS.get(state, "#ffffff"))
        if end - start > 0.09 * len(state):
            lane.text((start + end) / 2, 0.5, state, ha="center", va="center", fontsize=5.5, clip_on=True)
    lane.set_yticks([0.5], ["floor"])
    lane.set_ylim(0, 1)
