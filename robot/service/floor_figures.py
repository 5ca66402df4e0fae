"""`talkover bench --floor SEEDS`: who gets the floor, and how fast, in closed loop with the real engine.

One robot, room and person a seed. The person asks for stories, some of the questions with a pause in mid-sentence;
murmurs while listening, then takes the floor, sometimes with nothing but "stop". Silence is measured at the
loudspeaker, words by what truly left it. Nobody is seen: this is about the voice.
"""
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context

import numpy as np

from dialogue.engine import Clause, Resume
from dialogue.floor import ROBOT_SOUNDS
from perception.audio.block import BLOCK_S
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import Room, RoomConfig, Utterance
from robot.bodies.room.shoebox import BoxConfig
from robot.bodies.room.soundscape import SoundConfig
from robot.bodies.room.voices import VOICES
from robot.bodies.simulated import SimulatedBody
from robot.build import build_mind
from robot.clock import VirtualClock
from robot.config import MindConfig
from robot.interaction.heard_words import Piece, heard_words
from robot.interaction.stage import PlayedBlocks
from robot.interaction.trace import SILENT_DBFS, WORD_GAP_S
from robot.runtime import run
from robot.simulation import engine_named
from robot.tick import Event, Inputs, Tick
from robot.worker import InlineWorker

ASKS = ("tell me a long story please", "please tell me a long story")
PAUSED = ("could you tell me <0.7> a long story", "please tell me <0.6> another story",
          "tell me the story <0.7> of the clock", "I would like to hear <0.8> a long story",
          "well <0.7> tell me a story", "my sister said <0.8> you know a story",
          "do you know <0.7> a long story", "before we go to bed <0.8> tell me a story", "I want <0.6> a story please",
          "let us begin with <0.7> a long story", "yesterday you told me <0.8> half of the story, tell me the story",
          "can you <0.6> tell me a story about a very <0.7> old clock")
MURMURS = ("mm-hmm", "uh-huh", "mhm", "mmm", "yeah")
TURNS = ("no wait, I meant something else", "hold on, what is your name?", "sorry, what time is it?",
         "what day is it today?", "excuse me, who is there?", "I already know this story")
STOPS = ("stop", "wait", "stop, please stop talking")
LISTENS_S = (1.5, 4.0)      # of a story before a murmur, and again before an interruption
ANSWERED_S = 1.5            # of silence after an answer before the next question
PATIENCE_S = 12.0           # without an answer, after which is asked again
CAUSES_S = 1.5              # after a sound's end in which what happens is because of it
RESUMES_S = 3.0             # after a murmur that stopped it: a story that goes on by then was not lost
SLOW_S = 0.6                # told one by one
LOUDNESS_DB = (-3.0, 3.0)   # against normal speech


@dataclass(frozen=True, slots=True)
class Sound:
    """What the person did. kind: ask, pause (an ask with one), murmur, turn, stop."""

    kind: str
    said: Utterance
    over: bool                 # the robot was speaking


@dataclass
class Talk:
    """The script of one run, and what came of it."""

    rng: np.random.Generator
    rounds: int
    floor: Callable[[], str]
    sounds: list[Sound] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    clauses: dict[int, list[Clause]] = field(default_factory=dict)
    _next: str = "ask"
    _at: float = 1.5
    _busy: float = 0.0          # s, when the person falls silent
    _idle: float = 0.0          # s, since when nobody has had the floor
    _spoken: float = 0.0        # s, since when the robot has spoken without a pause of the floor

    def act(self, t: float, room: Room) -> None:
        """The start of the tick at t (s)."""
        floor = self.floor()
        speaks = floor in ROBOT_SOUNDS
        self._idle = self._idle if floor == "idle" else t
        self._spoken = self._spoken if speaks else t
        if t < self._busy:
            return
        if self._next == "ask" and t - max(self._idle, self._busy) >= ANSWERED_S and self.rounds:
            paused = self.rng.random() < 0.7
            self._say(t, room, "pause" if paused else "ask", str(self.rng.choice(PAUSED if paused else ASKS)), False)
            self._wait("murmur", t)
        elif self._next == "murmur" and speaks and t - self._spoken >= self._at:
            self._say(t, room, "murmur", str(self.rng.choice(MURMURS)), True)
            self._wait("turn", t)
        elif self._next == "turn" and speaks and t - max(self._spoken, self._busy) >= self._at:
            stops = self.rng.random() < 0.3
            self._say(t, room, "stop" if stops else "turn", str(self.rng.choice(STOPS if stops else TURNS)), True)
            self.rounds -= 1
            self._wait("ask", t)
        elif self._next != "ask" and floor == "idle" and t - max(self._idle, self._busy) >= PATIENCE_S:
            self._next = "ask"

    def _wait(self, what: str, t: float) -> None:
        self._next, self._at = what, float(self.rng.uniform(*LISTENS_S))

    def _say(self, t: float, room: Room, kind: str, text: str, over: bool) -> None:
        said = room.people[0].say(t, text, float(self.rng.uniform(*LOUDNESS_DB)))
        self.sounds.append(Sound(kind, said, over))
        self._busy = said.end

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        self.events += tick.events
        for reply in inputs.replies:
            if isinstance(reply, Clause):
                self.clauses.setdefault(reply.generation, []).append(reply)
        for request in tick.outputs.requests:
            if isinstance(request, Resume):
                self.clauses.setdefault(request.generation, []).extend(self.clauses.get(request.of, ()))

    def finished(self, t: float) -> bool:
        return not self.rounds and t > self._busy + 4.0


@dataclass
class Counted:
    """Of one talk or of many; times in ms from the true onset."""

    ducks: list[float] = field(default_factory=list)
    silences: list[float] = field(default_factory=list)       # of turns that were taken
    stops: list[float] = field(default_factory=list)          # of stop words
    taken: dict[str, list[bool]] = field(default_factory=dict)
    lost: list[bool] = field(default_factory=list)            # murmurs after which the story did not go on
    words: list[int] = field(default_factory=list)            # the robot believed heard, more than truly heard
    stale: int = 0
    unheard: list[str] = field(default_factory=list)          # what went wrong, for people

    def add(self, other: "Counted") -> None:
        for name in ("ducks", "silences", "stops", "lost", "words", "unheard"):
            getattr(self, name).extend(getattr(other, name))
        for kind, values in other.taken.items():
            self.taken.setdefault(kind, []).extend(values)
        self.stale += other.stale


def talk(seed: int, rounds: int) -> Counted:
    """One robot, room and person; `rounds` stories."""
    rng = np.random.default_rng([seed, 91])
    voices = [voice for voice in VOICES if voice != "kal16"]      # a diphone voice that nobody sounds like
    sound = SoundConfig(BoxConfig(rt60_s=float(rng.uniform(0.25, 0.55))))
    person = PersonScript("anna", float(rng.uniform(-0.8, 0.8)), float(rng.uniform(0.7, 1.4)),
                          voice=voices[seed % len(voices)])
    body = SimulatedBody(RoomConfig(sound, recording_s=1.0), (person,), InlineWorker(engine_named("embedded")), None,
                         seed)
    mind = build_mind(MindConfig(seed=seed, playback_delay_s=sound.loudspeaker.playback_delay_s), body.model)
    script = Talk(np.random.default_rng([seed, 92]), rounds, lambda: mind.mind.dialogue.floor.state)
    body.room.played = played = PlayedBlocks()
    body.script = script.act
    run(mind, body, VirtualClock(), (script,), script.finished)
    counted = counted_of(script, played, sound.loudspeaker.playback_delay_s)
    counted.stale = body.stale_blocks_played
    counted.unheard = [f"seed {seed} ({person.voice}) {line}" for line in counted.unheard]
    return counted


def counted_of(script: Talk, played: PlayedBlocks, delay_s: float) -> Counted:
    """What the sounds of a talk led to."""
    counted = Counted()
    pieces = [Piece((row + 1) * BLOCK_S + delay_s, block.generation, block.samples)
              for row, block in enumerate(played.blocks) if block.generation]
    heard = heard_words(pieces, script.clauses)
    sounding = np.array(played.levels) > SILENT_DBFS
    for sound in script.sounds:
        onset, end = sound.said.onset, sound.said.end
        if not sound.over:
            taken = _happened(script, ("reply_start",), onset, end)
            counted.taken.setdefault(sound.kind, []).append(taken is not None)
            if taken is not None:
                counted.unheard.append(f"{onset:.1f} s: spoke into {sound.said.text!r}, {_told(script, onset)}")
            continue
        stopped = _happened(script, ("barge_in",), onset, end + CAUSES_S)
        if stopped is None and _happened(script, ("reply_end",), onset, end + CAUSES_S) is not None:
            continue                                    # it had said all: nothing to take
        counted.taken.setdefault(sound.kind, []).append(stopped is not None)
        if sound.kind == "murmur":
            if stopped is not None:
                resumed = _happened(script, ("reply_resumed",), stopped.t, stopped.t + RESUMES_S)
                counted.lost.append(resumed is None)
                counted.unheard.append(f"{onset:.1f} s: stopped by {sound.said.text!r}"
                                       + ("" if resumed else f", and the story was lost, {_told(script, onset)}"))
            continue
        ducked = _happened(script, ("duck", "barge_in"), onset, end + CAUSES_S)
        if ducked is not None:
            counted.ducks.append(1000 * (ducked.t - onset))
        if stopped is None:
            counted.unheard.append(f"{onset:.1f} s: not stopped by {sound.said.text!r}")
            continue
        silent = silence_from(sounding, stopped.t)
        if silent - onset > SLOW_S:
            duck = 1000 * (ducked.t - onset) if ducked is not None else np.nan
            counted.unheard.append(f"{onset:.1f} s: silent {1000 * (silent - onset):.0f} ms after {sound.said.text!r}, "
                                   f"low after {duck:.0f}")
        (counted.stops if sound.kind == "stop" else counted.silences).append(1000 * (silent - onset))
        counted.words.append(_believed(stopped) - _truly(heard, stopped, silent))
    return counted


def _happened(script: Talk, names: tuple[str, ...], since: float, until: float) -> Event | None:
    return next((event for event in script.events if event.name in names and since < event.t < until), None)


def _told(script: Talk, since: float) -> str:
    """What the recogniser made of it."""
    event = next((event for event in script.events if event.name == "transcript" and event.t > since), None)
    return "not recognised" if event is None else f"recognised as {dict(event.facts)['text']!r}"


def silence_from(sounding: np.ndarray, t: float) -> float:
    """The first time (s) from t on from which the loudspeaker is silent for WORD_GAP_S, or to the end."""
    quiet = 0
    for row in range(round(t / BLOCK_S), len(sounding)):
        quiet = 0 if sounding[row] else quiet + 1
        if quiet * BLOCK_S >= WORD_GAP_S:
            return (row + 1 - quiet) * BLOCK_S
    return (len(sounding) - quiet) * BLOCK_S


def _believed(stopped: Event) -> int:
    return len(str(dict(stopped.facts)["heard"]).split())


def _truly(heard, stopped: Event, silent: float) -> int:
    return sum(word.generation == dict(stopped.facts)["generation"] and word.t <= silent + 1e-6 for word in heard)


def floor_figures(seeds: int, rounds: int, jobs: int, first: int = 1) -> list[str]:
    """The table over so many robots, from seed `first` on."""
    chosen = list(range(first, first + seeds))
    if jobs == 1:
        talks = [talk(seed, rounds) for seed in chosen]
    else:
        with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
            talks = list(pool.map(talk, chosen, [rounds] * seeds))
    counted = Counted()
    for one in talks:
        counted.add(one)
    murmurs = counted.taken.get("murmur", [])
    return [
        f"the floor, robots of seeds {first} to {first + seeds - 1}, {rounds} stories each, embedded engine",
        f"  onset to duck                       {_spread(counted.ducks)}",
        f"  onset to silence, interruption      {_spread(counted.silences)}",
        f"  onset to silence, stop word         {_spread(counted.stops)}",
        f"  takes the floor: interruption {_share(counted.taken.get('turn', []))}, stop word "
        f"{_share(counted.taken.get('stop', []))}, backchannel {_share(murmurs)} ({sum(counted.lost)} lost the story)",
        f"  spoke into a sentence: with a pause {_share(counted.taken.get('pause', []))}, without "
        f"{_share(counted.taken.get('ask', []))}",
        f"  words believed heard beside those truly heard: {_words(counted.words)}; stale blocks {counted.stale}",
        *(f"    {line}" for line in counted.unheard)]


def _share(values: list[bool]) -> str:
    return f"{np.mean(values):.2f} of {len(values)}" if values else "- of 0"


def _spread(values: list[float]) -> str:
    return (f"p50 {np.percentile(values, 50):.0f}  p95 {np.percentile(values, 95):.0f} ms  ({len(values)})" if values
            else "none")


def _words(values: list[int]) -> str:
    if not values:
        return "none"
    off = np.abs(values)
    return f"off by {np.median(off):.0f} (median), {off.max()} at most; too many {np.mean(np.array(values) > 0):.0%}"
