"""How something was said: rate, pauses, pitch and level with their course at the end, breathiness, and sighs.

Every value has a confidence that falls with noise, with what is left of the robot's own sound and with the amount of
material; below a bound nothing is said at all. Syllables are counted as in de Jong & Wempe, "Praat script to detect
syllable nuclei and measure speech rate automatically", Behavior Research Methods 41 (2009): voiced peaks of the level.
"""
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from perception.audio.block import BLOCK, Samples
from perception.audio.manner import NOTHING, Manner, Measure, Utterance
from perception.audio.peaks import peaks
from perception.audio.sighs import FRAME_S, SighConfig, Sighs
from perception.audio.voice_frames import FRAME, Batch, Indices, Values, VoiceFrames, joined, smoothed, soft

BATCH = 5                              # blocks that are looked at together: a fifth of the cost, 50 ms late


@dataclass(frozen=True, slots=True)
class ProsodyConfig:
    sighs: SighConfig = field(default_factory=SighConfig)
    margin: float = 0.3                # s before the detected start that belong to an utterance: it is noticed late
    longest: float = 30.0              # s of one utterance
    floor_rise: float = 3.0            # dB/s, of the tracked noise floor; it falls at once
    below_peak: float = 25.0           # dB under the loudest at which it is silence
    pause: float = 0.2                 # s of silence inside an utterance: stop consonants are shorter
    # dB between two syllables; with 1 dB 12 synthesised sentences gave 0.98 of their syllables, 1.3 times as fast 0.90
    dip: float = 1.0
    syllable: float = 0.08             # s between two syllables
    voiced_from: float = 0.5           # periodicity
    ending: float = 0.4                # s at the end whose course is told
    clear: float = 8.0                 # dB over the floor at which half is believed
    breathy_hnr: float = 8.0           # dB, harmonics over noise: clear voices have 12 to 20, breathy ones under 8
    least: float = 0.25                # confidence below which nothing is said


class Prosody:
    """Follows the clean audio."""

    def __init__(self, config: ProsodyConfig = ProsodyConfig()):
        self.config = config
        self._sighs = Sighs(config.sighs)
        self._sound = np.zeros(FRAME - BLOCK + BATCH * BLOCK, np.float32)
        self._filled = 0               # blocks of the batch
        self._floor: float | None = None   # dBFS; None: the first frames still hold silence from before
        self._before: deque[Batch] = deque(maxlen=max(1, round(config.margin / FRAME_S / BATCH)))
        self._parts: list[Batch] = []
        self._noise: list[float] = []
        self._spoke = False            # somewhere in this batch

    def step(self, t: float, clean: Samples, speech: bool, noise: float) -> Manner:
        """clean (160,), one block that ends at t (s); speech: a person speaks; noise 0..1: share of the robot's own
        sound (left-over echo, motors) in what is expected without a person."""
        at = FRAME - BLOCK + self._filled * BLOCK
        self._sound[at:at + BLOCK] = clean
        self._filled += 1
        self._spoke = self._spoke or speech
        if self._filled < BATCH:
            return NOTHING
        batch = Batch(self._sound)
        self._sound[:FRAME - BLOCK] = self._sound[BATCH * BLOCK:]
        self._filled = 0
        spoke, self._spoke = self._spoke, speech
        if self._floor is None:
            self._floor = 0.0
            return NOTHING
        rise = self.config.floor_rise * BATCH * FRAME_S
        self._floor = min(self._floor + rise, float(batch.level.mean()))
        return Manner(self._follow(t, batch, spoke, noise), self._sighs.step(t, batch, self._floor, noise))

    def ending(self) -> tuple[Measure, Measure]:
        """Course of pitch (semitones/s) and level (dB/s) at the end of what has been said up to now."""
        if not self._parts:
            return Measure(), Measure()
        frames, trust = joined(self._parts), self._trust(joined(self._parts))
        active = self._active(frames.level)
        return self._pitch_end(frames, active, trust), self._level_end(frames, active, trust)

    def _follow(self, t: float, batch: Batch, spoke: bool, noise: float) -> Utterance | None:
        if spoke and len(self._parts) * BATCH * FRAME_S < self.config.longest:
            if not self._parts:
                self._parts = list(self._before)
                self._before.clear()
            self._parts.append(batch)
            batch.measured()     # now, not all of them at the end
            self._noise.append(noise)
            return None
        told = self._described(t - BATCH * FRAME_S, joined(self._parts)) if self._parts else None
        self._parts, self._noise = [], []
        self._before.append(batch)
        return told

    def _trust(self, frames: VoiceFrames) -> float:
        """0..1 by how far the voice stands out of the room and of the robot."""
        over = float(np.percentile(frames.level, 90)) - (self._floor or 0.0)
        return soft(over, self.config.clear, 2.5) * (1 - float(np.mean(self._noise)))

    def _active(self, level: Values) -> Indices:
        """Indices of the frames that sound."""
        loud = max(float(np.percentile(level, 98)) - self.config.below_peak, (self._floor or 0.0) + 3.0)
        return np.flatnonzero(level > loud)

    def _told(self, value: float, confidence: float) -> Measure:
        return Measure(float(value), confidence) if confidence >= self.config.least else Measure()

    def _described(self, t: float, frames: VoiceFrames) -> Utterance | None:
        """The utterance whose frames end at t (s)."""
        active = self._active(frames.level)
        if active.size < 10:
            return None
        trust, count = self._trust(frames), len(frames.level)
        first, last = int(active[0]), int(active[-1]) + 1
        seconds = (last - first) * FRAME_S
        gaps = (np.diff(active) - 1) * FRAME_S
        silent = gaps[gaps >= self.config.pause]
        syllables = self._syllables(frames, first, last)
        enough = trust * min(1.0, syllables / 5)
        voiced = np.flatnonzero(frames.strength > self.config.voiced_from)
        voiced = np.intersect1d(voiced, active)
        return Utterance(
            t - (count - first) * FRAME_S, t - (count - last) * FRAME_S,
            self._told(syllables / seconds, enough), self._told(syllables / (seconds - silent.sum()), enough),
            self._told(silent.sum() / seconds, trust * min(1.0, seconds)),
            self._told(silent.max(initial=0.0), trust * min(1.0, seconds)),
            self._pitch(frames, voiced, trust), self._pitch_end(frames, active, trust),
            self._told(10 * np.log10(np.mean(10 ** (frames.level[active] / 10))), trust),
            self._level_end(frames, active, trust), self._breathiness(frames, voiced, trust))

    def _syllables(self, frames: VoiceFrames, first: int, last: int) -> int:
        level = smoothed(frames.level[first:last], 3)
        padded = np.pad(level, 1, constant_values=level.min() - 20.0)
        nuclei = peaks(padded, self.config.dip, round(self.config.syllable / FRAME_S)) - 1
        voiced = smoothed((frames.strength[first:last] > self.config.voiced_from).astype(float), 5) > 0.3
        return int(np.count_nonzero(voiced[nuclei]))

    def _pitch(self, frames: VoiceFrames, voiced: Indices, trust: float) -> Measure:
        if voiced.size < 10:
            return Measure()
        pitch = frames.pitch[voiced]
        middle = float(np.median(pitch))
        steady = float(np.mean(np.abs(np.log2(pitch / middle)) < 0.6))   # the rest jumped an octave
        return self._told(middle, trust * steady * min(1.0, voiced.size / 30))

    def _pitch_end(self, frames: VoiceFrames, active: Indices, trust: float) -> Measure:
        if not active.size:
            return Measure()
        begin = int(active[-1]) - round(self.config.ending / FRAME_S)
        voiced = active[(active > begin) & (frames.strength[active] > self.config.voiced_from)]
        if voiced.size < 8:
            return Measure()
        semitones = 12 * np.log2(frames.pitch[voiced])
        voiced = voiced[np.abs(semitones - np.median(semitones)) < 7]
        if voiced.size < 8:            # half of them jumped an octave
            return Measure()
        semitones = 12 * np.log2(frames.pitch[voiced])
        slope, start = np.polyfit(voiced * FRAME_S, semitones, 1)
        wild = float(np.std(semitones - slope * voiced * FRAME_S - start))
        return self._told(slope, trust * soft(wild, 1.5, -0.4) * min(1.0, voiced.size / 15))

    def _level_end(self, frames: VoiceFrames, active: Indices, trust: float) -> Measure:
        if active.size < 10:
            return Measure()
        level = smoothed(frames.level, 7)[max(0, int(active[-1]) - round(self.config.ending / FRAME_S)):active[-1] + 1]
        return self._told(np.polyfit(np.arange(level.size) * FRAME_S, level, 1)[0], trust)

    def _breathiness(self, frames: VoiceFrames, voiced: Indices, trust: float) -> Measure:
        """Rooms and noise take harmonics too, so that more than 0.7 is never believed."""
        if voiced.size < 20:
            return Measure()
        share = np.clip(float(np.median(frames.strength[voiced])), 0.01, 0.999)
        hnr = 10 * np.log10(share / (1 - share))
        return self._told(soft(hnr, self.config.breathy_hnr, -2.0), 0.7 * trust**2)
