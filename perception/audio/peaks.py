"""Peaks of a curve, as scipy.signal.find_peaks finds them. Loading scipy.signal takes every process that hears or only
knows the types of hearing a second and 60 MB."""
import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Indices = NDArray[np.intp]


def peaks(values: Values, prominence: float, distance: int) -> Indices:
    """Indices, in order, of the maxima of values (n,), n > 0, that rise by `prominence` over the saddles to anything
    higher and have no higher one nearer than `distance`; of a flat top its middle."""
    found = _apart(values, _maxima(values), distance)
    return np.array([at for at in found if _prominence(values, at) >= prominence], np.intp)


def _maxima(values: Values) -> Indices:
    """What is higher than both sides; never an end."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))     # of runs of equal values
    heights, ends = values[starts], np.append(starts[1:], len(values)) - 1
    inner = np.flatnonzero((heights[1:-1] > heights[:-2]) & (heights[1:-1] > heights[2:])) + 1
    return (starts[inner] + ends[inner]) // 2


def _apart(values: Values, found: Indices, distance: int) -> Indices:
    """Highest first, each takes the lower ones nearer than `distance` away."""
    kept = np.ones(len(found), bool)
    for at in np.argsort(values[found])[::-1]:
        if kept[at]:
            kept &= (np.abs(found - found[at]) >= distance) | (np.arange(len(found)) == at)
    return found[kept]


def _prominence(values: Values, at: int) -> float:
    """Height over the higher of the lowest places on the way to something higher, or to the end, on both sides."""
    higher = np.flatnonzero(values > values[at])
    side = int(np.searchsorted(higher, at))
    first = int(higher[side - 1]) + 1 if side else 0
    last = int(higher[side]) if side < len(higher) else len(values)
    return float(values[at] - max(values[first:at + 1].min(), values[at:last].min()))
