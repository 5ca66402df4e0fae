"""What of the robot works, in one line: its ears, eyes, joints and engine, from the health of their parts."""
from dataclasses import dataclass, field

from calibration.health import Health, Level
from dialogue.events import Event
from robot.tick import Inputs, Tick

GROUPS: dict[str, tuple[str, ...]] = {
    "ears": ("microphone", "microphones", "reference", "loudspeaker", "sound", "audio", "array"),
    "eyes": ("camera", "detector"),
    "joints": ("servo", "reachy", "motion", "body"),
    "engine": ("engine", "recogniser", "voice"),
}
AUXILIARY = ("array", "array_register", "reference", "loudspeaker")   # without one of them its group still works
_ORDER: tuple[Level, ...] = ("gone", "degraded", "ok")


def group_of(part: str) -> str:
    """`microphone_2` belongs to the ears; a part of no group stands for itself."""
    word = part.split("_")[0]
    return next((group for group, words in GROUPS.items() if word in words), part)


def health_of(event: Event) -> Health | None:
    """The change of health that an event of the log tells, if it tells one."""
    facts = dict(event.facts)
    if event.name == "health":
        return Health(event.t, str(facts["of"]), facts["level"], str(facts["reason"]))   # type: ignore[arg-type]
    if event.name == "engine":
        level: Level = "ok" if facts["state"] == "ready" else "gone" if facts["state"] == "lost" else "degraded"
        return Health(event.t, "engine", level, "" if level == "ok" else str(facts["reason"]))
    return None


@dataclass
class Parts:
    """Follows every tick. expected: groups that this robot was configured with; the others are off."""

    expected: tuple[str, ...] = tuple(GROUPS)
    _told: dict[str, Health] = field(default_factory=dict)
    _works: set[str] = field(default_factory=set)

    def note(self, inputs: Inputs, tick: Tick) -> tuple[Health, ...]:
        """Takes in one tick; returns the changes of health that it told."""
        for group, came in (("ears", inputs.audio or inputs.array), ("eyes", inputs.faces),
                            ("joints", inputs.joints is not None), ("engine", inputs.replies)):
            if came:
                self._works.add(group)
        told = (health_of(event) for event in tick.events)
        changes = inputs.health + tuple(change for change in told if change is not None)
        for change in changes:
            self._told[change.part] = change
        return changes

    @property
    def waited_for(self) -> tuple[str, ...]:
        """Expected groups that have neither delivered anything nor said that they cannot."""
        tried = self._works | {group_of(part) for part in self._told}
        return tuple(group for group in self.expected if group not in tried)

    def line(self) -> str:
        """`ears ok; eyes gone: no camera; joints ok; engine ok`, groups in order, then other parts in trouble."""
        words = [f"{group} {self._state(group) if group in self.expected else 'off'}" for group in GROUPS]
        others = [part for part, told in self._told.items() if told.level != "ok" and group_of(part) not in GROUPS]
        return "; ".join(words + [f"{part} {self._state(part)}" for part in sorted(others)])

    def _state(self, group: str) -> str:
        if group in self.waited_for:
            return "waited for"
        told = [health for part, health in self._told.items() if group_of(part) == group]
        worst = min(told, key=lambda health: _ORDER.index(health.level), default=None)
        if worst is None or worst.level == "ok":
            return "ok"
        one_of_many = worst.part in AUXILIARY or worst.part[-1].isdigit()      # microphone_2, servo_13
        level = "degraded" if one_of_many else worst.level
        named = "" if worst.part == group else f"{worst.part}: "
        return f"{level}: {named}{worst.reason}"
