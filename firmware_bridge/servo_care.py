"""Care for single servos: know them, look at them, give them torque without a jump, bring them back after a fault.

The rules, in words:
- A servo gets torque only when its EEPROM fits the body (mode, homing offset).
- Torque comes on with the goal where the joint is, and counts only when it is read back.
- A latched error that took the torque is cleared by a reboot: one servo at a time, the first time after 0.5 s, then
  after 10 s, 60 s and 600 s. After 600 s of health the count starts anew. An overheated servo cools first.
- A servo that lost its torque without an error, or whose watchdog tripped, is armed again at once.
"""
import math

from firmware_bridge import packets
from firmware_bridge.bus_line import BusLine
from firmware_bridge.bus_settings import BusSettings
from firmware_bridge.goal_follower import GoalFollower
from firmware_bridge.health_changes import HealthChanges
from firmware_bridge.registers import (
    BY_NAME,
    MODELS,
    OVERHEAT,
    POSITION_MODE,
    RAD_PER_TICK,
    WATCHDOG_TRIPPED,
    Register,
    error_words,
    to_rad,
    to_ticks,
)
from firmware_bridge.servo_watch import IDENTIFY, LOOK, Identity, Need, ServoWatch, Telemetry

INSIDE_RAD = math.radians(4)     # a joint this close to its goal needs no profile any more: droop and no more
GAINS = BY_NAME["position_d_gain"].address     # D, I, P in a row


class ServoCare:
    """Meets one servo's need at a time."""

    def __init__(self, line: BusLine, settings: BusSettings, health: HealthChanges, follower: GoalFollower):
        self.line, self.settings, self.health, self.follower = line, settings, health, follower

    def attend(self, t: float, watches: list[ServoWatch], torque_wanted: bool, measured) -> bool:
        """Meets the most urgent need. measured: (9,) rad of this exchange. True: a servo was looked at."""
        may_reboot = all(watch.phase != "rebooting" for watch in watches)
        need, watch = Need.NOTHING, watches[0]
        for candidate in watches:
            wish = candidate.need(t, torque_wanted, may_reboot)
            if wish < need or (wish == need and candidate.look_at < watch.look_at):
                need, watch = wish, candidate
        if need == Need.IDENTIFY:
            self.identify(t, watch)
        elif need == Need.REBOOT:
            self.reboot(t, watch)
        elif need == Need.ARM:
            self.arm(t, watch, float(measured[watch.joint]))
        elif need != Need.NOTHING:
            return self.look(t, watch)
        return False

    # looking -------------------------------------------------------------------------------------------------------

    def look(self, t: float, watch: ServoWatch) -> bool:
        """Reads everything that tells how a servo does. False: no answer."""
        request = packets.read(watch.id, LOOK.address, LOOK.size)
        answer = self.line.ask(request, (watch.id,), LOOK.size, self.settings.retry_s).get(watch.id)
        if answer is None:
            self._no_answer(t, watch)
            return False
        watch.telemetry = Telemetry(*LOOK.unpack(answer.data))
        watch.heard_at, watch.alert, watch.look_now = t, answer.alert, False
        watch.look_at = t + self.settings.look_period_s
        if watch.phase == "silent":
            watch.phase, watch.misses = "strange", 0
            return True
        if watch.phase == "rebooting":
            watch.phase, watch.misses = "limp", 0
        self._judge(t, watch, watch.telemetry)
        return True

    def _no_answer(self, t: float, watch: ServoWatch) -> None:
        settings = self.settings
        watch.look_at = t + settings.probe_period_s
        if watch.phase == "rebooting" and t < watch.armed_at + settings.reboot_gives_up_s:
            watch.act_at = t + settings.reboot_s / 4
        elif watch.phase in ("silent", "rebooting"):
            watch.phase, watch.act_at = "silent", t + settings.probe_period_s
        elif watch.phase == "arming":
            watch.phase, watch.act_at = "limp", t + settings.retry_s

    def _judge(self, t: float, watch: ServoWatch, seen: Telemetry) -> None:
        health, phase = self.health, watch.phase
        bits = seen.hardware_error
        if bits and not seen.torque_enable and (bits & watch.shutdown_mask or phase == "arming"):
            self._fault(t, watch, bits)
        elif phase == "arming":
            self._verify(t, watch, seen)
        elif phase == "armed" and not seen.torque_enable:
            health.begins(t, watch.part, "torque", "gone", "torque went off by itself")
            watch.phase = "limp"
        elif phase == "armed" and seen.bus_watchdog == WATCHDOG_TRIPPED:
            self.line.statistics.watchdog_trips += 1
            watch.phase = "limp"
        elif phase == "armed":
            self._judge_armed(t, watch, seen)

    def leash(self, t: float, watch: ServoWatch, away: float) -> None:
        """Yields to a joint that does not follow: no fight, no leap when it is let go. away: rad, goals - measured."""
        excess = math.copysign(abs(away) - self.settings.leash_rad, away)
        self.follower.begin(t, watch.joint, float(self.follower.sent[watch.joint]) - excess, slow=True)

    def watch_yielding(self, t: float, watch: ServoWatch, off: float) -> None:
        """A joint that was told not to follow: is it free again? off: rad, goal - measured."""
        settings = self.settings
        if abs(off) > settings.free_rad or math.isnan(off):
            watch.free_since = t
        elif t - watch.free_since > settings.lost_s:
            watch.yielding = False
            self.health.ends(t, watch.part, "following", settings.calm_s)

    def _judge_armed(self, t: float, watch: ServoWatch, seen: Telemetry) -> None:
        if watch.outside and abs(seen.goal_position - seen.present_position) * RAD_PER_TICK < INSIDE_RAD and not (
                self.follower.bent[watch.joint]):
            self._write(watch, "profile_velocity", 0)
            watch.outside = False
        if watch.lost:
            watch.lost, off = False, abs(seen.goal_position - seen.present_position) * RAD_PER_TICK
            if off > self.settings.free_rad:
                watch.yielding = True
                self.health.begins(t, watch.part, "following", "degraded",
                                   f"{watch.servo.joint} does not follow its goals: held, blocked or without force")
        if watch.attempts and t - watch.armed_at > self.settings.forgiven_s:
            watch.attempts = 0

    # identity ------------------------------------------------------------------------------------------------------

    def identify(self, t: float, watch: ServoWatch) -> None:
        """Reads the EEPROM; a servo that does not fit the body never gets torque."""
        request = packets.read(watch.id, IDENTIFY.address, IDENTIFY.size)
        answer = self.line.ask(request, (watch.id,), IDENTIFY.size, self.settings.retry_s).get(watch.id)
        if answer is None:
            watch.phase, watch.act_at = "silent", t + self.settings.probe_period_s
            return
        identity = Identity(*IDENTIFY.unpack(answer.data))
        misfit = _misfit(watch, identity)
        if misfit:
            watch.phase = "refused"
            self.health.begins(t, watch.part, "identity", "gone", misfit)
            return
        self.health.ends(t, watch.part, "identity", 0.0)
        low, high = watch.servo.limit_ticks
        joint = watch.joint
        self.follower.lower[joint] = to_rad(max(low, identity.min_position_limit))
        self.follower.upper[joint] = to_rad(min(high, identity.max_position_limit))
        watch.shutdown_mask = identity.shutdown
        watch.phase, watch.look_now = "limp", True

    # torque --------------------------------------------------------------------------------------------------------

    def arm(self, t: float, watch: ServoWatch, measured: float) -> None:
        """Soft start: goal = where the joint is, then torque. One burst; the next exchange reads it back."""
        if math.isnan(measured):      # not read in this exchange
            return
        settings, joint = self.settings, watch.joint
        low, high = to_ticks(self.follower.lower[joint]), to_ticks(self.follower.upper[joint])
        ticks = to_ticks(measured)
        watch.first_goal = min(max(ticks, low), high)
        watch.outside = abs(ticks - watch.first_goal) * RAD_PER_TICK > settings.rearm_rad
        gains = bytes(4) + watch.servo.p_gain.to_bytes(2, "little")
        self.line.send(b"".join((
            self._command(watch, "bus_watchdog", 0),          # unlocks the goals if it had tripped
            packets.sync_write(GAINS, 6, [(watch.id, gains)]),
            self._command(watch, "profile_velocity", settings.outside_speed if watch.outside else 0),
            self._command(watch, "goal_position", watch.first_goal),
            self._command(watch, "torque_enable", 1),
            self._command(watch, "bus_watchdog", settings.watchdog_units))))
        watch.phase = "arming"
        self.line.statistics.arms += 1

    def _verify(self, t: float, watch: ServoWatch, seen: Telemetry) -> None:
        wanted = (1, watch.servo.p_gain, self.settings.watchdog_units, watch.first_goal)
        if (seen.torque_enable, seen.position_p_gain, seen.bus_watchdog, seen.goal_position) != wanted:
            self._setback(t, watch)
            if watch.attempts > 1:      # once may be a disturbed byte
                self.health.begins(t, watch.part, "torque", "gone", f"torque of {watch.servo.joint} does not come on")
            return
        watch.phase, watch.armed_at, watch.lost, watch.yielding = "armed", t, False, False
        self.follower.begin(t, watch.joint, to_rad(watch.first_goal), watch.outside)
        for kind in ("torque", "fault", "following"):
            self.health.ends(t, watch.part, kind, self.settings.proven_s if watch.attempts else self.settings.calm_s)

    def relax(self, watches: list[ServoWatch]) -> None:
        """Torque off. The caller knows that the robot is parked."""
        self.line.send(packets.sync_write(BY_NAME["torque_enable"].address, 1, [(w.id, b"\0") for w in watches]))
        for watch in watches:
            if watch.phase in ("armed", "arming"):
                watch.phase = "limp"

    # faults --------------------------------------------------------------------------------------------------------

    def _fault(self, t: float, watch: ServoWatch, bits: int) -> None:
        if watch.phase != "faulted":
            self._setback(t, watch)
        watch.phase = "faulted"
        self.health.begins(t, watch.part, "fault", "gone", f"{error_words(bits)}: {watch.servo.joint} has no torque")

    def reboot(self, t: float, watch: ServoWatch) -> None:
        """Clears a latched error. An overheated servo waits until it has cooled."""
        seen = watch.telemetry
        if seen is not None and seen.hardware_error & OVERHEAT and seen.present_temperature >= self.settings.warm_c:
            watch.act_at = t + self.settings.retry_after_s[1]
            return
        self.line.send(packets.reboot(watch.id))
        self.line.statistics.reboots += 1
        watch.phase, watch.armed_at, watch.act_at = "rebooting", t, t + self.settings.reboot_s

    def _setback(self, t: float, watch: ServoWatch) -> None:
        waits = self.settings.retry_after_s
        watch.phase, watch.act_at = "limp", t + waits[min(watch.attempts, len(waits) - 1)]
        watch.attempts += 1

    def _command(self, watch: ServoWatch, name: str, value: int) -> bytes:
        register: Register = BY_NAME[name]
        return packets.sync_write(register.address, register.size, [(watch.id, register.pack(value))])

    def _write(self, watch: ServoWatch, name: str, value: int) -> None:
        self.line.send(self._command(watch, name, value))


def _misfit(watch: ServoWatch, identity: Identity) -> str:
    """Why a servo may not have torque, or nothing."""
    for name, found, expected in (("homing offset", identity.homing_offset, watch.servo.homing_offset_ticks),
                                  ("operating mode", identity.operating_mode, POSITION_MODE)):
        if found != expected:
            return f"{name} {found}, expected {expected} for {watch.servo.joint}: run talkover calibrate servos"
    if identity.model_number not in MODELS:
        return f"model {identity.model_number}, expected one of {', '.join(map(str, MODELS))}"
    return ""
