"""Random faults on the bus in virtual time, as `talkover bench --faults` runs them; and that its judgement sees."""
from copy import deepcopy

import numpy as np
import pytest

from firmware_bridge.emulator import Faults
from robot.service.bus_figures import wire_lines
from robot.service.bus_storm import HOSTILE_S, KINDS, Storm


def clean(storm: Storm) -> bool:
    return not (storm.joint_jumps or storm.goal_jumps or storm.torque_offs or storm.crashes)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_storm_of_faults_makes_no_jump_no_wrong_torque_off_and_no_crash(seed):
    storm = Storm(seed, HOSTILE_S / 3)
    storm.run(20.0)
    assert clean(storm) and storm.largest < 5.0
    assert len(storm.faults) > len(KINDS) // 2 and storm.torque_ons > 9


def test_after_the_storm_all_is_well_again():
    """Field log F50: whatever was silent costs its joint for a while, never the process."""
    storm = Storm(7)
    storm.run(12.0)
    storm.run(25.0, faults=False)
    assert clean(storm)
    waiting = [watch for watch in storm.bus.watches if watch.act_at > storm.t]        # a recovery's pause
    assert len(waiting) <= 2
    standing = {line.part: line.level for line in storm.told}
    for watch in storm.bus.watches:
        assert watch in waiting or (watch.phase == "armed" and standing.get(watch.part, "ok") == "ok")


def test_the_same_seed_is_the_same_storm():
    first, second = Storm(3), Storm(3)
    first.run(9.0)
    second.run(9.0)
    assert first.told == second.told and first.faults == second.faults and first.largest == second.largest


# would it see? ------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def quiet() -> Storm:
    storm = Storm(0, every_s=1e9)
    storm.run(5.9)
    assert clean(storm) and storm.torque_ons == 9
    return storm


@pytest.fixture
def storm(quiet) -> Storm:
    return deepcopy(quiet)


def test_a_leap_of_a_joint_is_seen_once(storm):
    joint = 3
    storm.emulator.dynamics.position[joint] += np.radians(12)
    storm.run(0.3)
    assert len(storm.joint_jumps) == 1 and "joint 3" in storm.joint_jumps[0]


def test_a_goal_that_leaps_is_seen(storm):
    follower = storm.bus.follower

    def leap(t: float) -> np.ndarray:
        follower.sent = follower.sent + np.radians(10)
        return follower.sent

    follower.hold = leap                            # type: ignore[method-assign]
    storm.loop.stopped = True
    storm.run(0.005)
    assert len(storm.goal_jumps) == 9 and "joint 1 by 10.0 deg" in storm.goal_jumps[1]


def test_torque_that_comes_on_elsewhere_is_seen(storm):
    storm.emulator.fault(13, unplugged=True)
    storm.run(1.0)
    storm.emulator.set_faults(3, Faults())
    storm.bus.care.arm = lambda t, watch, measured: type(storm.bus.care).arm(       # type: ignore[method-assign]
        storm.bus.care, t, watch, measured + 0.1)
    storm.run(1.0)
    assert any("torque of joint 3 came on 5." in text for text in storm.goal_jumps)


def test_torque_that_we_put_off_is_seen_and_torque_that_the_world_takes_is_not(storm):
    storm.emulator.power(False)
    storm.emulator.power(True)
    storm.run(4.0)
    assert not storm.torque_offs and storm.torque_ons == 18
    storm.bus.parked = lambda: True                 # type: ignore[method-assign]
    storm.loop.closing = True
    storm.run(2.0)
    assert len(storm.torque_offs) == 6


def test_a_crash_is_counted_and_the_storm_goes_on(storm):
    storm.port.write = None                         # type: ignore[method-assign,assignment]
    storm.run(0.045)
    assert len(storm.crashes) == 5


def test_wire_time_is_what_the_facts_say():
    (line,) = wire_lines()
    assert "goals 0.59 ms, positions 0.23 + 1.35 ms" in line
