"""What the limiter promises for any input, in its own coordinates."""
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from motion.limiter import DT, Limiter, LimiterConfig, MovingAverage

CONFIG = LimiterConfig()
EXAMPLES = settings(max_examples=25, deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate))
START = np.zeros(9)
REST = np.zeros(3)


def straight(pose):
    """Joints that are the coordinates: what is promised without the platform's curvature."""
    return pose.copy()


def follow(targets, quick=REST):
    limiter = Limiter(straight, START, CONFIG)
    return np.array([limiter.step(np.array(target), quick) for target in targets])


@EXAMPLES
@given(st.lists(st.tuples(st.integers(1, 40), st.lists(st.floats(-3, 3), min_size=9, max_size=9)), min_size=2,
                max_size=12))
def test_speed_acceleration_and_jerk_hold_for_any_targets(steps):
    pose = follow([target for count, target in steps for _ in range(count)])
    speed = np.array([CONFIG.body_speed, *[CONFIG.platform_speed] * 6, *[CONFIG.antenna_speed] * 2]) * (1 + 1e-9)
    acceleration = speed / CONFIG.acceleration_s
    for order, bound in enumerate((speed, acceleration, 2 * acceleration / CONFIG.jerk_s), 1):
        assert np.all(np.abs(np.diff(pose, order, axis=0)) / DT ** order <= bound + 1e-9)
    targets = np.array([START] + [target for _, target in steps])
    assert np.all(pose <= targets.max(axis=0) + 1e-12)      # never beyond what was wanted
    assert np.all(pose >= targets.min(axis=0) - 1e-12)


def test_a_target_is_reached_and_kept_exactly():
    target = np.linspace(-0.5, 0.5, 9)
    assert follow([target] * 150)[-1] == pytest.approx(target, abs=1e-15)


def test_hold_comes_to_rest_within_the_kernel_and_stays():
    limiter = Limiter(straight, START, CONFIG)
    for _ in range(25):
        limiter.step(np.full(9, 2.0), np.full(3, 0.02))
    held = np.array([limiter.hold() for _ in range(100)])
    quiet = round((CONFIG.acceleration_s + CONFIG.jerk_s) / DT)
    assert np.all(np.diff(held[quiet:], axis=0) == 0)
    assert np.max(np.abs(np.diff(held[:3], axis=0))) > 0


def test_a_shared_line_of_sight_survives():
    time = np.arange(300) * DT
    body = 0.8 * np.clip(time, 0, 1)
    poses = np.zeros((300, 9))
    poses[:, 0], poses[:, 6] = body, 0.4 - body
    pose = follow(poses)
    assert (pose[:, 0] + pose[:, 6])[120:] == pytest.approx(0.4, abs=1e-12)


def test_the_quick_path_is_quick_and_bounded():
    limiter = Limiter(straight, START, CONFIG)
    roll = np.array([limiter.step(START, np.array([0.02, 0, 0]))[4] for _ in range(40)])
    assert np.argmax(roll > 0.018) * DT < 0.15
    assert np.max(np.abs(np.diff(roll))) / DT <= CONFIG.quick_speed + 1e-9


def test_an_average_never_drifts():
    average = MovingAverage(np.zeros(2), 0.1, 0.05)
    for value in np.random.default_rng(0).standard_normal((500, 2)) * 1e6:
        average.step(value)
    for _ in range(20):
        last = average.step(np.array([0.1, 0.2]))
    assert last == pytest.approx([0.1, 0.2], abs=1e-15)
