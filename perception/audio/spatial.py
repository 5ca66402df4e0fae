"""How an array hears plane waves and a diffuse field: the tables that sound direction is computed from.

Far field: a wave from unit vector u reaches the microphone at position p early by p.u / c. Phasors follow the transform
of numpy.fft (time factor exp(+jwt)). A line array cannot tell the directions of one cone about its axis apart, so its
table holds cones only; other arrays get a coarse sphere.
"""
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.frames import Array

SPEED_OF_SOUND = 343.0   # m/s, dry air at 20 C
LINE_TOLERANCE = 0.1     # second singular value over the first: below, the array counts as a line
SPHERE_AZIMUTHS = 36     # 10 degrees: a head-sized array has lobes of 40 degrees and more
SPHERE_ELEVATIONS = np.deg2rad([-30.0, 0.0, 30.0, 60.0])
# reflections reach a voice's neighbours towards the middle of a line only, and draw its peak there by this factor of
# the cosine: 0.88 to 0.98 in simulated rooms of T60 0.2 to 0.7 s; less than 0.97 draws dry voices off to the axis
INWARD = 0.97
COSINES = np.linspace(-1.0, 1.0, 41)   # of the cones: steps of 3 degrees at broadside


@dataclass(frozen=True, slots=True)
class Looks:
    """The directions an array is steered to, and how any other direction is read between them."""

    vectors: Array             # (D, 3) unit vectors in `head`
    axis: Array | None         # (3,) of a line array; None: the looks are a sphere of azimuths x elevations

    def at(self, values: Array, directions: Array, rotation: Array) -> Array:
        """values (D,) of the looks, interpolated at unit vectors (K, 3) in base when the head is turned by rotation,
        base-from-head (3, 3): (K,)."""
        if self.axis is not None:
            return np.interp(INWARD * (directions @ (rotation @ self.axis)), COSINES, values)
        looks, weights = _between_on_sphere(directions @ rotation)
        return (values[looks] * weights).sum(axis=0)


def _between_on_sphere(u: Array) -> tuple[np.ndarray, Array]:
    place = np.arctan2(u[:, 1], u[:, 0]) * (SPHERE_AZIMUTHS / (2 * np.pi)) % SPHERE_AZIMUTHS
    left = place.astype(np.intp) % SPHERE_AZIMUTHS
    right, turn = (left + 1) % SPHERE_AZIMUTHS, place - np.floor(place)
    step = SPHERE_ELEVATIONS[1] - SPHERE_ELEVATIONS[0]
    elevation = np.arcsin(np.clip(u[:, 2], -1, 1))
    rise = np.clip((elevation - SPHERE_ELEVATIONS[0]) / step, 0, len(SPHERE_ELEVATIONS) - 1 - 1e-9)
    low = rise.astype(np.intp)
    up = rise - low
    looks = np.stack([low, low, low + 1, low + 1]) * SPHERE_AZIMUTHS + np.stack([left, right, left, right])
    return looks, np.stack([(1 - up) * (1 - turn), (1 - up) * turn, up * (1 - turn), up * turn])


def looks_of(mic_positions: Array) -> Looks:
    """The looks of an array with positions (M, 3) in `head`, M >= 2."""
    _, size, axes = np.linalg.svd(mic_positions - mic_positions.mean(axis=0), full_matrices=True)
    if len(size) < 2 or size[1] <= LINE_TOLERANCE * size[0]:
        return Looks(np.outer(COSINES, axes[0]) + np.outer(np.sqrt(1 - COSINES**2), axes[1]), axes[0])
    azimuth = np.arange(SPHERE_AZIMUTHS) * (2 * np.pi / SPHERE_AZIMUTHS)
    rows = [np.c_[np.cos(azimuth) * np.cos(e), np.sin(azimuth) * np.cos(e), np.full(SPHERE_AZIMUTHS, np.sin(e))]
            for e in SPHERE_ELEVATIONS]
    return Looks(np.concatenate(rows), None)


def steering(mic_positions: Array, frequencies: NDArray[np.floating], vectors: Array) -> np.ndarray:
    """Phasors (F, M, D) of plane waves from unit vectors (D, 3) at the microphones, relative to the array's centre."""
    lead = (mic_positions - mic_positions.mean(axis=0)) @ vectors.T / SPEED_OF_SOUND
    return np.exp(2j * np.pi * frequencies[:, None, None] * lead).astype(np.complex64)


def diffuse_coherence(mic_positions: Array, frequencies: NDArray[np.floating]) -> np.ndarray:
    """Covariance (F, M, M) of a diffuse field of unit power: sinc(w d / c) (Cook et al., JASA 27, 1955)."""
    distance = np.linalg.norm(mic_positions[:, None] - mic_positions[None], axis=-1)
    return np.sinc(2 * frequencies[:, None, None] * distance / SPEED_OF_SOUND).astype(np.complex64)
