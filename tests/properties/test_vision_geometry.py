"""What must hold for any camera pose, place and moment."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.body_model import reachy_mini
from calibration.frames import HeadPose, frozen, rotation
from perception.vision.closeup import CROP_PX, Place, matrix
from perception.vision.head_pose import head_view
from perception.vision.rays import Lens
from perception.vision.track_filter import FilterConfig, TrackFilter, sighting_error

LENS = {size: Lens(reachy_mini(*size).camera) for size in ((640, 480), (1280, 720))}
FACE = np.array([[0, -0.0308, 0], [0, 0.0308, 0], [-0.035, 0, 0.035], [0, -0.026, 0.065], [0, 0.026, 0.065]])  # x away
QUICK = settings(deadline=None, max_examples=40, derandomize=True)
angles = st.floats(-1.0, 1.0)


def face_rays(distance, yaw, azimuth, elevation, size=1.0):
    """Rays (5, 3) to the landmarks of a face `distance` m away that is turned by yaw against the line of sight."""
    turned = size * FACE @ rotation(0, 0, yaw).T
    ahead = rotation(0.0, -elevation, azimuth)
    points = distance * ahead[:, 0] + (turned * [1, -1, -1]) @ ahead.T
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@QUICK
@given(st.sampled_from(sorted(LENS)), st.floats(0.02, 0.98), st.floats(0.02, 0.98))
def test_pixel_to_ray_to_pixel(size, u, v):
    pixel = np.array([[u * size[0], v * size[1]]])
    lens = LENS[size]
    point = lens.camera.position + 1.7 * lens.rays(pixel)[0]
    assert lens.pixels(point)[0] == pytest.approx(pixel[0], abs=0.01)   # undistortion by iteration: 0.0014 at the edges


@QUICK
@given(angles, angles, angles, angles, angles)
def test_a_camera_covers_what_is_straight_ahead_and_not_what_is_behind(roll, pitch, yaw, x, y):
    lens = LENS[(640, 480)]
    pose = HeadPose(0.0, frozen([x, y, 0.2]), frozen([roll, pitch, yaw]), 0.0)
    ahead = pose.rotation @ lens.axis
    assert lens.covers(lens.origin(pose) + 2 * ahead, pose)
    assert not lens.covers(lens.origin(pose) - 2 * ahead, pose)


@QUICK
@given(st.floats(0.3, 4.0), st.floats(-0.6, 0.6), st.floats(-3, 3), st.floats(-0.8, 0.8))
def test_view_does_not_depend_on_where_the_face_is(distance, yaw, azimuth, elevation):
    here, there = (head_view(face_rays(distance, yaw, *place)) for place in ((0.0, 0.0), (azimuth, elevation)))
    assert there.yaw == pytest.approx(here.yaw, abs=1e-6)
    assert there.pitch == pytest.approx(here.pitch, abs=1e-6)
    assert there.distance == pytest.approx(here.distance, rel=1e-6)
    assert here.distance == pytest.approx(distance, rel=0.12)
    assert here.yaw == pytest.approx(-yaw, abs=0.15)   # turned to the picture's left


@QUICK
@given(st.floats(0.5, 3.0), st.floats(0.0, 0.9))
def test_turning_left_is_the_mirror_image_of_turning_right(distance, yaw):
    left, right = head_view(face_rays(distance, yaw, 0, 0)), head_view(face_rays(distance, -yaw, 0, 0))
    assert left.yaw == pytest.approx(-right.yaw, abs=1e-9)
    assert left.distance == pytest.approx(right.distance, rel=1e-9)


@QUICK
@given(st.floats(0.5, 3.0), st.floats(0.5, 2.0))
def test_twice_as_large_is_half_as_far(distance, size):
    a, b = head_view(face_rays(distance, 0, 0, 0)), head_view(face_rays(distance * size, 0, 0, 0, size))
    assert b.distance * size == pytest.approx(a.distance * size, rel=1e-6)


@QUICK
@given(st.floats(0, 640), st.floats(0, 480), st.floats(8, 300), angles)
def test_a_close_up_has_the_face_in_its_middle_and_upright(x, y, height, tilt):
    to_crop = matrix(Place(np.array([x, y]), height, tilt))
    assert to_crop @ [x, y, 1] == pytest.approx([CROP_PX / 2] * 2, abs=1e-6)
    across = to_crop[:, :2] @ [np.cos(tilt), np.sin(tilt)]
    assert across[0] > 0 and across[1] == pytest.approx(0, abs=1e-9)


@QUICK
@given(st.integers(0, 1000), st.floats(-3, 3), st.floats(0, 1e5))
def test_the_filter_knows_neither_north_nor_noon(seed, turn, later):
    config, rng = FilterConfig(), np.random.default_rng(seed)
    places = np.array([1.2, 0.3, 0.3]) + np.cumsum(rng.normal(0, 0.02, (12, 3)), axis=0)
    r = rotation(0, 0, turn)

    def run(rotate, start):
        track = None
        for i, place in enumerate(places @ rotate.T):
            t, distance = start + i / 15, float(np.linalg.norm(place))
            error = sighting_error(place / distance, distance, config)
            if track is None:
                track = TrackFilter.born(t, place, error, config)
            else:
                track.predict(t, seen=True)
                track.correct(place, error)
        eigen = np.linalg.eigvalsh(track.covariance)
        assert eigen.min() > 0
        return track.position

    assert run(r, later) == pytest.approx(r @ run(np.eye(3), 0.0), abs=1e-6)
