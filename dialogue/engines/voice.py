"""Words to speech at 16 kHz: hibari in process, flite or espeak-ng as a process when it cannot be loaded.

Measured on one core of the development machine: hibari 0.03 s a clause of 2 s, flite 0.05-0.11 s with process start.
"""
import io
import subprocess
import tempfile
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import which

import numpy as np

from dialogue.engine import ENGINE_RATE_HZ
from dialogue.persona import PLAIN, Style
from perception.audio.block import Samples, frozen_samples
from perception.audio.resampling import resampled

Speech = tuple[Samples, int]   # mono samples, full scale 1, and their rate in Hz
Speak = Callable[[str, float], Speech]      # text, speed
PITCH_HZ = 200                 # steps of the rate: its ratio to 16 kHz is one of small numbers
ESPEAK_WORDS = 175             # a minute, of espeak-ng as it is


class VoiceMissing(ValueError):
    """No voice can be had; the text says what was tried."""


@dataclass(frozen=True, slots=True)
class VoiceConfig:
    """How the robot sounds."""

    name: str = "heart"            # a hibari voice; `heart` comes with the package, others are never fetched here
    speed: float = 1.0             # 1: about 160 words a minute
    level_db: float = -23.0        # dBFS RMS of each clause where it sounds (EBU R 128's level of programmes)
    peak: float = 0.9              # full scale 1; a clause with a higher peak is made quieter
    pause: float = 0.12            # s of silence after a comma
    sentence_pause: float = 0.30   # s of silence after a sentence


class Voice:
    """Says one clause at a time; the same words always give the same samples."""

    def __init__(self, config: VoiceConfig = VoiceConfig()):
        self.config = config
        self._speak = _hibari(config) or _flite() or _espeak()
        if self._speak is None:
            raise VoiceMissing("no voice: expected the package hibari-tts, or the program flite or espeak-ng")

    def __call__(self, text: str, style: Style = PLAIN) -> Samples:
        """The sound of `text` (n,) at 16 kHz, with the pause after it.

        Another pitch is another rate of the same samples, spoken slower or faster to make up for it.
        """
        assert self._speak is not None
        samples, rate = self._speak(text, self.config.speed * style.pace / style.pitch)
        if style.pitch != 1.0:
            rate = round(rate * style.pitch / PITCH_HZ) * PITCH_HZ
        sound = resampled(samples, rate, ENGINE_RATE_HZ)
        sound = self._levelled(_trimmed(sound))
        ends = text.rstrip().endswith((".", "!", "?"))
        seconds = (self.config.sentence_pause if ends else self.config.pause) / style.pace
        pause = np.zeros(round(seconds * ENGINE_RATE_HZ))
        return frozen_samples(np.concatenate([sound, pause]))


    def _levelled(self, sound: Samples) -> Samples:
        loud = sound[np.abs(sound) > 0.03 * np.max(np.abs(sound), initial=0.0)].astype(np.float64)
        if not len(loud):
            return sound
        level = np.sqrt(np.mean(loud ** 2))
        gain = min(10 ** (self.config.level_db / 20) / level, self.config.peak / np.abs(sound).max())
        return sound * np.float32(gain)


def _trimmed(sound: Samples) -> Samples:
    """Without the silence that voices put around a sentence, but for 20 ms: the first word shall come at once."""
    loud = np.flatnonzero(np.abs(sound) > 0.01 * np.max(np.abs(sound), initial=0.0))
    if not len(loud):
        return sound[:0]
    margin = round(0.02 * ENGINE_RATE_HZ)
    return sound[max(0, loud[0] - margin):loud[-1] + margin]


def _hibari(config: VoiceConfig) -> Speak | None:
    try:
        from hibari import SAMPLE_RATE, Hibari
        from hibari.voices import voice_path
    except ImportError:
        return None
    try:
        model = voice_path(config.name, download_missing=False)
    except FileNotFoundError as missing:
        raise VoiceMissing(f"voice {config.name!r}: no file {missing}, expected `heart` or a voice fetched before "
                           f"with `hibari --voice {config.name}`") from missing
    speaker = Hibari(voice=config.name, model=model, threads=1)
    return lambda text, speed: (speaker(text, speed=speed, seed=0), SAMPLE_RATE)


def _flite() -> Speak | None:
    if which("flite") is None:
        return None

    def speak(text: str, speed: float) -> Speech:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "clause.wav"
            subprocess.run(["flite", "-voice", "slt", "--setf", f"duration_stretch={1 / speed:.3f}", "-t", text,
                            "-o", str(path)], check=True, capture_output=True)
            return _wav(path.read_bytes())
    return speak


def _espeak() -> Speak | None:
    if which("espeak-ng") is None:
        return None
    return lambda text, speed: _wav(subprocess.run(
        ["espeak-ng", "-s", str(round(ESPEAK_WORDS * speed)), "--stdout", "--", text], check=True,
        capture_output=True).stdout)


def _wav(data: bytes) -> Speech:
    """16-bit mono WAV bytes. espeak-ng leaves the length field of a piped WAV open, so as much is read as there is."""
    with wave.open(io.BytesIO(data)) as file:
        pcm = file.readframes(len(data))
        return np.frombuffer(pcm[:len(pcm) // 2 * 2], "<i2").astype(np.float32) / 32768.0, file.getframerate()
