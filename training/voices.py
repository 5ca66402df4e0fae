"""Voices for training: offline synthesisers and recorded words out of Debian packages. Clips are 16 kHz, RMS 0.1.

A voice is `source:name`. The hearing bench's recorded voices and its espeak voice are not among these.
  hibari:heart         hibari-tts, the product's own voice
  flite:awb            flite
  espeak:de+f2         espeak-ng, any language and variant
  words:PATH           recorded words of one folder of klettres-data or ktuberling-data (GPL, KDE), read only
"""
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import resample_poly

RATE = 16000
TEXTS = """Would you tell me where the blue folder went?
Stop, that is not what I asked you.
My sister will arrive on Thursday with her two dogs.
No wait, I meant the other lamp, the one near the window.
It takes about forty minutes to bake this kind of cake.
Please go on, I am listening to every word.
Robots have joints, and joints have bearings that need some oil.
How many people live in that little village by the lake?
Could you say it again, but a bit more slowly?
The third chapter explains why the sea looks green in winter.
I never thought that we would agree about this.
Turn around and look at me when I speak.
Nobody knows what the old machine was made for.
Maybe tomorrow we should visit the museum of clocks.
Hello there, what is your name?
One two three four five six seven eight nine ten.
Everything changed after the long rain in early spring.
Which of these songs do you like most, and why?""".splitlines()
HUMS = ["mhm.", "hmm.", "uh-huh.", "yes.", "ah.", "I see.", "oh.", "sure.", "mm."]
SPOKEN = ("hibari:heart", "flite:awb", "flite:kal16", "flite:rms", "flite:slt",
          "espeak:en-us+f2", "espeak:en-us+m7", "espeak:en-gb-scotland+m1", "espeak:en-gb-x-rp+f4", "espeak:de+m2",
          "espeak:fr-fr+f1", "espeak:it+m6", "espeak:es+f3", "espeak:ru+m5", "espeak:pl+f5", "espeak:nl+m4")


def trimmed(signal: np.ndarray) -> np.ndarray | None:
    """Silence cut off, RMS of what sounds 0.1; None if there is nothing."""
    count = len(signal) // 160
    if count < 8:
        return None
    energy = np.square(signal[:count * 160]).reshape(count, 160).mean(axis=1)
    loud = np.flatnonzero(energy > energy.max() * 1e-3)
    if energy.max() < 1e-8 or loud.size < 8:
        return None
    part = signal[loud[0] * 160:(loud[-1] + 1) * 160]
    return (part * (0.1 / np.sqrt(energy[loud].mean()))).astype(np.float32)


def _read(path: Path) -> np.ndarray:
    samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return resample_poly(samples.mean(axis=1), RATE, rate) if rate != RATE else samples.mean(axis=1)


def _spoken(command: list[str], texts: list[str]) -> list[np.ndarray]:
    out = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, text in enumerate(texts):
            path = Path(scratch) / f"{number}.wav"
            subprocess.run([str(path) if part == "OUT" else part for part in command] + [text], check=True,
                           stdout=subprocess.DEVNULL)
            out.append(_read(path))
    return out


@cache
def clips(voice: str, folder: str, hums: bool = False) -> tuple[np.ndarray, ...]:
    """All clips of a voice; with `hums` its short murmurs (recorded voices: their shortest words)."""
    file = Path(folder) / f"{voice.replace('/', '_').replace(':', '_')}_{'hums' if hums else 'says'}.npz"
    if not file.exists():
        found = [clip for clip in map(trimmed, _raw(voice, HUMS if hums else TEXTS)) if clip is not None]
        if voice.startswith("words:"):
            found = [c for c in found if (len(c) < 0.6 * RATE) == hums] or found
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, *[(np.clip(c, -1, 1) * 32767).astype(np.int16) for c in found])
    with np.load(file) as stored:
        return tuple(stored[name].astype(np.float32) / 32767 for name in stored.files)


def _raw(voice: str, texts: list[str]) -> list[np.ndarray]:
    source, name = voice.split(":", 1)
    if source == "flite":
        return _spoken(["flite", "-voice", name, "-o", "OUT", "-t"], texts)
    if source == "espeak":
        return _spoken(["espeak-ng", "-v", name, "-w", "OUT"], texts)
    if source == "hibari":
        return _hibari(name, texts)
    paths = sorted(p for p in Path(name).rglob("*") if p.suffix in (".ogg", ".wav"))
    return [_read(path) for path in paths[::max(1, len(paths) // 80)]]


def _hibari(name: str, texts: list[str]) -> list[np.ndarray]:
    from hibari import Hibari
    synthesiser = Hibari(name)
    return [resample_poly(np.asarray(synthesiser(text), np.float32).ravel(), 2, 3) for text in texts]   # 24 kHz


def recorded(root: str) -> list[str]:
    """The folders of recorded words below `root` that hold enough of one voice."""
    places = [Path(root) / "klettres", Path(root) / "ktuberling"]
    folders = {path.parent for place in places for path in place.rglob("*") if path.suffix in (".ogg", ".wav")}
    return [f"words:{folder}" for folder in sorted(folders) if sum(1 for _ in folder.iterdir()) >= 12]


def talk(rng: np.random.Generator, parts: tuple[np.ndarray, ...], seconds: float, pause_s: tuple[float, float],
         ) -> np.ndarray:
    """Clips of a voice with pauses until `seconds` are filled."""
    total = int(seconds * RATE)
    out = np.zeros(total, np.float32)
    at = 0
    while at < total:
        clip = parts[rng.integers(len(parts))]
        clip = clip[:total - at]
        out[at:at + len(clip)] = clip
        at += len(clip) + int(rng.uniform(*pause_s) * RATE)
    return out
