"""A run to listen to: a stereo WAV, the people in the left ear, the robot in the right."""
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from perception.audio.block import SAMPLE_RATE_HZ

LOUDEST = 0.9    # of full scale, of either ear


def write_stereo(left: NDArray[np.float32], right: NDArray[np.float32], path: Path) -> None:
    """16-bit, 16 kHz. Each ear is scaled as a whole to the same loudest sample; the shorter one is padded."""
    count = max(len(left), len(right))
    ears = np.zeros((count, 2))
    for side, sound in enumerate((left, right)):
        peak = float(np.max(np.abs(sound), initial=0.0))
        if peak > 0.0:
            ears[:len(sound), side] = sound * (LOUDEST / peak)
    with wave.open(str(path), "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE_HZ)
        out.writeframes(np.round(ears * 32767).astype("<i2").tobytes())
