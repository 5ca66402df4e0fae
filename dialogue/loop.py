"""One tick of the dialogue: who has the floor, what is asked of the engine, what is said, and where to look."""
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from dialogue.answering import TONES, Answering, AnsweringConfig, Phrases
from dialogue.attention import Attention, AttentionConfig, Look
from dialogue.cues import CueConfig, Cues
from dialogue.doing import IN_SIGHT_S, Doing
from dialogue.engine import (
    Candidate,
    Clause,
    EngineHealth,
    EngineReady,
    EngineTrouble,
    Hear,
    Reply,
    ReplyDone,
    Request,
    SpeakerBlock,
    Surroundings,
    ToolCall,
    Transcript,
)
from dialogue.events import Event, Line, Notes
from dialogue.floor import PERSON_SOUNDS, ROBOT_SOUNDS, Floor, State
from dialogue.speaker import Speaker, SpeakerConfig
from dialogue.speakers import Speakers
from dialogue.turns import Context, Overlap, PersonTurn, TurnConfig, Turns
from dialogue.words import is_echo, is_empty, is_stop, words_of
from motion.intent import Mode, MotionIntent
from perception.audio.active_listening import AT_EASE, ActiveListening, ListeningConfig
from perception.audio.block import Samples, frozen_samples
from perception.audio.scene import SoundScene
from perception.people import Person
from perception.vision.frame import Sight

MODES: Mapping[State, Mode] = {
    "idle": "idle", "person": "listen", "robot_thinking": "listen", "both_waiting": "listen",
    "robot_speaking": "speak", "ducked": "speak", "interrupted": "listen",
}
NAMES = frozenset(words_of("robot reachy robin"))   # whoever says one means the robot, wherever they look
ANSWER_S = 8.0        # after the robot's question: what is said so soon answers it, wherever the person looks
REACTION_S = 0.25     # nobody repeats or answers a voice sooner after its start (close shadowing, Marslen-Wilson 1973)
ECHO_MEMORY_S = 1.0   # the robot's words still sound in the room, and in the recogniser's margin, for this long


@dataclass(frozen=True, slots=True)
class DialogueConfig:
    """The configs of the parts. greets: the robot speaks first when somebody comes and looks at it."""

    turns: TurnConfig = field(default_factory=TurnConfig)
    listening: ListeningConfig = field(default_factory=ListeningConfig)
    speaker: SpeakerConfig = field(default_factory=SpeakerConfig)
    attention: AttentionConfig = field(default_factory=AttentionConfig)
    cues: CueConfig = field(default_factory=CueConfig)
    answering: AnsweringConfig = field(default_factory=AnsweringConfig)
    greets: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """What the dialogue wants in one tick. spoken: (160 * blocks,) to the loudspeaker; speaker: the same in blocks."""

    intent: MotionIntent
    spoken: Samples = field(repr=False)
    speaker: tuple[SpeakerBlock, ...]
    live_generation: int
    requests: tuple[Request, ...]
    events: tuple[Event, ...]
    floor: State
    history: tuple[Line, ...] = field(repr=False)
    volume: float | None = None      # 0..1 of the configured one; None: untouched


class Dialogue:
    """Decides once a tick. Everything it waits for comes in as an argument."""

    def __init__(self, config: DialogueConfig = DialogueConfig(), phrases: Phrases = TONES):
        self.config = config
        self.floor = Floor()
        self.turns, self.overlap = Turns(config.turns), Overlap(config.turns)
        self.listening, self.manner = ActiveListening(config.listening), AT_EASE
        self.answering = Answering(self.floor, Speaker(config.speaker), config.answering, phrases)
        self.attention, self.cues, self.doing = Attention(config.attention), Cues(config.cues), Doing()
        self._said = ("", -1e9)                         # the robot's last words and when they sounded (s)
        self._around, self._speakers = Surroundings(0.0, ()), Speakers()
        self._asked: PersonTurn | None = None           # a hum over the voice, while it is recognised
        self._sounds_since = 0.0                        # s, when the robot began to sound
        self._reacts = False                            # what stopped it can be a reaction to its voice
        self._quiet_since = 0.0                         # s, when a person last made a sound

    def step(self, t: float, people: tuple[Person, ...], sight: Sight, sound: SoundScene, replies: tuple[Reply, ...],
             blocks: int, head_yaw: float | None = None, parking: bool = False, news: str = "") -> Turn:
        """The tick at t (s). head_yaw: rad in base; None: unknown. parking: the end. news: of the robot, to say."""
        notes = Notes(t)
        if parking:
            return self._parked(notes, blocks)
        self._hear(notes, sound)
        self._speakers.step(t, people)
        self._observe(notes, people, sight, sound)
        for reply in replies:
            self._take(notes, reply, people)
        self._decide(notes, people)
        lately = 0.0 < self._quiet_since > t - self.config.answering.news     # somebody spoke, even if it forgot where
        self.answering.announce(notes, news, lately or bool(people))
        look = self.attention.step(t, people, self.floor.state, head_yaw)
        self.doing.step(notes, self.answering, self.attention, people, sound.evidence >= 0.0)
        self.answering.start(notes, self.doing.asleep or self.attention.facing(head_yaw))
        out = self.answering.speaker.step(blocks)
        self.answering.follow(notes, self._quiet_since)
        if self.floor.state in ROBOT_SOUNDS:
            self._said = (self.answering.speaker.said, t)
        spoken = np.concatenate([block.samples for block in out]) if out else np.zeros(0)
        return self._turn(notes, self._intent(t, look, head_yaw), spoken, out)

    def _parked(self, notes: Notes, blocks: int) -> Turn:
        if self.floor.state in ROBOT_SOUNDS:
            self.answering.stop(notes, "the run ends", None)
        intent = MotionIntent(notes.t, "park", reason="the run ends")
        return self._turn(notes, intent, np.zeros(0), self.answering.speaker.step(blocks))

    def _turn(self, notes: Notes, intent: MotionIntent, spoken: np.ndarray, out: tuple[SpeakerBlock, ...]) -> Turn:
        return Turn(intent, frozen_samples(spoken), out, self.answering.speaker.live, tuple(notes.requests),
                    tuple(notes.events), self.floor.state, self.answering.history, self.doing.volume)

    # hearing ------------------------------------------------------------------------------------------------------

    def _hear(self, notes: Notes, sound: SoundScene) -> None:
        """Hand the sound on, and let a voice take, share or miss the floor."""
        if len(sound.clean):
            notes.ask(Hear(notes.t, sound.clean, sound.speech))
        for heard in sound.heard:
            if heard.kind in ("speech_start", "speech_end"):
                notes.tell(heard.kind, onset=heard.onset, evidence=heard.evidence)
        self._quiet_since = notes.t if sound.speech else self._quiet_since
        if self.floor.state in ROBOT_SOUNDS:
            self._overlap(notes, sound)
        else:
            self._sounds_since = notes.t
            self.turns.hear(notes.t, sound)
        if self.floor.state not in ROBOT_SOUNDS:
            self.manner = self.listening.rest()

    def _overlap(self, notes: Notes, sound: SoundScene) -> None:
        """Rest the motors, lower the voice, stop it, or let it go on, as somebody speaks over it."""
        verdict, reason = self.overlap.step(notes.t, sound, self._sounds_since)
        if verdict == "stop":
            self._asked = None
            self._reacts = self.overlap.onset - self._sounds_since >= REACTION_S
            self.answering.stop(notes, reason, self.overlap.onset)
            self.turns.hear(notes.t, replace(sound, onset=self.overlap.onset), began=True)
            return
        if verdict == "ask":
            self._asked = self.turns.ask(self.overlap.onset, notes.t)
            notes.ask(Candidate(notes.t, self._asked.turn or 0, self._asked.onset, notes.t))
        waits = self._asked is not None and notes.t - self._asked.last_voice < self.config.turns.ask_for
        ducks = verdict in ("duck", "ask") or (self.floor.state == "ducked" and waits)
        self._listen(notes, sound, ducks, reason)

    def _listen(self, notes: Notes, sound: SoundScene, ducks: bool, reason: str) -> None:
        """Take the step of active listening that the evidence asks for."""
        before, self.manner = self.manner, self.listening.step(notes.t, sound.evidence, sound.motors, ducks)
        self.answering.speaker.lower(self.manner.gain_db, self.manner.linger)
        if self.manner.hold and not before.hold:
            notes.tell("holds_still", evidence=sound.evidence, motors=sound.motors, step=self.manner.step)
        low, ducked = self.manner.gain_db < 0.0, self.floor.state == "ducked"
        if low and not ducked:
            self.floor.happen("duck")
            notes.tell("duck", onset=sound.onset, evidence=sound.evidence, step=self.manner.step)
        elif ducked and not low:
            self._release(notes, reason or "nobody was there")

    def _release(self, notes: Notes, reason: str) -> None:
        self._asked = None
        self.floor.happen("release")
        notes.tell("release", reason=reason)

    def _overheard(self, notes: Notes, words: Transcript) -> None:
        """What was hummed over the voice has been recognised: only a stop word counts, whisper hears words in hums."""
        asked, self._asked = self._asked, None
        if asked is None or self.floor.state != "ducked":
            return
        if not is_stop(words.text) or is_echo(words.text, self._echoed(asked.onset)):
            self._release(notes, "murmur")
            return
        self._reacts = True
        self.answering.stop(notes, f"words: {words.text}", asked.onset)
        asked.guess = words.text
        self.turns.open = asked

    # seeing -------------------------------------------------------------------------------------------------------

    def _observe(self, notes: Notes, people: tuple[Person, ...], sight: Sight, sound: SoundScene) -> None:
        for cue in self.cues.step(notes.t, sight, people, self.floor.state, sound.manner):
            notes.ask(replace(cue, heard=self.answering.speaker.heard_text))
            notes.tell("cue", cue=cue.name, person=cue.person, seen=cue.t)
        around = tuple((p.id, round(p.azimuth, 1), p.attention >= self.config.cues.there) for p in people)
        seen = tuple(p.id for p in people if p.seen_at is not None and notes.t - p.seen_at <= IN_SIGHT_S)
        if (around, seen) != (self._around.people, self._around.seen):
            came = {i for i, _, looks in around if looks} - {i for i, _, looks in self._around.people if looks}
            self._around = Surroundings(notes.t, around, seen)
            notes.ask(self._around)
            if self.config.greets and came and self.floor.state == "idle" and not self.doing.asleep:
                self.answering.prompt(notes, f"greet {min(came)}")

    # the engine's replies -----------------------------------------------------------------------------------------

    def _take(self, notes: Notes, reply: Reply, people: tuple[Person, ...]) -> None:
        match reply:
            case Clause():
                self.answering.clause(notes, reply)
            case ReplyDone():
                self.answering.done(notes, reply)
            case Transcript():
                self._words(notes, reply)
            case ToolCall():
                self.answering.calls.append(reply)
            case EngineTrouble():
                self.answering.trouble(notes, reply)
            case EngineReady():
                notes.tell("engine", state="ready", reason=reply.name)
                notes.ask(replace(self._around, t=notes.t))
            case EngineHealth():
                notes.tell("health", of=reply.part, level=reply.level, reason=reply.reason)

    def _words(self, notes: Notes, words: Transcript) -> None:
        answer = self.answering.running
        if self._asked is not None and words.turn == self._asked.turn:
            self._overheard(notes, words)
        elif not words.final:
            self.turns.guess(words.turn, words.text)
        elif answer is not None and answer.turn == words.turn:
            notes.tell("transcript", turn=words.turn, text=words.text)
            echo = is_echo(words.text, self._echoed(answer.onset), self.answering.asked)
            if is_empty(words.text) or echo:
                self.answering.recover(notes, "no words" if not echo else "the robot's own words")
            else:
                self.answering.note(notes.t, answer.person or "someone", words.text)

    def _echoed(self, onset: float) -> str:
        return self._said[0] if onset < self._said[1] + ECHO_MEMORY_S else ""

    # deciding -----------------------------------------------------------------------------------------------------

    def _decide(self, notes: Notes, people: tuple[Person, ...]) -> None:
        """Note a voice, ask for words at its pause, and decide what it was when it has ended."""
        if self.turns.open is not None and self.floor.state in ("idle", "robot_thinking"):
            self.floor.happen("voice")
        paused = self.turns.candidate(notes.t)
        if paused is not None and paused.turn is not None:
            notes.ask(Candidate(notes.t, paused.turn, paused.onset, paused.last_voice))
            notes.tell("turn_candidate", turn=paused.turn, onset=paused.onset, end=paused.last_voice)
        turn = self.turns.open
        if turn is None or self.floor.state not in PERSON_SOUNDS:
            return
        over = self.floor.state == "interrupted"
        context = Context(self.floor.state != "person", over, self.answering.asked, self._echoed(turn.onset),
                          over and not self._reacts)
        verdict = self.turns.verdict(notes.t, context)
        if verdict is None:
            return
        self.turns.close()
        kind: str = verdict.kind
        if kind == "commit":
            person = self._speakers.between(turn.onset, turn.last_voice, people) or self.attention.look.person
            kind = "aside" if self._aside(turn, person, people) else kind if self.doing.wakes(turn.guess) else "asleep"
            if kind == "commit":
                self.answering.commit(notes, turn, person, verdict)
                return
        notes.tell("turn_dropped", turn=turn.turn, kind=kind, reason=verdict.reason, guess=turn.guess or "")
        if verdict.kind == "hush":
            self.answering.hush(notes, verdict.reason)
        if not over or not self.answering.resume(notes, verdict.reason):
            self.floor.happen("drop")

    def _aside(self, turn: PersonTurn, person: str | None, people: tuple[Person, ...]) -> bool:
        """Said to somebody else who is there: the speaker looked elsewhere all the while and did not name the robot."""
        words = turn.guess or ""
        meant = is_stop(words) or NAMES & set(words_of(words))
        answers = self.answering.asked and turn.onset - self._said[1] < ANSWER_S
        others = any(other.id != person and other.seen_at is not None for other in people)
        return bool(person and others and not meant and not answers
                    and self._speakers.aside(person, turn.onset, turn.last_voice))

    # acting -------------------------------------------------------------------------------------------------------

    def _intent(self, t: float, look: Look, head_yaw: float | None) -> MotionIntent:
        """The motors rest while somebody may speak over the robot, and while it listens to whom it faces (F06)."""
        if self.doing.asleep:
            return MotionIntent(t, "sleep", reason="asked to sleep")
        state = self.floor.state
        faced = state in PERSON_SOUNDS and self.attention.facing(head_yaw, self.attention.config.listening)
        return MotionIntent(t, MODES[state], look.gaze, self.doing.gesture, self.manner.hold or faced, look.urgency,
                            f"{state}: {look.reason}")
