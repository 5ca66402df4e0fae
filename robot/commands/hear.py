"""`talkover hear TAKE`: the hearing stages, block by block, over a recorded take, one JSON line an event."""
import argparse
import json
import sys
import tomllib
from typing import Any, TextIO

import numpy as np
from scipy.io import wavfile

from calibration.health import Health
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples
from perception.audio.ears import Ears, EarsConfig
from robot.errors import BadRequest
from robot.hearing_events import EventLines, scenes
from robot.settings import filled
from robot.take import Take, read_take
from robot.take_sound import Sound

CLEAN_LATE_BLOCKS = 1             # by which the ears' clean audio is behind the microphones


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("take", metavar="TAKE", help="folder with take.json, audio.wav and, if it moved, motion.csv")
    parser.add_argument("--out", metavar="events.jsonl", help="file for the events (default: standard output)")
    parser.add_argument("--clean", metavar="clean.wav", help="the audio that speech recognition gets")
    parser.add_argument("--residual", metavar="residual.wav", help="every microphone after the linear canceller")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[],
                        help="a setting of the hearing stages, such as barge_in.stop_at=5")


def run(options: argparse.Namespace) -> int:
    take, config = read_take(options.take), config_with(options.set)
    sound = take.sound()
    clean, residual = np.zeros(0, np.float32), np.zeros((0, 0), np.float32)
    if options.clean:
        clean = np.zeros(sound.reference.size, np.float32)
    if options.residual:
        residual = np.zeros(sound.mics.shape, np.float32)
    if options.out is None:
        _write(sound, take, config, sys.stdout, clean, residual)
    else:
        try:
            with open(options.out, "w", encoding="utf-8") as file:
                _write(sound, take, config, file, clean, residual)
        except OSError as error:
            raise BadRequest(f"{options.out}: expected a file that can be written: {error.strerror}") from error
    for path, made in ((options.clean, clean), (options.residual, residual.T)):
        if path:
            write_wav(path, made)
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


def _write(sound: Sound, take: Take, config: EarsConfig, file: TextIO, clean: Samples, residual: Samples) -> None:
    """Events to `file`; clean and residual are filled as far as they have room."""
    ears, lines = Ears(config, take.mic_positions, take.playback_delay_s), EventLines()
    notes = list(sound.notes)
    for index, scene in enumerate(scenes(ears, sound.blocks(), take.motion)):
        put(clean, scene.clean, (index - CLEAN_LATE_BLOCKS) * BLOCK)
        put(residual, ears.residual, index * BLOCK)
        file.writelines(json.dumps(line) + "\n" for line in lines.of(scene))
        while notes and notes[0].t <= scene.t:
            tell(notes.pop(0))
        for change in scene.health:
            tell(change)


def tell(change: Health) -> None:
    """One change of health as a line on standard error."""
    print(f"{change.t:.2f} s: {change.part}: {change.level} {change.reason}".rstrip(), file=sys.stderr)


def put(sound: Samples, made: Samples, begin: int) -> None:
    """One block into its place in a recording, as far as there is room."""
    room = sound.shape[-1] - begin
    if begin >= 0 and room > 0:
        sound[..., begin:begin + BLOCK] = made[..., :room]


def write_wav(path: str, sound: Samples) -> None:
    """sound (n,) or (n, channels), full scale +-1, as 16-bit WAV."""
    try:
        wavfile.write(path, SAMPLE_RATE_HZ, (np.clip(sound, -1, 1 - 2**-15) * 32768).round().astype(np.int16))
    except OSError as error:
        raise BadRequest(f"{path}: expected a file that can be written: {error.strerror}") from error
