"""Joints of another process in the simulated room, and beside another body."""
import numpy as np
import pytest

from calibration.body_model import reachy_mini
from calibration.frames import frozen
from calibration.health import Health
from firmware_bridge.joint_reading import JointReading
from firmware_bridge.touch import Touch
from motion.intent import JointGoal
from perception.audio.array_register import Reading
from robot.bodies.joined import JoinedBody
from robot.bodies.linked_joints import LinkedJoints
from robot.bodies.pose_track import parked, upright
from robot.errors import BadRequest
from robot.tick import Inputs, Outputs

BODY = reachy_mini()


class Process:
    """What a joint process tells and is told."""

    def __init__(self):
        self.given, self.told, self.written, self.orders, self.closed = None, (), [], [], False

    def read(self):
        given, self.given = self.given, None
        return given

    def health(self):
        told, self.told = self.told, ()
        return told

    def heard(self):
        return ()

    def write(self, goal):
        self.written.append(goal)

    def stop(self, stopped):
        self.orders.append(stopped)

    def close(self):
        self.closed = True


@pytest.fixture
def process():
    return Process()


def turning(t: float) -> np.ndarray:
    return upright(BODY) + np.array([0.5 * t, *np.zeros(8)])


def test_the_room_turns_with_the_measured_joints(process):
    joints = LinkedJoints(BODY, process)
    assert joints.pose.position[2] < BODY.rest_height - 0.03             # nothing read yet: asleep
    for tick in range(1, 60):
        process.given = JointReading(tick * 0.01, frozen(turning(tick * 0.01)))
        joints.exchange(tick * 0.01, None)
    assert joints.pose.position[2] == pytest.approx(BODY.rest_height, abs=1e-6)
    assert joints.pose.body_yaw == pytest.approx(0.5 * 0.59)
    assert joints.pose_at(0.405).body_yaw == pytest.approx(0.5 * 0.405)
    assert joints.velocities[0] == pytest.approx(0.5, rel=0.01) and np.abs(joints.velocities[1:]).max() < 0.05
    process.given = JointReading(0.58, frozen(turning(2.0)))
    joints.exchange(0.6, None)
    assert joints.pose.body_yaw == pytest.approx(0.5 * 0.59)


def test_a_silent_servo_is_where_it_was(process):
    joints = LinkedJoints(BODY, process)
    for t, position in ((0.01, upright(BODY)), (0.02, np.full(9, np.nan))):
        process.given = JointReading(t, frozen(position))
        joints.exchange(t, None)
    assert joints.pose.position[2] == pytest.approx(BODY.rest_height, abs=1e-6)


def test_goals_health_and_orders_cross(process):
    joints, goal = LinkedJoints(BODY, process), JointGoal(0.0, parked(BODY), frozen(np.zeros(9)))
    process.told = (Health(0.0, "servo_13", "gone"),)
    assert joints.exchange(0.0, goal) == (None, (Health(0.0, "servo_13", "gone"),))
    joints.stop(True)
    joints.close()
    assert process.written == [goal] and process.orders == [True] and process.closed
    with pytest.raises(BadRequest, match="simulated"):
        joints.fault(0.0, "servo_13", "hot")


class Rest:
    """Another body."""

    def __init__(self):
        self.seen = []

    def read(self, index, t):
        return Inputs(index, t, joints=JointReading(t, parked(BODY)), health=(Health(t, "camera", "gone"),))

    def write(self, t, outputs):
        self.seen.append(outputs)

    def stop(self, stopped):
        self.seen.append(stopped)

    def close(self):
        self.seen.append("closed")


class Device:
    """An array or a touch process."""

    def __init__(self, found):
        self.found, self.sent, self.closed = found, [], False

    def poll(self):
        return self.found

    def send(self, order):
        self.sent.append(order)

    def close(self):
        self.closed = True


def test_a_joined_body_takes_all_but_joints_from_the_other(process):
    rest = Rest()
    body, goal = JoinedBody(rest, process), JointGoal(0.0, parked(BODY), frozen(np.zeros(9)))
    process.given, process.told = JointReading(0.0, upright(BODY)), (Health(0.0, "servo_13", "gone"),)
    inputs = body.read(0, 0.0)
    assert np.array_equal(inputs.joints.position, upright(BODY))
    assert [h.part for h in inputs.health] == ["camera", "servo_13"]
    body.write(0.0, Outputs(goal, live_generation=3))
    body.stop(True)
    body.close()
    assert process.written == [goal] and process.orders == [True] and process.closed
    assert rest.seen == [Outputs(goal, live_generation=3), True, "closed"]


def test_array_and_touch_join_in_and_a_body_without_joints_keeps_those_of_the_other():
    lost, reading, touch = Health(0.0, "array", "degraded"), Reading(0.0, 1.2, True), Touch(0.0, "tap")
    array, pads = Device([reading, lost]), Device([touch])
    body = JoinedBody(Rest(), None, array, pads)
    inputs = body.read(0, 0.0)
    assert (inputs.array, inputs.touches) == ((reading,), (touch,)) and inputs.health[-1] == lost
    assert np.array_equal(inputs.joints.position, parked(BODY))
    body.write(0.0, Outputs(haptic="purr"))
    body.stop(True)
    body.close()
    assert pads.sent == ["purr"] and not array.sent and array.closed and pads.closed
