"""The room as a box: where it reflects a sound from, and how its late field decays.

Image sources come from pyroomacoustics (Allen and Berkley 1979). Walls are one material whose absorption follows from
the reverberation time by Eyring's formula, which unlike Sabine's holds for dry rooms too. All points are in `base`
axes (the walls are parallel to them).
"""
from dataclasses import dataclass, field

import numpy as np
import pyroomacoustics as pra

from calibration.frames import Array
from perception.audio.block import SAMPLE_RATE_HZ
from robot.errors import BadRequest

SPEED_OF_SOUND = 343.0       # m/s at 20 degrees
EARLY_S = 0.05               # s, reflections one by one up to here; later ones overlap (mixing time of a living room)
HEAD_AT = np.array([0.0, 0.0, 0.177])   # m in base, centre of the resting head
WALL_MARGIN = 0.15           # m, nobody's head is nearer to a wall
IMAGE_SCATTER = 0.03         # m, walls are not flat: without it a box rings with sweeping echoes

pra.constants.set("num_threads", 1)


@dataclass(frozen=True, slots=True)
class BoxConfig:
    """Size and liveliness of the room, and where the robot stands in it."""

    size_m: tuple[float, float, float] = (7.0, 6.0, 2.8)       # a living room with an open kitchen
    robot_at_m: tuple[float, float, float] = (3.3, 2.8, 0.75)  # base origin from the room's corner; a table top
    rt60_s: float = 0.4                                        # 0.1 padded studio ... 0.8 bare hall

    def __post_init__(self):
        if not 0.1 <= self.rt60_s <= 0.8:
            raise ValueError(f"rt60_s: expected 0.1 to 0.8 s, found {self.rt60_s}")
        if not all(WALL_MARGIN < at < size - WALL_MARGIN for at, size in
                   zip(self.robot_at_m, self.size_m, strict=True)):
            raise ValueError(f"robot_at_m: expected a place inside the room {self.size_m}, found {self.robot_at_m}")


@dataclass(frozen=True, slots=True)
class Images:
    """Mirror images of one source; the source itself is left out."""

    position: Array       # (n, 3) m in base axes
    damping: Array        # (n,) product of the walls' amplitude reflection
    order: Array          # (n,) number of walls met


@dataclass
class Shoebox:
    """A room of one box with the robot's base at a fixed place."""

    config: BoxConfig
    seed: int
    volume: float = field(init=False)         # m3
    absorption: float = field(init=False)     # energy, 0..1

    def __post_init__(self):
        x, y, z = self.config.size_m
        self.volume = x * y * z
        surface = 2 * (x * y + x * z + y * z)
        self.absorption = 1 - np.exp(-24 * np.log(10) / SPEED_OF_SOUND * self.volume / (surface * self.config.rt60_s))
        self._order = int(np.ceil(EARLY_S * SPEED_OF_SOUND / z)) + 2

    def check_inside(self, point: Array, what: str) -> None:
        """BadRequest when a point (3,) in base axes is not in the room."""
        at = np.asarray(point) + self.config.robot_at_m
        if not np.all((at > WALL_MARGIN) & (at < np.array(self.config.size_m) - WALL_MARGIN)):
            low = WALL_MARGIN - np.array(self.config.robot_at_m)
            high = np.array(self.config.size_m) - WALL_MARGIN - np.array(self.config.robot_at_m)
            raise BadRequest(f"{what}: expected a place in the room, x {low[0]:.1f} to {high[0]:.1f} m, "
                             f"y {low[1]:.1f} to {high[1]:.1f} m and z {low[2]:.1f} to {high[2]:.1f} m from the robot, "
                             f"found {np.round(point, 2).tolist()}")

    def images(self, source: Array) -> Images:
        """The images of a source at (3,) that sound at the robot within EARLY_S of leaving."""
        origin = np.array(self.config.robot_at_m)
        room = pra.ShoeBox(self.config.size_m, fs=SAMPLE_RATE_HZ, materials=pra.Material(self.absorption),
                           max_order=self._order)
        room.add_source(np.asarray(source) + origin)
        room.add_microphone(origin + HEAD_AT)
        room.image_source_model()
        found = room.sources[0]
        position, order = found.images.T - origin, found.orders
        scatter = np.random.default_rng([self.seed, 11]).normal(0.0, IMAGE_SCATTER, position.shape)
        near = (np.linalg.norm(position - HEAD_AT, axis=1) < EARLY_S * SPEED_OF_SOUND) & (order > 0)
        return Images((position + scatter)[near], found.damping[0][near], order[near])

    def late_power(self, t: Array) -> Array:
        """Power a second of the late field at time t (s) after a sound that has power 1/r2 on its direct way."""
        images_a_second = 4 * np.pi * SPEED_OF_SOUND / self.volume
        return images_a_second * 10.0 ** (-6.0 * np.asarray(t) / self.config.rt60_s)
