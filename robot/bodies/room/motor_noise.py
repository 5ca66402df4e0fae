"""What the robot's own joints sound like, from how they truly move.

A geared servo whines with the orders of its motor shaft (poles, teeth of the pinion) and of its second shaft, rubs with
broadband friction, and knocks where the play of its gears turns over: at starts and reversals. The shell colours all of
it. Order numbers and ratios follow the XL330/XC330-M288 (ratio 288.4, three-pole brushed motor; ROBOTIS e-manual); the
balance between them is drawn anew for every robot (seed).
"""
from dataclasses import dataclass, field

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from calibration.body_model import BodyModel
from calibration.frames import Array
from perception.audio.block import BLOCK, BLOCK_S, SAMPLE_RATE_HZ
from robot.bodies.room.arrivals import Arrivals, Spectrum

POLE_ORDERS, PINION_ORDERS, SECOND_ORDERS = (6, 12, 18), (11, 22, 33, 44, 66), (9, 18, 27, 36)
FIRST_LIMITS, SECOND_LIMITS = (66, 44, 33, 22, 11, 6, 0), (36, 27, 18, 9, 0)   # orders that a table may hold
RAMP = (np.arange(BLOCK) + 1) / BLOCK
TABLE = 2048                 # samples of one turn of a shaft
HIGHEST_HZ = 7400.0          # no order above it: it would alias
KNOCK_S = 0.004              # s, decay of a knock
SILENT_RAD_S = 1e-4          # slower than a servo's own resolution: no sound
REST, MOVES = 0.02, 0.05     # rad/s: slower rests, faster moves; between them the play is taken up
KNOCK_FULL = 3.0             # rad/s gained within 10 ms for a full knock
KNOCK_LEAST = 0.12           # of a full one: the weight of the arm closes the play however slowly it turns


@dataclass(frozen=True, slots=True)
class MotorNoiseConfig:
    """Loudness of the joints at the microphones."""

    joint_dbfs: float = -45.0        # one joint at 1 rad/s; a turn at 75 deg/s is 3 dB below a person at 1 m (-34)
    spread_db: float = 3.0           # one standard deviation between joints
    antenna_db: float = -4.0         # antennas: small load
    knock_db: float = 10.0           # a full knock over the whine at 1 rad/s; most are a tenth of a full one
    friction_share: float = 0.55     # of the power at 1 rad/s


def _motor_places(body: BodyModel) -> Array:
    """(9, 3) m in `head` axes at rest, in the order of JOINTS."""
    down = np.array([0.0, 0.0, -body.rest_height])
    platform = [arm.body_from_motor_position + down for arm in body.arms]
    antennas = [np.array([-0.01, -0.045, 0.055]), np.array([-0.01, 0.045, 0.055])]
    return np.array([down + np.array([0.0, 0.0, 0.03]), *platform, *antennas])


def _shaft_tables(orders: tuple[int, ...], limits: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float32]:
    """(9, limits, TABLE): one turn of each joint's shaft with the orders up to each limit, unit power in the whole."""
    turn = 2 * np.pi * np.outer(orders, np.arange(TABLE)) / TABLE
    fits = np.array(orders) <= np.array(limits)[:, None]
    out = np.empty((9, len(limits), TABLE))
    for joint in range(9):
        strength = rng.lognormal(0.0, 0.6, len(orders)) / np.arange(1, len(orders) + 1) ** rng.uniform(0.3, 1.1)
        strength *= np.sqrt(2 / (strength ** 2).sum())
        phases = rng.uniform(0, 2 * np.pi, len(orders))
        out[joint] = (fits * strength) @ np.sin(turn + phases[:, None])
    return out.astype(np.float32)


@dataclass
class MotorNoise:
    """Noise of nine joints at M microphones, 10 ms at a time."""

    config: MotorNoiseConfig
    body: BodyModel
    rng: np.random.Generator
    _speed: Array = field(default_factory=lambda: np.zeros(9))
    _turns: Array = field(default_factory=lambda: np.zeros(9))       # of the motor shafts
    _direction: Array = field(default_factory=lambda: np.zeros(9))   # last direction in which each joint moved
    _knock: Array = field(default_factory=lambda: np.zeros(9))       # amplitude left of the last knock
    _before: NDArray[np.float32] = field(default_factory=lambda: np.zeros((9, BLOCK), np.float32))

    def __post_init__(self):
        rng = self.rng
        self._ratio = np.r_[rng.uniform(280, 295, 7), rng.uniform(75, 79, 2)]   # antennas are XL330-M077
        self._second = rng.uniform(0.21, 0.26, 9)            # turns of the second shaft for one of the motor
        self._tables = (_shaft_tables(POLE_ORDERS + PINION_ORDERS, FIRST_LIMITS, rng),
                        _shaft_tables(SECOND_ORDERS, SECOND_LIMITS, rng))
        self._limits = (np.array(FIRST_LIMITS), np.array(SECOND_LIMITS))
        self._loud = 10 ** ((self.config.joint_dbfs + rng.normal(0, self.config.spread_db, 9)
                             + np.r_[np.zeros(7), np.full(2, self.config.antenna_db)]) / 20)
        self._whine_power, self._friction_power = rng.uniform(0.45, 1.0, 9), rng.uniform(0.4, 0.9, 9)
        self._balance = rng.uniform(0.3, 0.7, 9)             # of the two shafts
        self._uneven, self._wobble = rng.uniform(0.1, 0.45, 9), rng.integers(5, 19, 9)
        self._way = self._shell()

    def _shell(self) -> Spectrum:
        """(M, 9, BLOCK + 1) from each joint to each microphone: distance, resonances, mean power gain 1."""
        places = _motor_places(self.body)
        direct = Arrivals.between(places, self.body.mic_positions, np.ones(9), np.zeros(9, np.int64))
        out = np.empty((len(self.body.mic_positions), 9, BLOCK + 1), np.complex64)
        t = np.arange(BLOCK) / SAMPLE_RATE_HZ
        for joint in range(9):
            one = Arrivals(direct.delay[:, [joint]], direct.gain[:, [joint]], direct.walls[[joint]])
            shell = sum(self.rng.normal() * np.exp(-t * np.pi * f / self.rng.uniform(4, 12)) * np.sin(2 * np.pi * f * t)
                        for f in self.rng.uniform(350, 5200, 6))
            shell[0] += self.rng.uniform(0.5, 1.5)
            spectrum = np.fft.rfft(one.response(BLOCK), 2 * BLOCK) * np.fft.rfft(shell, 2 * BLOCK)
            kept = np.fft.irfft(spectrum, 2 * BLOCK)[:, :BLOCK]
            spectrum = np.fft.rfft(kept / np.sqrt((kept ** 2).sum(1).mean()), 2 * BLOCK)
            out[:, joint] = spectrum
        return out

    def step(self, velocity: Array) -> NDArray[np.float32] | None:
        """(M, BLOCK) while the joints go from the velocity (9,) rad/s before to this one; None when all rest."""
        speed, before = np.abs(velocity), self._speed
        self._speed = speed
        self._start_knocks(velocity)
        if max(speed.max(), before.max()) < SILENT_RAD_S and self._knock.max() < 1e-6:
            if not self._before.any():
                return None
            excitation = np.zeros((9, BLOCK), np.float32)
        else:
            excitation = self._excitation(before, speed)
        spectra = scipy.fft.rfft(np.concatenate((self._before, excitation), axis=1))
        self._before = excitation
        return scipy.fft.irfft((self._way * spectra).sum(1), 2 * BLOCK)[:, BLOCK:]

    def _start_knocks(self, velocity: Array) -> None:
        """A joint that starts, or turns round, takes up the play of its gears."""
        moves = np.abs(velocity) > MOVES
        turned = moves & (np.sign(velocity) != self._direction)
        change = np.minimum(np.abs(velocity) / KNOCK_FULL + KNOCK_LEAST, 1.0)
        self._knock = np.where(turned, change, self._knock * np.exp(-BLOCK_S / KNOCK_S))
        self._direction = np.where(moves, np.sign(velocity),
                                   np.where(np.abs(velocity) < REST, 0.0, self._direction))

    def _excitation(self, before: Array, speed: Array) -> NDArray[np.float32]:
        """(9, BLOCK) of what shakes the shell at each joint."""
        rate = self._ratio / (2 * np.pi) * BLOCK_S       # turns of the motor shaft in a block at 1 rad/s
        turns = (_columns(self._turns) + _columns(before * rate) * RAMP
                 + _columns((speed - before) * rate / 2) * RAMP ** 2)
        uneven = [1 + self._uneven * np.sin(2 * np.pi * self._wobble / self._ratio * at) for at in turns[:, [0, -1]].T]
        self._turns = turns[:, -1] % 1e4
        a_second = speed * rate / BLOCK_S
        first = self._shaft(0, turns, a_second)
        second = self._shaft(1, turns * self._second[:, None], a_second * self._second)
        whine, friction = np.sqrt(1 - self.config.friction_share), np.sqrt(self.config.friction_share)
        whines = _faded(*(whine * self._loud * v ** self._whine_power * u
                          for v, u in zip((before, speed), uneven, strict=True)))
        rubs = _faded(*(friction * self._loud * v ** self._friction_power for v in (before, speed)))
        balance = _columns(self._balance.astype(np.float32))
        out = (np.sqrt(1 - balance) * first + np.sqrt(balance) * second) * whines
        out += self.rng.standard_normal((9, BLOCK), dtype=np.float32) * rubs
        if self._knock.max() > 1e-6:
            decay = np.exp(-RAMP * BLOCK_S / KNOCK_S) * 10 ** (self.config.knock_db / 20)
            knocks = (_columns(self._knock * self._loud) * decay).astype(np.float32)
            out += knocks * self.rng.standard_normal((9, BLOCK), dtype=np.float32)
        return out

    def _shaft(self, which: int, turns: Array, turns_a_second: Array) -> NDArray[np.float32]:
        """The shaft's sound at a turn count, with as many orders as fit below HIGHEST_HZ."""
        limits = self._limits[which]
        fits = limits[None] * np.maximum(turns_a_second, 1e-9)[:, None] <= HIGHEST_HZ
        table = (np.arange(9) * limits.size + fits.argmax(1)) * TABLE
        return self._tables[which].take(table[:, None] + ((turns * TABLE).astype(np.int64) & (TABLE - 1)))


def _columns(values: NDArray) -> NDArray:
    """(9, 1)."""
    return values[:, None]


def _faded(low: Array, high: Array) -> NDArray[np.float32]:
    """(9, BLOCK) from one value of each joint to the next."""
    return _columns(low.astype(np.float32)) + _columns((high - low).astype(np.float32)) * RAMP.astype(np.float32)
