"""The platform's closed form against the rods themselves, and back."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.body_model import reachy_mini
from calibration.frames import rotation
from motion.kinematics import Platform, WholeBody, rotation_of, turned
from motion.workspace import Workspace

MODEL = reachy_mini()
PLATFORM, BODY, WORKSPACE = Platform(MODEL), WholeBody(MODEL), Workspace(MODEL)
EXAMPLES = settings(max_examples=60, deadline=None, derandomize=True)
unit = st.floats(-1, 1)


@st.composite
def poses(draw):
    """Poses (9,) inside the workspace."""
    raw = [draw(unit) for _ in range(9)]
    spans = (2.5, 0.02, 0.003, 0.03, 0.3, 1.0, 1.2, 3.0, 3.0)
    return np.array(WORKSPACE.project([r * s for r, s in zip(raw, spans, strict=True)]))


def rod_lengths(head, joints):
    """(6,) m between arm tip and platform anchor, by the geometry's own definition; head (6,) in the body's frame."""
    turn = rotation(*head[3:])
    lengths = []
    for arm, q in zip(MODEL.arms, joints, strict=True):
        tip = arm.body_from_motor_position + arm.body_from_motor_rotation @ (
            MODEL.arm_length * np.array([np.cos(q), np.sin(q), 0.0]))
        lengths.append(np.linalg.norm(head[:3] + turn @ arm.platform_anchor - tip))
    return np.array(lengths)


@EXAMPLES
@given(poses())
def test_every_rod_has_its_length(pose):
    head = np.array([*pose[1:3], pose[3] + MODEL.rest_height, *pose[4:7]])
    joints = PLATFORM.joints(*head)
    # 40 mm of arm move a rod's end by 40 um a mrad at most: 1e-13 m of rod is well below 1e-9 rad
    assert rod_lengths(head, joints) == pytest.approx([MODEL.rod_length] * 6, abs=1e-13)


def test_resting_arms_alternate_as_measured_on_the_robot():
    joints = np.degrees(PLATFORM.joints(0, 0, MODEL.rest_height, 0, 0, 0))
    assert joints == pytest.approx([35.9, -35.9] * 3, abs=0.05)


def test_sleeping_arms_are_those_of_the_published_pose():
    from calibration.frames import rpy_of
    joints = np.degrees(PLATFORM.joints(*MODEL.sleep_position, *rpy_of(MODEL.sleep_rotation)))
    assert joints == pytest.approx([-10, 48, -7, 5, -46, 10], abs=0.6)


@EXAMPLES
@given(poses(), poses())
def test_forward_undoes_inverse_from_anywhere_near(pose, other):
    joints = BODY.joints(pose)
    found = BODY.pose(joints, 0.7 * pose + 0.3 * other)
    assert found is not None
    assert found == pytest.approx(pose, abs=1e-9)


@EXAMPLES
@given(st.lists(st.floats(-3.2, 3.2), min_size=6, max_size=6))
def test_arms_out_of_reach_stay_finite(head):
    assert np.isfinite(PLATFORM.joints(*head)).all()


def test_no_pose_for_arms_that_fit_none():
    joints = BODY.joints(np.zeros(9))
    assert BODY.pose(np.where(np.arange(9) == 3, np.nan, joints), np.zeros(9)) is None
    torn = joints.copy()
    torn[1:7] = [1.3, 1.2, -0.8, -1.3, -1.2, -1.3]
    found = BODY.pose(torn, np.zeros(9))
    assert found is None or BODY.joints(found)[1:7] == pytest.approx(torn[1:7], abs=1e-6)


@EXAMPLES
@given(poses(), st.floats(-2.5, 2.5))
def test_turning_the_body_turns_head_and_place(pose, yaw):
    turned_pose = pose.copy()
    turned_pose[0] += yaw
    before, after = BODY.head_pose(0.0, pose), BODY.head_pose(0.0, turned_pose)
    assert after.position == pytest.approx(rotation(0, 0, yaw) @ before.position, abs=1e-12)
    assert after.rotation == pytest.approx(rotation(0, 0, yaw) @ before.rotation, abs=1e-12)
    assert BODY.joints(turned_pose)[1:7] == pytest.approx(BODY.joints(pose)[1:7], abs=0)


@EXAMPLES
@given(st.tuples(unit, unit, unit), st.tuples(unit, unit, unit))
def test_a_turn_stays_a_rotation(angles, turn):
    matrix = turned(rotation_of(*angles), *turn)
    assert matrix @ matrix.T == pytest.approx(np.eye(3), abs=1e-12)
