"""What active listening gains and costs, in closed loop: people interrupt the robot while it tells stories and moves.

The same robots, rooms, people and words with it and without; what the robot does changes what it hears, and how the
evening goes on. The person's level at the microphones is set against the robot's own voice there (near-end to echo).
Nobody is seen: pictures cost more than all else, and this is about hearing.
"""
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from dialogue.engines.scripted import ScriptedEngine
from dialogue.engines.voice import Voice
from dialogue.floor import ROBOT_SOUNDS
from dialogue.loop import Dialogue, DialogueConfig
from motion.intent import Gaze
from perception.audio.active_listening import ListeningConfig
from robot.bodies.room.ambience import MicrophoneConfig
from robot.bodies.room.motor_noise import MotorNoiseConfig
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import Room, RoomConfig
from robot.bodies.room.shoebox import BoxConfig
from robot.bodies.room.soundscape import SoundConfig
from robot.bodies.room.voices import VOICES
from robot.bodies.simulated import SimulatedBody
from robot.build import build_mind
from robot.clock import VirtualClock
from robot.config import MindConfig
from robot.interaction.scripted_answers import TrueWords, scripted_engine
from robot.runtime import run
from robot.tick import TICK_S, Inputs, Tick
from robot.worker import InlineWorker

LEVELS_DB = (0, -10, -20)      # near-end to echo, issue 3
ECHO_DB = -10.0                # a person at 1 m who speaks normally, over the robot's voice (LoudspeakerConfig)
HIT_S = 1.5                    # s from the onset in which the robot must stop (bench/hear)
MOTORS_DBFS = (-43.0, -31.0)   # one joint at 1 rad/s: over the person as loud as on the bench (-5 to 15 dB), and more
LOOKS_S = (0.9, 1.6)           # s between looks elsewhere: it turns most of the time
LOOKS_RAD = (0.45, 1.0)        # size of a look
SPOKE_S = 2.5                  # s that it must have spoken before it is interrupted
PAUSE_S = (4.0, 7.0)           # s between interruptions
WORDS = ("no wait, tell me another story", "stop, I want to hear a different story", "hold on, is this a true story",
         "excuse me, what is this story about", "sorry, can you tell the story of the cat",
         "I already know this story, another one please")
BEGIN = "please tell me a long story"
THRESHOLDS = (-4.0, -3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)   # of the evidence, for the table
EARLY_S = 0.35                 # s after the onset by which weak evidence must stand to be of use


@dataclass(frozen=True, slots=True)
class Interruption:
    """Something said over the robot. level_db: near-end to echo; onset, end: s at microphone 0."""

    level_db: int
    onset: float
    end: float


@dataclass
class Evening:
    """The script of one run, and what the robot did in it."""

    dialogue: Dialogue
    words: TrueWords
    rng: np.random.Generator
    planned: list[tuple[int, str, float]]                       # level, words, pause before; from the last to the first
    interruptions: list[Interruption] = field(default_factory=list)
    rows: list[tuple[float, float, bool, bool, bool]] = field(default_factory=list)  # evidence motors speaks hold low
    events: list[tuple[float, str]] = field(default_factory=list)
    powers: list[tuple[float, float, float]] = field(default_factory=list)           # near end, echo, motors
    _speaks_since: float | None = None
    _silent_since: float = 0.0
    _free_at: float = 4.0
    _look_at: float = 0.0
    _azimuth: float = 0.0

    def act(self, t: float, room: Room) -> None:
        """The start of the tick at t (s): look around, interrupt, or ask for a story."""
        speaks, idle = self.dialogue.floor.state in ROBOT_SOUNDS, self.dialogue.floor.state == "idle"
        near, echo, motors = (float(np.vdot(room.stems[part], room.stems[part])) for part in ("near", "echo", "motors"))
        self.powers.append((near, echo, motors))
        self._speaks_since = (t if self._speaks_since is None else self._speaks_since) if speaks else None
        self._silent_since = self._silent_since if idle else t
        looked = speaks and t >= self._look_at
        if looked:
            self._look(t)
        if speaks and looked and t >= self._free_at and self.planned and t - (self._speaks_since or t) > SPOKE_S:
            level, text, pause = self.planned.pop()
            said = self._say(t + 0.15, room, text, level - ECHO_DB)       # into the turn that has just begun
            self.interruptions.append(Interruption(level, said[0], said[1]))
            self._free_at = said[1] + pause
        elif idle and t - self._silent_since > 1.0 and t >= 1.5:
            self._silent_since = self._say(t, room, BEGIN, 6.0)[1]

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        sound, speaks = tick.sound, tick.floor in ROBOT_SOUNDS
        self.rows.append((sound.evidence, sound.motors, speaks, tick.intent.hold_still, tick.floor == "ducked"))
        self.events += [(event.t, event.name) for event in tick.events]

    @property
    def over(self) -> list[Interruption]:
        """Those that truly fell into the robot's speech: a reply may just have ended."""
        return [said for said in self.interruptions if self.rows[round(said.onset / TICK_S)][2]]

    def finished(self, t: float) -> bool:
        return not self.planned and t > self._free_at

    def _look(self, t: float) -> None:
        size = self.rng.uniform(*LOOKS_RAD)
        self._azimuth += -size if self._azimuth > 0 else size
        self.dialogue.attention.request(t, Gaze(self._azimuth))
        self._look_at = t + self.rng.uniform(*LOOKS_S)

    def _say(self, t: float, room: Room, text: str, level_db: float) -> tuple[float, float]:
        said = room.people[0].say(t, text, level_db)
        self.words.add(said.onset, said.end, text)
        return said.onset, said.end


def evening(seed: int, each: int, listening: ListeningConfig) -> Evening:
    """One robot, room and person; `each` interruptions at each level."""
    rng = np.random.default_rng([seed, 71])
    room = RoomConfig(SoundConfig(BoxConfig(rt60_s=float(rng.uniform(0.2, 0.6))),
                                  MicrophoneConfig(ambient_dbfs=float(rng.uniform(-64, -54))),
                                  motors=MotorNoiseConfig(joint_dbfs=float(rng.uniform(*MOTORS_DBFS)))))
    voices = [voice for voice in VOICES if voice != "kal16"]      # a diphone voice that nobody sounds like
    person = PersonScript("anna", float(rng.uniform(-0.8, 0.8)), 1.0, voice=voices[seed % len(voices)])
    planned = [(level, str(rng.choice(WORDS)), float(rng.uniform(*PAUSE_S))) for level in LEVELS_DB * each]
    words, voice = TrueWords(), Voice()
    make: Callable[[], ScriptedEngine] = lambda: scripted_engine(words, voice)   # noqa: E731
    body = SimulatedBody(room, (person,), InlineWorker(make), None, seed)
    config = MindConfig(seed=seed, playback_delay_s=room.sound.loudspeaker.playback_delay_s,
                        dialogue=DialogueConfig(listening=listening))
    mind = build_mind(config, body.model)
    order = rng.permutation(len(planned))
    script = Evening(mind.mind.dialogue, words, np.random.default_rng([seed, 72]), [planned[i] for i in order])
    body.script = script.act
    run(mind, body, VirtualClock(), (script,), script.finished)
    return script


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted over all evenings of one kind."""

    hits: dict[int, list[float | None]]        # by level: latency s of the stop, None when missed
    levels: dict[int, list[tuple[float, float]]]   # dB at the onset: near end over echo, motors over near end
    hours: float                               # of robot speech without anybody
    moving_hours: float                        # of these, with motors a fifth of the expected noise or more
    false: dict[str, int]                      # barge_in, duck, holds_still outside of interruptions
    held_s: float                              # s of rest outside of interruptions
    low_s: float


def tally(evenings: list[Evening]) -> Tally:
    hits: dict[int, list[float | None]] = {level: [] for level in LEVELS_DB}
    levels: dict[int, list[tuple[float, float]]] = {level: [] for level in LEVELS_DB}
    false = dict.fromkeys(("barge_in", "duck", "holds_still"), 0)
    speech = moving = held = low = 0.0
    for one in evenings:
        stops = [t for t, name in one.events if name == "barge_in"]
        for said in one.over:
            hits[said.level_db].append(next((t - said.onset for t in stops if said.onset <= t <= said.onset + HIT_S),
                                            None))
            levels[said.level_db].append(_levels(one, said))
        rows, alone = np.array(one.rows), _alone(one)
        speech += float((alone & (rows[:, 2] > 0)).sum()) * TICK_S
        moving += float((alone & (rows[:, 2] > 0) & (rows[:, 1] >= ListeningConfig().motors_from)).sum()) * TICK_S
        held += float((alone & (rows[:, 2] > 0) & (rows[:, 3] > 0)).sum()) * TICK_S
        low += float((alone & (rows[:, 4] > 0)).sum()) * TICK_S
        for t, name in one.events:
            if name in false and alone[min(len(alone) - 1, round(t / TICK_S))]:
                false[name] += 1
    return Tally(hits, levels, speech / 3600, moving / 3600, false, held, low)


def _levels(one: Evening, said: Interruption, for_s: float = 0.4) -> tuple[float, float]:
    """dB in the first for_s: near end over echo, motors over near end."""
    first = round(said.onset / TICK_S)
    near, echo, motors = 1e-12 + np.array(one.powers[first:first + round(for_s / TICK_S)]).mean(axis=0)
    return 10 * float(np.log10(near / echo)), 10 * float(np.log10(motors / near))


def _alone(one: Evening) -> np.ndarray:
    """(n,) ticks in which no interruption explains anything."""
    t = np.arange(len(one.rows)) * TICK_S
    alone = np.ones(len(t), bool)
    for said in one.interruptions:
        alone &= (t < said.onset) | (t > said.end + HIT_S)
    return alone


def evidence_table(evenings: list[Evening]) -> list[str]:
    """What a threshold on weak evidence would cost and earn: from runs without active listening."""
    lines = ["  weak evidence over   met alone, times/h in motion / at rest   stands in "
             f"{EARLY_S:g} s of interruptions at {'/'.join(map(str, LEVELS_DB))} dB"]
    for threshold in THRESHOLDS:
        met, hours = {True: 0, False: 0}, {True: 0.0, False: 0.0}
        early: dict[int, list[bool]] = {level: [] for level in LEVELS_DB}
        for one in evenings:
            rows, alone = np.array(one.rows, float), _alone(one)
            for moves in (True, False):
                chosen = alone & (rows[:, 2] > 0) & ((rows[:, 1] >= ListeningConfig().motors_from) == moves)
                hours[moves] += float(chosen.sum()) * TICK_S / 3600
                met[moves] += _crossings(chosen & (rows[:, 0] > threshold))
            for said in one.over:
                first = round(said.onset / TICK_S)
                early[said.level_db].append(bool((rows[first:first + round(EARLY_S / TICK_S), 0] > threshold).any()))
        rates = " / ".join(f"{met[moves] / hours[moves]:5.0f}" if hours[moves] else "    -" for moves in (True, False))
        shares = " / ".join(f"{100 * np.mean(found):3.0f}" if found else "  -" for found in early.values())
        lines.append(f"  {threshold:18.1f}   {rates:>38}   {shares} %")
    return lines


def _crossings(above: np.ndarray, refractory_s: float = 1.0) -> int:
    """How often it becomes true, again after at least refractory_s."""
    count, free_at = 0, 0.0
    for index in np.flatnonzero(above):
        if index * TICK_S >= free_at:
            count, free_at = count + 1, index * TICK_S + refractory_s
    return count


def lines_of(name: str, found: Tally) -> list[str]:
    lines = [name]
    for level, latencies in found.hits.items():
        times = [1000 * x for x in latencies if x is not None]
        spread = f"median {np.median(times):.0f} p95 {np.percentile(times, 95):.0f} ms" if times else "none"
        near, motors = np.median(found.levels[level], axis=0) if latencies else (np.nan, np.nan)
        lines.append(f"  {level:4d} dB  stopped for {len(times)} of {len(latencies)}  {spread}  (near end "
                     f"{near:+.0f} dB to the echo, motors {motors:+.0f} dB to the near end)")
    rate = {kind: count / max(found.hours, 1e-9) for kind, count in found.false.items()}
    lines.append(f"  alone, {60 * found.hours:.1f} min of speech ({60 * found.moving_hours:.1f} in motion): "
                 f"{found.false['barge_in']} false stops ({rate['barge_in']:.0f}/h), {found.false['duck']} ducks "
                 f"({rate['duck']:.0f}/h), {found.false['holds_still']} rests ({rate['holds_still']:.0f}/h)")
    lines.append(f"  at rest {100 * found.held_s / 3600 / max(found.hours, 1e-9):.1f} % of that time, "
                 f"low {100 * found.low_s / 3600 / max(found.hours, 1e-9):.1f} %")
    return lines


def listening_figures(seeds: int, each: int = 4) -> list[str]:
    """Stops, misses and their price, with active listening and without, over so many robots."""
    config = ListeningConfig()
    off = [evening(seed, each, replace(config, active=False)) for seed in range(1, seeds + 1)]
    on = [evening(seed, each, replace(config, active=True)) for seed in range(1, seeds + 1)]
    return [f"interruptions over motion, {each} at each level for each of {seeds} robots",
            *lines_of("without active listening", tally(off)), *lines_of("with active listening", tally(on)),
            *evidence_table(off)]
