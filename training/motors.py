"""Invented robots for training: how they move, and how their gears sound. Every robot has a law of its own.

Not the law of shared/bench/hear: gear teeth, resonances, ticking and load are drawn here, so that what is learned does
not hang on one formula.
"""
from dataclasses import replace

import numpy as np
from scipy.signal import butter, iirpeak, lfilter, sosfilt

from calibration.body_model import reachy_mini
from robot.bodies.room.motor_noise import MotorNoise, MotorNoiseConfig

RATE = 16000
ROWS_HZ = 100
JOINTS = 9
_AROUND = np.deg2rad([15, 75, 135, 195, 255, 315])
PLACES = np.array([[0, 0, -0.14], *np.c_[0.04 * np.cos(_AROUND), 0.04 * np.sin(_AROUND), np.full(6, -0.08)],
                   [-0.02, -0.045, 0.06], [-0.02, 0.045, 0.06]])   # m in `head`


def eased(count: int, start: float, seconds: float) -> np.ndarray:
    """0 -> 1 with zero speed at both ends (raised cosine), rows of 10 ms."""
    x = np.clip((np.arange(count) / ROWS_HZ - start) / max(seconds, 0.05), 0, 1)
    return 0.5 - 0.5 * np.cos(np.pi * x)


def pose(rng: np.random.Generator, seconds: float, liveliness: float) -> tuple[np.ndarray, np.ndarray]:
    """Commanded (rows, 5) z, roll, pitch, head yaw, body yaw in m and rad, and antennas (rows, 2)."""
    rows = int(seconds * ROWS_HZ)
    t = np.arange(rows) / ROWS_HZ
    out, antennas = np.zeros((rows, 5)), np.zeros((rows, 2))

    def wave(low: float, high: float) -> np.ndarray:
        return np.sin(2 * np.pi * (rng.uniform(low, high) * t + rng.uniform()))

    out[:, 0] = rng.uniform(0.001, 0.006) * wave(0.1, 0.35)
    out[:, 1] = liveliness * rng.uniform(0.005, 0.06) * wave(0.2, 1.2)
    out[:, 2] = liveliness * rng.uniform(0.005, 0.07) * wave(0.2, 1.5)
    out[:, 3] = liveliness * rng.uniform(0.01, 0.08) * wave(0.2, 1.0)
    at = rng.uniform(0, 2.0)
    head = body = 0.0
    while at < seconds:
        took = rng.uniform(0.25, 1.4)
        kind = rng.uniform()
        if kind < 0.55:
            new = rng.uniform(-0.6, 0.6) * liveliness
            out[:, 3] += (new - head) * eased(rows, at, took)
            head = new
        elif kind < 0.8:
            new = rng.uniform(-0.8, 0.8) * liveliness
            out[:, 4] += (new - body) * eased(rows, at, 1.6 * took)
            body = new
        else:
            column, size = rng.integers(1, 3), rng.uniform(0.05, 0.3) * liveliness
            for n in range(rng.integers(1, 4)):
                out[:, column] += size * (eased(rows, at + n * 0.5, 0.22) - eased(rows, at + n * 0.5 + 0.24, 0.22))
        at += took + rng.exponential(1.2 / max(liveliness, 0.2))
    out[:, 3] += out[:, 4]
    for side in range(2):
        for start in rng.uniform(0, seconds, rng.poisson(seconds / 5)):
            flick = rng.choice([-1, 1]) * rng.uniform(0.2, 1.2)
            antennas[:, side] += flick * eased(rows, start, rng.uniform(0.15, 0.6))
    return out, antennas


def joint_speeds(rng: np.random.Generator, moves: np.ndarray, antennas: np.ndarray) -> np.ndarray:
    """(rows, 9) rad/s in the order of JOINTS: six arms share heave, roll, pitch and the yaw between head and body."""
    rate = np.gradient(moves, 1 / ROWS_HZ, axis=0)
    arm, radius, skew = rng.uniform(0.03, 0.05), rng.uniform(0.04, 0.06), rng.uniform(0.5, 0.9)
    legs = []
    for number, angle in enumerate(_AROUND):
        lift = rate[:, 0] + radius * (np.sin(angle) * rate[:, 1] - np.cos(angle) * rate[:, 2])
        twist = radius * (rate[:, 3] - rate[:, 4]) * (1 if number % 2 else -1)
        legs.append((lift + skew * twist) / arm)
    return np.column_stack([rate[:, 4], *legs, np.gradient(antennas, 1 / ROWS_HZ, axis=0)])


class Gearbox:
    """The sound of one joint of one robot."""

    def __init__(self, rng: np.random.Generator):
        self.whine_hz = rng.uniform(150, 2500)           # per rad/s
        self.exponent = rng.uniform(0.35, 1.1)           # amplitude over speed
        self.partials = rng.uniform(0.05, 1.0, rng.integers(1, 9))
        plain = rng.uniform() < 0.65                     # good gears: no ticks, one broad hiss
        self.tone, self.hiss = rng.uniform(0.1, 1.4), rng.uniform(0.3, 2.0)
        self.tick = 0.0 if plain else rng.uniform(0, 1.2)
        sharpest, most = (1.2, 2) if plain else (6, 4)
        self.resonances = [(rng.uniform(300, 5500), rng.uniform(0.4, sharpest)) for _ in range(rng.integers(1, most))]
        self.white = rng.uniform(0.02, 0.4)              # of the hiss: what no resonance colours
        self.tilt = butter(1, rng.uniform(1500, 7000), fs=RATE, output="sos")
        self.teeth_hz = rng.uniform(15, 120)             # per rad/s
        self.click = rng.uniform(0.3, 2.0 if plain else 5.0)
        self.gain = 10 ** (rng.normal(0, 3) / 20)
        self.uneven = rng.uniform(-0.35, 0.35)
        self.hum_hz, self.hum = rng.uniform(90, 500), rng.uniform(0, 0.04)

    def sound(self, rng: np.random.Generator, speed: np.ndarray) -> np.ndarray:
        """speed (n,) rad/s at 16 kHz, as the joint really turns."""
        count = speed.size
        size = np.abs(speed)
        wobble = 1 + rng.uniform(0, 0.06) * np.interp(np.arange(count), np.arange(0, count + 800, 800),
                                                      rng.standard_normal(len(range(0, count + 800, 800))))
        turned = np.cumsum(size * wobble) / RATE
        tone = np.zeros(count)
        for number, partial in enumerate(self.partials, 1):
            audible = number * self.whine_hz * size < 7500
            phase = 2 * np.pi * number * self.whine_hz * turned + rng.uniform(0, 6.28)
            tone += partial * audible * np.sin(phase) / number**0.5
        noise = rng.standard_normal(count)
        hiss = sum(lfilter(*iirpeak(hertz, max(quality, hertz / 7000), fs=RATE), noise)    # broader ones are unstable
                   for hertz, quality in self.resonances)
        hiss = sosfilt(self.tilt, hiss + self.white * noise)
        hiss /= hiss.std() + 1e-9
        teeth = np.diff(np.floor(turned * self.teeth_hz), prepend=0) > 0
        ticks = lfilter([1.0], [1, -rng.uniform(0.6, 0.97)], teeth * rng.uniform(0.3, 1.0, count)) * noise
        loud = self.gain * (1 + self.uneven * np.sign(speed)) * size**self.exponent
        out = loud * (self.tone * tone + self.hiss * hiss + 3 * self.tick * ticks)
        starts = np.flatnonzero(np.diff((size > 0.05).astype(int)) | (np.diff(np.sign(speed)) != 0))
        for at in starts[np.diff(starts, prepend=-10**6) > 900]:
            length = min(rng.integers(100, 700), count - at)
            out[at:at + length] += (self.click * self.gain * rng.uniform(0.3, 1.2) * rng.standard_normal(length)
                                    * np.exp(-np.arange(length) / rng.uniform(15, 150)))
        return out + self.hum * self.gain * np.sin(2 * np.pi * self.hum_hz * np.arange(count) / RATE)


def noises(robot: np.random.Generator, rng: np.random.Generator, speeds: np.ndarray) -> np.ndarray:
    """Sounds (9, n) of the joints for commanded speeds (rows, 9); `robot` fixes the individual, `rng` the recording."""
    boxes = [Gearbox(robot) for _ in range(JOINTS)]
    if robot.uniform() < 0.35:     # six arms of one make
        for box in boxes[2:7]:
            box.whine_hz, box.teeth_hz = boxes[1].whine_hz * robot.uniform(0.97, 1.03), boxes[1].teeth_hz
            box.resonances = [(min(hertz * robot.uniform(0.7, 1.4), 7000.0), quality)
                              for hertz, quality in boxes[1].resonances]
    lag = int(robot.uniform(1, 6))
    real = np.concatenate([np.zeros((lag, JOINTS)), speeds])[:len(speeds)]
    samples = len(speeds) * RATE // ROWS_HZ
    at = np.arange(samples) * ROWS_HZ / RATE
    speeds_at = [np.interp(at, np.arange(len(real)), column) for column in real.T]
    return np.stack([box.sound(rng, speed) for box, speed in zip(boxes, speeds_at, strict=True)])


def at_microphones(rng: np.random.Generator, sounds: np.ndarray, mics: np.ndarray) -> np.ndarray:
    """(M, n): by air from each joint's place, and through the structure."""
    count = sounds.shape[1]
    size = count + 256
    spectra = np.fft.rfft(sounds, size, axis=1)
    hertz = np.fft.rfftfreq(size, 1 / RATE)
    distance = np.linalg.norm(mics[:, None] - PLACES[None], axis=2)
    delayed = (spectra * np.exp(-2j * np.pi * hertz * d[:, None] / 343.0) * (0.1 / d[:, None]) for d in distance)
    out = np.stack([np.fft.irfft(parts.sum(axis=0), size)[:count] for parts in delayed])
    body = sosfilt(butter(2, rng.uniform(400, 1500), fs=RATE, output="sos"), sounds, axis=1)
    if rng.uniform() < 0.5:        # every joint is mounted in its own way
        return out + rng.uniform(0.1, 0.8, (len(mics), JOINTS)) @ body
    return out + body.sum(axis=0) * rng.uniform(0.1, 0.8, (len(mics), 1))


def of_the_product(robot: np.random.Generator, speeds: np.ndarray, mics: np.ndarray) -> np.ndarray:
    """(M, n) of the robot that the product's own simulated room invents."""
    body = replace(reachy_mini(), mic_positions=mics)
    noise = MotorNoise(MotorNoiseConfig(), body, robot)
    silent = np.zeros((len(mics), RATE // ROWS_HZ), np.float32)
    blocks = (noise.step(row) for row in speeds)
    return np.concatenate([silent if block is None else block for block in blocks], axis=1)
