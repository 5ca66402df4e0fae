"""Nods, head shakes and waves of a person, from motion in the frame of the table.

A nodding or shaking head shows twice: its landmarks turn against the line of sight, which the robot's own motion cannot
imitate, and its eyes swing about the neck, which a pose that is some milliseconds off imitates well. So a swing in
space counts only while the person does not walk, and must exceed what such an error makes of the robot's own motion.
A wave is something beside the face that goes to and fro (perception.vision.beside).
"""
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from calibration.frames import Array, direction_vector


@dataclass(frozen=True, slots=True)
class GestureConfig:
    """A gesture is a number of swings (from one turning point to the next) of a certain size and pace."""

    window: float = 1.8           # s looked back
    swings: int = 3               # down, up, down; left, right, left
    wave_swings: int = 4
    shake: float = 0.33           # rad from turning point to turning point (19 degrees; most are 30 and more)
    nod: float = 0.20             # rad (11 degrees): nods are smaller
    wave: float = 0.35            # face heights from turning point to turning point (8 cm)
    area: tuple[float, float] = (0.008, 0.3)   # share of the field beside the face that a waving hand fills
    own_turn: float = 0.5         # rad/s of the robot's head, beyond which the field beside a face is blurred
    stay: float = 0.04            # m that a waving person's face moves at most; a shaken head carries its field along
    quiet: float = 0.4            # most of the other side's area, of this side's: else it is the background that moves
    shortest: float = 0.09        # s a swing: faster is noise of single pictures
    longest: float = 0.60         # s a swing: slower is looking about
    lever: float = 0.10           # m from the pivot of the neck to the eyes, both forwards and upwards
    noise: float = 5.0            # rad * px: swing that landmark noise makes, times the eyes' distance in the picture
    clock: float = 0.02           # s by which pose and picture may disagree
    walk: float = 0.25            # m/s
    steady: float = 1.6           # a swing along one axis must exceed the other axis' by this factor
    pause: float = 1.2            # s between two gestures of a person


@dataclass(frozen=True, slots=True)
class Posture:
    """One sighting of a face, for gestures."""

    t: float             # s
    yaw: float           # rad against the line of sight
    pitch: float         # rad
    azimuth: float       # rad in `base`
    elevation: float     # rad
    distance: float      # m
    eyes_px: float       # distance of the eyes in the picture
    own_rate: tuple[float, float]   # rad/s of the robot's head: yaw, pitch
    beside: Array | None = None     # (2, 2) what moves left and right of the face, see Detection


def swings(t: Array, values: Array, least: float) -> list[tuple[float, float]]:
    """(duration s, size) of the swings of at least `least` between turning points, in order of time (zigzag)."""
    turns: list[int] = []
    low = high = 0
    for i in range(1, len(values)):
        if not turns:
            low, high = (i if values[i] < values[low] else low), (i if values[i] > values[high] else high)
            if values[high] - values[low] >= least:
                turns = sorted((low, high))
            continue
        rising, last = values[turns[-1]] > values[turns[-2]], values[turns[-1]]
        if (values[i] >= last) if rising else (values[i] <= last):
            turns[-1] = i
        elif abs(values[i] - last) >= least:
            turns.append(i)
    return [(float(t[b] - t[a]), float(abs(values[b] - values[a]))) for a, b in pairwise(turns)]


@dataclass(slots=True)
class GestureWatch:
    """Watches one person."""

    config: GestureConfig = field(default_factory=GestureConfig)
    _past: deque[Posture] = field(default_factory=deque)
    _told_at: float = -1e9

    def step(self, now: Posture) -> Literal["nod", "shake", "wave"] | None:
        """The gesture that is complete with this sighting, once."""
        self._past.append(now)
        while now.t - self._past[0].t > self.config.window:
            self._past.popleft()
        if now.t - self._told_at < self.config.pause or len(self._past) < 2 * self.config.swings:
            return None
        name = self._head() or self._hand()
        if name is not None:
            self._told_at = now.t
            self._past.clear()
        return name

    def _head(self) -> Literal["nod", "shake"] | None:
        config, past = self.config, self._past
        t = np.array([p.t for p in past])
        turned = np.array([[p.yaw, p.pitch] for p in past])
        noise = config.noise / float(np.median([p.eyes_px for p in past]))
        pairs = [(turned, np.array([noise, noise]))]
        if self._walked() < config.walk:
            pairs.append(self._in_space())
        for values, floor in pairs:
            aside, along = np.ptp(values, axis=0)
            if along > config.steady * aside and self._swung(t, values[:, 1], max(config.nod, floor[1])):
                return "nod"
            if aside > config.steady * along and self._swung(t, values[:, 0], max(config.shake, floor[0])):
                return "shake"
        return None

    def _walked(self) -> float:
        """Speed in m/s from the first half of what is remembered to the second: swings average out."""
        half = len(self._past) // 2
        t, azimuth, elevation, distance = np.array([(p.t, p.azimuth, p.elevation, p.distance) for p in self._past]).T
        place = (distance * direction_vector(azimuth, elevation)).T
        return float(np.linalg.norm(place[half:].mean(axis=0) - place[:half].mean(axis=0))
                     / (t[half:].mean() - t[:half].mean()))

    def _in_space(self) -> tuple[Array, Array]:
        """Angles (n, 2) about the neck that would carry the eyes where they are, and what a late pose may make (2,)."""
        config, past = self.config, self._past
        reach = float(np.median([p.distance for p in past])) / config.lever
        way = np.array([np.unwrap([-p.azimuth for p in past]), [-p.elevation for p in past]]).T
        return way * reach, 2 * config.clock * reach * np.ptp([p.own_rate for p in past], axis=0)

    def _hand(self) -> Literal["wave"] | None:
        """Something beside the face that goes to and fro while the face stays."""
        config = self.config
        past = [p for p in self._past if p.beside is not None]
        if len(past) < 2 * config.wave_swings or self._walked() > config.walk:
            return None
        way = np.ptp(np.unwrap([p.azimuth for p in past])) * past[-1].distance
        if way > config.stay or np.max(np.abs([p.own_rate for p in past])) > config.own_turn:
            return None
        t, beside = np.array([p.t for p in past]), np.array([p.beside for p in past])
        area = np.median(beside[:, :, 0], axis=0)
        side = int(np.argmax(area))
        if not config.area[0] < area[side] < config.area[1] or area[1 - side] > config.quiet * area[side]:
            return None
        there = beside[:, side, 0] > config.area[0] / 2     # without a change there is no place
        return "wave" if self._swung(t[there], beside[there, side, 1], config.wave, config.wave_swings) else None

    def _swung(self, t: Array, values: Array, least: float, wanted: int | None = None) -> bool:
        """Do the newest swings have the pace of a gesture?"""
        wanted = wanted or self.config.swings
        found = swings(t, values, least)[-wanted:]
        if len(found) < wanted:
            return False
        sizes = [size for _, size in found]
        return (all(self.config.shortest <= duration <= self.config.longest for duration, _ in found)
                and max(sizes) < 3 * min(sizes))
