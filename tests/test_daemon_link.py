"""The link to the robot's daemon in virtual time: what it says, when it steers, and that no goal of it ever jumps."""
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.bus_settings import BusSettings
from motion.intent import JointGoal
from perception.audio.array_register import Reading as ArrayReading
from robot.bodies import daemon_words as words
from robot.bodies.daemon_beat import Beat
from robot.bodies.daemon_link import PART, DaemonLink
from robot.bodies.daemon_pose import TargetWriter
from robot.bodies.servo_loop import ServoLoop
from tests.daemon_stand_in import BODY, PARK, SDK_SLEEP, TICK_S, UPRIGHT, StandIn, joints_of, pose_of

STEADY = settings(deadline=None, derandomize=True, max_examples=25)
LIMIT = BusSettings().top_speed_rad_s * TICK_S * 1.1      # rad a tick; a beat may be a tenth longer
NEAR = np.radians(0.5)
PUSHED = np.radians(20) * np.array([1, 1, -1, 1, -1, 1, -1, 1, 1])      # all joints, and the head has a pose for it


def nodding(t: float) -> np.ndarray:
    goal = UPRIGHT.copy()
    goal[0] = 0.9 * np.sin(1.5 * t)
    goal[1:7] += 0.12 * np.sin(2.5 * t)
    return goal


class Bench:
    """Loop, link and stand-in, tick by tick. `gone`: the line is cut. `asked`: the answer about a running move."""

    def __init__(self, daemon: StandIn | None = None, connect: bool = True):
        self.daemon = daemon or StandIn()
        self.link = DaemonLink(BODY, PARK, np.random.default_rng(1))
        self.loop = ServoLoop(self.link, part="daemon_process")
        self.t, self.told, self.reading = 100.0, [], None
        self.gone, self.mute, self.answers, self.second_line = not connect, False, True, True
        self.worst = self.first_off = 0.0           # rad beyond what a step may be; of the first goals
        self._began: object = None
        self._last: np.ndarray | None = None
        if connect:
            self.link.connected(self.t)

    def run(self, seconds: float, goal=UPRIGHT, torque: bool = True) -> None:
        for _ in range(round(seconds / TICK_S)):
            self.t += TICK_S
            self._connect()
            if goal is not None:
                wanted = goal(self.t) if callable(goal) else goal
                self.loop.hear(self.t, JointGoal(self.t, wanted, np.zeros(9), torque))
            beat = None
            for text in self.daemon.tick() if not self.gone and not self.mute else ():
                beat = self.link.receive(self.t, text) or beat
            if not self.gone and self.answers and self.link.asks_about_move(self.t):
                self.link.moves(self.t, self.daemon.move is not None)
            if self.second_line and self.daemon.ticks % 5 == 0 and not self.gone and not self.mute:
                self.link.note_mode(self.t, self.daemon.mode)       # as the state socket does
            self.reading, health = self.loop.step(beat or self.t)
            self.told += health
            self._send()
            if self.link.silent(self.t):
                self.cut()

    def cut(self, code: int | None = None) -> None:
        self.gone = True
        self.link.lost(self.t, code, "cut")

    def _connect(self) -> None:
        if self.gone and self.t >= self.link.retry_at and self.daemon is not None:
            self.gone = False
            self.link.connected(self.t)

    def _send(self) -> None:
        for text in self.link.take():
            count, steering = len(self.daemon.targets), self.link.steering
            self.daemon.say(text)
            for target in self.daemon.targets[count:]:
                self._judge(target, steering)

    def _judge(self, target: np.ndarray, steering: bool) -> None:
        measured = self.daemon.joints
        began = (steering, self.link._connected_at, self.link._enabled_at)
        if began != self._began or self._last is None:
            self.first_off = max(self.first_off, np.abs(target - measured).max())
        else:
            nearer = np.abs(target - measured) <= np.abs(self._last - measured)
            self.worst = max(self.worst, np.where(nearer, 0, np.abs(target - self._last)).max())
        self._began, self._last = began, target

    def levels(self, part: str = PART) -> list[str]:
        return [line.level for line in self.told if line.part == part]


def woken(**kwargs) -> Bench:
    bench = Bench(**kwargs)
    bench.run(5.0)
    assert all(bench.reading.torque)
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-6)
    return bench


# what is said --------------------------------------------------------------------------------------------------------

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


# no goal ever jumps --------------------------------------------------------------------------------------------------

angles = st.lists(st.floats(-0.3, 0.3), min_size=9, max_size=9)
event = st.one_of(
    st.tuples(st.just("goal"), angles), st.tuples(st.just("cut"), st.sampled_from([None, 1013, 1006])),
    st.tuples(st.just("restart"), angles), st.tuples(st.just("mode"), st.sampled_from(words.MODES)),
    st.tuples(st.just("pushed"), angles), st.tuples(st.just("move"), st.floats(-0.05, 0.05)),
    st.tuples(st.just("mute"), st.booleans()), st.tuples(st.just("dead"), st.integers(0, 8)),
    st.tuples(st.just("stop"), st.booleans()), st.tuples(st.just("mind"), st.booleans()))


def placed(offsets: list[float]) -> np.ndarray:
    """Joints with a pose of the head."""
    return UPRIGHT + np.array(offsets) * [1, *[0.4] * 6, 1, 1]


def happen(bench: Bench, kind: str, value, goal) -> object:
    if kind == "goal":
        return UPRIGHT + np.array(value)
    if kind == "cut":
        bench.cut(value)
    elif kind == "restart":
        bench.cut()
        bench.daemon = StandIn(placed(value))
    elif kind == "mode":
        bench.daemon.switch(value)
    elif kind == "pushed" and bench.daemon.mode != "enabled":
        bench.daemon.joints = placed(value)
    elif kind == "move":
        bench.daemon.move = lambda joints: np.clip(joints + value, BODY.lower, BODY.upper)
    elif kind == "mute":
        bench.mute = value
    elif kind == "dead":
        bench.daemon.dead[value] ^= True
    elif kind == "stop":
        bench.loop.stopped = value
    elif kind == "mind":
        return None if value else nodding
    return goal


@settings(deadline=None, derandomize=True, max_examples=6)
@given(st.lists(st.tuples(event, st.integers(1, 50)), min_size=3, max_size=8))
def test_no_goal_ever_jumps(events):
    bench = Bench()
    bench.run(1.5)
    goal: object = nodding
    for (kind, value), ticks in events:
        goal = happen(bench, kind, value, goal)
        bench.run(ticks * TICK_S, goal)
        assert bench.worst < LIMIT, (kind, value)
        assert bench.first_off < NEAR, (kind, value)
    bench.mute, bench.loop.stopped, bench.daemon.dead[:] = False, False, False
    bench.daemon.switch("enabled")
    bench.run(10.0)                                        # and when all is well again, the robot is where it should be
    assert all(bench.reading.torque)
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-3)
    assert bench.worst < LIMIT and bench.first_off < NEAR


# troubles of the field -----------------------------------------------------------------------------------------------

def test_motors_that_are_off_are_asked_for_and_begin_where_they_were_pushed():                           # F44
    bench = Bench(StandIn(UPRIGHT + PUSHED, mode="disabled"))
    bench.run(0.3, None)
    assert bench.daemon.mode == "disabled" and not any(bench.reading.torque)     # nobody wants torque
    bench.run(1.0)
    assert bench.daemon.mode == "enabled" and bench.first_off < NEAR
    bench.daemon.switch("disabled")
    bench.daemon.joints = UPRIGHT - PUSHED
    bench.run(5.0)
    assert all(bench.reading.torque) and bench.first_off < NEAR and bench.worst < LIMIT
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-3)


def test_the_motors_get_a_moment_and_are_asked_once_where_their_mode_is_heard_late():
    bench = Bench(StandIn(UPRIGHT, mode="disabled"))
    bench.second_line, asked, say = False, [], bench.daemon.say
    bench.daemon.say = lambda text: (asked.append(bench.t) if "set_motor_mode" in text else None, say(text))
    bench.run(0.9)
    assert len(asked) == 1 and len(bench.daemon.targets) == 2       # where they are; and nothing more until they are on
    bench.second_line, on = True, bench.t
    while len(bench.daemon.targets) < 3:
        bench.run(TICK_S)
    assert bench.t - on >= bench.link.settings.settle_s and len(asked) == 1


def test_the_motors_stay_on_while_the_head_is_up():
    bench = woken()
    bench.run(1.0, UPRIGHT, torque=False)
    assert bench.daemon.mode == "enabled" and bench.link.torque_wanted


def test_a_daemon_that_keeps_its_motors_off_is_told_and_not_nagged():                                     # F53
    bench = woken()
    bench.daemon.obstinate = True
    bench.daemon.switch("disabled")
    asked = []
    say = bench.daemon.say
    bench.daemon.say = lambda text: (asked.append(text) if "set_motor_mode" in text else None, say(text))
    bench.run(2.0)
    assert bench.levels() == ["degraded"] and not any(bench.reading.torque)
    bench.run(75.0)
    assert len(asked) == 4 and bench.levels() == ["degraded"]


def test_goals_that_nothing_follows_are_told_within_two_seconds():                                        # F53
    bench = woken()
    bench.daemon.dead[:] = True                            # the mode says enabled, the servos say nothing
    bench.run(2.0, nodding)
    assert bench.levels() == ["degraded"] and "not followed" in bench.told[-1].reason
    assert not bench.reading.torque[0]                     # and nobody may believe that it looks anywhere
    bench.daemon.dead[:] = False
    bench.run(8.0, nodding)
    assert bench.levels() == ["degraded", "ok"] and all(bench.reading.torque)
    assert bench.worst < LIMIT


def test_one_joint_that_does_not_move_costs_that_joint():                                                # F50
    bench = woken()
    bench.daemon.dead[7] = True
    goal = UPRIGHT.copy()
    goal[[0, 7]] += 0.8
    bench.run(4.0, goal)
    np.testing.assert_allclose(bench.reading.position[:7], goal[:7], atol=1e-3)
    assert bench.reading.torque == tuple(joint != 7 for joint in range(9))
    assert abs(bench.daemon.targets[-1][7] - bench.reading.position[7]) < np.radians(6)      # no leap when it is let go


def test_a_move_of_the_daemon_is_ended_and_there_is_one_owner():                                          # F46
    bench = woken()
    bench.daemon.move = lambda joints: np.append(joints[0] + 0.03, joints[1:])
    stops = bench.daemon.stops
    bench.run(0.7)
    assert bench.daemon.move is None and bench.daemon.stops == stops + 1
    bench.run(4.0)
    assert bench.worst < LIMIT and bench.first_off < NEAR
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-3)
    assert bench.levels()[-1] == "ok"


def test_an_emergency_stop_holds_and_letting_go_is_slow():
    bench = woken()
    bench.run(1.0, nodding)
    bench.loop.stopped = True
    bench.run(0.5, nodding)
    held = bench.daemon.joints.copy()
    bench.run(1.0, nodding)
    np.testing.assert_allclose(bench.daemon.joints, held, atol=1e-9)
    bench.loop.stopped = False
    bench.run(4.0)
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-3)
    assert bench.worst < LIMIT


def test_parks_by_its_own_goals_and_only_then_lets_go():
    bench = woken()
    bench.run(2.0, nodding)
    yaw = bench.daemon.joints[0]
    bench.loop.closing = True
    for _ in range(500):
        bench.run(TICK_S)
        if bench.loop.finished:
            break
        assert bench.daemon.mode == "enabled"
    assert bench.loop.finished and bench.daemon.mode == "disabled" and bench.daemon.automatic_body_yaw
    np.testing.assert_allclose(np.degrees(bench.daemon.joints[1:7] - PARK[1:7]), 0, atol=6)
    assert abs(bench.daemon.joints[0] - yaw) < 0.1 and bench.worst < LIMIT


def test_a_mind_that_goes_leaves_it_holding_then_parked():
    bench = woken()
    bench.run(1.0, None)
    assert all(bench.reading.torque)
    bench.run(8.0, None)
    assert bench.daemon.mode == "disabled" and not any(bench.reading.torque)
    bench.run(6.0)
    assert all(bench.reading.torque) and bench.worst < LIMIT and bench.first_off < NEAR


# connections ---------------------------------------------------------------------------------------------------------

def test_a_half_open_line_is_noticed_within_a_second_and_heals():
    bench = woken()
    bench.mute = True
    bench.run(1.1)
    assert bench.levels() == ["gone"] and np.isnan(bench.reading.position).all() and not any(bench.reading.torque)
    bench.mute = False
    bench.run(9.0)
    assert bench.levels() == ["gone", "ok"] and all(bench.reading.torque) and bench.first_off < NEAR


def test_waits_grow_have_jitter_and_are_short_while_the_daemon_starts():                                  # F57
    def waits(code, seed):
        link, t, out = DaemonLink(BODY, PARK, np.random.default_rng(seed)), 0.0, []
        for _ in range(12):
            link.lost(t, code, "refused")
            out.append(link.retry_at - t)
            t = link.retry_at
        told = [line for line in link.exchange(t, None)[1] if line.part == PART]
        assert [line.level for line in told] == ["gone"]
        return np.array(out)
    assert waits(None, 1)[0] < 0.3 and 3.0 < waits(None, 1)[-1] < 6.6
    assert waits(1013, 1).max() < 1.4 and (waits(1013, 1) == waits(1013, 1)).all()
    assert (waits(None, 1) != waits(None, 2)).all()


def test_a_daemon_in_trouble_gets_no_goals_and_is_named():
    bench = woken()
    bench.daemon.state, bench.daemon.error = "error", "No response from the robot's motor for the last second."
    bench.run(1.5, nodding)
    assert bench.levels() == ["degraded"] and "No response" in bench.told[-1].reason
    sent = len(bench.daemon.targets)
    bench.run(1.0, nodding)
    assert len(bench.daemon.targets) == sent
    bench.daemon.joints = bench.daemon.target = bench.daemon.joints + 0.2       # whoever did that
    bench.daemon.state, bench.daemon.error = "running", None
    while len(bench.daemon.targets) == sent:
        bench.run(TICK_S)
    assert np.abs(bench.daemon.targets[-1] - bench.daemon.joints).max() < NEAR
    bench.run(6.0)
    assert bench.levels() == ["degraded", "ok"] and bench.first_off < NEAR and bench.worst < LIMIT


def test_where_nobody_can_be_asked_about_moves_the_joints_tell():
    bench = Bench()
    bench.answers = False
    bench.run(0.5)
    assert len(bench.daemon.targets) == 1                  # where they are: no more before the goals are known to count
    bench.link.moves(bench.t, None)
    bench.run(5.0)
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-6)


def test_the_sdk_sleep_pose_beyond_our_limits_is_left_no_faster_than_any_other():
    bench = Bench(StandIn(SDK_SLEEP))
    speeds, before = [], SDK_SLEEP
    for _ in range(250):
        bench.run(TICK_S)
        speeds.append(np.abs(bench.daemon.joints - before)[1:7].max() / TICK_S)
        before = bench.daemon.joints.copy()
    assert np.degrees(max(speeds)) < 91
    np.testing.assert_allclose(bench.reading.position, UPRIGHT, atol=1e-3)
