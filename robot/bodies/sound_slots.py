"""What the mind's process and the sound process share: blocks both ways, orders, health and figures."""
import json
import mmap
import struct
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from calibration.health import Health
from dialogue.engine import SpeakerBlock
from perception.audio.block import BLOCK, AudioBlock, frozen_samples
from robot.bodies.latest import LatestValue
from robot.bodies.ring import Ring
from robot.bodies.sound_config import SoundDeviceConfig

CAPTURED = struct.Struct("<d?B")       # t, gap, rows of float32 (microphones and reference)
SPOKEN = struct.Struct("<qq")          # generation, offset
ORDERS = struct.Struct("<qd?")         # live generation, volume, muted
MOST_ROWS = 9                          # eight microphones and the reference
RECORD = CAPTURED.size + MOST_ROWS * BLOCK * 4
BLOCKS = 128                           # of each ring: 1.28 s that the other side may be late
SLOTS = (64, 4096, 1024)               # bytes: orders, health, figures


@dataclass(frozen=True)
class SoundSetup:
    """What the sound process is told first."""

    config: SoundDeviceConfig
    start: float                         # s, monotonic clock at the run's t = 0
    memory: int                          # file descriptor of the shared memory
    patience_s: float                    # of exactly zero microphones until the card is reset
    standing: tuple[Health, ...] = ()    # trouble that a process before this one told


class Shared(NamedTuple):
    """The shared memory, part by part."""

    captured: Ring
    spoken: Ring
    orders: LatestValue
    health: LatestValue
    figures: LatestValue


SIZE = Ring.total_bytes(BLOCKS, RECORD) + Ring.total_bytes(BLOCKS, SPOKEN.size + BLOCK * 4) + sum(SLOTS)


def shared(memory: mmap.mmap) -> Shared:
    captured = Ring(memory, 0, BLOCKS, RECORD)
    at = Ring.total_bytes(BLOCKS, RECORD)
    spoken = Ring(memory, at, BLOCKS, SPOKEN.size + BLOCK * 4)
    starts = at + Ring.total_bytes(BLOCKS, SPOKEN.size + BLOCK * 4) + np.cumsum((0, *SLOTS))
    return Shared(captured, spoken, *(LatestValue(memory, int(a), s) for a, s in zip(starts, SLOTS, strict=False)))


def packed_block(block: AudioBlock) -> bytes:
    rows = np.concatenate([block.mics, block.reference[None]]).astype(np.float32, copy=False)
    return CAPTURED.pack(block.t, block.gap, len(rows)) + rows.tobytes()


def unpacked_block(data: bytes) -> AudioBlock:
    t, gap, rows = CAPTURED.unpack_from(data)
    sound = frozen_samples(np.frombuffer(data, np.float32, rows * BLOCK, CAPTURED.size).reshape(rows, BLOCK))
    return AudioBlock(t, sound[:-1], sound[-1], gap)


def packed_spoken(block: SpeakerBlock) -> bytes:
    return SPOKEN.pack(block.generation, block.offset) + block.samples.astype(np.float32, copy=False).tobytes()


def unpacked_spoken(data: bytes) -> SpeakerBlock:
    generation, offset = SPOKEN.unpack_from(data)
    return SpeakerBlock(generation, offset, frozen_samples(np.frombuffer(data, np.float32, BLOCK, SPOKEN.size)))


def told(slot: LatestValue) -> dict:
    """A slot of JSON; {} before the first write."""
    _, data = slot.read()
    return json.loads(data) if data else {}
