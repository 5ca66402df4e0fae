"""Is the stream alive? A sound card can stop without an error, or deliver zeros; pure of clocks and devices."""
from dataclasses import dataclass, field

from robot.bodies.sound_config import SoundDeviceConfig


@dataclass(slots=True)
class SoundWatch:
    """Looks at counters; a reason is a verdict: close everything and begin afresh."""

    config: SoundDeviceConfig
    patience_s: float                  # of exactly zero microphones; longer after resets that did not help
    _captured: tuple[int, float] = field(default=(0, 0.0), init=False)    # (count, since when)
    _played: tuple[int, float] = field(default=(0, 0.0), init=False)

    def begin(self, now: float) -> None:
        """The streams were opened at `now` (s)."""
        self._captured = self._played = (0, now)

    def verdict(self, now: float, captured: int, played: int, active: tuple[bool, bool], silent_s: float,
                plays: bool) -> str | None:
        """captured, played: device blocks so far; active: of both streams; silent_s: of exact zeros from every
        microphone; plays: the robot sounds. Both may be asked at any interval."""
        self._captured = _changed(self._captured, captured, now)
        self._played = _changed(self._played, played, now)
        for name, (count, since), runs in (("microphones", self._captured, active[0]),
                                           ("loudspeaker", self._played, active[1])):
            if not runs:
                return f"the stream of the {name} ended: the device or the sound server is gone"
            age = now - since
            if age > (self.config.stall_s if count else self.config.first_s):
                return f"no sound block of the {name} for {age:.1f} s, and no error: the stream has stalled"
        if silent_s > self.patience_s and plays:
            return f"every microphone gave exact zeros for {silent_s:.1f} s while the robot spoke: reset"
        return None


def _changed(before: tuple[int, float], count: int, now: float) -> tuple[int, float]:
    return before if count == before[0] else (count, now)
