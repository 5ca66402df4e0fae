"""Which microphone arrays are known, what one says of itself, and its axes.

Axes. The angle of the direction register counts from the array's x axis; the SDK of Reachy Mini documents it as 0 at
the left, pi/2 in front (a line: or behind), pi at the right. So the array's x is `head` y, its y is `head` x, and its
z points down. The sign of a line is then checked by what the same SDK says of its microphones, mic 0 at the right
antenna, the last at the left: a file that runs the other way is turned about, because channels are counted by number,
not by coordinate. Both are documents, not measurements on a robot.
"""
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibration.frames import Array, frozen
from firmware_bridge.array_commands import Value
from firmware_bridge.control_transfers import WrongDevice

LINE, SQUARE = 1, 2
Mute = Literal["pin", "gain"]


@dataclass(frozen=True, slots=True)
class Product:
    """An array that is known. mute: how it is muted; leds: its direction may freeze unless the LEDs show it (F08)."""

    vendor: int
    product: int
    name: str
    oldest: tuple[int, int, int]   # firmware that gives a direction
    mute: Mute
    leds: bool


PRODUCTS = (
    # SDK media/audio_doa.py: 2.1.0 or newer. What pin 30 does on this board is not published: muted by its gain
    Product(0x38FB, 0x1001, "Reachy Mini Audio", (2, 1, 0), "gain", False),
    Product(0x2886, 0x001A, "reSpeaker XVF3800 (or Reachy Mini Audio, old firmware)", (2, 0, 0), "pin", True),
)
MAJOR = 2                          # of the firmware whose commands this table has; XMOS' own (3.x) lacks resource 20


@dataclass(frozen=True, slots=True)
class Identity:
    """What is connected."""

    name: str
    address: str                   # vendor:product
    version: tuple[int, int, int]
    mics: int
    line: bool
    positions: Array               # (mics, 3) m in `head`


def in_head(file: Sequence[Value], mics: int, line: bool, origin_m: Sequence[float]) -> Array:
    """Positions (mics, 3) m in `head` from AEC_MIC_ARRAY_GEO (see the axes above)."""
    places = np.asarray(file, float).reshape(-1, 3)[:mics]
    if len(places) < mics or not np.isfinite(places).all() or np.ptp(places, axis=0).max() == 0.0:
        raise WrongDevice(f"the array tells no usable geometry: {np.round(places, 4).tolist()}")
    placed = places[:, [1, 0, 2]] * (1, 1, -1)
    if line and placed[0, 1] > placed[-1, 1]:
        placed = placed * (-1, -1, 1)
    return frozen(placed + np.asarray(origin_m))
