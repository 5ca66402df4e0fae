"""What was learned of how somebody spoke; kept apart from how, because every process knows the types."""
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measure:
    """value None: abstains."""

    value: float | None = None
    confidence: float = 0.0            # 0..1


@dataclass(frozen=True, slots=True)
class Utterance:
    """One run of speech. onset, end in s."""

    onset: float
    end: float
    rate: Measure = Measure()          # syllables/s, with pauses
    articulation: Measure = Measure()  # syllables/s, without
    pauses: Measure = Measure()        # 0..1, share of silence
    longest_pause: Measure = Measure()   # s
    pitch: Measure = Measure()         # Hz, median
    pitch_end: Measure = Measure()     # semitones/s at the end: below 0 it falls
    level: Measure = Measure()         # dBFS, of what sounds
    level_end: Measure = Measure()     # dB/s at the end
    breathiness: Measure = Measure()   # 0..1


@dataclass(frozen=True, slots=True)
class Sigh:
    """A candidate. onset, end in s."""

    onset: float
    end: float
    confidence: float              # 0..1


@dataclass(frozen=True, slots=True)
class Manner:
    """What was learned of how people speak in one step."""

    utterance: Utterance | None = None   # has just ended
    sigh: Sigh | None = None


NOTHING = Manner()
