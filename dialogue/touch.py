"""What a touch does to the robot: it is glad of a stroke and purrs, and answers a tap with a tap and a look.

A touch never takes the floor: words go on, and while anybody is listened to nothing vibrates, because a motor in the
case is noise for the microphones like any other.
"""
from collections.abc import Sequence
from dataclasses import dataclass, replace

from firmware_bridge.haptics import REST
from firmware_bridge.touch import Touch
from motion.intent import Gaze, MotionIntent
from perception.people import Person

FELT = {"stroke": "purr", "tap": "tap", "hold": "heartbeat"}


@dataclass(frozen=True, slots=True)
class TouchConfig:
    """Times in s."""

    glad: float = 4.0          # after a stroke or a hold
    look: float = 2.0          # at the one it knows, after a tap
    known: float = 60.0        # since somebody was heard or seen, for whom a tap is taken
    settle: float = 0.5        # of quiet before anything vibrates again
    owed: float = 1.5          # that a touch felt meanwhile is still answered: later it would seem to come from nowhere


class TouchReplies:
    """Changes the intent of a tick, and names a vibration to begin in it."""

    def __init__(self, config: TouchConfig = TouchConfig()):
        self.config = config
        self._glad_until = self._look_until = 0.0
        self._known: Person | None = None
        self._shakes = False              # a pattern may still run
        self._quiet_until = 0.0
        self._owed: tuple[str, float] | None = None      # pattern, and until when (s) it is an answer

    def step(self, t: float, touches: Sequence[Touch], people: Sequence[Person], intent: MotionIntent,
             listens: bool) -> tuple[MotionIntent, str | None]:
        """The tick at t (s). listens: somebody speaks or may speak. The haptic: a pattern, REST, or None: as it is."""
        self._know(people)
        if intent.mode in ("sleep", "park"):
            return intent, self._rest()
        for touch in touches:
            if touch.kind == "tap":
                self._look_until = t + self.config.look
            else:
                self._glad_until = t + self.config.glad
            self._owed = FELT[touch.kind], t + self.config.owed
        haptic = None
        if listens or intent.hold_still or intent.mode in ("listen", "still"):
            self._quiet_until, haptic = t + self.config.settle, self._rest()
        elif self._owed is not None and t >= self._quiet_until:
            pattern, until = self._owed
            self._owed = None
            if t <= until:
                haptic, self._shakes = pattern, True
        return self._felt(t, intent), haptic

    def _rest(self) -> str | None:
        shakes, self._shakes = self._shakes, False
        return REST if shakes else None

    def _know(self, people: Sequence[Person]) -> None:
        """Who was with the robot last: the one heard, else the one who looks at it most."""
        if people:
            self._known = max(people, key=lambda p: (p.heard_at or -1.0, p.attention, p.seen_at or -1.0, p.id))

    def _felt(self, t: float, intent: MotionIntent) -> MotionIntent:
        if t < self._glad_until and intent.mood == "neutral":
            intent = replace(intent, mood="glad")
        person = self._known
        if t >= self._look_until or intent.mode != "idle" or person is None:
            return intent                 # whoever it talks with keeps its eyes
        if t - max(person.heard_at or -1e9, person.seen_at or -1e9) > self.config.known:
            return intent
        gaze = Gaze(person.azimuth, person.elevation, person.distance)
        return replace(intent, gaze=gaze, urgency=0.4, reason=f"a tap: looks at {person.id}")
