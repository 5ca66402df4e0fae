"""What truly happened in a take: who spoke when, from where and how loud; what else sounded; where playback jumped.

truth.json of the hearing bench, read strictly where figures depend on it; takes drawn in the own room make the same.
"""
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from robot.errors import BadRequest

FRAME_S = 0.01
AFTER_PERSON_S = 1.5         # late reactions to a person are no false alarms
AFTER_NOISE_S = 1.0          # the same after a noise
AFTER_JUMP_S = 1.5           # the echo paths do not fit until the jump has been repaired

Class = Literal["quiet", "moving", "slip", "distractor", "babble", "backchannel", "person"]
CLASSES: tuple[Class, ...] = get_args(Class)


@dataclass(frozen=True, slots=True)
class Speech:
    """A person's words. Times in s at microphone 0; levels in dB, None where there is nothing to compare with."""

    onset: float
    end: float
    azimuth: float               # rad in `base`
    addressed: bool = True       # False: a backchannel, which need not stop the robot
    over_echo_db: float | None = None
    over_noise_db: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Noise:
    """Another sound of the room. judged: the robot must not stop for it (babble is for nobody to say)."""

    kind: str
    start: float
    end: float
    judged: bool = True


@dataclass(frozen=True, slots=True)
class Slip:
    """Playback jumps at t (s), or its clock drifts from then on."""

    t: float
    drifts: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """One take."""

    kind: str
    duration: float                                   # s
    moving: bool                                      # the motors are on
    robot_speech: tuple[tuple[float, float], ...]     # (start, end) s
    speech: tuple[Speech, ...] = ()
    noises: tuple[Noise, ...] = ()
    slips: tuple[Slip, ...] = ()
    robot_voice: str = "none"
    motors_over_near_db: float | None = None
    line_array: bool = True

    def classes(self) -> NDArray[np.int8]:
        """What an event in each 10 ms would be, as index into CLASSES; the most specific wins, then the first."""
        out = np.full(int(np.ceil(self.duration / FRAME_S)) + 1, CLASSES.index("moving" if self.moving else "quiet"),
                      np.int8)
        for slip in self.slips:
            _mark(out, slip.t, np.inf if slip.drifts else slip.t + AFTER_JUMP_S, "slip")
        for noise in reversed(self.noises):
            _mark(out, noise.start, noise.end + AFTER_NOISE_S, "distractor" if noise.judged else "babble")
        for speech in reversed(self.speech):
            _mark(out, speech.onset, speech.end + AFTER_PERSON_S, "person" if speech.addressed else "backchannel")
        return out

    def speaking(self) -> NDArray[np.bool_]:
        """In which 10 ms the robot speaks."""
        out = np.zeros(int(np.ceil(self.duration / FRAME_S)) + 1, bool)
        for start, end in self.robot_speech:
            out[round(start / FRAME_S):round(end / FRAME_S)] = True
        return out


def _mark(classes: NDArray[np.int8], start: float, end: float, name: Class) -> None:
    """Frames that begin in [start, end)."""
    t = np.arange(classes.size) * FRAME_S
    classes[(t >= start - 1e-9) & (t < end - 1e-9)] = CLASSES.index(name)


def read_truth(file: Path) -> Truth:
    """BadRequest names what is missing or wrong."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadRequest(f"{file}: expected a readable truth.json: {error.strerror}") from error
    except ValueError as error:
        raise BadRequest(f"{file}: expected JSON: {error}") from error
    try:
        return _truth(data)
    except KeyError as error:
        raise BadRequest(f"{file}: {error.args[0]}: expected it, found nothing") from error
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise BadRequest(f"{file}: expected the hearing bench's truth: {error}") from error


def _truth(data: dict[str, Any]) -> Truth:
    return Truth(
        kind=str(data["kind"]), duration=float(data["duration_s"]), moving=bool(data["moving"]),
        robot_speech=tuple((float(start), float(end)) for start, end in data["robot_speech"]),
        speech=tuple(_speech(one) for one in data["speech"]),
        noises=tuple(Noise(str(one["kind"]), float(one["start_s"]), float(one["end_s"]),
                           bool(one["counts_as_false_alarm"])) for one in data["distractors"]),
        slips=tuple(Slip(float(one["t_s"]), "drift_ppm" in one) for one in data["slips"]),
        robot_voice=str(data.get("robot_voice", "none")), motors_over_near_db=data.get("mnr_db"),
        line_array=data.get("array") == "linear")


def _speech(one: dict[str, Any]) -> Speech:
    return Speech(float(one["onset_s"]), float(one["end_s"]), float(one["azimuth_rad"]), one["role"] == "addressed",
                  one.get("ner_db"), one.get("snr_db"), one.get("text", ""))
