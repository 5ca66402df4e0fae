"""The workspace is reachable, and so is everything between two of its poses."""
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.body_model import reachy_mini
from calibration.frames import rpy_of
from motion.kinematics import WholeBody
from motion.workspace import PITCH, ROLL, YAW, Workspace, X, Z

MODEL = reachy_mini()
WORKSPACE, BODY = Workspace(MODEL), WholeBody(MODEL)
SWAY = np.radians([1.5, 0.9, 0.5])     # of motion.sway, which is added behind the projection
EXAMPLES = settings(max_examples=100, deadline=None, derandomize=True)
anything = st.floats(-1e6, 1e6)


def corners(rng, count):
    """Poses (count, 9) inside, most of them at an edge."""
    span = rng.random((count, 9)) * 2 - 1
    span = np.where(rng.random((count, 9)) < 0.6, np.sign(span), span) * [3, 0.025, 0.003, 0.06, 0.3, 1.0, 1.2, 3, 3]
    return np.array([WORKSPACE.project(row) for row in span.tolist()])


def test_all_of_the_convex_hull_is_reached_with_room_for_the_sway():
    rng = np.random.default_rng(5)
    one, other, share = corners(rng, 3000), corners(rng, 3000), rng.random((3000, 1))
    poses = np.concatenate([one, share * one + (1 - share) * other])
    poses[:, ROLL:YAW + 1] += SWAY * (2 * rng.integers(0, 2, (len(poses), 3)) - 1)
    joints = np.array([BODY.joints(pose) for pose in poses])
    assert np.min(np.minimum(joints - MODEL.lower, MODEL.upper - joints)) > math.radians(0.01)
    back = [BODY.pose(q, pose + 1e-3) for q, pose in zip(joints[::40], poses[::40], strict=True)]
    assert all(found is not None for found in back)     # a rod that cannot reach would not come back
    assert np.array(back) == pytest.approx(poses[::40], abs=1e-8)
    assert np.max(np.abs(poses[:, YAW])) < MODEL.head_minus_body_yaw


@EXAMPLES
@given(st.lists(anything, min_size=9, max_size=9))
def test_projection_is_final(pose):
    once = WORKSPACE.project(pose)
    assert WORKSPACE.project(once) == once


@EXAMPLES
@given(st.lists(st.floats(-2, 2), min_size=9, max_size=9), st.lists(st.floats(-1, 1), min_size=9, max_size=9))
def test_near_poses_stay_near(pose, step):
    moved = [p + 1e-4 * s for p, s in zip(pose, step, strict=True)]
    change = np.abs(np.subtract(WORKSPACE.project(moved), WORKSPACE.project(pose)))
    assert change.max() < 5e-4


def test_the_sleeping_head_fits():
    pose = [0.0, *MODEL.sleep_position, *rpy_of(MODEL.sleep_rotation), *MODEL.sleep_antennas]
    pose[Z] -= MODEL.rest_height
    assert WORKSPACE.project(pose) == pytest.approx(pose, abs=2e-3)
    assert WORKSPACE.project(pose)[X] == pytest.approx(pose[X])
    assert WORKSPACE.project(pose)[PITCH] == pytest.approx(pose[PITCH])


@EXAMPLES
@given(st.floats(-20, 20), st.floats(-3.8, 3.8))
def test_azimuth_is_the_same_direction_within_reach(azimuth, now):
    number = WORKSPACE.azimuth(azimuth, now)
    assert abs(number) <= WORKSPACE.sight
    assert math.cos(number - azimuth) == pytest.approx(1.0, abs=1e-9)


@EXAMPLES
@given(st.floats(-2.42, 2.42), st.floats(-3.8, 3.8))
def test_no_direction_that_has_one_number_is_reached_by_the_back(azimuth, now):
    assert WORKSPACE.azimuth(azimuth, now) == pytest.approx(azimuth)
