"""What the live bench and its room say to each other, and what the person in the room does."""
from dataclasses import dataclass

import numpy as np

QUIET_S = 0.4                  # a pause between words is shorter
PATIENCE_S = 25.0              # for an answer; then the person asks again
REQUESTS = ("please tell me a long story", "hello robot, tell me a story", "could you tell me about yourself please")
INTERRUPTIONS = ("no wait, I meant something else", "stop, please stop talking", "hold on, what is your name?",
                 "sorry, what time is it?", "wait a moment, who is there?")


@dataclass(frozen=True)
class RoomSetup:
    """seed: of the room, the plan and the noise."""

    seed: int
    interrupts: bool = True            # False: the person only asks and listens


@dataclass(frozen=True, slots=True)
class Talked:
    """A sentence. Times in s on the monotonic clock; sounds: the robot was speaking when it began."""

    onset: float
    end: float
    text: str
    sounds: bool


@dataclass(frozen=True, slots=True)
class Fell:
    """The loudspeaker fell silent for QUIET_S at `t`, after speech of `for_s`."""

    t: float
    for_s: float


@dataclass(frozen=True, slots=True)
class Ready:
    """The room runs. echo_s: from the rig's loudspeaker through this loop to its microphones: in all latencies."""

    echo_s: float


@dataclass(frozen=True, slots=True)
class RoomFigures:
    """Of the room's own streams."""

    blocks: int
    xruns: int


@dataclass
class Plan:
    """What the person does next: ask, wait until the robot is in the middle of its answer, interrupt, listen."""

    rng: np.random.Generator
    interrupts: bool
    _state: str = "rest"
    _at: float = 3.0                   # s, when to act
    _asked: int = 0
    _middle: float = 0.0               # s of answer after which to interrupt

    def step(self, t: float, sounding_s: float, quiet_s: float) -> str | None:
        """What to say now. sounding_s, quiet_s: for how long the robot has spoken and been silent (s)."""
        if self._state == "rest" and t >= self._at and quiet_s > 1.5:
            self._state, self._at = "asked", t + PATIENCE_S
            self._middle = float(self.rng.uniform(2.0, 6.0))
            self._asked += 1
            return str(self.rng.choice(REQUESTS)) if self._asked > 1 else REQUESTS[0]
        if self._state == "asked":
            if sounding_s > self._middle and self.interrupts:
                self._state, self._at = "interrupted", t + 8.0
                return str(self.rng.choice(INTERRUPTIONS))
            if t > self._at + (60.0 if sounding_s else 0.0):
                self._state, self._at = "rest", t
        if self._state == "interrupted" and t > self._at and quiet_s > 1.0:
            self._state, self._at = "rest", t + float(self.rng.uniform(1.0, 3.0))
        return None
