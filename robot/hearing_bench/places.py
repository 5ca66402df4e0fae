"""Rooms, devices and places of drawn takes. Bounds are what homes, desks and small loudspeakers have."""
import numpy as np

from calibration.frames import Array
from robot.bodies.room.ambience import MicrophoneConfig
from robot.bodies.room.loudspeaker import LoudspeakerConfig
from robot.bodies.room.motor_noise import MotorNoiseConfig
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import RoomConfig
from robot.bodies.room.shoebox import BoxConfig
from robot.bodies.room.soundscape import SoundConfig
from robot.hearing_bench.plans import Plan

TABLE_M = 0.75
FROM_WALLS_M = 0.35          # a person's least distance
DRIFTS = 0.3                 # share of the slip takes in which the clock drifts instead of jumping
LONGEST_JUMP_S = 0.04
SLIP_TIMES = (0.3, 0.65)     # of the take's length: echo paths are learned before the first and again before the second


def drawn_room(rng: np.random.Generator, plan: Plan) -> RoomConfig:
    """Box, liveliness, loudspeaker and gears of one take."""
    size = rng.uniform([3.2, 3.2, 2.3], [8.0, 7.0, 3.1])
    x, y = rng.uniform(0.3, 0.7, 2) * size[:2]
    box = BoxConfig((float(size[0]), float(size[1]), float(size[2])), (float(x), float(y), TABLE_M),
                    float(rng.uniform(0.15, 0.7)))
    drift: float = 0.0
    slips: tuple[tuple[float, float], ...] = ()
    if plan.kind == "slip":
        drift, slips = _drawn_slips(rng, plan.seconds)
    loudspeaker = LoudspeakerConfig(
        near_to_echo_db=float(rng.uniform(-16, 0)), drift_ppm=drift, slips=slips,
        playback_delay_s=float(rng.uniform(0.1 if slips else 0.03, 0.25)), headroom_db=float(rng.uniform(3, 16)),
        softness=float(rng.uniform(1.3, 5.0)), distance_m=float(rng.uniform(0.065, 0.11)))
    motors = MotorNoiseConfig(spread_db=float(rng.uniform(2, 5)), knock_db=float(rng.uniform(4, 14)),
                              friction_share=float(rng.uniform(0.3, 0.8)))
    return RoomConfig(SoundConfig(box, MicrophoneConfig(), loudspeaker, motors), recording_s=0.0)


def _drawn_slips(rng: np.random.Generator, seconds: float) -> tuple[float, tuple[tuple[float, float], ...]]:
    """(drift in ppm, jumps (t, s)): one or the other."""
    if rng.uniform() < DRIFTS:
        return float(rng.choice([-1, 1]) * rng.uniform(30, 80)), ()
    jumps = rng.choice([-1, 1], 2) * rng.uniform(0.008, LONGEST_JUMP_S, 2)
    times = np.multiply(SLIP_TIMES, seconds) + rng.uniform(-1, 1, 2)
    return 0.0, tuple((float(t), float(jump)) for t, jump in zip(times, jumps, strict=True))


def drawn_person(rng: np.random.Generator, box: BoxConfig, name: str) -> PersonScript:
    """Somebody somewhere around the robot, at the table or standing, inside the room."""
    while True:
        azimuth, distance, height = rng.uniform([-np.pi, 0.6, 0.2], [np.pi, 2.2, 0.9])
        place = np.add(box.robot_at_m, (distance * np.cos(azimuth), distance * np.sin(azimuth), height))
        if _inside(place, box):
            return PersonScript(name, float(azimuth), float(distance), float(height))


def _inside(place: Array, box: BoxConfig) -> bool:
    return bool(np.all((place > FROM_WALLS_M) & (place < np.array(box.size_m) - FROM_WALLS_M)))
