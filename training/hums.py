"""What tells a closed-mouth hum from a word over the robot's voice: trained in the product's own rooms.

    python -m training.hums SEED --data build/hums          # about 4 minutes of one core a seed
    python -m training.hum_fit --data build/hums --out perception/audio/models/hum.npz

Each seed draws a room and a robot's sentence for each of the voices; a person murmurs or says words over it, every
third time into silence. Kept is what Hum sees from 80 ms before the ears ducked until 0.3 s after they were sure.
"""
import argparse
import os
import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calibration.body_model import reachy_mini
from calibration.frames import HeadPose
from dialogue.engine import SpeakerBlock
from perception.audio.block import BLOCK, BLOCK_S, SAMPLE_RATE_HZ, AudioBlock, Samples, frozen_samples
from perception.audio.ears import Ears, EarsConfig
from perception.audio.hum import BEFORE
from perception.pose_history import PoseHistory
from robot.bodies.room.loudspeaker import LoudspeakerConfig
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import Room, RoomConfig
from robot.bodies.room.servos import Joints
from robot.bodies.room.shoebox import BoxConfig
from robot.bodies.room.soundscape import SoundConfig
from robot.bodies.room.voices import ESPEAK, VOICES, spoken

HUMS = ("mm-hmm", "mm", "hmm", "mhm", "mmm", "mmhm")
WORDS = ("stop", "no", "wait", "hold on", "what is that?", "excuse me", "sorry", "but why", "listen", "let me ask",
         "never mind", "more please", "mine is blue", "now go home", "yeah", "right", "okay", "I see", "yes", "uh-huh",
         "who are you?", "one moment", "you know", "maybe", "oh no", "come on", "who knows", "Robin", "go away")
VARIANTS = tuple(f"en-us+{kind}{number}" for kind, count in (("m", 8), ("f", 5)) for number in range(1, count + 1))
STORY = ("Once upon a time, a small robot lived on a wooden table by a window. It had two antennas, and it listened.",
         "In the morning the sun came in, and it turned its head to see who was there.",
         "Every evening the clock told the robot about the people that it had seen in all its years on the wall.")
DELAY_S = 0.06
LOUDNESS = 0.6             # of the story's peak
AFTER = 30                 # blocks after the ears were sure
AFTER_SOUND = 100          # blocks, for late decisions


@dataclass(frozen=True)
class Kept:
    """A sound as Hum saw it. excess (n, BANDS), voiced (n,); sure: row in which the ears were sure."""

    excess: NDArray[np.float32]
    voiced: NDArray[np.float64]
    sure: int
    hums: bool
    voice: str
    text: str
    alone: bool


def clip(text: str, voice: str) -> Samples:
    """A voice of the room's or an espeak-ng variant of it."""
    if voice in VOICES:
        return spoken(text, voice)
    ESPEAK.setdefault(voice, voice)
    from robot.bodies.room import voices
    voices.VOICES = (*VOICES, *ESPEAK)
    return spoken(text, voice)


def draw(seed: int, folder: Path) -> None:
    """One room for each voice of this seed's share."""
    rng = np.random.default_rng([seed, 47])
    voices = list(rng.permutation([voice for voice in VOICES if voice != "kal16"] + list(VARIANTS)))[:8]
    kept: list[Kept] = []
    for number, voice in enumerate(voices):
        kept += talk(rng, str(voice), seed * 100 + number)
        print(f"seed {seed}: {voice}, {len(kept)} sounds", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"hums_{seed:03d}.pickle").open("wb") as file:
        pickle.dump(kept, file)


def talk(rng: np.random.Generator, voice: str, seed: int) -> list[Kept]:
    """All hums and as many words by one voice in one room, in random order."""
    body = reachy_mini()
    sound = SoundConfig(BoxConfig(rt60_s=float(rng.uniform(0.2, 0.6))),
                        loudspeaker=LoudspeakerConfig(playback_delay_s=DELAY_S, queue_blocks=0))
    person = PersonScript("anna", float(rng.uniform(-2.5, 2.5)), float(rng.uniform(0.6, 1.8)))
    room = Room(RoomConfig(sound, recording_s=1.0), body, (person,), seed)
    stage = _Stage(rng, room, voice, Joints(body, seed).pose, Ears(EarsConfig(), body.mic_positions, DELAY_S))
    texts = rng.permutation([*HUMS, *rng.choice(WORDS, 10, replace=False)])
    found = [stage.said(str(text), alone=bool(rng.random() < 1 / 3)) for text in texts]
    return [kept for kept in found if kept is not None]


@dataclass
class _Stage:
    """One room, one voice, a robot that tells a story without end."""

    rng: np.random.Generator
    room: Room
    voice: str
    pose: HeadPose
    ears: Ears

    def __post_init__(self) -> None:
        self.room.turn_head(self.pose)
        self.poses = PoseHistory().add(0.0, self.pose)
        robot = str(self.rng.choice([v for v in ("slt", "rms", "espeak-gb", "awb") if v != self.voice]))
        self.story = np.concatenate([part for text in STORY for part in (spoken(text, robot),
                                                                         np.zeros(SAMPLE_RATE_HZ // 4, np.float32))])
        self.place, self.block = int(self.rng.integers(len(self.story))), 0
        self.heard = _Heard(self.ears)

    def said(self, text: str, alone: bool) -> Kept | None:
        """Some seconds of story (or silence, alone), then the sound. None where the ears were never sure of it."""
        self._live(int(self.rng.uniform(150, 300)), alone)
        self.heard.rows.clear()
        said = self.room.people[0].say(self.block * BLOCK_S, clip(text, self.voice), float(self.rng.uniform(-8, 3)))
        self._live(round(said.end / BLOCK_S) + AFTER_SOUND - self.block, alone)
        found = self.heard.found()
        return None if found is None else Kept(*found, text in HUMS, self.voice, text, alone)

    def _live(self, blocks: int, alone: bool) -> None:
        for _ in range(blocks):
            self.block += 1
            t, self.place = self.block * BLOCK_S, (self.place + BLOCK) % (len(self.story) - BLOCK)
            piece = self.story[self.place:self.place + BLOCK] * np.float32(0.0 if alone else LOUDNESS)
            self.room.gate.put([SpeakerBlock(0, 0, frozen_samples(piece))], 0)
            self.heard.step(self.room.capture(t, np.zeros(9)), self.poses.add(t, self.pose), not alone)


class _Heard:
    """Listens at the door of Hum, block by block."""

    def __init__(self, ears: Ears):
        self.ears = ears
        self.rows: list[tuple[NDArray[np.float32], float, bool, bool]] = []    # excess, voiced, speaks, sure
        self._step = ears._hum.step
        ears._hum.step = self._noted         # type: ignore[method-assign]

    def _noted(self, excess: NDArray[np.float32], voiced: float, speaks: bool) -> float:
        self._now = (excess.copy(), voiced, speaks)
        return self._step(excess, voiced, speaks)

    def step(self, captured: AudioBlock, poses: PoseHistory, plays: bool) -> None:
        scene = self.ears.step((captured,), poses, np.zeros(9), (), captured.t, plays)
        sure = scene.barge_in or any(heard.kind == "speech_start" for heard in scene.heard)
        self.rows.append((*self._now, sure))

    def found(self) -> tuple[NDArray[np.float32], NDArray[np.float64], int] | None:
        sure = next((i for i, row in enumerate(self.rows) if row[3]), None)
        if sure is None:
            return None
        first = sure
        while first and self.rows[first - 1][2]:
            first -= 1
        first = max(0, first - BEFORE)
        rows = self.rows[first:sure + AFTER]
        return np.array([row[0] for row in rows], np.float32), np.array([row[1] for row in rows]), sure - first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--data", type=Path, default=Path("build/hums"))
    options = parser.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    draw(options.seed, options.data)


if __name__ == "__main__":
    main()
