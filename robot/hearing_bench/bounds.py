"""How far a figure from few events can be trusted: exact 95 % bounds."""
from collections.abc import Sequence

import numpy as np
from scipy.special import bdtr, betaincinv, gammaincinv

CONFIDENCE = 0.95


def rate_below(count: int) -> float:
    """One-sided upper bound of a Poisson mean after `count` events (Garwood 1936): 3.0 after none."""
    return float(gammaincinv(count + 1, CONFIDENCE))


def share_between(hits: int, total: int) -> tuple[float, float]:
    """Two-sided bounds of a share (Clopper and Pearson 1934)."""
    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, total - hits + 1, tail))
    high = 1.0 if hits == total else float(betaincinv(hits + 1, total - hits, 1 - tail))
    return low, high


def quantile_between(values: Sequence[float], share: float) -> tuple[float | None, float | None]:
    """Two-sided bounds of a quantile by order statistics, None where the values do not reach so far."""
    ordered, tail = sorted(values), (1 - CONFIDENCE) / 2
    below = bdtr(np.arange(len(ordered) + 1), len(ordered), share)     # of so many values or fewer
    low, high = int(np.searchsorted(below, tail)), int(np.searchsorted(below, 1 - tail)) + 1
    return (ordered[low - 1] if low >= 1 else None), (ordered[high - 1] if high <= len(ordered) else None)


def quantile(values: Sequence[float], share: float) -> float:
    return float(np.quantile(np.asarray(values, float), share))
