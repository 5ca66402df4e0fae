"""A mind as bytes: what it believes, remembers and is in the middle of; a mind woken from them goes on to the bit.

Everything that a mind consists of is plain values; models are named, not kept (see __getstate__ in perception.audio).
Bytes come from files, so only the kinds of values that a mind is made of are woken: nothing in them can run a program.
"""
import copyreg
import io
import pickle
from collections.abc import Callable
from dataclasses import fields
from types import MethodType
from typing import Any

import numpy as np

from robot.errors import BadRequest
from robot.runtime import GuardedMind

ROOMS = ("calibration.", "dialogue.", "firmware_bridge.joint_reading", "firmware_bridge.touch", "motion.",
         "perception.", "robot.config", "robot.mind", "robot.safety", "robot.service.audio_loss",
         "robot.service.sparing", "robot.service.vitals")
OTHERS = {
    "builtins": {"set", "frozenset", "slice", "complex", "bytearray", "range"},
    "collections": {"deque", "OrderedDict", "defaultdict"},
    "copyreg": {"_reconstructor"},
    "numpy": {"dtype"},
    "robot.mind_state": {"bound", "laid_out"},
    "robot.service.stage_clock": {"bare"},
    "numpy._core.multiarray": {"scalar"},
    "numpy.random._pickle": {"__generator_ctor", "__bit_generator_ctor"},
    "numpy.random._pcg64": {"PCG64"},
    "numpy.random.bit_generator": {"__pyx_unpickle_SeedSequence", "SeedSequence"},
}


def kept(mind: GuardedMind) -> bytes:
    """The state between two ticks."""
    out = io.BytesIO()
    pickler = pickle.Pickler(out, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {**copyreg.dispatch_table, np.ndarray: _array, MethodType: _method}
    pickler.dump({f.name: getattr(mind, f.name) for f in fields(GuardedMind) if f.name != "report"})
    return out.getvalue()


def woken(state: bytes, place: str, report: Callable[[str], None] = lambda text: None) -> GuardedMind:
    """The mind that was kept. place: names the file in errors. report: takes the traceback of a tick that failed."""
    try:
        return GuardedMind(**_Reader(io.BytesIO(state)).load(), report=report)
    except (pickle.UnpicklingError, AttributeError, EOFError, ImportError, IndexError, KeyError, TypeError,
            ValueError) as error:
        raise BadRequest(f"{place}: {error}, expected a mind kept by this version of talkover") from error


def _array(array: np.ndarray) -> Any:
    """With its strides: sums and products in another order of memory may differ in their bits."""
    if array.dtype.hasobject:
        raise TypeError("an array of objects is no plain value")
    return laid_out, (array.shape, array.dtype, array.strides, array.tobytes())


def laid_out(shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...], content: bytes) -> np.ndarray:
    """An array of these strides (bytes) with this content, given in C order."""
    reach = [(n - 1) * step for n, step in zip(shape, strides, strict=True)]
    first = -sum(r for r in reach if r < 0)
    memory = np.zeros(first + sum(r for r in reach if r > 0) + dtype.itemsize, np.uint8)
    out: np.ndarray = np.ndarray(shape, dtype, memory, first, strides)
    out[...] = np.frombuffer(content, dtype).reshape(shape)
    return out


def _method(method: MethodType) -> Any:
    return bound, (method.__self__, method.__name__)


def bound(owner: object, name: str) -> Any:
    """A method of a part of the mind."""
    if not type(owner).__module__.startswith(ROOMS) or name.startswith("_"):
        raise pickle.UnpicklingError(f"{type(owner).__name__}.{name} is no method of a part of the mind")
    return getattr(owner, name)


class _Reader(pickle.Unpickler):
    """Wakes values of known kinds only."""

    def find_class(self, module: str, name: str) -> Any:
        if name in OTHERS.get(module, ()):
            return super().find_class(module, name)
        if module.startswith(ROOMS) and not module.startswith("dialogue.engines"):
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a mind")
