"""The robot's own daemon as the bus of the joints: what is heard goes in, what to say comes out. No socket, no clock.

The same calls as firmware_bridge.servo_bus.ServoBus, so the same loop (servo_loop) stands before it: deadman, parking,
emergency stop. Goals are continuous (GoalFollower) and every connection begins at the measured joints; they are sent
only when the daemon is known to follow them: it runs, no move of its own goes on, its motors are on since a moment ago.
"""
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from calibration.body_model import ANTENNAS, JOINTS, STEWART, BodyModel
from calibration.frames import Array, frozen
from calibration.health import Health
from firmware_bridge.bus_settings import BusSettings
from firmware_bridge.follow_check import FollowCheck
from firmware_bridge.goal_follower import GoalFollower
from firmware_bridge.health_changes import HealthChanges
from firmware_bridge.joint_reading import JointReading
from motion.intent import JointGoal
from robot.bodies import daemon_words as words
from robot.bodies.daemon_beat import Beat
from robot.bodies.daemon_pose import TargetWriter

PART = "reachy_daemon"
NOT_READY = (1013, 403, 503)     # close code, or HTTP status of the handshake, while the daemon has no backend yet
NOTHING = np.full(len(JOINTS), np.nan)


def _follow() -> BusSettings:
    return BusSettings(stall_s=0.07, lost_s=0.1)     # three ticks of the daemon; a move of its own is soon noticed


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """Times in s."""

    gone_s: float = 1.0              # without a word about the joints: the daemon publishes them fifty times a second
    greet_s: float = 3.0             # the same at first: a backend has 2 s to start
    settle_s: float = 0.3            # after the motors went on: it has pinned its targets, the servos hold them
    again_s: float = 0.5             # between two tries to end a move of the daemon: waking up is three in a row
    first_wait_s: float = 0.2        # before connecting again
    longest_wait_s: float = 5.0      # of a daemon that stays away: the wait doubles up to here
    ready_wait_s: float = 1.0        # longest while it is there but not ready yet
    jitter: float = 0.3              # share of each wait that is left to chance: clients must not come in step
    sound_s: float = 5.0             # a connection that lasted so long: the next loss counts as the first
    gap_s: float = 0.5               # without our goals: begin at the measured joints
    rubbish: int = 100               # malformed messages of one connection, then it is told
    follow: BusSettings = field(default_factory=_follow)


class DaemonLink:
    """`connected`, `receive`, `moves`, `lost` as things happen; `exchange` on each beat; then send `take()`."""

    def __init__(self, body: BodyModel, park: Array, rng: np.random.Generator, settings: LinkSettings | None = None):
        """park: (9,) rad, the pose in which the motors may go off. rng draws the jitter of reconnecting."""
        self.settings = settings or LinkSettings()
        self.park = np.array(park, float)
        self.follower = GoalFollower(self.settings.follow, body.lower, body.upper)
        self.following = FollowCheck(len(JOINTS), self.settings.follow)
        self.health = HealthChanges()
        self.torque_wanted = False
        self.steering = False              # our goals are the daemon's targets
        self.retry_at = 0.0                # s, not connected before
        self.malformed = self.unknown = 0  # messages in all
        self._writer = TargetWriter(body)
        self._rng, self._wait = rng, self.settings.first_wait_s
        self._out: list[str] = []
        self._position, self._heard_at, self._steered_at = NOTHING, 0.0, 0.0
        self._limp_until = np.zeros(len(JOINTS))        # s: joints that lately did not go where they were sent
        self._reset(None)

    def _reset(self, connected_at: float | None) -> None:
        """Nothing is known of the daemon behind a new connection."""
        self._connected_at = connected_at
        self._beat, self._fresh = Beat(), False
        self._joints: words.Joints | None = None
        self._pose: words.Pose | None = None
        self._status: words.Status | None = None
        self._mode: str | None = None
        self._enabled_at = np.inf          # s, the motors are on since then
        self._asked, self._ask_at = 0, -np.inf      # times that they were asked to, s of the next
        self._move: Literal["ask", "running", "none"] = "ask"
        self._move_at = -np.inf            # s, not asked about before
        self._rubbish = 0
        self._greeted = False
        self.steering = False

    # what happens ---------------------------------------------------------------------------------------------------

    def connected(self, t: float) -> None:
        self._reset(t)
        self.health.ends(t, PART, "rubbish", 0.0)

    def lost(self, t: float, code: int | None, reason: str) -> None:
        """The connection ended, or none came about. code: of the close, or the HTTP status of the handshake."""
        settings, since = self.settings, self._connected_at
        if since is not None and t - since > settings.sound_s:
            self._wait = settings.first_wait_s
        longest = settings.ready_wait_s if code in NOT_READY else settings.longest_wait_s
        wait, self._wait = min(self._wait, longest), min(self._wait * 2, settings.longest_wait_s)
        self.retry_at = t + wait * (1.0 + settings.jitter * self._rng.uniform(-1.0, 1.0))
        self._reset(None)
        self._out, self._position = [], NOTHING
        self.health.begins(t, PART, "link", "gone", "the daemon is not ready yet" if code in NOT_READY else
                           f"no connection to the daemon: {reason}")

    def receive(self, t: float, text: str | bytes) -> float | None:
        """A message of /ws/sdk. The time of a new beat (s), when this is the daemon's tick: then call exchange."""
        said = words.heard(text)
        if isinstance(said, words.Joints):
            self._joints, self._position, self._heard_at, self._fresh = said, said.position, t, True
            return self._beat.hear(t)
        if isinstance(said, words.Pose):
            self._pose = said
        elif isinstance(said, words.Status):
            self._status = said
            self.note_mode(t, said.mode)
            self._note_state(t, said)
        elif isinstance(said, words.Other):
            self.unknown += 1
        else:
            self._note_rubbish(t)
        return None

    def note_mode(self, t: float, mode: str | None) -> None:
        """The motors' mode, by any way."""
        if mode == "enabled":
            self._enabled_at = min(self._enabled_at, t)
        elif mode is not None:
            self._enabled_at, self.steering = np.inf, False
        self._mode = mode or self._mode

    def moves(self, t: float, running: bool | None) -> None:
        """The answer to asks_about_move; None: it cannot be had, then only what the joints do tells."""
        settings, calm = self.settings, self.settings.follow.calm_s
        if running:
            self._move, self.steering = "running", False
            self._out.append(words.stop_move())
            self.health.begins(t, PART, "move", "degraded", "the daemon plays a move of its own: stopping it")
        else:
            self._move = "none"
            self.health.ends(t, PART, "move", calm)
        self._move_at = t + settings.again_s

    def asks_about_move(self, t: float) -> bool:
        """Whether somebody should find out if the daemon plays a move: it ignores goals meanwhile, and says nothing."""
        return self._greeted and self._move != "none" and t >= self._move_at

    # each beat ------------------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """The daemon runs and tells where the joints are."""
        running = self._status is not None and self._status.state == "running"
        return running and self._joints is not None and self._pose is not None

    def silent(self, t: float) -> bool:
        """A connection that says nothing about the joints any more: hang up."""
        if self._connected_at is None:
            return False
        if self._joints is None:
            return t - self._connected_at > self.settings.greet_s
        return t - self._heard_at > self.settings.gone_s

    def exchange(self, t: float, goal: JointGoal | None) -> tuple[JointReading, tuple[Health, ...]]:
        """One beat, or without one a look at how things are. goal None: decelerate and hold. torque False in the goal:
        the same, and the motors off once the platform is measured at the park pose. Health: changes only."""
        fresh, self._fresh = self._fresh, False
        if goal is not None and goal.torque:
            self.torque_wanted = True
        elif goal is not None and self.torque_wanted and self.parked():
            self._relax()
        if fresh and not self._greeted and self._pose is not None:
            self._greet(t, self._pose)
        if fresh and self.ready:
            self.health.ends(t, PART, "link", 0.0)
            if self.torque_wanted and not self.steering:
                self._arm(t)
            if self.steering:
                self._steer(t, goal)
        obeying = tuple((self.steering & (t >= self._limp_until)).tolist())
        at = self._heard_at if np.isfinite(self._position).all() else t
        return JointReading(at, frozen(self._position), obeying), self.health.changes(t)

    def parked(self) -> bool:
        """The platform is measured at the park pose."""
        return bool((np.abs(self._position - self.park)[STEWART] < self.settings.follow.parked_rad).all())

    def take(self) -> list[str]:
        """What is to be sent, once."""
        out, self._out = self._out, []
        return out

    def _greet(self, t: float, pose: words.Pose) -> None:
        """The joints stay where they are, and from here on nobody else moves them."""
        self._begin_at_measured(t)
        still = self._writer.messages(self._position)
        if len(still) > 1:                       # joints that fit no pose of ours: what the daemon takes them for
            still = [words.full_target(pose.matrix, float(self._position[0]), self._position[ANTENNAS])]
        self._out += still + words.greeting()
        self._greeted = True

    def _arm(self, t: float) -> None:
        """Has the motors switched on if they are off; begins at the measured joints when all is well for it."""
        if self._move != "none" or self._mode is None:
            return
        if self._mode != "enabled":
            if t >= self._ask_at:
                waits = self.settings.follow.retry_after_s
                self._ask_at = t + waits[min(self._asked, len(waits) - 1)]
                self._asked += 1
                self._begin_at_measured(t)
                self._out += [*self._writer.messages(self._position), words.motor_mode("enabled")]
                if self._asked > 1:
                    self.health.begins(t, PART, "mode", "degraded", f"the daemon keeps its motors {self._mode}")
                self._mode = None                # until it is heard anew
        elif t - self._enabled_at >= self.settings.settle_s:
            self._begin_at_measured(t)
            self.steering, self._steered_at = True, t
            self.health.ends(t, PART, "mode", self.settings.follow.calm_s)

    def _begin_at_measured(self, t: float) -> None:
        assert self._pose is not None
        self._writer.begin(self._pose.matrix, float(self._position[0]))
        self._limp_until[:] = -np.inf
        for joint, angle in enumerate(self._position.tolist()):
            self.follower.begin(t, joint, angle)

    def _steer(self, t: float, goal: JointGoal | None) -> None:
        if t - self._steered_at > self.settings.gap_s:
            self._begin_at_measured(t)
        self._steered_at = t
        wanted = goal if goal is not None and goal.torque else None
        sent = self.follower.hold(t) if wanted is None else self.follower.follow(t, wanted.position, 1.0)
        self._out += self._writer.messages(sent)
        self._check_following(t, sent)
        if self._asked and t - self._enabled_at > self.settings.follow.proven_s:
            self._asked = 0

    def _check_following(self, t: float, sent: Array) -> None:
        """No goal runs away from a joint that does not follow: no leap when it is let go, or when a move ends."""
        settings = self.settings.follow
        away, lost = self.following.step(t, sent, self._position, np.ones(len(JOINTS), bool))
        for joint in np.flatnonzero(np.abs(away) > settings.leash_rad).tolist():
            excess = away[joint] - np.copysign(settings.leash_rad, away[joint])
            self.follower.begin(t, joint, float(sent[joint] - excess), slow=True)
        if lost:
            self._limp_until[lost] = t + settings.calm_s
            self._move = "ask" if self._move == "none" else self._move
            names = ", ".join(JOINTS[joint] for joint in lost)
            self.health.begins(t, PART, "following", "degraded", f"goals are sent and not followed: {names}")
        elif (t >= self._limp_until).all():
            self.health.ends(t, PART, "following", 0.0)

    def _relax(self) -> None:
        self.torque_wanted = self.steering = False
        self._out += [words.motor_mode("disabled"), words.farewell()]

    def _note_state(self, t: float, status: words.Status) -> None:
        if status.state == "running" and not status.error:
            self.health.ends(t, PART, "state", 0.0)
        else:
            self.health.begins(t, PART, "state", "degraded", f"the daemon is {status.state} {status.error}".rstrip())

    def _note_rubbish(self, t: float) -> None:
        self.malformed += 1
        self._rubbish += 1
        if self._rubbish == self.settings.rubbish:
            self.health.begins(t, PART, "rubbish", "degraded", f"{self._rubbish} messages of the daemon make no sense")
