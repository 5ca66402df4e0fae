"""Recall and false alarms of log-odds on labelled scenes, as the hearing bench counts them (but on own scenes)."""
from dataclasses import dataclass

import numpy as np

HIT_S, REFRACTORY_S = 1.5, 2.0


@dataclass(frozen=True, slots=True)
class Scored:
    """log_odds, label, judged, speaking: (blocks,)."""

    log_odds: np.ndarray
    label: np.ndarray
    judged: np.ndarray
    speaking: np.ndarray
    people: np.ndarray        # (k, 3) onset s, end s, level dB
    moving: bool


def smoothed(log_odds: np.ndarray, blocks: int) -> np.ndarray:
    """Causal mean of the clipped log-odds."""
    total = np.cumsum(np.concatenate([np.full(blocks, -6.0), np.clip(log_odds, -6, 6)]))
    return (total[blocks:] - total[:-blocks]) / blocks


def crossings(score: np.ndarray, threshold: float) -> np.ndarray:
    above = score > threshold
    return np.flatnonzero(above & ~np.concatenate([[False], above[:-1]])) / 100


def counted(scored: list[Scored], threshold: float, blocks: int, moving: bool) -> tuple[int, float, list]:
    """False alarms, hours of robot speech alone, [(level, latency or None)] of people over robot speech."""
    alarms, seconds, found = 0, 0.0, []
    for scene in scored:
        if scene.moving != moving:
            continue
        times = crossings(smoothed(scene.log_odds, blocks), threshold)
        near = np.zeros(len(scene.label), bool)
        for frame in np.flatnonzero(scene.label):
            near[frame:frame + 150] = True
        alone = scene.speaking & ~near
        seconds += alone.sum() / 100
        last = -9.0
        for t in times:
            if alone[int(t * 100)] and t - last >= REFRACTORY_S:
                alarms += 1
                last = t
        for onset, _, level in scene.people:
            if scene.speaking[min(int(onset * 100) + 30, len(scene.label) - 1)]:
                hit = next((t - onset for t in times if onset <= t <= onset + HIT_S), None)
                found.append((level, hit))
    return alarms, seconds / 3600, found


def report(scored: list[Scored]) -> str:
    lines = []
    for blocks in (10, 25):
        for moving in (False, True):
            for threshold in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0):
                alarms, hours, found = counted(scored, threshold, blocks, moving)
                cells = []
                for low, high in ((-5, 9), (-13, -5), (-30, -13)):
                    cell = [hit for level, hit in found if low <= level < high]
                    cells.append(f"{100 * sum(h is not None for h in cell) / max(1, len(cell)):3.0f}% of {len(cell)}")
                hits = sorted(hit for _, hit in found if hit is not None)
                median = 1000 * hits[len(hits) // 2] if hits else float("nan")
                head = f"mean {blocks * 10:3d} ms {'moving' if moving else 'quiet '} > {threshold:.0f}: "
                rate = alarms / max(hours, 1e-9)
                lines.append(f"{head}{rate:6.1f}/h ({alarms})  {'  '.join(cells)}  median {median:.0f} ms")
    return "\n".join(lines)
