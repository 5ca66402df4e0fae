"""Speech of people in the room: offline voices (flite, espeak-ng) as programs of their own, or WAV files.

What was spoken once is kept in the user's cache, so that a scenario costs its synthesis only the first time.
"""
import hashlib
import os
import re
import shutil
import struct
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy.io import wavfile

from perception.audio.block import SAMPLE_RATE_HZ, Samples, frozen_samples
from perception.audio.resampling import resampled
from robot.errors import BadRequest

FLITE = ("slt", "rms", "awb", "kal16")
ESPEAK = {"espeak": "en-us", "espeak-f": "en-us+f3", "espeak-gb": "en-gb"}
VOICES = FLITE + tuple(ESPEAK)
# Murmurs by their phones, for flite and espeak-ng: as words both spell them out, "mm-hmm" as "em em aitch em em".
MURMURS = {"mm": ("m m m", "[[m:m:m:]]"), "mmm": ("m m m m", "[[m:m:m:m:]]"), "hm": ("hh m m", "[[hm]]"),
           "hmm": ("hh m m m", "[[hm:]]"), "mhm": ("m hh m m", "[[mhm:]]"), "mmhm": ("m m hh m m", "[[m:hm:]]"),
           "mmhmm": ("m m hh m m m", "[[m:hm:]]"), "uhhuh": ("ah hh ah", "[[VhV]]")}
PAUSE = re.compile(r"<\s*(\d+(?:\.\d*)?)\s*>")
LONGEST_PAUSE_S = 30.0
EDGE_DB = -45.0              # below the peak: silence that a voice puts around its words
SYNTHESIS_LIMIT_S = 60.0     # a voice program that takes longer hangs


def cache_folder() -> Path:
    """Where spoken sentences are kept: XDG_CACHE_HOME or ~/.cache, then talkover/voices."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "talkover" / "voices"


def spoken(text: str, voice: str = "slt", place: str = "says") -> Samples:
    """`text` by an offline voice, 16 kHz, peak 0.5; "<0.8>" in it is a pause in s. place: named in errors."""
    if voice not in VOICES:
        raise BadRequest(f"{place}: voice {voice!r}: expected one of: {', '.join(VOICES)}")
    pieces = []
    for index, piece in enumerate(PAUSE.split(text)):
        if index % 2:
            if float(piece) > LONGEST_PAUSE_S:
                raise BadRequest(f"{place}: pause <{piece}>: expected at most {LONGEST_PAUSE_S:g} s")
            pieces.append(np.zeros(round(float(piece) * SAMPLE_RATE_HZ), np.float32))
        elif piece.strip():
            if "<" in piece or ">" in piece:
                raise BadRequest(f"{place}: {piece.strip()!r}: expected a pause in seconds such as <0.8>")
            pieces.append(_cached(piece.strip(), voice))
    if not any(piece.any() for piece in pieces):
        raise BadRequest(f"{place}: {text!r}: expected words to speak")
    return frozen_samples(np.concatenate(pieces))


def _cached(text: str, voice: str) -> Samples:
    file = cache_folder() / (hashlib.sha256(f"2|{voice}|{text}".encode()).hexdigest()[:32] + ".npy")
    if file.exists():
        try:
            return np.load(file, allow_pickle=False)
        except (ValueError, EOFError):
            file.unlink()        # cut short by a full disk or a power cut: spoken again
    samples = _trimmed(_synthesised(text, voice))
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".npy", delete=False) as part:
        np.save(part, samples)
    os.replace(part.name, file)
    return samples


def _synthesised(text: str, voice: str) -> Samples:
    program = "flite" if voice in FLITE else "espeak-ng"
    if shutil.which(program) is None:
        raise BadRequest(f"voice {voice!r}: the program {program} is missing: apt-get install {program}")
    with tempfile.TemporaryDirectory() as folder:
        words, out = Path(folder, "words.txt"), Path(folder, "out.wav")
        phones, mnemonics = MURMURS.get(re.sub(r"[\W_]", "", text.lower()), ("", text))
        words.write_text(mnemonics, encoding="utf-8")
        source = ["-p", f"pau {phones} pau"] if phones else ["-f", str(words)]
        options = (["-voice", voice, *source, "-o", str(out)] if program == "flite"
                   else ["-v", ESPEAK[voice], "-f", str(words), "-w", str(out)])
        done = subprocess.run([program, *options], capture_output=True, text=True, timeout=SYNTHESIS_LIMIT_S)
        if done.returncode or not out.exists():
            raise BadRequest(f"voice {voice!r}: {program} could not say {text!r}: {done.stderr.strip()[:200]}")
        return read_wav(out)


def _trimmed(samples: Samples) -> Samples:
    """Without the silence around the words, peak 0.5."""
    peak = np.abs(samples).max(initial=0.0)
    if peak == 0.0:
        return samples
    loud = np.flatnonzero(np.abs(samples) > peak * 10 ** (EDGE_DB / 20))
    return (samples[loud[0]:loud[-1] + 1] * (0.5 / peak)).astype(np.float32)


def read_wav(path: str | Path) -> Samples:
    """One channel (the mean of several) of a WAV file, at 16 kHz."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wavfile.WavFileWarning)   # unknown chunks are none of our business
            rate, data = wavfile.read(path)
    except OSError as error:
        raise BadRequest(f"{path}: expected a readable WAV file: {error.strerror}") from error
    except (ValueError, EOFError, IndexError, struct.error) as error:
        raise BadRequest(f"{path}: expected a WAV file: {error}") from error
    if data.size == 0:
        raise BadRequest(f"{path}: expected sound, found no samples")
    if data.dtype == np.uint8:
        values = (data.astype(np.float32) - 128) / 128
    elif np.issubdtype(data.dtype, np.integer):
        values = data.astype(np.float32) / -float(np.iinfo(data.dtype).min)
    else:
        values = data.astype(np.float32)
    if values.ndim == 2:
        values = values.mean(axis=1)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise BadRequest(f"{path}: sample {bad[0]}: expected a finite number, found {values[bad[0]]}")
    return frozen_samples(resampled(values, rate, SAMPLE_RATE_HZ))


def active_level(samples: Samples) -> float:
    """RMS of the 20 ms pieces within 30 dB of the loudest: the level of speech without its pauses (after ITU P.56)."""
    frame = SAMPLE_RATE_HZ // 50
    padded = np.pad(samples, (0, -len(samples) % frame))
    power = (padded.reshape(-1, frame).astype(np.float64) ** 2).mean(axis=1)
    active = power[power > power.max() * 1e-3]
    return float(np.sqrt(active.mean())) if active.size else 0.0
