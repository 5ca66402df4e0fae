"""From the last gate to the air: queue, gate, device delay with drift and slips, and a small loudspeaker that clips."""
from dataclasses import dataclass, field

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy.signal import butter, iirpeak, lfilter, sosfilt

from dialogue.engine import SpeakerBlock
from perception.audio.block import BLOCK, BLOCK_S, SAMPLE_RATE_HZ
from robot.bodies.room.arrivals import KERNELS, LEAD, PHASES, TAPS
from robot.bodies.room.tracks import SILENT

LONGEST_DELAY_S = 1.0        # kept for slips on top of the nominal delay
NOMINAL_DBFS = -23.0         # active level of the robot's speech at which the echo has its configured level (EBU R 128)


@dataclass(frozen=True, slots=True)
class LoudspeakerConfig:
    """The way of the robot's voice to the air of the room."""

    near_to_echo_db: float = -10.0      # level at the microphones of a person at 1 m over the robot at nominal level
    playback_delay_s: float = 0.06      # from the gate to the air: three periods of 20 ms; 0.03 to 0.25 are met
    drift_ppm: float = 0.0              # playback clock against capture clock; +50: playback runs late ever more
    slips: tuple[tuple[float, float], ...] = ()   # (t s, jump s): the device loses (-) or repeats (+) sound
    queue_blocks: int = 2               # waiting between mind and device
    headroom_db: float = 10.0           # from nominal RMS to the knee of the soft clipping
    softness: float = 2.2               # exponent of the knee: 1 very soft ... 6 hard
    distance_m: float | None = None     # to the middle of the microphones; None: as in the body's model

    def __post_init__(self):
        if not 0.02 <= self.playback_delay_s <= 0.5:
            raise ValueError(f"playback_delay_s: expected 0.02 to 0.5 s, found {self.playback_delay_s}")
        if self.distance_m is not None and not 0.03 <= self.distance_m <= 0.3:
            raise ValueError(f"distance_m: expected 0.03 to 0.3 m, found {self.distance_m}")


@dataclass
class PlayedLog:
    """What truly went to the device, whatever the gate meant to do."""

    cancelled: set[int] = field(default_factory=set)
    live_generation: int = 0                             # as the mind last told
    stale_blocks: int = 0
    levels: list[float] = field(default_factory=list)    # dBFS RMS of what sounds in each 10 ms
    generations: list[int] = field(default_factory=list)   # of what enters the device in each 10 ms

    def cancel(self, generation: int) -> None:
        self.cancelled.add(generation)

    def entered(self, block: SpeakerBlock) -> None:
        self.generations.append(block.generation)
        stale = block.generation in self.cancelled or block.generation not in (0, self.live_generation)
        if stale and block.samples.any():
            self.stale_blocks += 1

    def sounded(self, emitted: NDArray[np.float32]) -> None:
        self.levels.append(10 * np.log10(float(np.mean(emitted ** 2)) + 1e-12))

    def level(self, t: float) -> float:
        """dBFS of the sound that left the loudspeaker in the block that ends at or next after t (s)."""
        place = max(0, int(np.ceil(t / BLOCK_S - 1e-6)) - 1)
        return self.levels[place] if place < len(self.levels) else -120.0


@dataclass
class Device:
    """Delay between gate and air on the capture clock, with drift and slips: a fractional delay line."""

    config: LoudspeakerConfig
    late_s: float = 0.0          # s by which it has fallen behind in xruns since the start
    _line: NDArray[np.float32] = field(init=False)
    _blocks: int = 0
    _quiet: int = 0              # silent blocks that have entered since the last sound

    def __post_init__(self):
        longest = self.config.playback_delay_s + LONGEST_DELAY_S
        self._line = np.zeros(int(np.ceil(longest * SAMPLE_RATE_HZ / BLOCK)) * BLOCK + 2 * BLOCK, np.float32)

    def delay(self, t: float) -> float:
        """Seconds from gate to air at time t."""
        slipped = sum(jump for at, jump in self.config.slips if t >= at)
        return self.config.playback_delay_s + self.config.drift_ppm * 1e-6 * t + slipped + self.late_s

    def step(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """(BLOCK,) that reaches the loudspeaker while `samples` enter the device; LEAD samples ahead of the air."""
        self._quiet = 0 if samples.any() else self._quiet + 1
        t = self._blocks * BLOCK_S
        self._blocks += 1
        if self._quiet * BLOCK > len(self._line):          # nothing but silence is in it: the same zeros for less
            return SILENT
        self._line[:-BLOCK] = self._line[BLOCK:]
        self._line[-BLOCK:] = samples
        first = self.delay(t) * SAMPLE_RATE_HZ - LEAD
        stretch = self.config.drift_ppm * 1e-6 * BLOCK
        weights = np.linspace(0.0, 1.0, BLOCK, endpoint=False, dtype=np.float32)
        start, late = self._read(first), self._read(first + stretch) if stretch else None
        return start if late is None else start + (late - start) * weights

    def _read(self, delay: float) -> NDArray[np.float32]:
        """The line's newest block as it was `delay` samples ago."""
        steps = int(np.clip(round(delay * PHASES), TAPS * PHASES, (len(self._line) - 2 * BLOCK) * PHASES))
        whole, phase = divmod(steps, PHASES)
        begin = len(self._line) - BLOCK - whole - TAPS // 2
        return np.convolve(self._line[begin:begin + BLOCK + TAPS - 1], KERNELS[0, phase], "valid")


class BlockFilter:
    """A short filter (up to BLOCK taps), 10 ms at a time."""

    def __init__(self, taps: NDArray):
        self.spectrum = np.fft.rfft(taps[:BLOCK], 2 * BLOCK).astype(np.complex64)
        self._before = np.zeros(BLOCK, np.float32)

    def step(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        spectrum = scipy.fft.rfft(np.concatenate((self._before, samples)))
        self._before = samples
        return scipy.fft.irfft(spectrum * self.spectrum, 2 * BLOCK)[BLOCK:]


@dataclass
class Driver:
    """A small loudspeaker in a small case: little bass, a resonance or two, and soft clipping of its own."""

    config: LoudspeakerConfig
    rng: np.random.Generator
    _quiet: int = 0              # silent blocks since the last sound

    def __post_init__(self):
        impulse = np.zeros(BLOCK)
        impulse[0] = 1.0
        low, high = self.rng.uniform(180, 320), self.rng.uniform(6200, 7400)
        bass = butter(2, low, "highpass", fs=SAMPLE_RATE_HZ, output="sos")
        colour = sosfilt(butter(2, high, "lowpass", fs=SAMPLE_RATE_HZ, output="sos"), impulse)
        for peak, db in zip(self.rng.uniform([500, 1800], [1200, 4000]), self.rng.uniform(-4, 4, 2), strict=True):
            colour = colour + (10 ** (db / 20) - 1) * lfilter(*iirpeak(peak, 2.0, fs=SAMPLE_RATE_HZ), colour)
        self._bass, self._colour = BlockFilter(sosfilt(bass, impulse)), BlockFilter(colour)
        self._knee = np.float32(10 ** ((NOMINAL_DBFS + self.config.headroom_db) / 20))
        self._lean = np.float32(self.rng.uniform(-0.08, 0.08))   # the cone moves out more easily than in

    def step(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """(BLOCK,) of sound, 1.0 as digital full scale without the clipping."""
        self._quiet = 0 if samples.any() else self._quiet + 1
        if self._quiet > 2:                                # both filters have rung out: the same zeros for less
            return SILENT
        moved = self._bass.step(samples)
        x = moved / self._knee
        x = x + self._lean * x * x / (1 + x * x)
        softness = np.float32(self.config.softness)
        return self._colour.step(moved / (1 + np.abs(x) ** softness) ** (1 / softness))

    def response(self, bins: int) -> NDArray[np.float64]:
        """Small-signal power gain (bins,) from 0 Hz to Nyquist."""
        power = np.abs(self._bass.spectrum * self._colour.spectrum) ** 2
        return np.interp(np.linspace(0, BLOCK, bins), np.arange(BLOCK + 1), power)
