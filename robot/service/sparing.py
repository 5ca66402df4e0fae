"""What the robot leaves out when its machine is short of something, and what it says about it.

lean: fewer pictures, no recognition before a turn is over. voice_only: no pictures, calm motion, the lightest engine.
safe: it lies down and only apologises.
"""
from dataclasses import dataclass, field, replace

from calibration.health import Health
from dialogue.engine import Candidate, Commit, EngineTrouble, Prompt, Request
from dialogue.events import Event
from dialogue.floor import ROBOT_SOUNDS, State
from dialogue.loop import Turn
from motion.intent import MotionIntent
from perception.people import Person
from robot.service.vitals import LEVELS, Degradation, Level
from robot.tick import Inputs, health_events

CALM_URGENCY = 0.2        # of a turn: the head gets there, half as fast and half as loud
PROCESS = "_process"      # how the part of a child process is called in Health: camera_process, servo_process, ...
ENGINE = "engine_process"


@dataclass(frozen=True, slots=True)
class Means:
    """What can be afforded in this tick. camera_fps: at most so many pictures a second; None: as configured."""

    level: Level = "full"
    reason: str = ""                  # to say aloud
    camera_fps: float | None = None
    announces: str = ""               # words to say when there is somebody to hear them; empty: nothing new
    events: tuple[Event, ...] = ()

    @property
    def lies(self) -> bool:
        """The body lies down, and looks at nobody."""
        return self.level == "safe"

    def spare(self, turn: Turn) -> Turn:
        """A tick's wishes without what cannot be afforded."""
        if self.level == "full":
            return replace(turn, events=turn.events + self.events) if self.events else turn
        requests = tuple(self._request(request, turn.floor) for request in turn.requests
                         if not self._spares(request, turn.floor))
        return replace(turn, intent=self._intent(turn.intent), requests=requests, events=turn.events + self.events)

    def _spares(self, request: Request, floor: State) -> bool:
        """Words ahead of a turn's end are a second recognition; what is said over the voice is recognised only so."""
        return isinstance(request, Candidate) and floor not in ROBOT_SOUNDS

    def _request(self, request: Request, floor: State) -> Request:
        if not isinstance(request, Commit) or self.level == "lean":
            return request
        if self.level == "voice_only":
            return replace(request, light=True)
        return Prompt(request.t, f"say: I am sorry, I have to rest: {self.reason}.", request.generation)

    def _intent(self, intent: MotionIntent) -> MotionIntent:
        if self.level == "lean" or intent.mode in ("sleep", "park"):
            return intent
        if self.level == "safe":
            return replace(intent, mode="park", gesture=None, hold_still=False, reason=f"rests: {self.reason}")
        mode = "listen" if intent.mode == "idle" else intent.mode         # no idle looks
        return replace(intent, mode=mode, gesture=None, urgency=min(intent.urgency, CALM_URGENCY))


@dataclass
class Sparing:
    """The stage of the mind: from what the machine tells to what can be afforded."""

    degradation: Degradation = field(default_factory=Degradation)
    _reason: str = ""
    _alone_since: float = 0.0         # s

    def step(self, inputs: Inputs, known: tuple[Person, ...]) -> Means:
        """known: who is believed to be there."""
        t, before = inputs.t, self.degradation.level
        dead = [health.part for health in inputs.health if health.level == "gone" and health.part.endswith(PROCESS)]
        dead += [ENGINE for reply in inputs.replies if isinstance(reply, EngineTrouble) and reply.died]
        moved = self.degradation.step(t, inputs.vitals, inputs.late, (block.t for block in inputs.audio), dead)
        if known:
            self._alone_since = t
        level = self.degradation.level
        if moved is None:
            return Means(level, self._reason, self._fps(t, level))
        falls = LEVELS.index(level) > LEVELS.index(before)
        self._reason = self.degradation.strain.aloud if falls else self._reason
        words = _announced(before, level, self._reason)
        told = Event(t, "degradation", (("level", level), ("before", before), ("reason", moved[1]), ("aloud", words)))
        health = Health(t, "board", "ok" if level == "full" else "degraded", f"{level}: {moved[1]}")
        return Means(level, self._reason, self._fps(t, level), words, (told, *health_events((health,))))

    def _fps(self, t: float, level: Level) -> float | None:
        config = self.degradation.config
        if level in ("voice_only", "safe"):
            return 0.0
        if level == "lean":
            return config.lean_fps
        return config.alone_fps if t - self._alone_since > config.alone_after_s else None


def _announced(before: Level, level: Level, reason: str) -> str:
    """Only what people notice is said: a face that looks at nobody, a robot that does not answer, and its return."""
    if level == "safe":
        return f"I have to rest now: {reason}. I am sorry."
    if level == "voice_only" and before == "lean":
        return f"I close my eye for a while: {reason}."
    if level == "voice_only":
        return "I can listen again."
    return "I can see again." if before == "voice_only" else ""
