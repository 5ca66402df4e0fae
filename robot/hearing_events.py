"""Hearing over a recorded take: the scene after each block, and what it decides as lines of events.jsonl."""
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from perception.audio.block import AudioBlock
from perception.audio.ears import Ears
from perception.audio.scene import Bearing, Heard, SoundScene
from perception.pose_history import PoseHistory
from robot.take import Motion

DIGITS = 6
MOST_DIRECTIONS_EVERY_S = 0.05    # contract: at most 20 a second
REST = np.zeros(9)

Line = dict[str, Any]


def scenes(ears: Ears, blocks: Iterable[AudioBlock], motion: Motion | None) -> Iterator[SoundScene]:
    """The scene after each block, with the head's pose and the commanded speeds of its time."""
    poses, row = PoseHistory(), 0
    for block in blocks:
        row = add_poses(poses, motion, row, block.t)
        velocity = REST if motion is None else motion.commanded_velocity[motion.row_at(block.t)]
        yield ears.step((block,), poses, velocity)


def add_poses(poses: PoseHistory, motion: Motion | None, row: int, t: float) -> int:
    """Add the poses up to time t (s), from `row` on; returns the next row."""
    while motion is not None and row < len(motion.t) and motion.t[row] <= t:
        poses.add(float(motion.t[row]), motion.pose(row))
        row += 1
    return row


class EventLines:
    """The lines of consecutive scenes; directions are thinned out to what the contract allows."""

    def __init__(self) -> None:
        self._last_direction = -1.0

    def of(self, scene: SoundScene) -> list[Line]:
        lines = [event_of(heard) for heard in scene.heard]
        if scene.bearing is not None and scene.t - self._last_direction >= MOST_DIRECTIONS_EVERY_S - 1e-6:
            self._last_direction = scene.t
            lines.append(direction_of(scene.bearing))
        return lines


def event_of(heard: Heard) -> Line:
    """One decision as a line of events.jsonl."""
    line: Line = {"t": round(heard.t, DIGITS)}
    if heard.kind in ("speech_start", "speech_end"):
        line |= {"kind": "speech", "state": "start" if heard.kind == "speech_start" else "end"}
    else:
        line["kind"] = heard.kind
    if heard.onset is not None:
        line["onset"] = round(heard.onset, DIGITS)
    return line


def direction_of(bearing: Bearing) -> Line:
    """One bearing as a line of events.jsonl."""
    line = {"t": round(bearing.t, DIGITS), "kind": "direction", "azimuth_rad": round(bearing.azimuth, DIGITS),
            "spread_rad": round(bearing.spread, DIGITS), "ambiguous": bearing.ambiguous}
    if bearing.ambiguous and bearing.mirror is not None:
        line["mirror_azimuth_rad"] = round(bearing.mirror, DIGITS)
    return line
