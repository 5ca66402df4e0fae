"""Voices around a head of microphones, as sums of plane waves: the direct one, echoes from walls, a decaying tail."""
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.signal import butter, lfilter, resample_poly, sosfilt

from calibration.body_model import line_array
from calibration.frames import HeadPose, direction_vector, rotation
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ
from perception.audio.doa import Direction
from perception.audio.scene import Bearing

SPEED_OF_SOUND = 343.0
FINE = 8           # times 16 kHz: linear interpolation is then good to -50 dB at 4 kHz
LINE = line_array()
CIRCLE = 0.033 * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]]) / np.sqrt(2)
DETECTOR_DELAY, DETECTOR_HOLD = 8, 24   # blocks


def voice(rng: np.random.Generator, seconds: float, pitch_hz: float = 140.0) -> np.ndarray:
    """Syllables of pulses through two moving formants and hiss, 4 a second, unit power while they last (n,)."""
    n = int(seconds * SAMPLE_RATE_HZ)
    out, at = np.zeros(n), 0
    while at < n:
        length = min(int(rng.uniform(0.12, 0.22) * SAMPLE_RATE_HZ), n - at)
        pulses = np.diff(np.floor(np.arange(length + 1) * pitch_hz * rng.uniform(0.8, 1.3) / SAMPLE_RATE_HZ))
        sound = pulses + 0.15 * rng.standard_normal(length) * (rng.random() < 0.5)
        for formant in (rng.uniform(350, 800), rng.uniform(1000, 2400), rng.uniform(2600, 3600)):
            turn = np.cos(2 * np.pi * formant / SAMPLE_RATE_HZ)
            sound = sound + lfilter([0.06], [1, -1.94 * turn, 0.97**2], sound)
        out[at:at + length] = sound * np.sin(np.linspace(0, np.pi, length)) ** 0.5
        at += length + int(rng.uniform(0.03, 0.1) * SAMPLE_RATE_HZ)
    return out / np.sqrt(np.mean(out**2))


def wave(sound: np.ndarray, u: np.ndarray, mics: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    """A plane wave from u (3,) in base, at microphones (M, 3) on a head of yaw (n,) at each sample: (M, n)."""
    if np.ptp(yaw) == 0:
        turned = mics @ rotation(0.0, 0.0, yaw[0]).T
        return _shifted(sound, -(turned @ u) / SPEED_OF_SOUND)
    fine = np.append(resample_poly(sound, FINE, 1), 0.0)
    cos, sin = np.cos(yaw), np.sin(yaw)
    along, across = cos * u[0] + sin * u[1], cos * u[1] - sin * u[0]
    out = []
    for p in mics:
        lead = (p[0] * along + p[1] * across + p[2] * u[2]) * (FINE * SAMPLE_RATE_HZ / SPEED_OF_SOUND)
        at = np.clip(np.arange(len(sound)) * FINE + lead, 0, len(fine) - 2)
        low = at.astype(int)
        out.append(fine[low] + (at - low) * (fine[low + 1] - fine[low]))
    return np.stack(out)


def _shifted(sound: np.ndarray, delays_s: np.ndarray, gains: np.ndarray | float = 1.0) -> np.ndarray:
    """(M, n): the sound late by each of the delays."""
    size = next_fast_len(len(sound) + 64, real=True)
    turn = np.exp(-2j * np.pi * np.fft.rfftfreq(size, 1 / SAMPLE_RATE_HZ) * np.asarray(delays_s)[:, None])
    return (irfft(rfft(sound, size) * turn, size) * np.reshape(gains, (-1, 1)))[:, :len(sound)]


def diffuse(rng: np.random.Generator, n: int, mics: np.ndarray, waves: int = 24) -> np.ndarray:
    """Noise from everywhere, unit power (M, n)."""
    out = np.zeros((len(mics), n))
    for _ in range(waves):
        u = rng.standard_normal(3)
        out += wave(rng.standard_normal(n), u / np.linalg.norm(u), mics, np.zeros(n))
    return out / out.std()


def in_room(rng: np.random.Generator, sound: np.ndarray, azimuth: float, elevation: float, mics: np.ndarray,
            yaw: np.ndarray, reverberation: float) -> np.ndarray:
    """The voice with 4 early and 8 late copies from elsewhere; reverberation: their power over the direct one's."""
    out = wave(sound, direction_vector(azimuth, elevation), mics, yaw)
    late_s = np.concatenate([rng.uniform(0.004, 0.03, 4), rng.uniform(0.03, 0.35, 8)])
    gain = 10 ** (-3 * late_s / 0.4) * rng.choice([-1, 1], late_s.size)
    gain *= np.sqrt(reverberation / np.sum(gain**2))
    for delay_s, g in zip(late_s, gain, strict=True):
        u = rng.standard_normal(3)
        copy = np.concatenate([np.zeros(int(delay_s * SAMPLE_RATE_HZ)), sound])[:len(sound)]
        out += wave(g * copy, u / np.linalg.norm(u), mics, yaw)
    return out


@dataclass
class Scene:
    """What Direction gets, block by block."""

    residual: np.ndarray      # (M, n)
    speech: np.ndarray        # (blocks,) likelihood
    yaw: np.ndarray           # (blocks,) rad at the end of each
    echo: np.ndarray | None = None
    motors: np.ndarray | None = None   # (blocks, K)

    def bearings(self, direction: Direction) -> list[Bearing | None]:
        out = []
        for k in range(len(self.speech)):
            part = slice(k * BLOCK, (k + 1) * BLOCK)
            residual = self.residual[:, part].astype(np.float32)
            echo = np.zeros_like(residual) if self.echo is None else self.echo[:, part].astype(np.float32)
            motors = 0.0 if self.motors is None else self.motors[k]
            t = (k + 1) * 0.01
            pose = HeadPose(t, np.zeros(3), np.array([0.0, 0.0, self.yaw[k]]), 0.0)
            out.append(direction.step(t, residual, echo, float(self.speech[k]), motors, pose))
        return out


def detected(n: int, start: float, end: float) -> np.ndarray:
    """Likelihood (n / 160,) that a detector gives for speech from start to end (s): late, and slow to let go."""
    out = np.full(n // BLOCK, 0.03)
    out[int(start * 100) + DETECTOR_DELAY:int(end * 100) + DETECTOR_HOLD] = 0.95
    return out


def talking(seed: int, azimuth: float, *, seconds: float = 3.0, start: float = 1.0, snr_db: float = 15.0,
            reverberation: float = 1.0, mics: np.ndarray = LINE, sweep: float = 0.0, elevation: float = 0.2) -> Scene:
    """One voice from `start` on; sweep: amplitude (rad) of a head that turns to and fro every 2 s."""
    rng = np.random.default_rng(seed)
    n = int(seconds * SAMPLE_RATE_HZ)
    yaw = sweep * np.sin(np.pi * np.arange(n) / SAMPLE_RATE_HZ)
    sound = np.zeros(n)
    begin = int(start * SAMPLE_RATE_HZ)
    sound[begin:] = voice(rng, seconds - start)[:n - begin]
    heard = in_room(rng, sound, azimuth, elevation, mics, yaw, reverberation)
    heard *= 0.01 / heard[:, begin:].std()
    heard += 0.01 * 10 ** (-snr_db / 20) * diffuse(rng, n, mics)
    heard *= 10 ** (rng.uniform(-0.5, 0.5, (len(mics), 1)) / 20)
    return Scene(heard, detected(n, start, seconds), yaw[BLOCK - 1::BLOCK])


def band(rng: np.random.Generator, n: int, low_hz: float, high_hz: float) -> np.ndarray:
    """Noise of unit power in a band (n,)."""
    noise = sosfilt(butter(2, [low_hz, high_hz], "band", fs=SAMPLE_RATE_HZ, output="sos"), rng.standard_normal(n))
    return noise / noise.std()


def near(sound: np.ndarray, place: np.ndarray, mics: np.ndarray) -> np.ndarray:
    """A source on the head itself (3,) m, loudness relative to 10 cm: (M, n)."""
    distance = np.linalg.norm(mics - place, axis=1)
    return _shifted(sound, distance / SPEED_OF_SOUND, 0.1 / distance)
