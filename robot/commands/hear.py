"""`talkover hear TAKE`: the hearing stages, block by block, over a recorded take, one JSON line an event."""
import argparse
import json
import sys
import tomllib
from collections.abc import Iterator
from typing import Any, TextIO

import numpy as np
from scipy.io import wavfile

from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples
from perception.audio.ears import Ears, EarsConfig
from perception.audio.scene import Bearing, Heard, SoundScene
from perception.pose_history import PoseHistory
from robot.errors import BadRequest
from robot.settings import filled
from robot.take import Motion, Take, read_take

DIGITS = 6
MOST_DIRECTIONS_EVERY_S = 0.05    # contract: at most 20 a second
CLEAN_LATE_BLOCKS = 1             # by which the ears' clean audio is behind the microphones
REST = np.zeros(9)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("take", metavar="TAKE", help="folder with take.json, audio.wav and, if it moved, motion.csv")
    parser.add_argument("--out", metavar="events.jsonl", help="file for the events (default: standard output)")
    parser.add_argument("--clean", metavar="clean.wav", help="the audio that speech recognition gets")
    parser.add_argument("--residual", metavar="residual.wav", help="every microphone after the linear canceller")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[],
                        help="a setting of the hearing stages, such as barge_in.stop_at=5")


def run(options: argparse.Namespace) -> int:
    take, config = read_take(options.take), config_with(options.set)
    mics, reference = take.audio()
    clean, residual = np.zeros(0, np.float32), np.zeros((0, 0), np.float32)
    if options.clean:
        clean = np.zeros(reference.size, np.float32)
    if options.residual:
        residual = np.zeros(mics.shape, np.float32)
    if options.out is None:
        _write(take, config, sys.stdout, clean, residual)
    else:
        try:
            with open(options.out, "w", encoding="utf-8") as file:
                _write(take, config, file, clean, residual)
        except OSError as error:
            raise BadRequest(f"{options.out}: expected a file that can be written: {error.strerror}") from error
    for path, sound in ((options.clean, clean), (options.residual, residual.T)):
        if path:
            write_wav(path, sound)
    return 0


def config_with(settings: list[str]) -> EarsConfig:
    """The hearing config with `key.key=value` settings over its defaults; values are written as in TOML."""
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise BadRequest(f"--set {setting}: expected KEY=VALUE")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        *sections, last = key.split(".")
        inner = values
        for section in sections:
            inner = inner.setdefault(section, {})
            if not isinstance(inner, dict):
                raise BadRequest(f"--set {setting}: {section} is a value, expected a section")
        inner[last] = value
    return filled(EarsConfig, values, "--set")


def scenes(take: Take, config: EarsConfig) -> Iterator[tuple[Ears, SoundScene]]:
    """The scene after each block, with the ears that made it."""
    ears, poses, row = Ears(config, take.mic_positions, take.playback_delay_s), PoseHistory(), 0
    for block in take.blocks():
        row = add_poses(poses, take.motion, row, block.t)
        velocity = REST if take.motion is None else take.motion.commanded_velocity[take.motion.row_at(block.t)]
        yield ears, ears.step((block,), poses, velocity)


def add_poses(poses: PoseHistory, motion: Motion | None, row: int, t: float) -> int:
    """Add the poses up to time t (s), from `row` on; returns the next row."""
    while motion is not None and row < len(motion.t) and motion.t[row] <= t:
        poses.add(float(motion.t[row]), motion.pose(row))
        row += 1
    return row


def _write(take: Take, config: EarsConfig, file: TextIO, clean: Samples, residual: Samples) -> None:
    """Events to `file`; clean and residual are filled as far as they have room."""
    last_direction = -1.0
    for index, (ears, scene) in enumerate(scenes(take, config)):
        put(clean, scene.clean, (index - CLEAN_LATE_BLOCKS) * BLOCK)
        put(residual, ears.residual, index * BLOCK)
        for heard in scene.heard:
            file.write(json.dumps(event_of(heard)) + "\n")
        if scene.bearing is not None and scene.t - last_direction >= MOST_DIRECTIONS_EVERY_S - 1e-6:
            last_direction = scene.t
            file.write(json.dumps(direction_of(scene.bearing)) + "\n")
        for change in scene.health:
            print(f"{change.t:.2f} s: {change.part}: {change.level} {change.reason}".rstrip(), file=sys.stderr)


def put(sound: Samples, made: Samples, begin: int) -> None:
    """One block into its place in a recording, as far as there is room."""
    room = sound.shape[-1] - begin
    if begin >= 0 and room > 0:
        sound[..., begin:begin + BLOCK] = made[..., :room]


def event_of(heard: Heard) -> dict[str, Any]:
    """One decision as a line of events.jsonl."""
    line: dict[str, Any] = {"t": round(heard.t, DIGITS)}
    if heard.kind in ("speech_start", "speech_end"):
        line |= {"kind": "speech", "state": "start" if heard.kind == "speech_start" else "end"}
    else:
        line["kind"] = heard.kind
    if heard.onset is not None:
        line["onset"] = round(heard.onset, DIGITS)
    return line


def direction_of(bearing: Bearing) -> dict[str, Any]:
    """One bearing as a line of events.jsonl."""
    line = {"t": round(bearing.t, DIGITS), "kind": "direction", "azimuth_rad": round(bearing.azimuth, DIGITS),
            "spread_rad": round(bearing.spread, DIGITS), "ambiguous": bearing.ambiguous}
    if bearing.ambiguous and bearing.mirror is not None:
        line["mirror_azimuth_rad"] = round(bearing.mirror, DIGITS)
    return line


def write_wav(path: str, sound: Samples) -> None:
    """sound (n,) or (n, channels), full scale +-1, as 16-bit WAV."""
    try:
        wavfile.write(path, SAMPLE_RATE_HZ, (np.clip(sound, -1, 1 - 2**-15) * 32768).round().astype(np.int16))
    except OSError as error:
        raise BadRequest(f"{path}: expected a file that can be written: {error.strerror}") from error
