"""What `talkover doctor` says of the calibration: is there one, how old is it, can its numbers be true."""
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from calibration.body_model import BodyModel
from robot.build import body_of
from robot.errors import BadRequest
from robot.live_config import LiveConfig
from robot.service.findings import Finding

OLD_DAYS = 180            # screws settle, covers are changed; a camera's focus and a servo's zero move within months
APART_M = (0.005, 0.5)    # between neighbouring microphones: closer tells no direction, wider fits no head
DELAY_S = 0.5             # of the playback: a Bluetooth speaker has 0.2 s; more cannot be cancelled in time
FIELD_DEG = (30.0, 175.0)   # horizontal field of a camera that a robot looks with


def calibration(config: LiveConfig, state: Path, now: datetime | None = None) -> Iterator[Finding]:
    """The files in STATE/calibration, then what the robot works with."""
    now = now or datetime.now(UTC)
    folder = state / "calibration"
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    for path in files:
        yield _file(path, now)
    if not files:
        yield Finding("calibration", "ok", "none of this robot's own: the model's values are used")
    try:
        body = body_of(config.mind)
    except (ValueError, KeyError, BadRequest) as error:
        yield Finding("body model", "missing", f"cannot be read: {error}",
                      "pip install --force-reinstall talkover", True)
        return
    yield from plausible(body, config.mind.playback_delay_s)


def _file(path: Path, now: datetime) -> Finding:
    subject, again = f"calibration: {path.stem}", f"talkover calibrate {path.stem}"
    try:
        text = path.read_text(encoding="utf-8")
        if not isinstance(json.loads(text), dict):
            raise ValueError("no JSON object")
    except (OSError, ValueError) as error:
        what = "is empty" if path.exists() and not path.stat().st_size else f"cannot be read: {error}"
        return Finding(subject, "missing", f"{path} {what}", f"restore it from a backup, or {again}", True)
    days = (now - datetime.fromtimestamp(path.stat().st_mtime, UTC)).days
    if days > OLD_DAYS:
        return Finding(subject, "warning", f"{path} is {days} days old", again)
    return Finding(subject, "ok", f"{max(days, 0)} days old")


def plausible(body: BodyModel, delay_s: float | None) -> Iterator[Finding]:
    """Whether microphones, camera and delay can be those of a robot."""
    mics = body.mic_positions
    if len(mics) > 1:
        gaps = np.linalg.norm(np.diff(mics, axis=0), axis=1)
        if not np.all(np.isfinite(gaps)) or gaps.min() < APART_M[0] or gaps.max() > APART_M[1]:
            yield Finding("microphone positions", "missing", f"neighbours are {gaps.min():.4g} to {gaps.max():.4g} m "
                          f"apart, expected {APART_M[0]} to {APART_M[1]}", "[mind] mic_positions_m: metres, "
                          "in the head's frame, in the order of the channels", True)
        else:
            yield Finding("microphone positions", "ok", f"{len(mics)}, neighbours {1000 * gaps.mean():.0f} mm apart")
    else:
        yield Finding("microphone positions", "ok", "one microphone: no directions from sound")
    field = 2 * np.degrees(np.arctan2(body.camera.width_px / 2, body.camera.k[0, 0]))
    if not FIELD_DEG[0] <= field <= FIELD_DEG[1]:
        yield Finding("camera lens", "missing", f"a field of {field:.0f} degrees, expected {FIELD_DEG[0]:.0f} to "
                      f"{FIELD_DEG[1]:.0f}", "talkover calibrate camera", True)
    else:
        yield Finding("camera lens", "ok", f"a pinhole of {field:.0f} degrees")
    if delay_s is not None and not 0.0 <= delay_s <= DELAY_S:
        yield Finding("playback delay", "missing", f"{delay_s} s, expected 0 to {DELAY_S}",
                      "[mind] playback_delay_s: leave it out, it is then found while the robot speaks", True)
