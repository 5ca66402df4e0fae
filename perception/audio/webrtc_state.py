"""The memory of WebRTC's voice detector as bytes, so that a mind can be kept and woken again to the bit.

The library shows no way to read it. Its detector is one block from malloc without pointers in it (VadInstT in
common_audio/vad/vad_core.h of WebRTC: filter states, means and spreads of its Gaussians, counters), so a copy of the
block is the detector. The allocator tells how long the block is; no layout is assumed.
"""
import ctypes
from functools import cache
from typing import Any

CAPSULE = b"WebRtcVadPtr"


def state_of(capsule: Any) -> bytes:
    """The memory behind a detector's capsule."""
    at, size = _block(capsule)
    return ctypes.string_at(at, size)


def restore(capsule: Any, state: bytes) -> None:
    """Put back what `state_of` gave into a fresh detector of the same library."""
    at, size = _block(capsule)
    if abs(size - len(state)) > 16:      # the allocator may round one and the same request up by a step of 16 bytes
        raise ValueError(f"a detector of {len(state)} bytes, expected {size}: made by another build of webrtcvad")
    ctypes.memmove(at, state, min(size, len(state)))


def _block(capsule: Any) -> tuple[int, int]:
    """(address, bytes)"""
    pointer, size = _calls()
    at = pointer(capsule, CAPSULE)
    return at, size(at)


@cache
def _calls() -> tuple[Any, Any]:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    size = ctypes.CDLL(None).malloc_usable_size      # glibc and musl
    size.restype, size.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
    return pointer, size
