"""The room as a stage: what people do and what is heard, told between ticks and asked at any time.

All times are the run's, in s. What is told for a time that has passed happens at once.
"""
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calibration.body_model import BodyModel
from calibration.frames import Array, HeadPose, wrapped
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, AudioBlock, Samples, frozen_samples
from robot.bodies.last_gate import LastGate
from robot.bodies.room import noises
from robot.bodies.room.camera import CameraConfig, Seen
from robot.bodies.room.faults import Faults
from robot.bodies.room.loudspeaker import NOMINAL_DBFS, Device, PlayedLog
from robot.bodies.room.people import Figure, PersonScript
from robot.bodies.room.portraits import portrait
from robot.bodies.room.shoebox import HEAD_AT, SPEED_OF_SOUND, WALL_MARGIN
from robot.bodies.room.skin import Skin
from robot.bodies.room.sound_path import EarPlaces
from robot.bodies.room.soundscape import SPEECH_DBFS, Emission, SoundConfig, Soundscape
from robot.bodies.room.tracks import SILENT, Track, edges
from robot.bodies.room.voices import active_level, spoken
from robot.errors import BadRequest
from robot.settings import nearest

NOISE_HEIGHT = 0.3           # m over the base
XRUN_S = 0.02                # s, one period of a sound card
HOT_GAIN = np.float32(0.4)   # -8 dB: an amplifier that protects itself, or somebody at the volume knob
SIGH_DB = -14.0              # of a breath against speech
NOISE_PLACES = ((2.3, 1.8), (-2.0, 2.2), (0.7, 2.4), (-0.8, 1.9))   # rad, m from the base: where noises come from


@dataclass(frozen=True, slots=True)
class RoomConfig:
    """Everything about the simulated surroundings and devices."""

    sound: SoundConfig = field(default_factory=SoundConfig)
    camera: CameraConfig = field(default_factory=CameraConfig)
    bursts: int = 1                    # most audio blocks that arrive in one tick; 1: one a tick
    register: bool = False             # the array gives a direction beside its microphones (standard firmware)
    starts_limp: bool = False          # joints start in the sleep pose without torque; False: upright at rest
    recording_s: float = 900.0         # the newest sound kept for `recording`


@dataclass(frozen=True, slots=True)
class Utterance:
    """What was truly said (or sighed). onset, end: s, first and last sound at microphone 0."""

    who: str
    onset: float
    end: float
    text: str


@dataclass
class RoomPerson:
    """One person on the stage: tell him what to do."""

    figure: Figure
    room: "Room"
    track: Track = field(default_factory=Track)
    _mouth: Array = field(default_factory=lambda: np.zeros(3))   # when last heard

    @property
    def name(self) -> str:
        return self.figure.script.name

    def say(self, t: float, what: str | Samples, level_db: float = 0.0, voice: str | None = None,
            text: str | None = None) -> Utterance:
        """Speak words ("<0.8>" is a pause) or samples (16 kHz); level_db against normal speech. After what runs."""
        if isinstance(what, str):
            samples, text = spoken(what, voice or self.figure.script.voice, self.name), text or what
        else:
            samples = frozen_samples(what)
        return self._utter(t, samples, level_db, text or "")

    def sigh(self, t: float) -> Utterance:
        return self._utter(t, noises.sigh(self.room.next_rng()), SIGH_DB, "<sigh>")

    def _utter(self, t: float, samples: Samples, level_db: float, text: str) -> Utterance:
        if not self.figure.present:
            raise BadRequest(f"{self.name}: expected someone in the room to speak, but {self.name} is not there")
        level = active_level(samples)
        if level == 0.0:
            raise BadRequest(f"{self.name}: expected sound to say, found silence")
        gain = np.float32(10 ** ((SPEECH_DBFS + level_db) / 20) / level)
        begin = self.track.add(t, samples * gain, in_turn=True) / SAMPLE_RATE_HZ
        first, last = edges(samples)
        way = float(np.linalg.norm(self.mouth(begin) - self.room.ears.exact[0])) / SPEED_OF_SOUND
        said = Utterance(self.name, begin + first / SAMPLE_RATE_HZ + way, begin + last / SAMPLE_RATE_HZ + way, text)
        self.room.utterances.append(said)
        return said

    def walk_to(self, t: float, azimuth: float, distance: float, in_s: float) -> None:
        """azimuth rad in base, distance m from the base's axis; in an arc round the robot, the shorter way."""
        if not in_s > 0:
            raise BadRequest(f"{self.name}: walks_to in_s: expected more than 0 s, found {in_s}")
        height = self.figure.script.height
        now, distance_now, _ = self.figure.place.at(t)
        for share in np.linspace(0.0, 1.0, 9):
            a, d = now + share * wrapped(azimuth - now), distance_now + share * (distance - distance_now)
            self.room.check_inside(np.array([d * np.cos(a), d * np.sin(a), height]), f"{self.name} walks_to")
        self.figure.walk_to(t, azimuth, distance, in_s)

    def look(self, t: float, target: str) -> None:
        """robot, away, or another person's name."""
        if target not in ("robot", "away"):
            self.room.person(target)
        self.figure.look(t, target)

    def nod(self, t: float) -> None:
        self.figure.gesture(t, "nod")

    def shake_head(self, t: float) -> None:
        self.figure.gesture(t, "shake")

    def wave(self, t: float) -> None:
        self.figure.gesture(t, "wave")

    def enter(self, t: float) -> None:
        self.figure.present = True

    def leave(self, t: float) -> None:
        """Gone at once, in mid-word too."""
        self.figure.present = False
        self.track.cut()

    def emission(self, t: float) -> Emission:
        """The next 10 ms of the voice, which end at t."""
        dry = self.track.next_block()
        if dry is not SILENT:
            self._mouth = self.mouth(t)
        return Emission(dry, self._mouth)

    def mouth(self, t: float) -> Array:
        """(3,) m in base."""
        return self.figure.pose(t, self.room.places(t)).mouth

    def eyes(self, t: float) -> Array:
        """(3,) m in base, between the eyes."""
        return self.figure.pose(t, self.room.places(t)).eyes

    def azimuth(self, t: float) -> float:
        """rad in base, from the centre of the resting head."""
        x, y, _ = self.eyes(t)
        return float(np.arctan2(y, x))


@dataclass
class Room:
    """People, noises, loudspeaker and microphones on one clock. `capture` is called by the body, the rest by anyone."""

    config: RoomConfig
    body: BodyModel
    scripts: Sequence[PersonScript]
    seed: int
    utterances: list[Utterance] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)
    skin: Skin = field(default_factory=Skin)
    gate: LastGate = field(default_factory=LastGate)
    volume: float = 1.0                      # 0..1, of the loudspeaker, as the mind wants it
    played: PlayedLog = field(default_factory=PlayedLog)
    head_pose_true: HeadPose = field(init=False)
    ears: EarPlaces = field(init=False)

    def __post_init__(self):
        self.sound = Soundscape(self.config.sound, self.body, self.seed)
        self._device = Device(self.config.sound.loudspeaker)
        self._people: dict[str, RoomPerson] = {}
        for script in self.scripts:
            if script.name in self._people or script.name in ("robot", "away", "room", ""):
                raise BadRequest(f"person {script.name!r}: expected a name of its own, not one that is taken")
            person = RoomPerson(Figure(script, self.seed), self)
            self.check_inside(person.figure.eyes_at_rest(0.0), script.name)
            portrait(script.face)
            self._people[script.name] = person
        for person in self._people.values():
            if person.figure.script.looks not in ("robot", "away"):
                self.person(person.figure.script.looks)
        self._noises = [(Track(), self._noise_place(*place)) for place in NOISE_PLACES]
        self._made = 0
        self._recorded: deque[tuple[NDArray, NDArray]] = deque(maxlen=max(1, int(self.config.recording_s * 100)))
        self._blocks = 0

    # what can be told ----------------------------------------------------------------------------------------------

    def person(self, name: str) -> RoomPerson:
        if name not in self._people:
            raise BadRequest(f"person {name!r}: {nearest(name, self._people)}")
        return self._people[name]

    def noise(self, t: float, kind: noises.NoiseKind, level_db: float | None = None,
              for_s: float | None = None) -> None:
        """level_db against a person's speech at the same distance; None: as such a noise usually is."""
        if kind not in noises.USUAL_S:
            raise BadRequest(f"noise {kind!r}: expected one of: {', '.join(noises.USUAL_S)}")
        rng = self.next_rng()
        samples = noises.made(kind, noises.USUAL_S[kind] if for_s is None else for_s, rng)
        level = SPEECH_DBFS + (noises.USUAL_DB[kind] if level_db is None else level_db)
        track, _ = self._noises[rng.integers(len(self._noises))]
        track.add(t, samples * np.float32(10 ** (level / 20)), in_turn=False)

    def fault(self, t: float, of: str, kind: str, for_s: float | None = None) -> None:
        """microphone, loudspeaker, camera or array: see faults.KINDS. Servos: see SimulatedBody.fault.

        A slow loudspeaker repeats for_s of sound (an xrun) and plays late from then on; a hot one is turned down.
        """
        self.faults.begin(t, of, kind, for_s)
        if (of, kind) == ("loudspeaker", "slow"):
            self._device.late_s += XRUN_S if for_s is None else for_s

    # what can be asked ---------------------------------------------------------------------------------------------

    @property
    def people(self) -> tuple[RoomPerson, ...]:
        return tuple(self._people.values())

    @property
    def stems(self) -> dict[str, NDArray[np.float32]]:
        """near, echo, motors, ambient: (M, 160) each of the last block; their sum and the capsules' noise is `mics`."""
        return self.sound.stems

    def loudspeaker_level(self, t: float) -> float:
        """dBFS of what truly left the loudspeaker in the 10 ms that end at or next after t; -120 when nothing did."""
        return self.played.level(t)

    def recording(self) -> NDArray[np.float32]:
        """(n, 2): people as they arrive at the head without the room, at the robot's nominal level; the loudspeaker."""
        if not self._recorded:
            return np.zeros((0, 2), np.float32)
        people, robot = (np.concatenate(side) for side in zip(*self._recorded, strict=True))
        return np.column_stack([people * np.float32(10 ** ((NOMINAL_DBFS - SPEECH_DBFS) / 20)), robot])

    def places(self, t: float) -> dict[str, Array]:
        """Where one may look: people's eyes when they rest, and the robot's head."""
        return {"robot": HEAD_AT, **{name: p.figure.eyes_at_rest(t) for name, p in self._people.items()}}

    def seen_at(self, t: float) -> list[Seen]:
        """What the camera may see at time t."""
        places = self.places(t)
        return [Seen(portrait(p.figure.script.face), p.figure.pose(t, places), p.figure.hand(t))
                for p in self._people.values() if p.figure.present]

    def check_inside(self, point: Array, what: str) -> None:
        self.sound.box.check_inside(point, what)

    def _noise_place(self, azimuth: float, distance: float) -> Array:
        """(3,) m in base, drawn nearer where the room is small."""
        corner = np.array(self.config.sound.box.robot_at_m)[:2]
        room = np.minimum(corner, np.array(self.config.sound.box.size_m)[:2] - corner) - 2 * WALL_MARGIN
        distance = min(distance, float(room.min()))
        return np.array([distance * np.cos(azimuth), distance * np.sin(azimuth), NOISE_HEIGHT])

    def next_rng(self) -> np.random.Generator:
        """A generator for the next thing that is made: the same one in every run with this seed."""
        self._made += 1
        return np.random.default_rng([self.seed, 41, self._made])

    # one block of time ---------------------------------------------------------------------------------------------

    def turn_head(self, pose: HeadPose) -> None:
        """The true pose of the head, for the blocks to come."""
        self.head_pose_true = pose
        mics = self.body.mic_positions
        self.ears = EarPlaces(pose.position + mics @ pose.rotation.T, mics, HEAD_AT, pose.yaw)

    def capture(self, t: float, velocity: Array) -> AudioBlock:
        """The 10 ms that end at t, while the joints (9,) rad/s move; the loudspeaker's queue gives one block."""
        block = self.gate.next()
        self.played.entered(block)
        sound = block.samples * np.float32(self.volume)
        driven = self.sound.driver.step(self._device.step(sound))
        fault = self.faults.active(t, "loudspeaker")
        if fault in ("gone", "stall"):
            driven = np.zeros_like(driven)
        elif fault == "hot":
            driven = driven * HOT_GAIN
        self.played.sounded(driven)
        voices = {name: p.emission(t) for name, p in self._people.items()}
        sounds = {str(index): Emission(track.next_block(), place) for index, (track, place) in enumerate(self._noises)}
        mics = self.sound.capture(self.ears, self.head_pose_true.body_yaw, velocity, driven, voices, sounds)
        self._recorded.append((self.sound.direct_speech, driven))
        self._blocks += 1
        return AudioBlock(t, frozen_samples(self.faults.heard(t, mics)), frozen_samples(sound))


assert BLOCK == 160
