"""The link to the robot's daemon: what it says, what it makes of what it hears, and when it finds a beat."""
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perception.audio.array_register import Reading as ArrayReading
from robot.bodies import daemon_words as words
from robot.bodies.daemon_beat import Beat
from robot.bodies.daemon_pose import TargetWriter
from tests.daemon_bench import LIMIT, NEAR, STEADY, Bench, nodding, woken
from tests.daemon_stand_in import BODY, SDK_SLEEP, TICK_S, UPRIGHT, StandIn, joints_of, pose_of


def test_everything_that_moves_the_head_on_its_own_is_switched_off_at_every_connection():
    bench = woken()
    assert bench.daemon.switched_off == ["set_wobbling", "set_head_tracking"]
    assert not bench.daemon.automatic_body_yaw and bench.daemon.stops == 1
    bench.cut()
    bench.run(2.0)
    assert bench.daemon.switched_off == ["set_wobbling", "set_head_tracking"] * 2 and bench.daemon.stops == 2


def test_one_message_a_tick_and_it_is_the_goal():
    bench = woken()
    before = len(bench.daemon.targets)
    bench.run(2.0, nodding)
    assert len(bench.daemon.targets) - before == 100
    lag = np.abs(bench.daemon.targets[-1] - nodding(bench.t - 0.01)).max()      # goals are played 10 ms later
    assert lag < 0.02
    assert bench.worst < LIMIT and bench.first_off < NEAR and bench.link.malformed == 0


@STEADY
@given(st.floats(-2.5, 2.5), st.lists(st.floats(-0.15, 0.15), min_size=6, max_size=6),
       st.lists(st.floats(-3, 3), min_size=2, max_size=2))
def test_what_is_written_leads_back_to_the_joints_that_were_meant(yaw, arms, antennas):
    joints = np.array([yaw, *(UPRIGHT[1:7] + arms), *antennas])
    writer = TargetWriter(BODY)
    writer.begin(pose_of(np.array([yaw, *UPRIGHT[1:]])), yaw)
    (message,) = map(json.loads, writer.messages(joints))
    head = np.reshape(message["head"], (4, 4))
    np.testing.assert_allclose(joints_of(head, message["body_yaw"]), joints[:7], atol=1e-7)
    assert message["antennas"] == antennas


def test_at_rest_the_head_is_the_unit_matrix_and_yaw_counts_from_the_table():
    joints = UPRIGHT.copy()
    joints[0] = 0.7
    head = np.reshape(json.loads(TargetWriter(BODY).messages(joints)[0])["head"], (4, 4))
    np.testing.assert_allclose(head[:2, :2], [[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]], atol=1e-9)
    np.testing.assert_allclose(head[:3, 3], 0, atol=1e-9)


def test_joints_that_fit_no_pose_are_sent_as_joints():
    joints = UPRIGHT.copy()
    joints[[1, 3, 5]] += 1.2
    kinds = [json.loads(text)["type"] for text in TargetWriter(BODY).messages(joints)]
    assert kinds == ["set_head_joints", "set_antennas"]
    writer, joints = TargetWriter(BODY), UPRIGHT.copy()      # arms stretched: a pose fits, and leads back to others
    for _ in range(55):
        joints[1:7] += 0.02 * np.array([1, -1] * 3)
        said = [json.loads(text) for text in writer.messages(joints)]
    assert [message["type"] for message in said] == ["set_head_joints", "set_antennas"]
    assert said[0]["joints"] == joints[:7].tolist() and said[1]["antennas"] == joints[7:].tolist()


def test_switching_everything_off_moves_nothing():
    bench = Bench(StandIn(SDK_SLEEP))
    bench.run(0.5, None)
    np.testing.assert_allclose(bench.daemon.joints, SDK_SLEEP, atol=1e-6)
    assert bench.daemon.switched_off and len(bench.daemon.targets) == 1


# nothing that is heard can hurt --------------------------------------------------------------------------------------

json_value = st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
                          lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=8), inner,
                                                                                     max_size=4), max_leaves=12)
kinds = st.sampled_from(["joint_positions", "head_pose", "daemon_status", "imu_data", "task_progress"])
fields = st.sampled_from(["head_joint_positions", "antennas_joint_positions", "head_pose", "state", "backend_status",
                          "doa", "control_mode", "error"])


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.one_of(st.text(max_size=40), st.binary(max_size=40), json_value.map(json.dumps),
                 st.builds(lambda kind, rest: json.dumps({**rest, "type": kind}), kinds,
                           st.dictionaries(fields, json_value, max_size=4))))
def test_no_text_raises_or_makes_a_joint_infinite(text):
    said = words.heard(text)
    if isinstance(said, words.Joints):
        assert np.isfinite(said.position).all()
    if isinstance(said, words.Pose):
        assert np.isfinite(said.matrix).all()
    state = words.state_of(1.0, text)
    assert state is None or state.mode in (None, *words.MODES)


def test_huge_deep_and_foreign_messages_are_counted_and_rubbish_is_told_once():
    bench = woken()
    bench.link.receive(bench.t, '{"type": "recorded_data", "data": [' + "0," * 100_000 + "0]}")
    bench.link.receive(bench.t, json.dumps({"type": "imu_data", "temperature": 30.0}))
    assert (bench.link.unknown, bench.link.malformed) == (2, 0)
    for _ in range(150):
        bench.link.receive(bench.t, "[" * 30_000)
        bench.link.receive(bench.t, '{"type": "joint_positions", "head_joint_positions": [NaN, 1, 2, 3, 4, 5, 6]}')
    bench.run(1.0)
    assert bench.link.malformed == 300 and all(bench.reading.torque)
    assert bench.levels() == ["degraded"]


def test_the_state_socket_tells_mode_and_direction():
    text = json.dumps({"control_mode": "disabled", "doa": {"angle": 1.25, "speech_detected": True}, "imu": None})
    state = words.state_of(3.5, text)
    assert (state.mode, state.bearing) == ("disabled", ArrayReading(3.5, 1.25, True))
    assert words.state_of(3.5, '{"control_mode": "enabled", "doa": null}').bearing is None


# beats ---------------------------------------------------------------------------------------------------------------

@STEADY
@given(st.floats(0.0195, 0.0206), st.lists(st.floats(0, 0.006), min_size=300, max_size=300))
def test_ticks_are_found_behind_a_jittery_line(period, late):
    beat, heard = Beat(), []
    for k, delay in enumerate(late):
        heard.append(beat.hear(5.0 + k * period + delay))
    assert None not in heard
    steps = np.diff(heard[100:])
    assert np.abs(steps - period).max() < 0.0015          # a fifth of the jitter of two arrivals
    assert abs(np.mean(steps) - period) < 1e-4


def test_a_burst_after_a_stall_is_one_tick_and_lost_ticks_are_counted():
    beat = Beat()
    times = [beat.hear(k * TICK_S) for k in range(50)]
    assert times[-1] == pytest.approx(0.98)
    assert beat.hear(1.10) == pytest.approx(1.10, abs=0.003)                # late, for six ticks at once
    assert [beat.hear(1.10 + k * 1e-4) for k in range(1, 6)] == [None] * 5
    assert beat.hear(1.12) == pytest.approx(1.12, abs=0.003)
    assert beat.hear(9.0) == 9.0
