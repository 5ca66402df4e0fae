"""Which microphones can be trusted: absent numbers are taken out, dead and clipping ones are named in Health."""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.health import Health, Level
from perception.audio.block import BLOCK, BLOCK_S, AudioBlock, Samples


@dataclass(frozen=True, slots=True)
class MicrophonesConfig:
    """Times in s, levels as noted."""

    dead_after: float = 1.0        # s without any change of the signal: real converters always have noise
    clip_level: float = 0.985      # of full scale
    clip_share: float = 0.02       # of samples over a second: single peaks do no harm
    weak_db: float = 30.0          # below the median of the others: covered or broken capsule
    weak_after: float = 3.0        # s
    recover_after: float = 2.0     # s of good signal before a part is called good again


@dataclass(frozen=True, slots=True)
class Checked:
    """One block that is safe to compute with."""

    mics: Samples                  # (M, 160) finite
    reference: Samples             # (160,) finite
    usable: NDArray[np.bool_]      # (M,)
    health: tuple[Health, ...]     # changes only


class _Part:
    """The state of one microphone or the reference; says a change once."""

    def __init__(self, name: str):
        self.name = name
        self.level: Level = "ok"
        self._good_s = 0.0

    def judge(self, t: float, level: Level, reason: str, recover_after: float) -> Health | None:
        if level == "ok" and self.level != "ok":
            self._good_s += BLOCK_S
            if self._good_s < recover_after:
                return None
        if level != "ok":
            self._good_s = 0.0
        if level == self.level:
            return None
        self.level = level
        return Health(t, self.name, level, reason)


class Microphones:
    """Checks every block before anything else computes with it."""

    def __init__(self, mics: int, config: MicrophonesConfig = MicrophonesConfig()):
        self.config = config
        self._parts = [_Part(f"microphone_{m}") for m in range(mics)]
        self._array, self._reference = _Part("microphones"), _Part("reference")
        self._unchanged = np.zeros(mics)
        self._clipped = np.zeros(mics)
        self._power = np.zeros(mics)
        self._weak = np.zeros(mics)
        self._bad_numbers = np.zeros(mics + 1)
        self._last = np.full(mics, np.nan)

    def step(self, block: AudioBlock) -> Checked:
        mics, reference = block.mics, block.reference
        absent = ~np.isfinite(mics).all(axis=1)
        reference_absent = not np.isfinite(reference).all()
        if absent.any():
            mics = np.where(np.isfinite(mics), mics, np.float32(0))
        if reference_absent:
            reference = np.where(np.isfinite(reference), reference, np.float32(0))
        mics, reference = np.minimum(np.maximum(mics, -1), 1), np.minimum(np.maximum(reference, -1), 1)
        health = self._judge(block.t, mics, np.append(absent, reference_absent))
        usable = np.array([part.level == "ok" for part in self._parts])
        return Checked(mics, reference, usable, health)

    def _judge(self, t: float, mics: Samples, absent: NDArray[np.bool_]) -> tuple[Health, ...]:
        config = self.config
        still = (mics.max(axis=1) == mics.min(axis=1)) & ((mics[:, 0] == self._last) | np.isnan(self._last))
        self._last = mics[:, -1].astype(float)
        self._unchanged = np.where(still, self._unchanged + BLOCK_S, 0.0)
        keep = 1 - BLOCK_S                       # about one second of memory
        self._clipped = keep * self._clipped + BLOCK_S * (np.abs(mics) > config.clip_level).sum(axis=1) / BLOCK
        self._power = keep * self._power + BLOCK_S * np.square(mics).sum(axis=1) / BLOCK
        self._bad_numbers = np.where(absent, 1.0, keep * self._bad_numbers)
        alive = self._unchanged < config.dead_after
        typical = np.median(self._power[alive]) if alive.any() else 0.0
        weak = self._power < typical * 10 ** (-config.weak_db / 10)
        self._weak = np.where(weak & alive, self._weak + BLOCK_S, 0.0)
        found = [part.judge(t, *self._state(m, alive[m]), config.recover_after) for m, part in enumerate(self._parts)]
        deaf = not alive.any()
        why = "every microphone delivers a constant signal" if deaf else ""
        found.append(self._array.judge(t, "gone" if deaf else "ok", why, 0.0))
        bad = self._bad_numbers[-1] > 0.3
        found.append(self._reference.judge(t, "degraded" if bad else "ok", "not finite numbers" if bad else "", 1.0))
        return tuple(change for change in found if change is not None)

    def _state(self, mic: int, alive: bool) -> tuple[Level, str]:
        if not alive:
            return "gone", "the signal is constant"
        if self._bad_numbers[mic] > 0.3:
            return "degraded", "not finite numbers"
        if self._clipped[mic] > self.config.clip_share:
            return "degraded", "the signal clips"
        if self._weak[mic] >= self.config.weak_after:
            return "degraded", f"more than {self.config.weak_db:g} dB below the others"
        return "ok", ""
