"""Something that the model says."""
from dataclasses import dataclass, field

from dialogue.engine import ENGINE_RATE_HZ
from dialogue.engines.minicpm.words import VOICE_HZ, ThoughtFilter
from dialogue.engines.outflow import Outflow
from dialogue.engines.rate import StreamRate


@dataclass
class Utterance:
    """Something that the model says, from its first speaking unit to its next listening one."""

    flow: Outflow
    at: float                                              # s, when it began
    rate: StreamRate = field(default_factory=lambda: StreamRate(VOICE_HZ, ENGINE_RATE_HZ))
    thoughts: ThoughtFilter = field(default_factory=ThoughtFilter)
    dead: bool = False
    told: bool = False
    pieces: list[tuple[float, float]] = field(default_factory=list)     # s it took, s it sounds
