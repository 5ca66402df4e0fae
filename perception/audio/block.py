"""The unit of hearing: 10 ms of all microphones and of what was handed to the loudspeaker."""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE_HZ = 16000
BLOCK = 160                       # samples: 10 ms
BLOCK_S = BLOCK / SAMPLE_RATE_HZ

Samples = NDArray[np.float32]


def frozen_samples(values) -> Samples:
    """A read-only float32 copy."""
    out = np.array(values, dtype=np.float32)
    out.flags.writeable = False
    return out


@dataclass(frozen=True, slots=True)
class AudioBlock:
    """One block of sound, full scale +-1. t counts samples: the time of the block's end."""

    t: float                 # s
    mics: Samples            # (M, 160)
    reference: Samples       # (160,) handed to the loudspeaker, on the capture clock, before the playback delay
    gap: bool = False        # audio was lost just before this block
