"""The servo bus: once a tick it sends the goals, reads the joints, and cares for one servo.

Safe by itself, whatever comes from above: goals are continuous (GoalFollower), torque comes on softly and goes off only
when parked (ServoCare), no goal means decelerate and hold. A silent servo costs its joint, never the bus.
"""
import math
import struct
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from calibration.body_model import JOINTS, STEWART, Servo
from calibration.frames import Array
from calibration.health import Health
from firmware_bridge import packets
from firmware_bridge.bus_line import BusLine, BusStatistics
from firmware_bridge.bus_settings import BusSettings
from firmware_bridge.follow_check import FollowCheck
from firmware_bridge.goal_follower import GoalFollower
from firmware_bridge.health_changes import HealthChanges
from firmware_bridge.joint_reading import JointReading
from firmware_bridge.port import Port
from firmware_bridge.registers import BY_NAME, CENTRE_TICKS, RAD_PER_TICK, WATCHDOG_UNIT_S, to_rad
from firmware_bridge.servo_care import ServoCare
from firmware_bridge.servo_watch import POSITION, ServoWatch

BUS = "servo_bus"
GOAL = BY_NAME["goal_position"].address
COMING = ("strange", "limp", "arming")
TOGETHER_S = 2.0           # the longest that healthy joints wait for others before they set out
WATCHDOG_MARGIN = 0.8      # of the watchdog's time without an exchange: taken as tripped


class Goal(Protocol):
    """What motion.intent.JointGoal is: where the joints (9,) shall be, and whether they shall have torque."""

    @property
    def position(self) -> Array: ...

    @property
    def torque(self) -> bool: ...


class ServoBus:
    """Nine servos behind one port.

    servos: from the body model. park: (9,) rad, the pose in which the head rests without torque; None: torque never
    goes off. `exchange` is called once a tick with the run's time; nothing happens in between.
    """

    def __init__(self, port: Port, servos: Sequence[Servo], park: Array | None = None,
                 settings: BusSettings | None = None):
        self.settings = settings or BusSettings()
        self.line = BusLine(port, self.settings)
        self.park = None if park is None else np.array(park, float)
        self.watches = [ServoWatch(servo, JOINTS.index(servo.joint)) for servo in servos]
        self._by_joint = {watch.joint: watch for watch in self.watches}
        limits = {watch.joint: watch.servo.limit_ticks for watch in self.watches}
        self.follower = GoalFollower(
            self.settings, np.array([to_rad(limits.get(j, (0, 0))[0]) for j in range(len(JOINTS))]),
            np.array([to_rad(limits.get(j, (0, 0))[1]) for j in range(len(JOINTS))]))
        self.health = HealthChanges()
        self.care = ServoCare(self.line, self.settings, self.health, self.follower)
        self.following = FollowCheck(len(JOINTS), self.settings)
        self.torque_wanted = False
        self.measured = np.full(len(JOINTS), np.nan)      # rad, of the last exchange
        self.obeying = (False,) * len(JOINTS)             # joints that follow their goals
        self.speed_scale, self.too_hot = 1.0, False
        self._together_until = -math.inf                  # s: all joints set out together, if they can by then
        self._t: float | None = None
        self._requests: dict[bytes, bytes] = {}           # ids -> sync read

    @property
    def statistics(self) -> BusStatistics:
        return self.line.statistics

    def exchange(self, t: float, goal: Goal | None) -> tuple[JointReading, tuple[Health, ...]]:
        """One tick. goal None: decelerate and hold (the emergency stop). torque False in the goal: the same, and
        torque off once the platform is measured at the park pose. Health: changes only."""
        self.statistics.exchanges += 1
        self._note_gap(t)
        sent = self._steer(t, goal)
        self._send_goals(t, sent)
        complete = self._read_joints(t)
        self._check_following(t, sent)
        if complete and self.care.attend(t, self.watches, self.torque_wanted, self.measured):
            self._check_wear(t)
        self._check_silence(t)
        position = self.measured.copy()
        position.flags.writeable = False
        armed = {watch.joint for watch in self.watches if watch.phase == "armed"}
        self.obeying = tuple([joint in armed for joint in range(len(JOINTS))])
        return JointReading(t, position, self.obeying, self.speed_scale, self.too_hot), self.health.changes(t)

    def parked(self) -> bool:
        """Every platform joint that can be measured is at the park pose."""
        if self.park is None:
            return False
        off = np.abs(self.measured - self.park)[STEWART]
        return bool(np.isfinite(off).any() and (~(off > self.settings.parked_rad)).all())

    # goals ---------------------------------------------------------------------------------------------------------

    def _note_gap(self, t: float) -> None:
        """After a pause the servos' own watchdogs have stopped them: start again from where they are."""
        if self._t is None:
            for watch in self.watches:
                watch.heard_at = t              # silence counts from here
        elif t - self._t > WATCHDOG_MARGIN * self.settings.watchdog_units * WATCHDOG_UNIT_S:
            for watch in self.watches:
                if watch.phase in ("armed", "arming"):
                    watch.phase, watch.look_now = "limp", True
        self._t = t

    def _steer(self, t: float, goal: Goal | None) -> Array:
        if goal is not None and goal.torque:
            if not self.torque_wanted:
                self.torque_wanted, self._together_until = True, t + TOGETHER_S
            if t < self._together_until and any(watch.phase in COMING for watch in self.watches):
                return self.follower.hold(t)
            if any(watch.phase == "armed" for watch in self.watches):      # they have set out
                self._together_until = -math.inf
            return self.follower.follow(t, goal.position, self.speed_scale)
        if goal is not None and self.torque_wanted and self.parked():
            self.torque_wanted = False
            self.care.relax([watch for watch in self.watches if watch.phase != "silent"])
        return self.follower.hold(t)

    def _send_goals(self, t: float, sent: Array) -> None:
        ticks = np.rint(np.minimum(np.maximum(sent, self.follower.lower), self.follower.upper) / RAD_PER_TICK)
        values = (ticks + CENTRE_TICKS).tolist()
        goals = [(watch.servo.id, struct.pack("<i", int(values[watch.joint]))) for watch in self.watches
                 if watch.phase == "armed"]
        if goals:
            self.line.send(packets.sync_write(GOAL, 4, goals))

    # joints --------------------------------------------------------------------------------------------------------

    def _read_joints(self, t: float) -> bool:
        """Positions of all servos that are not known to be silent; one more try for those that failed just now. False
        when even that was in vain: two timeouts have used up this tick."""
        self.measured = np.full(len(JOINTS), np.nan)
        asked = [watch for watch in self.watches if watch.phase not in ("silent", "rebooting")]
        if not asked:
            return True
        missing = self._take(t, asked, self.settings.answer_s)
        again = [watch for watch in missing if watch.misses == 0]
        if again:
            self.statistics.retries += 1
            self._take(t, again[1:] + again[:1], self.settings.retry_s)     # some stay silent behind a silent one
        for watch in missing:
            if watch.heard_at < t:
                watch.misses += 1
                if watch.misses >= self.settings.silent_ticks:
                    watch.phase, watch.act_at = "silent", t + self.settings.recall_s
        return not again or all(watch.heard_at >= t for watch in again)

    def _take(self, t: float, asked: list[ServoWatch], patience: float) -> list[ServoWatch]:
        """Reads positions; returns those that did not answer."""
        ids = bytes([watch.servo.id for watch in asked])
        request = self._requests.get(ids)
        if request is None:
            request = self._requests[ids] = packets.sync_read(ids, POSITION.address, POSITION.size)
        answers = self.line.ask(request, ids, POSITION.size, patience)
        missing = []
        for watch in asked:
            answer = answers.get(watch.servo.id)
            if answer is None:
                missing.append(watch)
                continue
            ticks = int.from_bytes(answer.parameters[1:], "little", signed=True)
            self.measured[watch.joint] = (ticks - CENTRE_TICKS) * RAD_PER_TICK
            if answer.alert and not watch.alert:
                watch.look_now = True
            watch.misses, watch.heard_at, watch.alert = 0, t, answer.alert
        return missing

    # trouble -------------------------------------------------------------------------------------------------------

    def _check_following(self, t: float, sent: Array) -> None:
        expected = np.array(self.obeying)
        for watch in self.watches:
            if watch.outside:                 # its profile keeps it behind its goal
                expected[watch.joint] = False
        away, lost = self.following.step(t, sent, self.measured, expected)
        for joint in lost:
            watch = self._by_joint[joint]
            watch.lost = watch.look_now = True
        for held in np.flatnonzero(np.abs(away) > self.settings.leash_rad):
            self.care.leash(t, self._by_joint[int(held)], float(away[held]))
        for watch in self.watches:
            if watch.yielding and watch.phase == "armed":
                self.care.watch_yielding(t, watch, float(sent[watch.joint] - self.measured[watch.joint]))

    def _check_silence(self, t: float) -> None:
        quiet = [watch for watch in self.watches if watch.phase == "silent"]
        if not quiet and not self.health.any_standing:
            return
        settings, health = self.settings, self.health
        told = [watch for watch in quiet if t - watch.heard_at >= settings.silence_s]
        if len(told) == len(self.watches):
            why = getattr(self.line.port, "trouble", "") or "look at the cable and the supply"  # a live line knows more
            health.begins(t, BUS, "silence", "gone", f"no servo answers: {why}")
            self._together_until = t + TOGETHER_S
            return
        health.ends(t, BUS, "silence", settings.calm_s)
        if health.stands(BUS, "silence"):
            return                    # they are coming back one after the other
        for watch in self.watches:
            if watch in told:
                health.begins(t, watch.part, "silence", "gone", f"{watch.servo.joint} does not answer")
            elif watch.phase in ("armed", "limp", "refused"):
                health.ends(t, watch.part, "silence", settings.calm_s)

    def _check_wear(self, t: float) -> None:
        """Temperature and voltage of all servos that answer, once a look."""
        settings, health = self.settings, self.health
        warmest, lowest, highest = 0.0, 99.0, 0.0
        for watch in self.watches:
            seen = watch.telemetry
            if seen is None or watch.phase == "silent":
                continue
            celsius, volt = seen.present_temperature, seen.present_input_voltage / 10
            warmest, lowest, highest = max(warmest, celsius), min(lowest, volt), max(highest, volt)
            if celsius >= settings.warm_c:
                health.begins(t, watch.part, "warm", "degraded", f"{watch.servo.joint} has {celsius} C: slower")
            else:
                health.ends(t, watch.part, "warm", settings.calm_s)
            if celsius >= settings.hot_c:
                health.begins(t, watch.part, "hot", "degraded", f"{watch.servo.joint} has {celsius} C: park to cool")
            elif celsius < settings.cool_c:
                health.ends(t, watch.part, "hot", settings.calm_s)
        heat = (warmest - settings.warm_c) / (settings.hot_c - settings.warm_c)
        self.speed_scale = 1.0 - (1.0 - settings.slowest) * min(max(heat, 0.0), 1.0)
        self.too_hot = warmest >= (settings.cool_c if self.too_hot else settings.hot_c)
        if lowest < settings.low_v or highest > settings.high_v:
            volt = lowest if lowest < settings.low_v else highest
            health.begins(t, BUS, "voltage", "degraded",
                          f"supply {volt:.1f} V, expected {settings.low_v} to {settings.high_v} V")
        else:
            health.ends(t, BUS, "voltage", settings.calm_s)
