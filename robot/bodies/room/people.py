"""People in the room: where they are, where they look, how they nod, and what they say when.

A person's place is that of the point between the eyes. Places are given as azimuth and horizontal distance from the
base's axis and a height over the base; directions of gaze are those of the face, which is a plane (see portraits.py).
"""
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from calibration.frames import Array, rotation, wrapped
from robot.bodies.room.motion_curves import Path, smooth

TURN_S = 0.35                # s to turn the head
AWAY = np.deg2rad(60.0)      # beside the robot: a face that detectors still find and nobody takes for attention
NECK = np.array([-0.10, 0.0, -0.07])   # m, pivot of the head from between the eyes: behind and below
MOUTH = np.array([0.01, 0.0, -0.07])   # m from between the eyes
NOD = (np.deg2rad(11.0), 2.1, 1.2)     # amplitude rad, Hz, s
SHAKE = (np.deg2rad(16.0), 2.2, 1.3)
WAVE = (0.11, 2.5, 1.6)                # amplitude m of the hand, Hz, s

GestureKind = Literal["nod", "shake", "wave"]


@dataclass(frozen=True, slots=True)
class PersonScript:
    """A person when the scene begins."""

    name: str
    azimuth: float                # rad in `base`
    distance: float = 1.2         # m, horizontal, from the base's axis
    height: float = 0.42          # m, eyes over the base: somebody who sits at the table
    voice: str = "slt"            # one of voices.VOICES
    face: str = "astronaut"       # one of portraits.FACES
    looks: str = "robot"          # robot, away, or another person's name
    present: bool = True


@dataclass(frozen=True, slots=True)
class FacePose:
    """A face at one moment. Its axes: x out of the face, y to the person's left, z up."""

    eyes: Array          # (3,) m in base, between the eyes
    rotation: Array      # (3, 3) base from face
    chest: Array         # (3,) m in base, the eyes' place when the head rests
    chest_yaw: float     # rad, where the chest looks

    @property
    def mouth(self) -> Array:
        return self.eyes + self.rotation @ MOUTH

    def point(self, in_face: Array) -> Array:
        """Points (n, 3) of the face in base axes."""
        return self.eyes + in_face @ self.rotation.T


@dataclass
class Figure:
    """One person's body and face through time. Calls come in order of time."""

    script: PersonScript
    seed: int
    place: Path = field(init=False)        # azimuth, distance, height
    present: bool = field(init=False)
    _looks: list[tuple[float, str]] = field(init=False)
    _gestures: list[tuple[float, GestureKind]] = field(default_factory=list)

    def __post_init__(self):
        script = self.script
        self.place = Path(np.array([script.azimuth, script.distance, script.height]))
        self.present = script.present
        self._looks = [(-np.inf, script.looks), (-np.inf, script.looks)]
        rng = np.random.default_rng([self.seed, 21, *script.name.encode()])
        self._sway = rng.uniform([0.1, 0, 0.001], [0.5, 2 * np.pi, 0.004], (3, 3))   # Hz, phase, m for each axis
        self._away_side = rng.choice([-1.0, 1.0])

    def walk_to(self, t: float, azimuth: float, distance: float, in_s: float) -> None:
        """Walk in an arc round the robot, the shorter way, starting at t; azimuth rad, distance m."""
        now, _, height = self.place.at(t)
        self.place.go(t, np.array([now + wrapped(azimuth - now), distance, height]), in_s)

    def look(self, t: float, target: str) -> None:
        self._looks = [self._looks[-1], (t, target)]

    def gesture(self, t: float, kind: GestureKind) -> None:
        self._gestures = [g for g in self._gestures if t - g[0] < 3.0] + [(t, kind)]

    def eyes_at_rest(self, t: float) -> Array:
        """(3,) m in base."""
        azimuth, distance, height = self.place.at(t)
        hz, phase, size = self._sway.T
        sway = size * np.sin(2 * np.pi * hz * t + phase)
        return np.array([distance * np.cos(azimuth), distance * np.sin(azimuth), height]) + sway

    def pose(self, t: float, others: dict[str, Array]) -> FacePose:
        """The face at time t; others: where named people's eyes and the "robot" are."""
        rest = self.eyes_at_rest(t)
        (_, old), (since, new) = self._looks
        share = smooth((t - since) / TURN_S) if np.isfinite(since) else 1.0
        old_yaw, old_pitch = self._aim(old, rest, others)
        new_yaw, new_pitch = self._aim(new, rest, others)
        yaw, pitch = old_yaw + share * wrapped(new_yaw - old_yaw), old_pitch + share * (new_pitch - old_pitch)
        shake, nod = self._swing(t, "shake", SHAKE), self._swing(t, "nod", NOD)
        looking = rotation(0.0, pitch, yaw)
        turned = rotation(0.0, pitch + nod, yaw + shake)
        eyes = rest + looking @ NECK - turned @ NECK
        to_robot = np.arctan2(-rest[1], -rest[0])
        return FacePose(eyes, turned, rest, float(to_robot))

    def _aim(self, target: str, eyes: Array, others: dict[str, Array]) -> tuple[float, float]:
        """(yaw, pitch) of a face at `eyes` that looks at `target`."""
        aside = self._away_side * AWAY if target == "away" else 0.0
        way = others.get(target, others["robot"]) - eyes
        level = np.hypot(way[0], way[1])
        return float(np.arctan2(way[1], way[0]) + aside), float(-np.arctan2(way[2], level))

    def _swing(self, t: float, kind: GestureKind, law: tuple[float, float, float]) -> float:
        """Angle (rad) or way (m) of the running gesture of that kind."""
        amplitude, hz, lasts = law
        total = 0.0
        for begin, what in self._gestures:
            if what == kind and 0 <= t - begin <= lasts:
                edge = min(smooth((t - begin) / 0.2), smooth((begin + lasts - t) / 0.2))
                total += amplitude * edge * np.sin(2 * np.pi * hz * (t - begin))
        return total

    def hand(self, t: float) -> float | None:
        """Sideways place (m) of a raised hand, None while it is down."""
        if not any(kind == "wave" and 0 <= t - begin <= WAVE[2] for begin, kind in self._gestures):
            return None
        return self._swing(t, "wave", WAVE)
