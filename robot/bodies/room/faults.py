"""Devices of the room that fail for a while."""
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robot.errors import BadRequest

KINDS = {"microphone": ("gone", "stall", "garbage"), "loudspeaker": ("gone", "stall", "slow", "hot"),
         "camera": ("gone", "stall"), "array": ("gone", "stall"), "board": ("hot", "slow", "full")}


@dataclass
class Faults:
    """Which device fails in which way until when."""

    _until: dict[str, tuple[float, float, str]] = field(default_factory=dict)   # device: begin, end, kind

    def begin(self, t: float, of: str, kind: str, for_s: float | None) -> None:
        if of not in KINDS or kind not in KINDS[of]:
            known = "; ".join(f"{device}: {', '.join(kinds)}" for device, kinds in KINDS.items())
            raise BadRequest(f"fault {of} {kind}: expected one of {known}")
        self._until[of] = (t, np.inf if for_s is None else t + for_s, kind)

    def active(self, t: float, of: str) -> str | None:
        """The kind of fault of a device at time t."""
        begin, end, kind = self._until.get(of, (0.0, 0.0, ""))
        return kind if begin <= t < end else None

    def heard(self, t: float, mics: NDArray[np.float32]) -> NDArray[np.float32]:
        """Recorded sound (M, n) after a microphone fault of kind garbage: full-scale steps, as of a lost word clock."""
        if self.active(t, "microphone") != "garbage":
            return mics
        return np.where(np.sin(1e5 * np.arange(mics.size).reshape(mics.shape) + t) > 0, 1.0, -1.0).astype(np.float32)
