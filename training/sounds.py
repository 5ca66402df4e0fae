"""Sounds that are no person who speaks to the robot: impulses, noises, music, machines. 16 kHz."""
import numpy as np
from scipy.signal import butter, lfilter, sosfilt

RATE = 16000


def _band(noise: np.ndarray, low: float, high: float) -> np.ndarray:
    return sosfilt(butter(2, [low, min(high, 7800)], "band", fs=RATE, output="sos"), noise)


def impacts(rng: np.random.Generator) -> np.ndarray:
    """Knocks, claps, things put down: 1-6 hits of damped modes or bare noise."""
    out = np.zeros(int(rng.uniform(0.5, 2.5) * RATE))
    t = np.arange(int(0.25 * RATE)) / RATE
    modes = rng.uniform(80, 3500, rng.integers(2, 9))
    damping = rng.uniform(0.004, 0.06, modes.size)
    hiss, crisp = rng.uniform(0.05, 1.5), rng.uniform(0.001, 0.02)
    at = 0.0
    for _ in range(rng.integers(1, 7)):
        ringing = np.sin(2 * np.pi * np.outer(modes, t)) * np.exp(-t / damping[:, None])
        hit = (ringing * rng.uniform(0.2, 1, (modes.size, 1))).sum(axis=0)
        hit = hit + hiss * rng.standard_normal(t.size) * np.exp(-t / crisp)
        begin = int(at * RATE)
        if begin + t.size > out.size:
            break
        out[begin:begin + t.size] += hit * rng.uniform(0.4, 1)
        at += rng.uniform(0.08, 0.5)
    return out


def throat(rng: np.random.Generator) -> np.ndarray:
    """Coughs, sneezes, throat clearing: bursts of shaped noise, some with a short voiced part."""
    out = np.zeros(int(1.6 * RATE))
    at = 0.0
    for _ in range(rng.integers(1, 4)):
        count = int(rng.uniform(0.12, 0.5) * RATE)
        t = np.arange(count) / RATE
        shape = np.minimum(t / rng.uniform(0.003, 0.03), 1) * np.exp(-t / rng.uniform(0.03, 0.13))
        low = rng.uniform(250, 1500)
        burst = _band(rng.standard_normal(count), low, low * rng.uniform(2, 6)) + 0.3 * rng.standard_normal(count)
        if rng.uniform() < 0.4:
            tone = np.cumsum(rng.uniform(90, 250) * (1 - 0.5 * t / t[-1])) / RATE
            burst = burst / burst.std() + rng.uniform(0.3, 1) * np.sign(np.sin(2 * np.pi * tone)) * np.exp(-t / 0.05)
        begin = int(at * RATE)
        if begin + count > out.size:
            break
        out[begin:begin + count] += shape * burst / (burst.std() + 1e-9)
        at += count / RATE + rng.uniform(0.02, 0.3)
    return out


def music(rng: np.random.Generator) -> np.ndarray:
    """Notes of plucked, blown or organ-like tones in a scale, sometimes with a beat."""
    out = np.zeros(int(rng.uniform(1.5, 6) * RATE))
    scale = 110 * 2 ** (rng.integers(0, 12) / 12) * 2 ** (np.array([0, 2, 4, 5, 7, 9, 11, 12, 14, 16]) / 12)
    beat = rng.uniform(0.12, 0.5)
    decay, attack, partials = rng.uniform(0.08, 0.8), rng.uniform(0.002, 0.05), rng.integers(1, 9)
    vibrato = rng.uniform(0, 0.006) * (rng.uniform() < 0.4)
    t = np.arange(int(min(1.0, 3 * beat) * RATE)) / RATE
    for start in np.arange(0, out.size / RATE - t[-1], beat):
        for note in rng.choice(scale, rng.integers(1, 4)):
            phase = 2 * np.pi * note * rng.choice([1, 2, 4]) * (t + vibrato * np.sin(2 * np.pi * 5.5 * t) / 5.5)
            tone = sum(np.sin(k * phase) / k ** rng.uniform(0.7, 2) for k in range(1, partials + 1))
            begin = int(start * RATE)
            out[begin:begin + t.size] += tone * np.exp(-t / decay) * np.minimum(t / attack, 1)
        if rng.uniform() < 0.4:
            drum = rng.standard_normal(1600) * np.exp(-np.arange(1600) / 300)
            begin = int(start * RATE)
            out[begin:begin + 1600] += drum[:out.size - begin]
    return out


def signals(rng: np.random.Generator) -> np.ndarray:
    """Telephones, beeps, sirens, toys."""
    count = int(rng.uniform(0.5, 3) * RATE)
    t = np.arange(count) / RATE
    hertz = rng.uniform(300, 3500) * 2 ** (rng.uniform(0, 1) * np.sign(np.sin(2 * np.pi * rng.uniform(1, 12) * t)))
    gate = np.sin(2 * np.pi * rng.uniform(0.5, 6) * t) > rng.uniform(-1, 0.5)
    return np.sin(2 * np.pi * np.cumsum(hertz) / RATE) * lfilter([0.02], [1, -0.98], gate.astype(float))


def scrapes(rng: np.random.Generator) -> np.ndarray:
    """Chairs, paper, typing, taps: noise in bands with irregular envelopes, and stick-slip squeaks."""
    count = int(rng.uniform(0.4, 3) * RATE)
    low = rng.uniform(200, 3000)
    noise = _band(rng.standard_normal(count), low, low * rng.uniform(1.5, 5))
    envelope = np.abs(lfilter([0.003], [1, -0.997], rng.standard_normal(count) * (rng.uniform(size=count) < 0.02)))
    out = noise * envelope / (envelope.max() + 1e-9)
    if rng.uniform() < 0.3:
        rate = rng.uniform(60, 400) * (1 + 0.2 * np.sin(2 * np.pi * rng.uniform(0.5, 4) * np.arange(count) / RATE))
        squeak = np.cumsum(rate) / RATE % 1 - 0.5
        out = out / (out.std() + 1e-9) + rng.uniform(0.3, 2) * squeak * envelope / (envelope.std() + 1e-9)
    return out


def machine(rng: np.random.Generator) -> np.ndarray:
    """A fan, hoover, mixer or passing car: steady noise with hum, fading in and out."""
    count = int(rng.uniform(2, 8) * RATE)
    t = np.arange(count) / RATE
    hum = sum(np.sin(2 * np.pi * rng.uniform(50, 300) * k * t) / k for k in range(1, rng.integers(2, 8)))
    low = rng.uniform(60, 800)
    noise = _band(rng.standard_normal(count), low, low * rng.uniform(4, 20))
    out = noise / noise.std() + rng.uniform(0, 1.5) * hum
    return out * np.minimum(np.minimum(t / rng.uniform(0.05, 1.5), (t[-1] - t) / 0.5), 1)


KINDS = (impacts, throat, music, signals, scrapes, machine)


def drawn(rng: np.random.Generator) -> np.ndarray:
    out = KINDS[rng.choice(len(KINDS), p=[0.2, 0.12, 0.4, 0.1, 0.06, 0.12])](rng)
    energy = np.square(out)
    loud = energy > energy.max() * 0.01
    return (out * 0.1 / (np.sqrt(energy[loud].mean()) + 1e-9)).astype(np.float32)
