"""Frozen values to JSON and back, losslessly: dataclasses by name, arrays as raw bytes, floats in shortest form."""
import base64
import dataclasses
import json
from typing import Any

import numpy as np

from calibration.health import Health
from dialogue import engine
from firmware_bridge.joint_reading import JointReading
from firmware_bridge.touch import Touch
from motion.intent import Gaze, JointGoal, MotionIntent
from perception.audio.array_register import Reading
from perception.audio.block import AudioBlock
from perception.vision.frame import Detection, FaceFrame
from robot.errors import BadRequest
from robot.service.vitals import ProcessVitals, Vitals
from robot.tick import Inputs, Outputs

_ENGINE = [value for value in vars(engine).values()
           if isinstance(value, type) and dataclasses.is_dataclass(value)]
KNOWN: dict[str, type] = {cls.__name__: cls for cls in (
    Inputs, Outputs, Health, JointReading, JointGoal, MotionIntent, Gaze, AudioBlock, Detection, FaceFrame, Reading,
    Touch, Vitals, ProcessVitals, *_ENGINE)}


def encoded(value: Any) -> str:
    """One line of JSON."""
    return json.dumps(_plain(value), separators=(",", ":"))


def decoded(text: str | bytes) -> Any:
    """The value of one line; arrays come back read-only."""
    return _value(json.loads(text))


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return {"array": data, "dtype": value.dtype.str, "shape": list(value.shape)}
    if dataclasses.is_dataclass(value) and type(value).__name__ in KNOWN:
        fields = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"is": type(value).__name__, **fields}
    if isinstance(value, np.generic):
        return _plain(value.item())
    raise TypeError(f"a {type(value).__name__} cannot be put on a tape: make it a frozen value named in robot/codec.py")


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return tuple(_value(item) for item in plain)
    if not isinstance(plain, dict):
        return plain
    if "dtype" in plain:
        out = np.frombuffer(base64.b64decode(plain["array"]), np.dtype(plain["dtype"]))
        return out.reshape(plain["shape"])
    name = plain.get("is")
    if name not in KNOWN:
        raise BadRequest(f"value of unknown kind {name!r}, expected one of {', '.join(sorted(KNOWN))}")
    return KNOWN[name](**{key: _value(item) for key, item in plain.items() if key != "is"})
