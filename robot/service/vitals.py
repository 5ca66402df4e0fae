"""How the robot does as a machine, and what it can still afford: full, lean, voice_only or safe.

Pure: samples of the machine come in as a recorded input, the level is decided inside the tick, a replay decides the
same. A level falls one step at a time, vision first, and rises again slowly; both with a reason in words.
"""
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from robot.service.audio_loss import AudioLoss

Level = Literal["full", "lean", "voice_only", "safe"]
LEVELS: tuple[Level, ...] = ("full", "lean", "voice_only", "safe")
Limits = tuple[float, float, float]          # from which on a measure asks for lean, voice_only, safe


@dataclass(frozen=True, slots=True)
class ProcessVitals:
    """One process of the robot's tree."""

    name: str
    cpu: float            # share of one core since the sample before
    rss: int              # bytes resident
    fds: int              # open file descriptors


@dataclass(frozen=True, slots=True)
class Vitals:
    """The machine at time t, sampled once a second in a process of its own. None: this system does not tell."""

    t: float                             # s, monotonic clock of the run
    cpu_wait: float | None = None        # 0..1 of the last 10 s in which some process waited for a processor (PSI)
    load: float | None = None            # runnable processes for each processor, mean of a minute
    memory: float | None = None          # 0..1 in use: of the machine or of the service's own limit, the fuller one
    memory_wait: float | None = None     # 0..1 of the last 10 s in which some process waited for memory (PSI)
    temperature: float | None = None     # degrees C, the hottest zone
    processes: tuple[ProcessVitals, ...] = ()


@dataclass(frozen=True, slots=True)
class VitalsConfig:
    """From where on which level holds, as (lean, voice_only, safe). A share over 1 is never reached."""

    temperature: Limits = (75.0, 80.0, 85.0)   # degrees C: a Compute Module 4 slows down at 80 and more so at 85
    memory: Limits = (0.85, 0.92, 0.97)        # used: pages are thrown out and read again long before the killer comes
    memory_wait: Limits = (0.10, 0.30, 0.60)   # of the time: at a tenth it reads its own code from the card again
    cpu_wait: Limits = (0.80, 0.95, 2.0)       # of the time: the engine's bursts alone make a third on two cores
    load: Limits = (2.0, 4.0, 100.0)           # processes a core; alone never safe: with ticks on time the robot works
    late: Limits = (0.10, 0.30, 0.80)          # of the ticks: a hiccup of 0.3 s makes 6 %, and is none of these
    audio: Limits = (0.05, 0.20, 2.0)          # of the sound lost: recognition suffers from 5 % on
    late_s: float = 0.01                       # s: a tick that late is one whole tick behind
    starts_s: float = 10.0                     # s in which late ticks do not count: models load, and it catches up
    window_s: float = 5.0                      # s, over which ticks and sound are counted (time constant)
    eases: float = 0.8                         # of a limit: below it the limit is no longer held against the robot
    cools: float = 5.0                         # degrees C below a limit, for the same: a fan's own swing is 3
    falls_after_s: float = 2.0                 # s between two steps down: vision goes first, then see if that helps
    rises_after_s: float = 20.0                # s of calm before a step up: what was shut comes back with its load
    deaths: int = 3                            # of one child within ...
    deaths_s: float = 60.0                     # ... s: starting it again costs more than it gives
    stale_s: float = 5.0                       # s: an older sample says nothing
    outage_s: float = 2.0                      # s without any sound: the device is gone, and less load does not help
    lean_fps: float = 3.0                      # pictures a second: a face is found in 0.4 s, at a third of the cost
    alone_after_s: float = 60.0                # s without anybody, after which ...
    alone_fps: float = 3.0                     # ... so many pictures a second will do (a fan is heard, field log F54)


@dataclass(frozen=True, slots=True)
class Strain:
    """What asks for a level: the measure, how far it asks to go down, and why in words, for the log and aloud."""

    measure: str
    steps: int                # into LEVELS
    reason: str
    aloud: str


CALM = Strain("", 0, "everything is calm again", "")
ALOUD = {"temperature": "I am getting too warm", "memory": "my memory is nearly full",
         "memory_wait": "my memory is nearly full", "cpu_wait": "there is too much to do at once",
         "load": "there is too much to do at once", "late": "I cannot keep up", "audio": "I lose pieces of what I hear",
         "deaths": "a part of me keeps failing"}


def steps_of(value: float, limits: Limits, eased: Limits, before: int) -> int:
    """How far down a value asks to go; a limit that was met holds until the value is below its `eased` one."""
    return max((k for k in (1, 2, 3) if value >= limits[k - 1] or (before >= k and value >= eased[k - 1])), default=0)


@dataclass
class Degradation:
    """Follows the machine tick by tick. `level` is what holds."""

    config: VitalsConfig = field(default_factory=VitalsConfig)
    level: Level = "full"
    strain: Strain = CALM                # the worst of this tick
    late: float = 0.0                    # 0..1 of the ticks, lately
    lost: float = 0.0                    # 0..1 of the sound, lately
    _sound: AudioLoss = field(default_factory=AudioLoss)
    _vitals: Vitals | None = None
    _steps: dict[str, int] = field(default_factory=dict)
    _died: dict[str, deque[float]] = field(default_factory=dict)
    _failing: dict[str, float] = field(default_factory=dict)     # children that keep dying, and their last death (s)
    _since: float = 0.0                  # s, when the level or the way it should go last changed
    _way: int = 0                        # -1 should rise, 1 should fall

    def step(self, t: float, vitals: Vitals | None, late_s: float, heard: Iterable[float],
             dead: Iterable[str]) -> tuple[Level, str] | None:
        """One tick at t (s). A change of the level and its reason, or None.

        vitals: a new sample; late_s: by which this tick was late; heard: times (s) of the ends of the audio blocks that
        came; dead: names of children that have just died.
        """
        self._count(t, late_s, heard)
        for child in dead:
            self._bury(t, child)
        if vitals is not None:
            self._vitals = vitals
        self.strain = max(self._strains(t), key=lambda strain: strain.steps, default=CALM)
        return self._moved(t)

    def _count(self, t: float, late_s: float, heard: Iterable[float]) -> None:
        share = 0.01 / self.config.window_s              # of one tick in the window
        counts = late_s >= self.config.late_s and t >= self.config.starts_s
        self.late += share * (float(counts) - self.late)
        lost = self._sound.step(t, heard)
        self.lost = (0.0 if self._sound.silent_for(t) >= self.config.outage_s
                     else min(1.0, self.lost * (1 - share) + lost / self.config.window_s))

    def _bury(self, t: float, child: str) -> None:
        died = self._died.setdefault(child, deque(maxlen=self.config.deaths))
        died.append(t)
        if len(died) == self.config.deaths and t - died[0] <= self.config.deaths_s:
            self._failing[child] = t

    def _strains(self, t: float) -> list[Strain]:
        config, vitals = self.config, self._vitals
        if vitals is not None and t - vitals.t > config.stale_s:
            vitals = None
        found = [self._asks("late", self.late, "{:.0%} of the ticks come late"),
                 self._asks("audio", self.lost, "{:.0%} of the sound is lost")]
        if vitals is not None:
            found += [self._asks("temperature", vitals.temperature, "the board has {:.0f} degrees C"),
                      self._asks("memory", vitals.memory, "{:.0%} of the memory is used"),
                      self._asks("memory_wait", vitals.memory_wait, "processes wait {:.0%} of the time for memory"),
                      self._asks("cpu_wait", vitals.cpu_wait, "processes wait {:.0%} of the time for a processor"),
                      self._asks("load", vitals.load, "{:.1f} processes for each processor")]
        self._failing = {child: last for child, last in self._failing.items() if t - last <= config.deaths_s}
        if self._failing:      # one step each: more would not help a child that dies whatever is left out
            reason = f"{', '.join(self._failing)} died {config.deaths} times in {config.deaths_s:.0f} s"
            found.append(Strain("deaths", min(len(self._failing), 3), reason, ALOUD["deaths"]))
        return found

    def _asks(self, measure: str, value: float | None, words: str) -> Strain:
        if value is None:
            return CALM
        limits: Limits = getattr(self.config, measure)
        lean, voice, safe = limits
        if measure == "temperature":
            eased = (lean - self.config.cools, voice - self.config.cools, safe - self.config.cools)
        else:
            eased = (lean * self.config.eases, voice * self.config.eases, safe * self.config.eases)
        steps = steps_of(value, limits, eased, self._steps.get(measure, 0))
        self._steps[measure] = steps
        return Strain(measure, steps, words.format(value), ALOUD[measure])

    def _moved(self, t: float) -> tuple[Level, str] | None:
        """One step towards what is asked for, when that has been asked for long enough."""
        now = LEVELS.index(self.level)
        way = (self.strain.steps > now) - (self.strain.steps < now)
        if way != self._way:
            self._way, self._since = way, t
        patience = self.config.falls_after_s if way > 0 else self.config.rises_after_s
        if way == 0 or t - self._since < patience:
            return None
        self._since = t
        self.level = LEVELS[now + way]
        return self.level, self.strain.reason if self.strain.steps else CALM.reason
