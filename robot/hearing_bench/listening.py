"""A recording through the ears, once for each way of listening; what a judge needs of it is kept, the sound is not."""
import os
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calibration.frames import Array, frozen
from perception.audio.barge_in import BargeIn, BargeInConfig
from perception.audio.block import Samples
from perception.audio.ears import Ears, EarsConfig
from perception.audio.scene import Heard
from robot.hearing_bench.truth import Truth
from robot.hearing_bench.words import Understood, understood
from robot.hearing_events import EventLines, Line, scenes
from robot.take import Motion
from robot.take_sound import Sound

Way = Literal["as built", "perfect canceller", "no telemetry"]


@dataclass(frozen=True, slots=True)
class Recording:
    """A take with its truth, in memory."""

    name: str
    truth: Truth
    mic_positions: Array               # (M, 3) m in `head`
    playback_delay_s: float | None
    motion: Motion | None
    sound: Sound
    echo: Samples | None = None        # (M, n) the robot's own voice as it is in `sound`; None: not known


@dataclass(frozen=True, slots=True)
class HeardTake:
    """What the ears made of one recording."""

    name: str
    truth: Truth
    lines: tuple[Line, ...]            # of events.jsonl
    evidence: NDArray[np.float64]      # (blocks, arguments of BargeIn.step)
    user_s: float                      # CPU time of hearing, without start-up
    understood: tuple[Understood, ...] = ()

    def times(self, *kinds: str) -> list[float]:
        """When (s) events of these kinds happened."""
        return [line["t"] for line in self.lines if line["kind"] in kinds]


class NotingBargeIn(BargeIn):
    """Decides as always and keeps what it decided on."""

    def __init__(self, config: BargeInConfig):
        super().__init__(config)
        self.noted: list[tuple[Any, ...]] = []

    def step(self, *evidence: Any) -> Heard | None:   # type: ignore[override]
        self.noted.append(evidence)
        return super().step(*evidence)


def listened(recording: Recording, config: EarsConfig, way: Way = "as built", words: bool = False) -> HeardTake:
    """The recording, heard. perfect canceller: its echo is not there; no telemetry: no speed was ever commanded.

    words: the default recogniser listens too, to what it would get.
    """
    sound, motion = recording.sound, recording.motion
    if way == "perfect canceller":
        if recording.echo is None:
            raise ValueError(f"{recording.name}: expected a recording whose echo is known by itself")
        sound = replace(sound, mics=sound.mics - recording.echo)
    elif way == "no telemetry" and motion is not None:
        motion = replace(motion, commanded_velocity=frozen(np.zeros_like(motion.commanded_velocity)))
    noting, lines = NotingBargeIn(config.barge_in), EventLines()
    ears = Ears(config, recording.mic_positions, recording.playback_delay_s, noting)
    before = os.times().user
    found, clean = [], []
    for scene in scenes(ears, sound.blocks(), motion):
        found += lines.of(scene)
        clean.append(scene.clean)
    used = os.times().user - before
    return HeardTake(recording.name, recording.truth, tuple(found), np.array(noting.noted, float), used,
                     understood(np.concatenate(clean), recording.truth) if words else ())


def replayed(evidence: list[list[float]], config: BargeInConfig) -> tuple[list[float], list[float]]:
    """Times of (stops, ducks) that these thresholds would have decided on noted evidence; a stop counts as a duck."""
    barge_in, stops, ducks = BargeIn(config), [], []
    for t, log_odds, plays, slipped, *rest in evidence:
        heard = barge_in.step(t, log_odds, bool(plays), bool(slipped), *rest)   # type: ignore[arg-type]
        if heard is not None and heard.kind != "release":
            ducks.append(heard.t)
            if heard.kind == "barge_in":
                stops.append(heard.t)
    return stops, ducks
