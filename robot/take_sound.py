"""The sound of a take (audio.wav): any usual sample rate, lost pieces marked, a missing reference named."""
import struct
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calibration.health import Health
from perception.audio.block import BLOCK, BLOCK_S, SAMPLE_RATE_HZ, AudioBlock, Samples, frozen_samples
from perception.audio.resampling import resampled
from robot.errors import BadRequest

RATES_HZ = (8000, 192000)    # what sound cards record at; below 8 kHz no voice can be told from another sound


@dataclass(frozen=True, slots=True)
class Sound:
    """What was recorded, at 16 kHz, full scale +-1."""

    mics: Samples                         # (M, n); infinite or absent numbers stay as they are
    reference: Samples                    # (n,); silence when none was recorded
    gaps: frozenset[int] = frozenset()    # numbers of the blocks just before which sound was lost
    notes: tuple[Health, ...] = ()        # what is odd about the recording, in order of t

    def blocks(self) -> Iterator[AudioBlock]:
        """The sound in blocks of 10 ms; the last, incomplete one is filled with silence."""
        count = -(-self.reference.size // BLOCK)
        padding = count * BLOCK - self.reference.size
        mics, reference = np.pad(self.mics, ((0, 0), (0, padding))), np.pad(self.reference, (0, padding))
        for index in range(count):
            part = slice(index * BLOCK, (index + 1) * BLOCK)
            yield AudioBlock((index + 1) * BLOCK_S, frozen_samples(mics[:, part]), frozen_samples(reference[part]),
                             index in self.gaps)


def read_sound(file: Path, mics: int, rate_hz: int) -> Sound:
    """The sound of `file`: `mics` microphones and the reference at rate_hz; without the last column no reference."""
    samples, notes = _samples(file, mics, rate_hz), []
    if rate_hz != SAMPLE_RATE_HZ:
        samples = np.stack([resampled(channel, rate_hz, SAMPLE_RATE_HZ) for channel in samples])
        notes.append(Health(0.0, "audio", "ok", f"resampled from {rate_hz} to {SAMPLE_RATE_HZ} Hz"))
    if len(samples) == mics:
        notes.append(Health(0.0, "reference", "gone",
                            f"no channel beside {mics} microphone(s): the robot counts as silent"))
        samples = np.vstack([samples, np.zeros_like(samples[:1])])
    lost = _lost(samples[:mics])
    for begin, end in lost:
        notes.append(Health((end // BLOCK + 1) * BLOCK_S, "audio", "degraded",
                            f"{1000 * (end - begin) / SAMPLE_RATE_HZ:.0f} ms lost on every microphone"))
    return Sound(samples[:mics], samples[mics], frozenset(end // BLOCK for _, end in lost), tuple(notes))


def _samples(file: Path, mics: int, rate_hz: int) -> Samples:
    """(channels, n) of the file, checked."""
    from scipy.io import wavfile  # here: it takes a quarter of a second, and who only sees needs none of it

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wavfile.WavFileWarning)   # unknown chunks are none of our business
            rate, data = wavfile.read(file)
    except OSError as error:
        raise BadRequest(f"{file}: expected a readable WAV file: {error.strerror}") from error
    except (ValueError, EOFError, IndexError, struct.error) as error:
        raise BadRequest(f"{file}: expected a WAV file: {error}") from error
    if rate != rate_hz:
        raise BadRequest(f"{file}: sample rate: expected {rate_hz} Hz as take.json says, found {rate}")
    data = data[:, None] if data.ndim == 1 else data
    if data.shape[1] not in (mics, mics + 1):
        raise BadRequest(f"{file}: channels: expected {mics} microphones and the reference ({mics + 1}), "
                         f"found {data.shape[1]}")
    if not len(data):
        raise BadRequest(f"{file}: expected sound, found no samples")
    if data.dtype == np.int16:
        return data.T.astype(np.float32) / 32768
    if data.dtype in (np.float32, np.float64):
        return np.ascontiguousarray(data.T, dtype=np.float32)
    raise BadRequest(f"{file}: samples: expected 16-bit or float, found {data.dtype}")


def _lost(mics: Samples) -> list[tuple[int, int]]:
    """(first, after the last) sample of pieces that drivers filled with zeros or nothing: 10 ms and more.

    Converters always have noise, so zeros on every microphone at once, between sound, are sound that was lost.
    """
    sounds = np.flatnonzero((np.isfinite(mics) & (np.abs(mics) > 1e-9)).any(axis=0))
    after: NDArray[np.int64] = np.flatnonzero(np.diff(sounds) > BLOCK)
    return [(int(sounds[at]) + 1, int(sounds[at + 1])) for at in after]
