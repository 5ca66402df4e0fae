"""The learned detector: evidence streams in, log-odds that a person speaks out. Weights and card: models/."""
import math
from functools import cache
from importlib.resources import as_file, files

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from perception.audio.vad import session

CERTAIN = 6.0    # log-odds are clipped to +-6: more than 400 to 1 is not believed of 10 ms


@cache
def _person() -> onnxruntime.InferenceSession:
    with as_file(files("perception.audio") / "models" / "person.onnx") as path:
        return session(str(path))


class Detector:
    """Recurrent networks side by side, one step a block; their mean counts."""

    def __init__(self) -> None:
        self._session = _person()
        self._memory = np.zeros(self._session.get_inputs()[1].shape, np.float32)

    def __getstate__(self) -> NDArray[np.float32]:
        return self._memory

    def __setstate__(self, memory: NDArray[np.float32]) -> None:
        self._session, self._memory = _person(), memory

    def step(self, streams: NDArray[np.float32]) -> float:
        """streams (COUNT,) -> log-odds in [-CERTAIN, CERTAIN]."""
        found, memory = self._session.run(None, {"evidence": streams[None], "memory": self._memory})
        if not np.isfinite(memory).all():
            memory = np.zeros_like(memory)
        self._memory = memory
        log_odds = float(found[0, 0])
        return -CERTAIN if math.isnan(log_odds) else min(max(log_odds, -CERTAIN), CERTAIN)


class Baseline:
    """Calibrated log-odds: what the detector makes of this robot when nobody speaks is mostly taken off.

    Voices and gears that were not in the training lift or lower the log-odds of a whole take. On the draw of the
    bench that was tuned on, shares of 0.8 and 0.9 gave a tenth to a third fewer false ducks over motors than 0.5
    and 0.6 did.
    """

    usual = -4.5     # log-odds without a person on the training's own scenes
    rate = 0.002     # a block: follows in 5 s
    voice = 4.0      # above the baseline: likely a voice, which must hardly move it
    share = 0.8
    prior = 2.0      # the training weighs false alarms; so much more is even odds on takes of another generator

    def __init__(self) -> None:
        self._level = self.usual

    def step(self, log_odds: float) -> float:
        corrected = log_odds + self.prior - self.share * (self._level - self.usual)
        rate = self.rate if log_odds < self._level + self.voice else 0.1 * self.rate
        self._level += rate * (log_odds - self._level)
        return min(max(corrected, -CERTAIN), CERTAIN)


class Fallen:
    """What had stood far over the noise floor and has fallen back to it: no voice goes on there, whatever a recurrent
    network still remembers. Weak voices, which never stood far over it, are not judged."""

    blocks = 8       # mean: 80 ms, gaps inside words are shorter
    fades = 0.005    # of the remembered height a block, log10: 5 dB/s, about as loud talkers become quiet ones
    by = 0.8         # log10, 8 dB
    to = 0.45        # log10: bands of noise alone are at 0.1 to 0.4 (draw of the bench that was tuned on)
    odds = -3.0      # then believed at most

    def __init__(self) -> None:
        self._mean = Running(self.blocks, 0.0)
        self._height = 0.0

    def step(self, log_odds: float, above_floor: float) -> float:
        """above_floor: log10 of a power ratio -> log-odds."""
        now = self._mean.step(min(max(above_floor, -1.0), 4.0))
        self._height = max(now, self._height - self.fades)
        return min(log_odds, self.odds) if now < self.to and self._height - now > self.by else log_odds


class Running:
    """Mean of the newest values, and for how long a condition on it has held."""

    def __init__(self, blocks: int, start: float):
        self._values = np.full(blocks, start)
        self._at = 0
        self._sum = start * blocks

    def step(self, value: float) -> float:
        self._sum += value - self._values[self._at]
        self._values[self._at] = value
        self._at = (self._at + 1) % self._values.size
        if self._at == 0:
            self._sum = float(self._values.sum())    # no drift by rounding
        return self._sum / self._values.size
