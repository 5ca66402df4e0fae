"""The last check before the motors."""
import numpy as np
import pytest

from calibration.body_model import reachy_mini
from calibration.frames import frozen
from firmware_bridge.joint_reading import JointReading
from motion.intent import JointGoal
from robot.safety import Safety, SafetyConfig

BODY = reachy_mini()
REST = np.clip(np.zeros(9), BODY.lower, BODY.upper)


def goal(t, position):
    return JointGoal(t, frozen(position), frozen(np.ones(9)))


def changed(joint, value):
    position = REST.copy()
    position[joint] = value
    return position


@pytest.mark.parametrize(("position", "reason"), [
    (changed(2, np.nan), "not a finite number"),
    (changed(0, np.inf), "not a finite number"),
    (changed(0, 2.9), "past its limit"),
    (changed(3, 0.2), "would jump"),
    (np.zeros(3), "not a finite number"),
])
def test_a_bad_goal_holds_the_last_good_one_and_says_why(position, reason):
    safety = Safety(BODY)
    good = goal(0.0, REST)
    assert safety.check(good) == (good, ())
    held, health = safety.check(goal(0.01, position))
    assert np.array_equal(held.position, REST) and not held.velocity.any() and held.torque
    assert health[0].level == "degraded" and reason in health[0].reason
    assert safety.check(goal(0.02, position))[1] == ()
    assert safety.check(goal(0.03, REST))[1][0].level == "ok"


def test_torque_goes_when_goals_stay_bad():
    safety = Safety(BODY, SafetyConfig(patience=3))
    safety.check(goal(0.0, REST))
    torque = [safety.check(goal(0.01 * i, changed(1, np.nan)))[0].torque for i in range(1, 6)]
    assert torque == [True, True, True, False, False]


def test_without_any_good_goal_nothing_is_sent():
    assert Safety(BODY).check(goal(0.0, changed(0, np.nan)))[0] is None
    assert Safety(BODY).check(None) == (None, ())


def test_a_goal_where_the_joint_is_found_is_no_jump():
    safety = Safety(BODY)
    safety.check(goal(0.0, REST))
    limp = JointReading(0.01, changed(8, 2.6))
    found, health = safety.check(goal(0.01, changed(8, 2.55)), limp)
    assert found.position[8] == 2.55 and not health
    assert safety.check(goal(0.02, changed(8, 2.0)))[1]                     # neither where it is nor where it was sent


def test_a_joint_beyond_its_limit_comes_back_and_goes_no_farther():
    safety, outside = Safety(BODY), BODY.upper[1] + 0.2
    reading = JointReading(0.0, changed(1, outside))
    assert not safety.check(goal(0.0, changed(1, outside)), reading)[1]
    assert not safety.check(goal(0.01, changed(1, outside - 0.05)))[1]
    assert safety.check(goal(0.02, changed(1, outside + 0.05)))[1]


def test_a_silent_servo_is_judged_by_its_last_goal():
    safety = Safety(BODY)
    safety.check(goal(0.0, REST))
    safety.check(goal(0.01, REST), JointReading(0.01, changed(4, np.nan)))
    assert safety.check(goal(0.02, changed(4, REST[4] + 0.3)))[1]
