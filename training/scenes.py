"""Training scenes: 16 s of a robot among people, drawn from one seed, with a label for every block.

    scene = drawn_scene(seed, voices)
"""
from dataclasses import dataclass

import numpy as np
from scipy.signal import butter, sosfilt

from training import motors, room, sounds, voices

RATE = 16000
SECONDS = 16
SAMPLES = SECONDS * RATE
BLOCKS = SECONDS * 100
MANY_DUCKS = 2000


@dataclass(frozen=True, slots=True)
class Voices:
    """Who may speak; split between training and validation by name."""

    robots: tuple[str, ...]
    people: tuple[str, ...]
    hummers: tuple[str, ...]
    cache: str


@dataclass(slots=True)
class TrainingScene:
    mic_positions: np.ndarray      # (M, 3) m
    delay_s: float | None          # nominal
    sound: np.ndarray              # (M, n)
    reference: np.ndarray          # (n,)
    speeds: np.ndarray             # (rows, 9) rad/s commanded
    label: np.ndarray              # (BLOCKS,) 1: a person speaks
    weight: np.ndarray             # (BLOCKS,) of the loss
    speaking: np.ndarray           # (BLOCKS,) the robot plays
    people: list[tuple[float, float, float]]   # onset s, end s, level over echo dB
    moving: bool


def db(value) -> float:
    return 10 ** (value / 20)


def active_rms(signal: np.ndarray) -> float:
    count = signal.size // 160
    energy = np.square(signal[:count * 160]).reshape(count, 160).mean(axis=1)
    loud = energy > np.percentile(energy, 97) * 1e-3
    return float(np.sqrt(energy[loud].mean())) + 1e-9 if loud.any() else 1e-9


def another_throat(rng: np.random.Generator, said: np.ndarray) -> np.ndarray:
    """The same a little higher or lower, faster or slower: another speaker."""
    if rng.uniform() < 0.4:
        return said
    factor = rng.uniform(0.84, 1.2)
    return np.interp(np.arange(0, said.size - 1, factor), np.arange(said.size), said).astype(np.float32)


def array(rng: np.random.Generator) -> np.ndarray:
    kind = rng.uniform()
    if kind < 0.65:
        pitch = 0.033 if rng.uniform() < 0.6 else rng.uniform(0.02, 0.045)
        mics = np.c_[np.zeros(4), (np.arange(4) - 1.5) * pitch, np.zeros(4)] + [rng.uniform(-0.02, 0.04), 0, 0]
    elif kind < 0.85:
        angle = rng.uniform(0, 1) + np.arange(4) * np.pi / 2
        mics = rng.uniform(0.025, 0.04) * np.c_[np.cos(angle), np.sin(angle), np.zeros(4)]
    else:
        count = rng.integers(1, 4)
        mics = np.c_[np.zeros(count), (np.arange(count) - (count - 1) / 2) * rng.uniform(0.03, 0.07), np.zeros(count)]
    return mics


def loudspeaker(rng: np.random.Generator, signal: np.ndarray) -> np.ndarray:
    """One of several kinds of small driver: saturation, asymmetry, excursion, resonance, pass band."""
    peak = np.abs(signal).max() + 1e-9
    drive = rng.choice([0.3, 0.8, 1.2, 2.0, 2.8])
    x = drive * signal / peak
    low = sosfilt(butter(1, rng.uniform(200, 600), fs=RATE, output="sos"), x)
    kind = rng.integers(5)
    if kind == 0:
        y = np.tanh(x) + rng.uniform(0, 0.02) * x**2
    elif kind == 1:
        y = x / (1 + np.abs(x) ** rng.uniform(2, 5)) ** (1 / rng.uniform(2, 5))
    elif kind == 2:
        y = np.arctan(x + rng.uniform(0, 0.3) * low) + rng.uniform(0, 0.03) * low * x
    elif kind == 3:
        y = x - rng.uniform(0.02, 0.15) * np.clip(x, -1.4, 1.4) ** 3
    else:
        y = np.clip(x, -rng.uniform(0.6, 1.2), rng.uniform(0.6, 1.2)) + 0.01 * np.abs(x)
    band = butter(rng.integers(1, 4), [rng.uniform(90, 350), rng.uniform(5000, 7600)], "band", fs=RATE, output="sos")
    return peak / drive * sosfilt(band, y)


def at_times(signal: np.ndarray, position: np.ndarray) -> np.ndarray:
    """signal read at fractional positions, 4-point cubic; zero outside."""
    base = np.floor(position).astype(int)
    f = (position - base).astype(np.float32)
    padded = np.pad(signal.astype(np.float32), (8, 8))
    i = np.clip(base + 8, 1, padded.size - 3)
    a, b, c, d = padded[i - 1], padded[i], padded[i + 1], padded[i + 2]
    out = b + 0.5 * f * (c - a + f * (2 * a - 5 * b + 4 * c - d + f * (3 * (b - c) + d - a)))
    return np.where((position >= 0) & (position < signal.size), out, 0)


class _Builder:
    def __init__(self, seed: int, who: Voices, vain_ducks: float):
        self.rng = rng = np.random.default_rng([7041, seed])
        self.vain_ducks = vain_ducks
        self.who = who
        self.room = room.TrainingRoom.drawn(rng)
        self.mics = array(rng)
        self.moving = rng.uniform() < 0.75
        still = not self.moving
        moves, antennas = motors.pose(rng, SECONDS, 0.0 if still else rng.uniform(0.4, 1.3))
        if still:
            moves, antennas = 0 * moves, 0 * antennas
        self.speeds = motors.joint_speeds(rng, moves, antennas)
        rows = np.arange(SAMPLES) * 100 / RATE
        self.yaw = np.interp(rows, np.arange(len(moves)), moves[:, 3])
        self.sound = np.zeros((len(self.mics), SAMPLES), np.float32)
        self.reference = np.zeros(SAMPLES, np.float32)
        self.echo_rms = db(rng.uniform(-46, -24))
        self.label, self.weight = np.zeros(BLOCKS, np.float32), np.ones(BLOCKS, np.float32)
        self.speaking = np.zeros(BLOCKS, bool)
        self.people: list[tuple[float, float, float]] = []
        self.delay_s: float | None = None
        self.talks = rng.uniform() < 0.8
        self.motors_db = rng.uniform(-12, 10) if rng.uniform() < 0.85 else rng.uniform(-30, -12)   # over the echo
        self.loud_rms = self.echo_rms

    def robot_speaks(self, utterances: list[float]) -> None:
        rng = self.rng
        voice = str(rng.choice(self.who.robots))
        words = voices.clips(voice, self.who.cache)
        begin = int(rng.choice([0.05, 0.3, 1.0, 3.0]) * rng.uniform(0.5, 1.5) * RATE)
        end = SAMPLES if rng.uniform() < 0.7 else int(rng.uniform(7, 15) * RATE)
        said = another_throat(rng, voices.talk(rng, words, 1.25 * (end - begin) / RATE, (0.05, 0.6)))
        said = said[:end - begin]
        self.reference[begin:begin + said.size] = said
        self.reference *= min(rng.uniform(0.2, 1.6), 0.9 / np.abs(self.reference).max())
        self.duck(utterances)
        played = loudspeaker(rng, self.reference)
        delay = rng.uniform(0.02, 0.26)
        position = np.arange(SAMPLES) - delay * RATE + room.LEAD
        chance = rng.uniform()
        if chance < 0.14:
            for at in rng.uniform(1, 15, rng.integers(1, 3)):
                position[int(at * RATE):] -= rng.choice([-1, 1]) * rng.uniform(0.004, 0.05) * RATE
        elif chance < 0.22:
            position -= np.arange(SAMPLES) * rng.uniform(-80, 80) * 1e-6
        played = at_times(played, position)
        source = np.array([rng.uniform(-0.02, 0.03), rng.uniform(-0.02, 0.02), -rng.uniform(0.06, 0.13)])
        echo = room.hear(rng, self.room, source, played, self.mics, self.yaw)
        body = sosfilt(butter(2, [80, rng.uniform(400, 1500)], "band", fs=RATE, output="sos"), played)
        body = np.concatenate([np.zeros(room.LEAD + 2), body])[:SAMPLES]
        share = db(rng.uniform(-30, -8)) * np.std(echo[0]) / (np.std(body) + 1e-9)
        echo += body * share * rng.uniform(0.6, 1.4, (len(self.mics), 1))
        self.sound += echo * self.echo_rms / active_rms(echo[0])
        self.delay_s = max(0.0, delay + rng.uniform(-0.02, 0.02)) if rng.uniform() < 0.96 else None
        played_blocks = np.abs(self.reference).reshape(BLOCKS, 160).max(axis=1) > 3e-4
        self.speaking = np.convolve(played_blocks, np.ones(30), "full")[:BLOCKS] > 0

    def duck(self, utterances: list[float]) -> None:
        """Lower the playback after some onsets, and more often for nothing; often the motors hold still as well.

        Were ducks a sign of a person here, each duck would confirm itself on the robot.
        """
        rng = self.rng
        times = [at + rng.uniform(0.06, 0.4) for at in utterances if rng.uniform() < 0.3]
        times += list(rng.uniform(0.5, 15, rng.poisson(self.vain_ducks)))
        for at in times:
            gain = np.ones(SAMPLES, np.float32)
            start, length = int(at * RATE), int(rng.uniform(0.6, 1.6) * RATE)
            low = 0.0 if rng.uniform() < 0.15 else db(-rng.uniform(8, 16))
            gain[start:start + length] = low
            ramp = np.ones(int(rng.uniform(0.02, 0.12) * RATE))
            padded = np.pad(gain, (ramp.size, 0), mode="edge")
            self.reference *= np.convolve(padded, ramp / ramp.size, "valid")[:SAMPLES]
            if rng.uniform() < 0.6:
                rows = slice(int(at * 100), int(at * 100 + length / 160))
                self.speeds[rows] = 0

    def person(self, at: float, hums: bool) -> None:
        rng = self.rng
        voice = str(rng.choice(self.who.hummers if hums else self.who.people))
        parts = voices.clips(voice, self.who.cache, hums)
        begin = int(at * RATE)
        if hums:
            dry = parts[rng.integers(len(parts))][:int(0.9 * RATE)]
        else:
            order = rng.permutation(len(parts))
            dry = voices.talk(rng, tuple(parts[i] for i in order[:8]), rng.uniform(0.5, 3.2), (0.05, 0.3))
        dry = another_throat(rng, dry)[:SAMPLES - begin - 1600]
        if dry.size < 2000:
            return
        signal = np.zeros(SAMPLES, np.float32)
        signal[begin:begin + dry.size] = dry
        wet = room.hear(rng, self.room, self.room.person(rng), signal, self.mics, self.yaw)
        level = rng.choice([rng.uniform(-22, 2), rng.uniform(-12, 5)])
        if self.moving and rng.uniform() < 0.85:      # most people are harder to hear than the motors
            level = float(np.clip(self.motors_db - rng.uniform(-6, 15), -24, 6))
        wet *= self.loud_rms * db(level) / active_rms(wet[0])
        self.sound += wet
        energy = np.square(wet[0]).reshape(BLOCKS, 160).mean(axis=1)
        active = np.flatnonzero(energy > np.percentile(energy[energy > energy.max() * 1e-4], 95) * db(-24) ** 2)
        gaps = np.flatnonzero(np.diff(active) > 30)
        for piece in np.split(active, gaps + 1):
            self.label[piece[0]:piece[-1] + 1] = 1
            self.weight[piece[0]:piece[0] + 10] = 0.3
            self.weight[piece[-1] + 1:piece[-1] + 30] = 0.0     # reverberation and hangover: either answer is right
        if not hums:
            self.people.append((active[0] / 100, active[-1] / 100, level))

    def distractor(self, at: float) -> None:
        rng = self.rng
        begin = int(at * RATE)
        babble = rng.uniform() < 0.1
        if babble:
            crowd = [voices.talk(rng, voices.clips(str(rng.choice(self.who.people)), self.who.cache), 4, (0.1, 0.4))
                     for _ in range(rng.integers(2, 5))]
            dry = np.sum(crowd, axis=0)
        else:
            dry = sounds.drawn(rng)
        dry = dry[:SAMPLES - begin]
        signal = np.zeros(SAMPLES, np.float32)
        signal[begin:begin + dry.size] = dry
        wet = room.hear(rng, self.room, self.room.person(rng), signal, self.mics, self.yaw)
        wet *= self.loud_rms * db(rng.uniform(-26, -14) if babble else rng.uniform(-22, 6)) / active_rms(wet[0])
        self.sound += wet
        if not babble:   # what is not a voice but sounds from where voices come from is the hardest to refuse
            where = slice(begin // 160, (begin + dry.size) // 160 + 20)
            self.weight[where] = np.where(self.label[where] > 0, self.weight[where], 3 * self.weight[where])
        else:   # people who speak to someone else: nobody knows
            where = slice(begin // 160, (begin + dry.size) // 160 + 20)
            self.weight[where] = np.where(self.label[where] > 0, self.weight[where], 0.1)

    def motor_noise(self) -> None:
        rng = self.rng
        robot = np.random.default_rng(rng.integers(2**31))
        if rng.uniform() < 0.15:
            wet = motors.of_the_product(robot, self.speeds, self.mics)
            dry = wet[0]
        else:
            sounding = motors.noises(robot, rng, self.speeds)
            wet, dry = motors.at_microphones(rng, sounding, self.mics), sounding.sum(axis=0)
        around = room.hear(rng, self.room, np.array([0.0, 0.0, -0.1]), dry, self.mics, self.yaw, fixed_to_head=True)
        wet = wet + around * db(-rng.uniform(6, 25)) * wet[0].std() / (around[0].std() + 1e-9)
        turning = np.repeat(np.abs(self.speeds).max(axis=1) > 0.1, 160)
        if not turning.any():
            return
        loud = np.sqrt(np.square(wet[0][turning]).mean()) + 1e-9
        self.sound += (wet * self.loud_rms * db(self.motors_db) / loud).astype(np.float32)

    def ambient(self) -> None:
        rng = self.rng
        noise = room.plane_waves(rng, SAMPLES, self.mics, 12, rng.uniform(0, 6))
        level = self.loud_rms * db(-rng.uniform(12, 45))
        steps = np.interp(np.arange(SAMPLES), np.sort(rng.uniform(0, SAMPLES, 4)), db(rng.uniform(-6, 6, 4)))
        self.sound += noise * (level * steps).astype(np.float32)

    def finished(self) -> TrainingScene:
        rng = self.rng
        gain = db(rng.uniform(-1.5, 1.5, (len(self.mics), 1))).astype(np.float32)
        noise = rng.standard_normal(self.sound.shape).astype(np.float32) * db(rng.uniform(-86, -72))
        sound = np.trunc(np.clip(self.sound * gain + noise, -1, 1) * 32767).astype(np.float32) / 32767   # 16 bits
        return TrainingScene(self.mics, self.delay_s, sound, self.reference, self.speeds, self.label, self.weight,
                             self.speaking, self.people, self.moving)


def drawn_scene(seed: int, who: Voices) -> TrainingScene:
    """Scenes from seed MANY_DUCKS on have many ducks for nothing."""
    scene = _Builder(seed, who, 3.0 if MANY_DUCKS <= seed < 1_000_000 else 0.5)
    rng = scene.rng
    onsets = []
    for _ in range(rng.choice([0, 1, 2, 3], p=[0.15, 0.3, 0.35, 0.2])):
        at = float(rng.uniform(0.2, SECONDS - 1.5))
        if all(abs(at - other) > 2.5 for other in onsets):
            onsets.append(at)
    if scene.talks:
        scene.robot_speaks(onsets)
    for at in onsets:
        scene.person(at, hums=rng.uniform() < 0.15)
    for at in rng.uniform(0.3, SECONDS - 2, rng.choice([0, 1, 2, 3], p=[0.3, 0.25, 0.25, 0.2])):
        scene.distractor(float(at))
    if scene.moving:
        scene.motor_noise()
    scene.ambient()
    return scene.finished()
