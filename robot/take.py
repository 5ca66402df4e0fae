"""Reading a take: the folder that `hear`, `see` and `calibrate` work on (format: CONTRACTS.md, "A take").

Everything is checked on reading; what is wrong is a BadRequest that names file, place and expectation.
"""
import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calibration.body_model import JOINTS, Camera
from calibration.frames import Array, HeadPose, frozen
from robot.errors import BadRequest
from robot.take_sound import RATES_HZ, Sound, read_sound

MOST_MICS = 8
POSE_COLUMNS = ("head_x_m", "head_y_m", "head_z_m", "head_roll_rad", "head_pitch_rad", "head_yaw_rad", "body_yaw_rad")
# the contract's name of a joint and the one that some recorders write
JOINT_ALIASES = {"right_antenna": "antenna_right", "left_antenna": "antenna_left"}


@dataclass(frozen=True, slots=True)
class Motion:
    """motion.csv in arrays; n rows in order of time."""

    t: Array                    # (n,) s
    position: Array             # (n, 3) m, head in `base`
    rpy: Array                  # (n, 3) rad
    body_yaw: Array             # (n,) rad
    commanded_velocity: Array   # (n, 9) rad/s in the order of calibration.body_model.JOINTS

    def pose(self, row: int) -> HeadPose:
        return HeadPose(float(self.t[row]), self.position[row], self.rpy[row], float(self.body_yaw[row]))

    def row_at(self, t: float) -> int:
        """The newest row not after t (the first one before the recording starts)."""
        return max(0, int(np.searchsorted(self.t, t + 1e-9, side="right")) - 1)


@dataclass(frozen=True, slots=True)
class Take:
    """One recorded take. Sound is read on demand."""

    folder: Path
    sample_rate_hz: int                # of audio.wav
    mics: int
    mic_positions: Array               # (mics, 3) m in `head`
    playback_delay_s: float | None     # nominal, up to 20 ms wrong; None: unknown
    camera: Camera | None
    motion: Motion | None              # None: nothing moved

    def sound(self) -> Sound:
        """What was recorded, at 16 kHz."""
        return read_sound(self.folder / "audio.wav", self.mics, self.sample_rate_hz)


def read_take(path: str | Path) -> Take:
    """The take in folder `path`, its description and motion checked."""
    folder = Path(path)
    file = folder / "take.json"
    data = _read_json(file)
    if data.get("version") != 1:
        raise BadRequest(f"{file}: version: expected 1, found {data.get('version')!r}")
    rate, mics = _whole(file, data, "sample_rate_hz", *RATES_HZ), _whole(file, data, "mics", 1, MOST_MICS)
    positions = _numbers(file, data, "mic_positions_m", (mics, 3))
    delay = None
    if data.get("playback_delay_s") is not None:
        delay = float(_numbers(file, data, "playback_delay_s", ()))
        if not 0 <= delay <= 2:
            raise BadRequest(f"{file}: playback_delay_s: expected 0 to 2 seconds, found {delay}")
    camera = None if data.get("camera") is None else _camera(file, data["camera"])
    motion_file = folder / "motion.csv"
    motion = read_motion(motion_file) if motion_file.exists() else None
    return Take(folder, rate, mics, positions, delay, camera, motion)


def _read_json(file: Path) -> dict:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadRequest(f"{file}: expected a readable take.json: {error.strerror}") from error
    except ValueError as error:
        raise BadRequest(f"{file}: expected JSON: {error}") from error
    if not isinstance(data, dict):
        raise BadRequest(f"{file}: expected one JSON object, found {type(data).__name__}")
    return data


def _whole(file: Path, data: dict, key: str, least: int, most: int) -> int:
    value = data.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadRequest(f"{file}: {key}: expected a whole number from {least} to {most}, found {value!r}")
    return value


def _numbers(file: Path, data: dict, key: str, shape: tuple[int | None, ...]) -> Array:
    """data[key] as finite numbers of the given shape; None in a shape: any length."""
    wanted = " x ".join("n" if n is None else str(n) for n in shape) or "one"
    problem = f"{file}: {key}: expected {wanted} finite numbers"
    try:
        values = np.array(data[key], dtype=np.float64)
    except KeyError:
        raise BadRequest(f"{problem}, found nothing") from None
    except (TypeError, ValueError):
        raise BadRequest(f"{problem}, found {str(data[key])[:60]}") from None
    fits = values.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, values.shape, strict=True))
    if not fits or not np.isfinite(values).all():
        raise BadRequest(f"{problem}, found {str(data[key])[:60]}")
    return frozen(values)


def _camera(file: Path, data: object) -> Camera:
    if not isinstance(data, dict):
        raise BadRequest(f"{file}: camera: expected an object, found {data!r}")
    keyed = {f"camera.{key}": value for key, value in data.items()}
    size = [float(_numbers(file, keyed, f"camera.{key}", ())) for key in ("width_px", "height_px", "fps")]
    if min(size) <= 0:
        raise BadRequest(f"{file}: camera: width_px, height_px and fps: expected more than 0, found {size}")
    distortion = _numbers(file, keyed, "camera.distortion", (None,))
    if distortion.size not in (4, 5, 8, 12, 14):
        raise BadRequest(f"{file}: camera.distortion: expected 4, 5, 8, 12 or 14 numbers, found {distortion.size}")
    position, rpy = (_numbers(file, keyed, f"camera.{key}", (3,)) for key in ("position_m", "rotation_rpy_rad"))
    k = _numbers(file, keyed, "camera.k", (3, 3))
    return Camera(int(size[0]), int(size[1]), size[2], k, distortion, position, rpy)


def read_table(file: Path) -> tuple[dict[str, int], Array]:
    """A CSV of finite numbers with a header: the place of each column, and the rows (n, columns)."""
    try:
        with open(file, newline="", encoding="utf-8") as lines:
            rows = [row for row in csv.reader(lines) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadRequest(f"{file}: expected a readable CSV: {error}") from error
    if len(rows) < 2:
        raise BadRequest(f"{file}: expected a header and at least one row")
    header = [name.strip() for name in rows[0]]
    table = np.empty((len(rows) - 1, len(header)))
    for number, row in enumerate(rows[1:]):
        try:
            table[number] = [float(cell) for cell in row]
        except ValueError:
            raise BadRequest(f"{file}: row {number + 2}: expected {len(header)} numbers, found "
                             f"{','.join(row)[:60]}") from None
        if not np.isfinite(table[number]).all():
            raise BadRequest(f"{file}: row {number + 2}: expected finite numbers, found {','.join(row)[:60]}")
    return {name: place for place, name in enumerate(header)}, table


def read_motion(file: Path) -> Motion:
    """motion.csv, rows in order of time."""
    places, table = read_table(file)

    def column(*names: str) -> Array:
        for name in names:
            if name in places:
                return table[:, places[name]]
        raise BadRequest(f"{file}: header: expected a column {names[0]}")

    def velocity(joint: str) -> Array:
        """A joint that the recorded body does not have (no antennas) does not move."""
        names = [f"cmd_vel_{name}_rad_s" for name in (joint, JOINT_ALIASES.get(joint, joint))]
        return column(*names) if any(name in places for name in names) else np.zeros(len(table))

    t = column("t_s")
    back = np.flatnonzero(np.diff(t) <= 0)
    if back.size:
        row = back[0]
        raise BadRequest(f"{file}: row {row + 3}: expected t_s to increase, found {t[row + 1]} after {t[row]}")
    pose = np.column_stack([column(name) for name in POSE_COLUMNS])
    velocities = [velocity(joint) for joint in JOINTS]
    return Motion(frozen(t), frozen(pose[:, :3]), frozen(pose[:, 3:6]), frozen(pose[:, 6]),
                  frozen(np.column_stack(velocities)))


def read_video_times(file: Path) -> Array:
    """video.csv: capture time in s of frame 0, 1, ... (n,)."""
    places, table = read_table(file)
    for name in ("frame", "t_capture_s"):
        if name not in places:
            raise BadRequest(f"{file}: header: expected a column {name}")
    frames = table[:, places["frame"]]
    wrong = np.flatnonzero(frames != np.arange(len(table)))
    if wrong.size:
        raise BadRequest(f"{file}: row {wrong[0] + 2}: expected frame {wrong[0]}, found {frames[wrong[0]]:g}")
    return frozen(table[:, places["t_capture_s"]])
