"""`talkover move`: the motion stages over a list of timed intents."""
import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np

from calibration.body_model import JOINTS, reachy_mini
from calibration.frames import Array
from motion.intent import Gaze, GestureName, Mode, MotionIntent
from motion.mover import Mover
from motion.refusal import refusal
from perception.audio.resampling import resampled
from robot.errors import BadRequest
from robot.tick import TICK_S

RATE_HZ = 16000
BLOCK = round(RATE_HZ * TICK_S)
LONGEST_S = 86400.0     # a day; more is a slip of the pen and would fill the disk
POSE = ("head_x_m", "head_y_m", "head_z_m", "head_roll_rad", "head_pitch_rad", "head_yaw_rad", "body_yaw_rad")
COLUMNS = ("t_s", *POSE, *(f"cmd_vel_{joint}_rad_s" for joint in JOINTS), *(f"joint_{joint}_rad" for joint in JOINTS))
ROW = ",".join(["%.3f"] + ["%.10f"] * (len(COLUMNS) - 1)) + "\n"
LOOK_URGENCY, VOICE_URGENCY = 0.8, 1.0      # a script's targets are commands, a voice is a call


class Refused(ValueError):
    """A line that cannot be obeyed, and why."""


@dataclass(frozen=True, slots=True)
class Line:
    """What one line of the script asks for."""

    t: float
    mode: Mode | None = None
    gaze: Gaze | None = None
    urgency: float = LOOK_URGENCY
    gesture: GestureName | None = None
    speech: Array | None = None     # (n,) at 16 kHz
    end: bool = False


@dataclass(slots=True)
class Script:
    """Lines in order of time, and what was refused."""

    lines: list[Line] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    @property
    def duration(self) -> float:
        """s; without an end line, until two seconds after the last line or its speech."""
        for line in self.lines:
            if line.end:
                return line.t
        return 2.0 + max(line.t + (0.0 if line.speech is None else len(line.speech) / RATE_HZ) for line in self.lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", type=Path, metavar="SCRIPT.jsonl", help="timed intents, one JSON object a line")
    parser.add_argument("--out", type=Path, default=Path("motion.csv"), help="where the motion goes (motion.csv)")


def run(options: argparse.Namespace) -> int:
    script = read_script(options.script)
    for text in script.refusals:
        print(text, file=sys.stderr)
    try:
        with open(options.out, "w", newline="") as file:
            file.write(",".join(COLUMNS) + "\n")
            file.writelines(ROW % row for row in motion(script))
    except OSError as error:
        raise BadRequest(f"{options.out}: cannot be written ({error.strerror}), expected a file path") from error
    return 0


def motion(script: Script) -> Iterator[tuple[float, ...]]:
    """One row a tick, in the order of COLUMNS."""
    mover = Mover(reachy_mini(), np.random.default_rng(0))
    waiting, speech = script.lines[::-1], np.zeros(0)
    mode: Mode = "idle"
    gaze, urgency = None, LOOK_URGENCY
    for index in range(round(script.duration / TICK_S) + 1):
        t, gesture = index * TICK_S, None
        while waiting and waiting[-1].t <= t + 1e-9:
            line = waiting.pop()
            mode, gesture = line.mode or mode, line.gesture or gesture
            if line.gaze:
                gaze, urgency = line.gaze, line.urgency
            if line.speech is not None:
                speech = line.speech
        goal = mover.step(t, MotionIntent(t, mode, gaze, gesture, urgency=urgency), speech[:BLOCK], None)
        speech = speech[BLOCK:]
        pose = mover.head_pose(None)
        yield (t, *pose.position.tolist(), *pose.rpy.tolist(), pose.body_yaw, *goal.velocity.tolist(),
               *goal.position.tolist())


def read_script(path: Path) -> Script:
    """The lines of a script that can be obeyed. BadRequest when there is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path}: cannot be read ({error}), expected a text file of JSON lines") from error
    script, before = Script(), 0.0
    for number, words in enumerate(text.splitlines(), 1):
        if not words.strip():
            continue
        try:
            line = parse(words, before, path.parent)
        except Refused as refused:
            script.refusals.append(f"{path}:{number}: {refused}")
        else:
            script.lines.append(line)
            before = line.t
    if not script.lines:
        why = f"; {script.refusals[0]}" if script.refusals else ""
        raise BadRequest(f"{path}: no line can be obeyed, expected one JSON object a line, as "
                         f'{{"t": 0.5, "mode": "listen"}}{why}')
    return script


def parse(words: str, before: float, folder: Path) -> Line:
    """One line of the script; `before` (s) is the time of the line above."""
    try:
        wish = json.loads(words)
    except (ValueError, RecursionError) as error:
        raise Refused(f"not JSON ({error}), expected one object") from error
    if not isinstance(wish, dict):
        raise Refused(f"expected a JSON object, found {words.strip()[:40]}")
    t = wish.pop("t", None)
    if isinstance(t, bool) or not isinstance(t, int | float) or not before <= t <= LONGEST_S:
        raise Refused(f"t is {t!r:.40}, expected seconds from {before:g} (the line above) to {LONGEST_S:g}")
    if len(wish) != 1:
        raise Refused(f"found {sorted(wish)} beside t, expected exactly one of {', '.join(WISHES)}")
    (word, value), = wish.items()
    if word not in WISHES:
        raise Refused(f"unknown word {word!r}, expected one of {', '.join(WISHES)}")
    return Line(float(t), **WISHES[word](value, folder))


def _look(value: Any, _: Path) -> dict[str, Any]:
    return {"gaze": _direction("look_at", value, ("azimuth_rad", "elevation_rad"))}


def _voice(value: Any, _: Path) -> dict[str, Any]:
    return {"gaze": _direction("voice_from", value, ("azimuth_rad",)), "urgency": VOICE_URGENCY}


def _direction(word: str, value: Any, keys: tuple[str, ...]) -> Gaze:
    if not isinstance(value, dict) or set(value) != set(keys):
        raise Refused(f"{word} is {json.dumps(value)}, expected an object with {' and '.join(keys)}")
    why = refusal(*(value[key] for key in keys))
    if why:
        raise Refused(f"{word}: {why}")
    return Gaze(*(float(value[key]) for key in keys))


def _named(word: str, names: tuple[str, ...]):
    def read(value: Any, _: Path) -> dict[str, Any]:
        if value not in names:
            raise Refused(f"{word} is {json.dumps(value)}, expected one of {', '.join(names)}")
        return {word: value}
    return read


def _speech(value: Any, folder: Path) -> dict[str, Any]:
    if not isinstance(value, str):
        raise Refused(f"speech_wav is {json.dumps(value)}, expected the path of a WAV file")
    return {"speech": read_wav(folder / value)}


def _end(value: Any, _: Path) -> dict[str, Any]:
    if value is not True:
        raise Refused(f"end is {json.dumps(value)}, expected true")
    return {"end": True}


WISHES = {"look_at": _look, "voice_from": _voice, "mode": _named("mode", get_args(Mode)), "speech_wav": _speech,
          "gesture": _named("gesture", get_args(GestureName)), "end": _end}


def read_wav(path: Path) -> Array:
    """Samples (n,) at 16 kHz, full scale 1, channels averaged."""
    from scipy.io import wavfile  # here: takes a third of the start of a script without speech
    try:
        rate, samples = wavfile.read(path)
    except (OSError, ValueError) as error:
        raise Refused(f"speech_wav {path}: {error}, expected a readable WAV file") from error
    scale = 1.0 if samples.dtype.kind == "f" else float(np.iinfo(samples.dtype).max)
    middle = 128.0 if samples.dtype == np.uint8 else 0.0
    mono = ((samples - middle) / (scale - middle)).reshape(len(samples), -1).mean(axis=1)
    if not np.isfinite(mono).all():
        raise Refused(f"speech_wav {path}: samples that are not finite, expected finite ones")
    if rate != RATE_HZ:
        mono = resampled(mono, rate, RATE_HZ)
    return mono
