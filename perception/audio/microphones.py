"""Which microphones can be trusted, and what can be mended: every block leaves here safe to compute with.

Numbers that are not finite become silence, a constant offset is taken off, an inverted microphone is turned over; dead,
covered and clipping ones are left out. What was found is told in Health, with what to do, and taken back when it is
mended. Two microphones that were swapped sound right each by itself: only the geometry can tell (calibrate array).
"""
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
    offset: float = 0.002          # of full scale (-54 dBFS), smoothed over 1 s, from which it is taken off ...
    told_offset: float = 0.03      # ... and from which it is told: it takes room from loud sounds
    inverted_below: float = -0.6   # correlation with most others below 1 kHz, where neighbours hear the same wave
    inverted_after: float = 3.0    # s; motors may shake two microphones against each other for a moment
    lost_share: float = 0.02       # of the blocks of the last seconds before which sound was lost
    unreferenced_after: float = 1.5   # s of speaking without reference; the voice and its reference may start apart
    recover_after: float = 2.0     # s of good signal before a part is called good again


@dataclass(frozen=True, slots=True)
class Checked:
    """One block that is safe to compute with."""

    mics: Samples                  # (M, 160) finite
    reference: Samples             # (160,) finite
    usable: NDArray[np.bool_]      # (M,)
    health: tuple[Health, ...]     # changes only


class _Part:
    """The state of one microphone, of all together or of the reference; says a change once."""

    def __init__(self, name: str):
        self.name = name
        self.level: Level = "ok"
        self.usable = True
        self._good_s = 0.0

    def judge(self, t: float, found: "_Found", recover_after: float) -> Health | None:
        if found.level == "ok" and self.level != "ok":
            self._good_s += LOOK_BLOCKS * BLOCK_S
            if self._good_s < recover_after:
                return None
        if found.level != "ok":
            self._good_s = 0.0
        self.usable = found.usable
        if found.level == self.level:
            return None
        self.level = found.level
        return Health(t, self.name, found.level, found.reason)


@dataclass(frozen=True, slots=True)
class _Found:
    level: Level = "ok"
    reason: str = ""
    usable: bool = True


class Microphones:
    """Makes every block safe to compute with; looks at the sound's health ten times a second."""

    def __init__(self, mics: int, config: MicrophonesConfig = MicrophonesConfig()):
        self.config = config
        self._parts = [_Part(f"microphone_{m}") for m in range(mics)]
        self._array, self._reference = _Part("microphones"), _Part("reference")
        self._usable = np.ones(mics, bool)
        self._waiting: list[Samples] = []          # microphones and reference (M + 1, 160)
        self._absent = np.zeros(mics + 1)          # share of a second's blocks with numbers that are not finite
        self._absent_now = np.zeros(mics + 1)
        self._lost = self._lost_now = 0.0          # share of blocks after lost sound
        self._unchanged = np.zeros(mics)           # s
        self._clipped = np.zeros(mics)             # share of samples
        self._power = np.zeros(mics)
        self._weak = np.zeros(mics)                # s
        self._last = np.full(mics, np.nan)
        self._mean = np.zeros(mics + 1)            # smoothed over 1 s
        self._common = np.zeros((mics, mics))      # covariance below 1 kHz, smoothed over 1 s
        self._against = np.zeros(mics)             # s that a microphone moves against the others
        self._unreferenced = 0.0                   # s of speaking without reference
        self._repair: Samples | None = None        # (M + 1, 2) offset and sign

    def step(self, block: AudioBlock, speaks: bool | None = None) -> Checked:
        """speaks: whether sound is handed to the loudspeaker, as far as the caller knows it beside the reference."""
        sound = np.concatenate([block.mics, block.reference[None]])
        if not np.isfinite(sound).all():
            self._absent_now += ~np.isfinite(sound).all(axis=1)
            sound[~np.isfinite(sound)] = 0
        np.maximum(np.minimum(sound, 1, out=sound), -1, out=sound)
        self._lost_now += block.gap
        self._waiting.append(sound)
        sounds = speaks is not True or bool(sound[-1].any())
        self._unreferenced = 0.0 if sounds else self._unreferenced + BLOCK_S
        health: tuple[Health, ...] = ()
        if len(self._waiting) == LOOK_BLOCKS:
            health = self._look(block.t, np.concatenate(self._waiting, axis=1))
            self._waiting.clear()
        if self._repair is not None:
            sound = (sound - self._repair[:, :1]) * self._repair[:, 1:]
        return Checked(sound[:-1], sound[-1], self._usable, health)

    def _look(self, t: float, sound: Samples) -> tuple[Health, ...]:
        """Judge the newest tenth of a second (M + 1, n)."""
        config = self.config
        self._follow(sound)
        alive = self._unchanged < config.dead_after
        typical = sorted(self._power[alive])[(int(alive.sum()) - 1) // 2] if alive.any() else 0.0
        weak = self._power < typical * 10 ** (-config.weak_db / 10)
        self._weak = np.where(weak & alive, self._weak + LOOK_BLOCKS * BLOCK_S, 0.0)
        inverted = self._inverted(sound[:-1], alive & ~weak)
        found = [part.judge(t, self._of_microphone(m, bool(alive[m]), bool(inverted[m])), config.recover_after)
                 for m, part in enumerate(self._parts)]
        found.append(self._array.judge(t, self._of_array(bool(alive.any())), 0.0 if alive.any() else 1.0))
        found.append(self._reference.judge(t, self._of_reference(), 1.0))
        self._usable = np.array([part.usable for part in self._parts])
        offset = np.where(np.abs(self._mean) > config.offset, self._mean, 0.0)
        sign = np.append(np.where(inverted, -1.0, 1.0), 1.0)
        whole = not offset.any() and (sign > 0).all()
        self._repair = None if whole else np.stack([offset, sign], axis=1).astype(np.float32)
        return tuple(change for change in found if change is not None)

    def _follow(self, sound: Samples) -> None:
        took = LOOK_BLOCKS * BLOCK_S
        keep = 1 - took                            # about one second of memory
        mics, means = sound[:-1], sound.mean(axis=1)
        still = (mics.max(axis=1) == mics.min(axis=1)) & ((mics[:, 0] == self._last) | np.isnan(self._last))
        self._last = mics[:, -1].astype(float)
        self._unchanged = np.where(still, self._unchanged + took, 0.0)
        self._clipped = keep * self._clipped + took * (np.abs(mics) > self.config.clip_level).mean(axis=1)
        self._power = 0.7 * self._power + 0.3 * (np.square(mics).mean(axis=1) - means[:-1]**2)   # 0.3 s
        moving = np.append(~still, True)           # a stuck converter says nothing about the offset of a working one
        self._mean = np.where(moving, keep * self._mean + took * means, self._mean)
        self._absent = keep * self._absent + took * self._absent_now / LOOK_BLOCKS
        self._lost = keep * self._lost + took * self._lost_now / LOOK_BLOCKS
        self._absent_now, self._lost_now = np.zeros_like(self._absent), 0.0

    def _inverted(self, mics: Samples, sound: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which move against most of the others; with fewer than three nobody can tell who is right."""
        low = mics.reshape(len(mics), -1, 8).mean(axis=2)
        low = low - low.mean(axis=1, keepdims=True)
        took = LOOK_BLOCKS * BLOCK_S
        self._common += took * (low @ low.T - self._common)
        scale = np.sqrt(self._common.diagonal()) + 1e-9
        alike = self._common / np.outer(scale, scale)
        limit = np.where(self._against >= self.config.inverted_after, 0.0, self.config.inverted_below)
        opposed = ((alike < limit[:, None]) & sound).sum(axis=1)
        others = int(sound.sum()) - 1
        against = sound & (2 * opposed > others) & (others > 1)
        self._against = np.where(against, self._against + took, 0.0)
        inverted = self._against >= self.config.inverted_after
        return inverted & (2 * inverted.sum() < sound.sum())

    def _of_microphone(self, mic: int, alive: bool, inverted: bool) -> _Found:
        config = self.config
        if not alive:
            return _Found("gone", "the signal is constant: check its cable and its channel", False)
        if self._absent[mic] > config.absent_share:
            return _Found("degraded", "not finite numbers: check the driver", False)
        if self._clipped[mic] > config.clip_share:
            return _Found("degraded", "the signal clips: lower its gain", False)
        if self._weak[mic] >= config.weak_after:
            return _Found("degraded", f"more than {config.weak_db:g} dB below the others: uncover or replace it", False)
        if inverted:
            return _Found("degraded", "inverted, turned over here: swap its two wires")
        if abs(self._mean[mic]) > config.told_offset:
            return _Found("degraded", f"a constant offset of {self._mean[mic]:+.2f}, taken off here: check its supply")
        return _Found()

    def _of_array(self, alive: bool) -> _Found:
        if not alive:
            return _Found("gone", "every microphone delivers a constant signal: choose the right sound card, unmute it")
        if self._lost > self.config.lost_share:
            return _Found("degraded", "sound is lost on the way: the sound card's bus or the computer is overloaded")
        return _Found()

    def _of_reference(self) -> _Found:
        if self._absent[-1] > self.config.absent_share:
            return _Found("degraded", "not finite numbers: check what is handed to the loudspeaker")
        if self._unreferenced > self.config.unreferenced_after:
            return _Found("gone", "the robot speaks but its reference is silent: record what the output in use plays")
        return _Found()
