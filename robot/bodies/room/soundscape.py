"""All that sounds in the room, as the microphones hear it: 10 ms at a time, each kind also by itself (stems)."""
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calibration.body_model import BodyModel
from calibration.frames import Array, rotation
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ
from robot.bodies.room.ambience import DiffuseNoise, MicrophoneConfig, Microphones
from robot.bodies.room.arrivals import LEAD, PARTS, Spectrum, direct_response, partitioned
from robot.bodies.room.late_field import LateTail, tail_response
from robot.bodies.room.loudspeaker import NOMINAL_DBFS, Driver, LoudspeakerConfig
from robot.bodies.room.motor_noise import MotorNoise, MotorNoiseConfig
from robot.bodies.room.shoebox import HEAD_AT, BoxConfig, Shoebox
from robot.bodies.room.sound_path import EarPlaces, Reflections, SoundPath
from robot.bodies.room.tracks import SILENT

SPEECH_DBFS = -34.0          # a person at 1 m: 60 dB SPL (ISO 9921 normal effort) with full scale at 94 dB SPL
SHELL_S = 0.003              # s, how long the case rings between loudspeaker and microphones
SHELL_DB = -9.0              # its power against the direct sound
STEMS = ("near", "echo", "motors", "ambient")


@dataclass(frozen=True, slots=True)
class SoundConfig:
    """The room's acoustics, devices and noises."""

    box: BoxConfig = field(default_factory=BoxConfig)
    microphones: MicrophoneConfig = field(default_factory=MicrophoneConfig)
    loudspeaker: LoudspeakerConfig = field(default_factory=LoudspeakerConfig)
    motors: MotorNoiseConfig = field(default_factory=MotorNoiseConfig)


@dataclass(frozen=True, slots=True)
class Emission:
    """A source's next 10 ms: dry (BLOCK,) at 1 m in free field, full scale +-1, and its place (3,) in base."""

    dry: NDArray[np.float32]
    place: Array


@dataclass
class Soundscape:
    """Adds up people, loudspeaker, motors and noise at the microphones."""

    config: SoundConfig
    body: BodyModel
    seed: int
    box: Shoebox = field(init=False)
    stems: dict[str, NDArray[np.float32]] = field(init=False)   # (M, BLOCK) each, of the last block, capsule gain in
    direct_speech: NDArray[np.float32] = field(init=False)      # (BLOCK,) of the last block: voices without the room

    def __post_init__(self):
        rng = lambda part: np.random.default_rng([self.seed, 31, part])   # noqa: E731
        self.box = Shoebox(self.config.box, self.seed)
        self._mics = len(self.body.mic_positions)
        self.driver = Driver(self.config.loudspeaker, rng(1))
        self._motors = MotorNoise(self.config.motors, self.body, rng(2))
        self._ambient = DiffuseNoise(self.body.mic_positions, rng(3))
        self._ambient_gain = np.float32(10 ** (self.config.microphones.ambient_dbfs / 20))
        self.microphones = Microphones(self.config.microphones, self._mics, rng(4))
        self._paths: dict[str, SoundPath] = {}
        self._tails = {stem: LateTail(tail_response(self.box, self.body.mic_positions, self.seed + place))
                       for place, stem in enumerate(("near", "echo", "ambient"))}
        self._echo_path = SoundPath(self.box, _shell(self.body, self.config.loudspeaker, rng(5)))
        self._paths["echo loudspeaker"] = self._echo_path
        self._echo_gain = self._echo_gain_at_rest()
        self.stems = {stem: np.zeros((self._mics, BLOCK), np.float32) for stem in STEMS}

    def capture(self, ears: EarPlaces, body_yaw: float, velocity: Array, driven: NDArray[np.float32],
                voices: dict[str, Emission], noises: dict[str, Emission]) -> NDArray[np.float32]:
        """(M, BLOCK) as recorded; driven (BLOCK,): what the loudspeaker's cone does, LEAD ahead of the air."""
        place = rotation(0.0, 0.0, body_yaw) @ loudspeaker_place(self.body, self.config.loudspeaker)
        echo = {"loudspeaker": Emission(driven * self._echo_gain, place)}
        sounds = {"near": self._arriving("near", voices, ears), "echo": self._arriving("echo", echo, ears),
                  "motors": self._motors.step(velocity), "ambient": self._arriving("ambient", noises, ears)}
        hum = self._ambient.step() * self._ambient_gain
        sounds["ambient"] = hum if sounds["ambient"] is None else sounds["ambient"] + hum
        silent = np.zeros((self._mics, BLOCK), np.float32)
        self.stems = {stem: silent if sound is None else sound * self.microphones.gain
                      for stem, sound in sounds.items()}
        self.direct_speech = np.zeros(BLOCK, np.float32)
        for emission in voices.values():
            if emission.dry is not SILENT:
                distance = max(0.1, float(np.linalg.norm(emission.place - ears.head)))
                self.direct_speech += emission.dry / np.float32(distance)
        return self.microphones.recorded(np.sum(list(self.stems.values()), axis=0))

    def _arriving(self, stem: str, emissions: dict[str, Emission], ears: EarPlaces) -> NDArray[np.float32] | None:
        """(M, BLOCK) of the sources of a stem with their reverberation; None in silence."""
        total, dry = None, None
        for name, emission in emissions.items():
            if emission.dry is SILENT and f"{stem} {name}" not in self._paths:
                continue
            path = self._path(stem, name)
            arrived = path.step(emission.dry, emission.place, ears)
            if arrived is not None:
                total = arrived if total is None else total + arrived
            if emission.dry is not SILENT:
                dry = emission.dry if dry is None else dry + emission.dry
        late = self._tails[stem].step(dry)
        return late if total is None else total if late is None else total + late

    def _path(self, stem: str, name: str) -> SoundPath:
        key = f"{stem} {name}"
        if key not in self._paths:
            self._paths[key] = SoundPath(self.box)
        return self._paths[key]

    def _echo_gain_at_rest(self) -> np.float32:
        """Echo of speech at NOMINAL_DBFS such that a person at 1 m is near_to_echo_db above it at the microphones."""
        mics = self.body.mic_positions + HEAD_AT
        place = loudspeaker_place(self.body, self.config.loudspeaker)
        whole = Reflections(self.box, place).at(EarPlaces(mics, self.body.mic_positions, HEAD_AT, 0.0)).copy()
        whole += partitioned(direct_response(place, mics, PARTS * BLOCK))
        assert self._echo_path.extra is not None
        whole[:, :self._echo_path.extra.shape[1]] += self._echo_path.extra
        taps = np.fft.irfft(whole, 2 * BLOCK)[..., :BLOCK].reshape(self._mics, -1)
        power = (np.abs(np.fft.rfft(taps, 4096)) ** 2).mean(axis=0)
        weight = speech_power(power.size)
        gain = (power * weight * self.driver.response(power.size)).sum() / weight.sum()
        reverberant = self.box.late_power(np.zeros(1))[0] * self.config.box.rt60_s / (6 * np.log(10))
        wanted = SPEECH_DBFS + 10 * np.log10(1 + reverberant) - self.config.loudspeaker.near_to_echo_db - NOMINAL_DBFS
        return np.float32(10 ** (wanted / 20) / np.sqrt(gain))


def speech_power(bins: int) -> Array:
    """Long-term power of speech (bins,) from 0 Hz to Nyquist: flat to 500 Hz, then -9 dB an octave (Byrne 1994)."""
    frequency = np.linspace(0.0, SAMPLE_RATE_HZ / 2, bins)
    return np.where(frequency < 100, 0.0, np.minimum(1.0, (np.maximum(frequency, 1.0) / 500) ** -3.0))


def loudspeaker_place(body: BodyModel, config: LoudspeakerConfig) -> Array:
    """(3,) m in base at body yaw 0; moved along the line to the microphones' middle when a distance is configured."""
    middle = body.mic_positions.mean(axis=0)
    offset = body.loudspeaker - middle
    if config.distance_m is not None:
        offset = offset * config.distance_m / np.linalg.norm(offset)
    return middle + offset + np.array([0.0, 0.0, body.rest_height])


def _shell(body: BodyModel, config: LoudspeakerConfig, rng: np.random.Generator) -> Spectrum:
    """What the case carries from loudspeaker to microphones: a short ringing, another one for each microphone."""
    t = np.arange(BLOCK - LEAD) / SAMPLE_RATE_HZ
    noise = rng.standard_normal((len(body.mic_positions), t.size)) * np.exp(-t * 6.9 / SHELL_S)
    distance = np.linalg.norm(loudspeaker_place(body, config) - body.mic_positions.mean(axis=0)
                              - [0.0, 0.0, body.rest_height])
    noise *= 10 ** (SHELL_DB / 20) / distance / np.sqrt((noise ** 2).sum(axis=1, keepdims=True))
    return partitioned(np.pad(noise, ((0, 0), (LEAD, 0))).astype(np.float32))
