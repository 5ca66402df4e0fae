"""A life for the simulated robot, for hours: people come, talk, interrupt and go, every device fails now and then, and
there are nights.

Drawn from a seed; what is kept of it is bounded, so that growth in a soak is the robot's own.
"""
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from perception.audio.block import Samples
from robot.bodies.room import noises
from robot.bodies.room.loudspeaker import PlayedLog
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import Room, RoomPerson
from robot.bodies.room.voices import spoken
from robot.bodies.simulated import SimulatedBody
from robot.interaction.faulty_engine import EngineFaults
from robot.interaction.scripted_answers import TrueWords
from robot.interaction.timeline import Fault

PEOPLE = (PersonScript("anna", 0.3, 1.1, voice="slt", face="astronaut"),
          PersonScript("bo", 2.4, 1.4, voice="rms", present=False),
          PersonScript("cleo", -1.2, 1.3, voice="awb", present=False))
ASKS = ("what is your name?", "what time is it?", "who is there?", "how are you?", "please tell me a long story",
        "tell me about yourself.", "do you like music?", "what day is it today?", "my name is Anna.", "go on")
OVER = ("no wait, I meant something else", "stop", "mm-hmm", "hold on, is that true?", "yeah")
GOOD_NIGHT, GOOD_MORNING = "go to sleep", "hello, wake up"
WORDS = (*ASKS, *OVER, GOOD_NIGHT, GOOD_MORNING)
NOISES = ("knock", "cough", "music", "babble", "fan")
DEVICES = (("microphone", "stall"), ("microphone", "gone"), ("loudspeaker", "stall"), ("loudspeaker", "slow"),
           ("camera", "gone"), ("servo_13", "stall"), ("servo_13", "hot"), ("servo_bus", "gone"), ("board", "hot"),
           ("board", "slow"), ("board", "full"))
ENGINE = (("gone", None), ("close", 1006), ("stall", None), ("slow", None), ("late_deltas", 10),
          ("duplicate_reply", None), ("never_answers", None), ("garbage", None))
KEPT = 64
RECOVERS_S = 12.0    # after a fault of the engine: 8 s of silence are waited for, then it says so, then it begins anew


@dataclass(frozen=True, slots=True)
class LifeConfig:
    """How busy a life is, in s; between two of a kind on average."""

    acts: float = 6.0            # something that a person does: an evening with guests
    faults: float = 60.0         # a device or the engine fails: far more than a real day has
    shortest: float = 0.5        # that a fault lasts
    longest: float = 12.0
    day: float = 2700.0          # from a morning to the night
    night: float = 900.0         # everybody has gone, the robot was told to sleep; everything of it goes on running
    stirs: float = 60.0          # a noise in the night


@dataclass
class BoundedLog(PlayedLog):
    """The loudspeaker's log without its past."""

    levels: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))          # type: ignore[assignment]
    generations: deque[int] = field(default_factory=lambda: deque(maxlen=KEPT))       # type: ignore[assignment]

    def cancel(self, generation: int) -> None:
        self.cancelled = {g for g in self.cancelled if g > generation - KEPT} | {generation}


@dataclass
class Life:
    """The script of a soak: called at the start of every tick."""

    body: SimulatedBody
    engine: EngineFaults
    words: TrueWords
    rng: np.random.Generator
    config: LifeConfig = field(default_factory=LifeConfig)
    done: dict[str, int] = field(default_factory=dict)        # what happened how often
    night: bool = False
    ill_until: float = -inf                                   # s: the engine fails, or has just failed
    _act_at: float = 1.0
    _fault_at: float = field(init=False)
    _turns_at: float = field(init=False)                      # s, the next evening or morning
    _empty_at: float = inf                                    # s, when the last one leaves the room
    _spoken: dict[tuple[str, str], Samples] = field(init=False)    # (who, words): sound

    def __post_init__(self) -> None:
        self.body.room.played = BoundedLog()
        self.body.script = self
        self._turns_at, self._fault_at = self.config.day, self.config.faults / 3
        noises.made("babble", 0.1, np.random.default_rng(0))     # who talks there, too, is read from files only once
        self._spoken = {(who.name, words): spoken(words, who.voice, who.name) for who in PEOPLE for words in WORDS}

    def __call__(self, t: float, room: Room) -> None:
        self.engine.now = t
        if t >= self._turns_at:
            self._turn(t, room)
        if t >= self._empty_at:
            self._empty_at = inf
            for person in room.people:
                person.leave(t)
        if t >= self._act_at:
            self._act_at = t + self.rng.exponential(self.config.stirs if self.night else self.config.acts)
            self._stir(t, room) if self.night else self._act(t, room)
        if t >= self._fault_at:
            self._fault_at = t + self.rng.exponential(self.config.faults)
            self._fail(t)
        del room.utterances[:-KEPT], self.words.said[:-KEPT]

    def _turn(self, t: float, room: Room) -> None:
        """Somebody says good night and leaves last, or comes back in the morning."""
        self.night = not self.night
        self._turns_at = t + (self.config.night if self.night else self.config.day)
        self._note("night" if self.night else "morning")
        person = room.people[0]
        person.enter(t)
        said_at = self._say(t, person, GOOD_NIGHT if self.night else GOOD_MORNING)
        self._act_at = said_at + (self.config.stirs if self.night else self.config.acts)
        self._empty_at = said_at + 2.0 if self.night else inf

    def _note(self, what: str) -> None:
        self.done[what] = self.done.get(what, 0) + 1

    def _of(self, things: Sequence):
        return things[int(self.rng.integers(len(things)))]

    def _say(self, t: float, person: RoomPerson, words: str) -> float:
        """Returns when (s) it has been said."""
        said = person.say(t, self._spoken[person.name, words], float(self.rng.uniform(-6, 6)), text=words)
        self.words.add(said.onset, said.end, said.text)
        return said.end

    def _act(self, t: float, room: Room) -> None:
        there = [person for person in room.people if person.figure.present]
        kind = self._of(("asks", "asks", "asks", "over", "over", "walks", "signs", "looks", "noise", "door"))
        if kind == "door" or not there:
            kind = self._door(t, self._of(room.people), len(there))
        elif kind in ("asks", "over"):
            self._say(t, self._of(there), self._of(ASKS if kind == "asks" else OVER))
        elif kind == "walks":
            self._of(there).walk_to(t, float(self.rng.uniform(-np.pi, np.pi)), float(self.rng.uniform(0.8, 1.6)), 4.0)
        elif kind == "signs":
            self._of((RoomPerson.nod, RoomPerson.shake_head, RoomPerson.wave, RoomPerson.sigh))(self._of(there), t)
        elif kind == "looks":
            self._of(there).look(t, self._of(("robot", "robot", "away")))
        else:
            room.noise(t, self._of(NOISES), for_s=float(self.rng.uniform(0.3, 3.0)))
        self._note(kind)

    def _stir(self, t: float, room: Room) -> None:
        room.noise(t, self._of(("knock", "fan")), for_s=float(self.rng.uniform(0.3, 3.0)))
        self._note("noise at night")

    def _door(self, t: float, person: RoomPerson, there: int) -> str:
        if person.figure.present and there > 1:
            person.leave(t)
            return "leaves"
        person.enter(t)
        return "enters"

    def _fail(self, t: float) -> None:
        lasts = float(np.exp(self.rng.uniform(np.log(self.config.shortest), np.log(self.config.longest))))
        if self.rng.random() < 0.4:
            kind, detail = self._of(ENGINE)
            self.engine.begin(Fault("engine", kind, lasts, detail))
            self.ill_until = max(self.ill_until, t + lasts + RECOVERS_S)
            self._note(f"engine {kind}")
        else:
            of, kind = self._of(DEVICES)
            self.body.fault(t, of, kind, lasts)
            self._note(f"{of} {kind}")
