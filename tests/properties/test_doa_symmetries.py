"""What must hold for the direction of any voice: mirror, rotation, time shift, loudness, repetition."""
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.frames import wrapped
from perception.audio.block import BLOCK
from perception.audio.doa import Direction
from tests.direction_scenes import LINE, Scene, talking

few = settings(max_examples=4, deadline=None, derandomize=True)
azimuths = st.floats(-3.1, 3.1)
seeds = st.integers(0, 1000)
CELL = np.deg2rad(3.0)   # of the tracker's histogram


def scene_of(seed: int, azimuth: float) -> Scene:
    return talking(seed, azimuth, seconds=1.5, start=0.5, sweep=0.6)


def azimuths_of(scene: Scene, mics=LINE) -> np.ndarray:
    return np.array([np.nan if b is None else b.azimuth for b in scene.bearings(Direction(mics))])


@few
@given(seeds, azimuths)
def test_a_mirrored_world_gives_the_mirrored_bearing(seed, azimuth):
    scene = scene_of(seed, azimuth)
    plain = azimuths_of(scene)
    mirrored = azimuths_of(Scene(scene.residual[::-1], scene.speech, -scene.yaw))
    assert np.allclose(wrapped(plain + mirrored)[~np.isnan(plain)], 0, atol=1e-3)


@few
@given(seeds, azimuths, st.integers(-60, 60))
def test_a_turned_head_turns_the_bearing(seed, azimuth, cells):
    scene = scene_of(seed, azimuth)
    plain = azimuths_of(scene)
    turned = azimuths_of(Scene(scene.residual, scene.speech, scene.yaw + cells * CELL))
    assert np.allclose(wrapped(turned - plain - cells * CELL)[~np.isnan(plain)], 0, atol=1e-3)


@few
@given(seeds, azimuths, st.floats(-3.1, 3.1))
def test_a_turn_by_part_of_a_cell_is_followed_too(seed, azimuth, turn):
    scene = scene_of(seed, azimuth)
    plain = azimuths_of(scene)[-20:]
    turned = azimuths_of(Scene(scene.residual, scene.speech, scene.yaw + turn))[-20:]
    assert np.median(np.abs(wrapped(turned - plain - turn))) < CELL


@few
@given(seeds, azimuths, st.integers(1, 20))
def test_the_same_sound_later_gives_the_same_bearings_later(seed, azimuth, frames):
    scene = scene_of(seed, azimuth)
    late = 2 * frames
    quiet = np.zeros((4, late * BLOCK))
    moved = Scene(np.concatenate([quiet, scene.residual], axis=1), np.r_[np.zeros(late), scene.speech],
                  np.r_[np.full(late, scene.yaw[0]), scene.yaw])
    plain, later = azimuths_of(scene)[-20:], azimuths_of(moved)[-20:]
    assert np.median(np.abs(wrapped(later - plain))) < CELL


@few
@given(seeds, azimuths, st.floats(0.05, 20.0))
def test_loudness_says_nothing_about_direction(seed, azimuth, gain):
    scene = scene_of(seed, azimuth)
    plain = azimuths_of(scene)
    louder = azimuths_of(Scene(gain * scene.residual, scene.speech, scene.yaw))
    assert np.allclose(wrapped(louder - plain)[~np.isnan(plain)], 0, atol=1e-2)


def test_the_same_twice_is_the_same_to_the_bit():
    scene = scene_of(1, 0.4)
    assert np.array_equal(azimuths_of(scene), azimuths_of(scene), equal_nan=True)
