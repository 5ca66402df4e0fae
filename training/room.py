"""Simulated rooms for training: image sources for the early part, a spatially diffuse decaying tail for the rest."""
from dataclasses import dataclass

import numpy as np
import pyroomacoustics as pra
from scipy.signal import fftconvolve, lfilter

RATE = 16000
SPEED_OF_SOUND = 343.0
LEAD = 40                   # samples by which pyroomacoustics delays every response
ORDER = 5                   # of image sources; the tail takes over after their time


def turned(points: np.ndarray, yaw: float) -> np.ndarray:
    c, s = np.cos(yaw), np.sin(yaw)
    return points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1.0]])


def plane_waves(rng: np.random.Generator, count: int, points: np.ndarray, waves: int, tilt: float) -> np.ndarray:
    """Diffuse noise (points, count): plane waves from random directions, power falling by `tilt` dB an octave."""
    hertz = np.maximum(np.fft.rfftfreq(count, 1 / RATE), 60.0)
    slope = (hertz / 1000) ** (-tilt / 6.02)
    out = np.zeros((len(points), hertz.size), complex)
    for _ in range(waves):
        direction = rng.standard_normal(3)
        direction /= np.linalg.norm(direction)
        wave = np.fft.rfft(rng.standard_normal(count)) * slope
        out += wave * np.exp(2j * np.pi * hertz * (points @ direction)[:, None] / SPEED_OF_SOUND)
    noise = np.fft.irfft(out, count, axis=1)
    return (noise / noise.std()).astype(np.float32)


@dataclass(frozen=True, slots=True)
class TrainingRoom:
    """A shoebox with the robot somewhere on a table in it. Points are relative to the robot's head centre."""

    size: np.ndarray
    rt60: float
    place: np.ndarray
    heading: float
    tail_tilt: float

    @staticmethod
    def drawn(rng: np.random.Generator) -> "TrainingRoom":
        size = rng.uniform((2.8, 2.6, 2.3), (8.0, 6.5, 3.4))
        place = np.array([*(size[:2] * rng.uniform(0.3, 0.7, 2)), rng.uniform(0.7, 1.3)])
        rt60 = float(np.clip(rng.gamma(3.0, 0.14) + 0.1, 0.1, 0.9))
        return TrainingRoom(size, rt60, place, rng.uniform(-np.pi, np.pi), rng.uniform(0, 3))

    def person(self, rng: np.random.Generator) -> np.ndarray:
        """A mouth somewhere in the room, 0.4-3 m away."""
        for _ in range(60):
            azimuth, distance = rng.uniform(-np.pi, np.pi), rng.uniform(0.4, 3.0)
            point = np.array([distance * np.cos(azimuth), distance * np.sin(azimuth), rng.uniform(-0.2, 0.8)])
            where = self.place + turned(point, self.heading)
            if (where > 0.2).all() and (where < self.size - 0.2).all():
                return point
        return np.array([0.5, 0.0, 0.1])

    def responses(self, rng: np.random.Generator, source: np.ndarray, mics: np.ndarray, shadow_db: float) -> np.ndarray:
        """Impulse responses (len(mics), taps) from source (3,) to mics (n, 3); shadow_db: loss of the high band for
        sources the head turns its back to, taken from the source's bearing by the caller (0: none)."""
        try:
            absorption, _ = pra.inverse_sabine(self.rt60, self.size)
        except ValueError:
            absorption = 0.9
        box = pra.ShoeBox(self.size, fs=RATE, materials=pra.Material(min(absorption, 0.95)), max_order=ORDER)
        box.add_source(self.place + turned(source, self.heading))
        box.add_microphone_array((self.place + turned(mics, self.heading)).T)
        box.compute_rir()
        taps = int(min(self.rt60, 0.7) * RATE) + 1200
        out = np.zeros((len(mics), taps))
        for row, per_source in zip(out, box.rir, strict=True):
            part = per_source[0][:taps]
            row[:len(part)] = part
        start = int(ORDER * self.size.min() / SPEED_OF_SOUND * RATE)
        start = min(start, taps - 400)
        level = np.sqrt(np.square(out[:, start - 320:start]).mean())
        late = plane_waves(rng, taps, mics - mics.mean(axis=0), 12, self.tail_tilt)
        envelope = np.exp(-6.91 * (np.arange(taps) - start) / (self.rt60 * RATE))
        fade = np.clip((np.arange(taps) - start) / 200 + 0.5, 0, 1)
        out = out * (1 - fade) + late * level * envelope * fade
        if shadow_db > 0.1:
            pole = np.exp(-2 * np.pi * 1800 / RATE)
            low = lfilter([1 - pole], [1, -pole], out, axis=1)
            out = low + (out - low) * 10 ** (-shadow_db / 20)
        return out.astype(np.float32)


def hear(rng: np.random.Generator, room: TrainingRoom, source: np.ndarray, signal: np.ndarray, mics: np.ndarray,
         yaw: np.ndarray, fixed_to_head: bool = False) -> np.ndarray:
    """What the mics (M, 3, in `head`) of a head that turns by yaw (n,) get of a signal (n,) from a source at rest."""
    spread = np.ptp(yaw)
    count = 1 if spread < 0.02 or fixed_to_head else int(np.ceil(spread / np.deg2rad(9))) + 1
    grid = np.linspace(yaw.min(), yaw.max(), count) if count > 1 else np.array([yaw.mean()])
    everywhere = np.concatenate([turned(mics, step) for step in grid])
    shadow = max(0.0, -float(source[0]) / (np.linalg.norm(source) + 1e-6)) * 4
    responses = room.responses(rng, source, everywhere, shadow).reshape(count, len(mics), -1)
    out = np.zeros((len(mics), signal.size), np.float32)
    place = np.interp(yaw, grid, np.arange(count)) if count > 1 else np.zeros(signal.size)
    for index, response in enumerate(responses):
        weight = np.clip(1 - np.abs(place - index), 0, 1).astype(np.float32)
        used = np.flatnonzero(weight)
        if not used.size:
            continue
        begin, end = max(0, used[0] - response.shape[1]), used[-1] + 1
        for mic, taps in enumerate(response):
            wet = fftconvolve(signal[begin:end], taps)[:end - begin]
            out[mic, begin:end] += weight[begin:end] * wet
    return out
