"""One sound on its way to microphones that turn: block by block, filters faded where anything moved.

The direct sound always follows the exact places; the reflections, which are many and vague, come from a grid of head
yaws and from the nearest of the places where the source has been.
"""
from dataclasses import dataclass, field

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from calibration.frames import Array, rotation
from perception.audio.block import BLOCK
from robot.bodies.room.arrivals import PARTS, TAPS, Arrivals, Spectrum, direct_response, partitioned
from robot.bodies.room.shoebox import Shoebox

YAW_STEP = np.deg2rad(5.0)   # neighbours differ by 9 mm at the outer microphones: a fade between them is clean to 7 kHz
CELLS = 24                   # of them kept for one place, 120 degrees: a head that turns further makes them again
NODE_STEP = 0.1              # m that a source moves until its reflections are computed anew
NODE_FADE = 8                # blocks; at walking speed one node is reached when the next is due
DIRECT_PARTS = 2             # blocks: direct sound of up to 6 m
STILL_ANGLE = 1e-5           # rad; below, and below STILL_WAY, the filters stay as they are
STILL_WAY = 2e-5             # m

FADE_IN = ((np.arange(BLOCK) + 0.5) / BLOCK).astype(np.float32)


@dataclass(frozen=True, slots=True)
class EarPlaces:
    """Where the microphones are: exactly (M, 3) in base, and at rest in `head` axes (M, 3) with the head's yaw."""

    exact: Array
    in_head: Array
    head: Array      # (3,) m, centre of the resting head
    yaw: float       # rad


@dataclass
class Reflections:
    """Early reflections of a source that stays at one place, for every head yaw, made when needed."""

    box: Shoebox
    source: Array
    _made: dict[int, Spectrum] = field(default_factory=dict)

    def __post_init__(self):
        self._images = self.box.images(self.source)

    def at(self, ears: EarPlaces) -> Spectrum:
        """(M, PARTS, BLOCK + 1) at the ears' yaw, between two cells of the grid."""
        cell, weight = divmod(ears.yaw / YAW_STEP, 1.0)
        low, high = self._cell(int(cell), ears), self._cell(int(cell) + 1, ears)
        return low * np.float32(1 - weight) + high * np.float32(weight)

    def _cell(self, cell: int, ears: EarPlaces) -> Spectrum:
        cell %= round(2 * np.pi / YAW_STEP)
        made = self._made.pop(cell, None)
        if made is None:
            mics = ears.head + ears.in_head @ rotation(0.0, 0.0, cell * YAW_STEP).T
            images = self._images
            arrivals = Arrivals.between(images.position, mics, images.damping, images.order)
            made = partitioned(arrivals.response(PARTS * BLOCK))
        self._made[cell] = made                        # the newest last
        if len(self._made) > CELLS:
            del self._made[next(iter(self._made))]
        return made


@dataclass
class SoundPath:
    """From one source to all microphones up to EARLY_S. direct_gain: 0 for a source that only the walls carry."""

    box: Shoebox
    extra: Spectrum | None = None        # (M, parts, BLOCK + 1) on top of everything: a shell that conducts
    _place: Array | None = None
    _ears: EarPlaces | None = None
    _filter: Spectrum | None = None
    _nodes: list[Reflections] = field(default_factory=list)
    _fade: int = NODE_FADE
    _spectra: Spectrum = field(default_factory=lambda: np.zeros((PARTS, BLOCK + 1), np.complex64))
    _before: NDArray[np.float32] = field(default_factory=lambda: np.zeros(BLOCK, np.float32))
    _quiet: int = PARTS + 2

    def step(self, dry: NDArray[np.float32], place: Array, ears: EarPlaces) -> NDArray[np.float32] | None:
        """(M, BLOCK) at the microphones for a block (BLOCK,) of the source at place (3,); None in silence."""
        self._quiet = 0 if dry.any() else self._quiet + 1
        if self._quiet > PARTS + 1:
            self._filter = None
            return None
        self._spectra[1:] = self._spectra[:-1]
        self._spectra[0] = scipy.fft.rfft(np.concatenate((self._before, dry)))
        self._before = dry
        old, new = self._filter, self._filter_at(place, ears)
        self._filter = new
        if old is None or old is new:
            return scipy.fft.irfft((new * self._spectra).sum(1), 2 * BLOCK)[:, BLOCK:]
        both = scipy.fft.irfft((np.stack((old, new)) * self._spectra).sum(2), 2 * BLOCK)[..., BLOCK:]
        return both[0] + (both[1] - both[0]) * FADE_IN

    def _filter_at(self, place: Array, ears: EarPlaces) -> Spectrum:
        if self._filter is not None and self._rests(place, ears):
            return self._filter
        self._place, self._ears = place, ears
        out = self._reflected(place, ears)
        out[:, :DIRECT_PARTS] += partitioned(direct_response(place, ears.exact, DIRECT_PARTS * BLOCK))
        if self.extra is not None:
            out[:, :self.extra.shape[1]] += self.extra
        return out

    def _rests(self, place: Array, ears: EarPlaces) -> bool:
        assert self._place is not None and self._ears is not None
        return (self._fade >= NODE_FADE and abs(ears.yaw - self._ears.yaw) < STILL_ANGLE
                and np.abs(place - self._place).max() < STILL_WAY
                and np.abs(ears.exact - self._ears.exact).max() < STILL_WAY)

    def _reflected(self, place: Array, ears: EarPlaces) -> Spectrum:
        """Reflections at the newest node, faded from the one before."""
        if not self._nodes or (self._fade >= NODE_FADE
                               and np.linalg.norm(place - self._nodes[-1].source) > NODE_STEP):
            self._fade = 0 if self._nodes else NODE_FADE
            self._nodes = [*self._nodes[-1:], Reflections(self.box, place)]
        newest = self._nodes[-1].at(ears)
        if self._fade >= NODE_FADE:
            del self._nodes[:-1]
            return newest
        self._fade += 1
        weight = np.float32(self._fade / NODE_FADE)
        return newest * weight + self._nodes[0].at(ears) * (1 - weight)


assert DIRECT_PARTS * BLOCK > TAPS
