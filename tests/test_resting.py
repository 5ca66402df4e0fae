"""A body that is too hot lies down."""
import numpy as np

from calibration.body_model import STEWART, reachy_mini
from calibration.frames import frozen
from firmware_bridge.joint_reading import JointReading
from motion.intent import Gaze, MotionIntent
from motion.resting import Resting
from robot.bodies.pose_track import parked, upright
from robot.build import build_mind
from robot.config import MindConfig
from robot.tick import TICK_S, Inputs

HOT = JointReading(0.0, frozen(np.zeros(9)), park=True)
COOL = JointReading(1.0, frozen(np.zeros(9)))


def test_a_hot_body_parks_whatever_is_wanted_and_keeps_its_wish_between_readings():
    resting, wanted = Resting(), MotionIntent(0.0, "speak", Gaze(1.0), "nod", hold_still=True)
    assert resting.step(wanted, None) == wanted
    for joints in (HOT, None, None):
        intent = resting.step(wanted, joints)
        assert (intent.mode, intent.gesture, intent.hold_still, intent.gaze) == ("park", None, False, Gaze(1.0))
        assert "hot" in intent.reason
    assert resting.step(wanted, COOL) == wanted


def test_a_run_that_ends_keeps_its_own_reason():
    ending = MotionIntent(0.0, "park", reason="the run ends")
    assert Resting().step(ending, HOT) == ending


def test_the_whole_mind_lays_its_head_down_and_lifts_it_again():
    mind, body, goal = build_mind(MindConfig()), reachy_mini(), upright(reachy_mini())
    for index in range(800):
        hot = 50 <= index < 400
        inputs = Inputs(index, index * TICK_S, joints=JointReading(index * TICK_S, frozen(goal), park=hot))
        tick = mind.tick(inputs)
        assert not tick.events                   # nothing is refused on the way
        goal = tick.outputs.joints.position
        if index == 399:
            assert tick.intent.mode == "park" and np.abs(goal - parked(body))[STEWART].max() < np.radians(0.5)
    assert np.abs(goal - upright(body))[STEWART].max() < np.radians(12)      # up, breathing and looking around
