"""What the ears make of the blocks of one tick."""
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from calibration.health import Health
from perception.audio.block import Samples, frozen_samples
from perception.audio.manner import NOTHING, Manner

NO_SAMPLES = frozen_samples(np.zeros(0))

HeardKind = Literal["speech_start", "speech_end", "duck", "barge_in", "release"]


@dataclass(frozen=True, slots=True)
class Bearing:
    """Where the voice is, in `base` axes from the centre of the resting head."""

    t: float
    azimuth: float               # rad
    spread: float                # rad, one standard deviation
    ambiguous: bool              # a line array at rest cannot tell front from back
    mirror: float | None = None  # rad, the other azimuth when ambiguous


@dataclass(frozen=True, slots=True)
class Heard:
    """A decision of the ears. t: when it existed (end of its block); onset: back-dated cause."""

    t: float
    kind: HeardKind
    onset: float | None = None
    evidence: float = 0.0        # log-odds that a person speaks, at the decision


@dataclass(frozen=True, slots=True)
class SoundScene:
    """The sound of one tick, echo and motors taken out.

    duck: playback should be low now. barge_in: confirmed in this tick, the robot must stop talking.
    hum: 0..1, how much the running utterance is like a closed-mouth hum ("mm-hm").
    motors: 0..1, share of the own motors in the noise that is expected now; what holding still would take away.
    """

    t: float
    clean: Samples = field(default_factory=lambda: NO_SAMPLES, repr=False)  # (160 * blocks,) for recognition
    speech: bool = False                     # a person speaks
    onset: float | None = None               # s, of the running (or just ended) speech
    evidence: float = 0.0                    # log-odds that a person speaks
    bearing: Bearing | None = None           # only while someone is believed to speak
    duck: bool = False
    barge_in: bool = False
    release: bool = False
    level_db: float = -120.0                 # dBFS of the clean audio
    hum: float = 0.0
    motors: float = 0.0
    heard: tuple[Heard, ...] = ()            # the decisions of this tick, in order
    health: tuple[Health, ...] = field(default=())
    manner: Manner = NOTHING                 # how what has just ended was said, or sighed
