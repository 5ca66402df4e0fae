"""What the Reachy Mini daemon and we say to each other, as text and as values. Strict, and no text makes it raise.

Daemon's words: pollen-robotics/reachy_mini, src/reachy_mini/io/protocol.py and daemon/app/routers/state.py, 1.13.0. Its
commands are never answered on this socket; what came of them is seen in what it says unasked.
"""
import json
from dataclasses import dataclass
from typing import Any

from calibration.frames import Array, frozen
from perception.audio.array_register import Reading as ArrayReading

LONGEST = 65_536           # characters; what we read has a few hundred, recordings of other clients have millions
LARGEST = 1e6              # of a number: no angle, length or rotation has more, nor has anything that is not finite
MODES = ("enabled", "disabled", "gravity_compensation")
STATE_PATH = ("/api/state/ws/full?frequency=10&with_doa=true&with_head_pose=false&with_body_yaw=false"
              "&with_antenna_positions=false")      # motor mode and the array's direction, ten times a second
GREETING = ("set_automatic_body_yaw", "set_wobbling", "set_head_tracking")   # all of them move the head on their own


@dataclass(frozen=True, slots=True)
class Joints:
    """Measured, in the order of calibration.body_model.JOINTS."""

    position: Array          # (9,) rad


@dataclass(frozen=True, slots=True)
class Pose:
    """The head as the daemon computes it from the measured joints, in its own frame (see daemon_pose)."""

    matrix: Array            # (4, 4), m


@dataclass(frozen=True, slots=True)
class Status:
    """Once a second."""

    state: str               # starting, running, stopping, stopped, error, not_initialized
    mode: str | None         # of MODES; None: no backend
    error: str               # empty: none


@dataclass(frozen=True, slots=True)
class State:
    """Ten times a second, on the socket of STATE_PATH."""

    mode: str | None
    bearing: ArrayReading | None    # t: arrival


@dataclass(frozen=True, slots=True)
class Other:
    """Not for us: the IMU, progress and recordings of other clients, words of a newer daemon."""


Heard = Joints | Pose | Status | Other


def heard(text: str | bytes) -> Heard | None:
    """What a message of /ws/sdk says; None for a malformed one. One that is far too long is not read."""
    if len(text) > LONGEST:
        return Other()
    message = _object(text)
    kind = None if message is None else message.get("type")
    if message is None or not isinstance(kind, str):
        return None
    if kind == "joint_positions":
        head = _numbers(message.get("head_joint_positions"), 7)
        antennas = _numbers(message.get("antennas_joint_positions"), 2)
        return None if head is None or antennas is None else Joints(frozen(head + antennas))
    if kind == "head_pose":
        rows = message.get("head_pose")
        numbers = [_numbers(row, 4) for row in rows] if isinstance(rows, list) and len(rows) == 4 else [None]
        return None if None in numbers else Pose(frozen(numbers))
    if kind == "daemon_status" and isinstance(message.get("state"), str):
        backend = message.get("backend_status")
        mode = backend.get("motor_control_mode") if isinstance(backend, dict) else None
        error = message.get("error")
        return Status(message["state"], _mode(mode), error if isinstance(error, str) else "")
    return None if kind == "daemon_status" else Other()


def state_of(t: float, text: str | bytes) -> State | None:
    """What a message of STATE_PATH says, arrived at t (s); None for a malformed one."""
    message = None if len(text) > LONGEST else _object(text)
    if message is None:
        return None
    doa = message.get("doa")
    bearing = None
    if isinstance(doa, dict) and (angle := _numbers([doa.get("angle")], 1)) is not None:
        bearing = ArrayReading(t, angle[0], doa.get("speech_detected") is True)
    return State(_mode(message.get("control_mode")), bearing)


def greeting() -> list[str]:
    """Whoever moved the head until now does so no more. To be said behind a target: switching its tracking off makes
    a daemon without one (just started) play the upright pose at once."""
    return [json.dumps({"type": kind, "enabled": False}) for kind in GREETING] + [stop_move()]


def farewell() -> str:
    """As the daemon's other clients expect to find it."""
    return json.dumps({"type": "set_automatic_body_yaw", "enabled": True})


def stop_move() -> str:
    return json.dumps({"type": "stop_move"})


def motor_mode(mode: str) -> str:
    return json.dumps({"type": "set_motor_mode", "mode": mode})


def full_target(matrix: Array, body_yaw: float, antennas: Array) -> str:
    """One message for all joints. matrix (4, 4) in the daemon's frame; antennas (2,) rad, right then left."""
    return json.dumps({"type": "set_full_target", "head": matrix.ravel().tolist(), "antennas": antennas.tolist(),
                       "body_yaw": body_yaw})


def joint_targets(joints: Array) -> list[str]:
    """The same for joints (9,) rad that fit no pose of the head."""
    return [json.dumps({"type": "set_head_joints", "joints": joints[:7].tolist()}),
            json.dumps({"type": "set_antennas", "antennas": joints[7:].tolist()})]


def _object(text: str | bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _numbers(value: Any, count: int) -> list[float] | None:
    """A list of so many finite numbers, or None."""
    if not isinstance(value, list) or len(value) != count:
        return None
    good = all(isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < LARGEST
               for number in value)
    return [float(number) for number in value] if good else None


def _mode(value: Any) -> str | None:
    return value if isinstance(value, str) and value in MODES else None
