"""Which microphones can be trusted: absent numbers are taken out, dead and clipping ones are named in Health."""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.health import Health, Level
from perception.audio.block import BLOCK_S, AudioBlock, Samples

LOOK_BLOCKS = 10   # blocks between two looks at the health


@dataclass(frozen=True, slots=True)
class MicrophonesConfig:
    """Times in s, levels as noted."""

    dead_after: float = 1.0        # s without any change of the signal: real converters always have noise
    clip_level: float = 0.985      # of full scale
    clip_share: float = 0.02       # of samples over a second: single peaks do no harm
    weak_db: float = 30.0          # below the median of the others: covered or broken capsule
    weak_after: float = 3.0        # s
    absent_share: float = 0.02     # of a second's blocks with numbers that are not finite
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
            self._good_s += LOOK_BLOCKS * BLOCK_S
            if self._good_s < recover_after:
                return None
        if level != "ok":
            self._good_s = 0.0
        if level == self.level:
            return None
        self.level = level
        return Health(t, self.name, level, reason)


class Microphones:
    """Makes every block safe to compute with; looks at the sound's health ten times a second."""

    def __init__(self, mics: int, config: MicrophonesConfig = MicrophonesConfig()):
        self.config = config
        self._parts = [_Part(f"microphone_{m}") for m in range(mics)]
        self._array, self._reference = _Part("microphones"), _Part("reference")
        self._usable = np.ones(mics, bool)
        self._waiting: list[Samples] = []
        self._absent = np.zeros(mics + 1)          # share of a second's blocks with numbers that are not finite
        self._absent_now = np.zeros(mics + 1)
        self._unchanged = np.zeros(mics)           # s
        self._clipped = np.zeros(mics)             # share of samples
        self._power = np.zeros(mics)
        self._weak = np.zeros(mics)                # s
        self._last = np.full(mics, np.nan)

    def step(self, block: AudioBlock) -> Checked:
        mics, reference = block.mics, block.reference
        if not np.isfinite(mics).all():
            self._absent_now[:-1] += ~np.isfinite(mics).all(axis=1)
            mics = np.where(np.isfinite(mics), mics, np.float32(0))
        if not np.isfinite(reference).all():
            self._absent_now[-1] += 1
            reference = np.where(np.isfinite(reference), reference, np.float32(0))
        mics, reference = np.minimum(np.maximum(mics, -1), 1), np.minimum(np.maximum(reference, -1), 1)
        self._waiting.append(mics)
        health: tuple[Health, ...] = ()
        if len(self._waiting) == LOOK_BLOCKS:
            health = self._look(block.t, np.concatenate(self._waiting, axis=1))
            self._waiting.clear()
            self._usable = np.array([part.level == "ok" for part in self._parts])
        return Checked(mics, reference, self._usable, health)

    def _look(self, t: float, sound: Samples) -> tuple[Health, ...]:
        """Judge the newest tenth of a second (M, n)."""
        config = self.config
        took = LOOK_BLOCKS * BLOCK_S
        still = (sound.max(axis=1) == sound.min(axis=1)) & ((sound[:, 0] == self._last) | np.isnan(self._last))
        self._last = sound[:, -1].astype(float)
        self._unchanged = np.where(still, self._unchanged + took, 0.0)
        keep = 1 - took                            # about one second of memory
        self._clipped = keep * self._clipped + took * (np.abs(sound) > config.clip_level).mean(axis=1)
        self._power = keep * self._power + took * np.square(sound).mean(axis=1)
        self._absent = keep * self._absent + took * self._absent_now / LOOK_BLOCKS
        self._absent_now = np.zeros_like(self._absent)
        alive = self._unchanged < config.dead_after
        typical = np.median(self._power[alive]) if alive.any() else 0.0
        weak = self._power < typical * 10 ** (-config.weak_db / 10)
        self._weak = np.where(weak & alive, self._weak + took, 0.0)
        found = [part.judge(t, *self._state(m, alive[m]), config.recover_after) for m, part in enumerate(self._parts)]
        deaf = not alive.any()
        why = "every microphone delivers a constant signal" if deaf else ""
        found.append(self._array.judge(t, "gone" if deaf else "ok", why, 0.0))
        bad = self._absent[-1] > config.absent_share
        found.append(self._reference.judge(t, "degraded" if bad else "ok", "not finite numbers" if bad else "", 1.0))
        return tuple(change for change in found if change is not None)

    def _state(self, mic: int, alive: bool) -> tuple[Level, str]:
        if not alive:
            return "gone", "the signal is constant"
        if self._absent[mic] > self.config.absent_share:
            return "degraded", "not finite numbers"
        if self._clipped[mic] > self.config.clip_share:
            return "degraded", "the signal clips"
        if self._weak[mic] >= self.config.weak_after:
            return "degraded", f"more than {self.config.weak_db:g} dB below the others"
        return "ok", ""
