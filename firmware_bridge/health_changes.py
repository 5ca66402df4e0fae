"""Trouble told once when it begins and once when it is over, however often it is seen."""
from dataclasses import dataclass, field

from calibration.health import Health, Level

_RANK = {"ok": 0, "degraded": 1, "gone": 2}


@dataclass(slots=True)
class Trouble:
    """One standing kind of trouble of a part."""

    level: Level
    reason: str
    over_at: float | None = None     # s; None: not seen to be over


@dataclass(slots=True)
class HealthChanges:
    """`begins` and `ends` may be called as often as one likes; `changes` gives what is new."""

    _standing: dict[str, dict[str, Trouble]] = field(default_factory=dict)
    _ending: set[tuple[str, str]] = field(default_factory=set)
    _new: list[Health] = field(default_factory=list)

    def begins(self, t: float, part: str, kind: str, level: Level, reason: str) -> None:
        """Trouble `kind` of `part` is seen."""
        kinds = self._standing.setdefault(part, {})
        known = kinds.get(kind)
        if known is not None and known.level == level:
            known.over_at = None
            return
        kinds[kind] = Trouble(level, reason)
        self._new.append(Health(t, part, _worst(kinds).level, reason))

    def inherit(self, trouble: Health, kind: str) -> None:
        """Trouble that somebody else told before: it is not told again, only its end is."""
        self._standing.setdefault(trouble.part, {})[kind] = Trouble(trouble.level, trouble.reason)

    def ends(self, t: float, part: str, kind: str, calm_s: float) -> None:
        """Trouble `kind` is not there now; it is over if it stays away for calm_s."""
        known = self._standing.get(part, {}).get(kind)
        if known is not None and known.over_at is None:
            known.over_at = t + calm_s
            self._ending.add((part, kind))

    def changes(self, t: float) -> tuple[Health, ...]:
        """What has begun or ended since the call before."""
        if self._ending:
            self._finish(t)
        if not self._new:
            return ()
        new, self._new = tuple(self._new), []
        return new

    @property
    def any_standing(self) -> bool:
        return any(self._standing.values())

    def stands(self, part: str, kind: str) -> bool:
        return kind in self._standing.get(part, {})

    def _finish(self, t: float) -> None:
        """What was due to end, one line a part."""
        over: dict[str, Trouble] = {}
        for part, kind in sorted(self._ending):
            trouble = self._standing[part][kind]
            if trouble.over_at is not None and t < trouble.over_at:
                continue
            self._ending.discard((part, kind))
            if trouble.over_at is not None:
                over[part] = self._standing[part].pop(kind)
        for part, trouble in over.items():
            if kinds := self._standing[part]:
                self._new.append(Health(t, part, _worst(kinds).level, _worst(kinds).reason))
            else:
                self._new.append(Health(t, part, "ok", f"over: {trouble.reason}"))


def _worst(kinds: dict[str, Trouble]) -> Trouble:
    return max(kinds.values(), key=lambda trouble: _RANK[trouble.level])
