"""The simulated robot's joints: fake servos that speak bytes, the bus code of a real robot, and the true head pose."""
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from calibration.body_model import STEWART, BodyModel
from calibration.frames import Array, HeadPose, frozen, rotation, rpy_of, wrapped
from calibration.health import Health
from firmware_bridge.emulator import Emulator, EmulatorPort, Faults
from firmware_bridge.joint_reading import JointReading
from firmware_bridge.servo_bus import ServoBus
from motion.intent import JointGoal
from motion.kinematics import Platform
from robot.errors import BadRequest
from robot.tick import TICK_S

REMEMBERED = 60              # poses: 0.6 s, longer than any exposure lies back
SWITCHED_ON_S = 2.0          # before a run that starts upright: the bus has armed the servos and the head is up again
FAULTS: dict[str, dict[str, object]] = {
    "gone": {"unplugged": True}, "stall": {"silent": True}, "slow": {"delay_s": 0.02},
    "garbage": {"wrong_crc": 0.3, "garbage": 0.3}, "hot": {"temperature_c": 75.0}, "overload": {"overload": True}}


@dataclass
class Joints:
    """Nine emulated servos on a bus. limp: without torque in the sleep pose, as a robot is found; else up at rest."""

    body: BodyModel
    seed: int
    limp: bool = False
    emulator: Emulator = field(init=False)
    port: EmulatorPort = field(init=False)
    bus: ServoBus = field(init=False)
    pose: HeadPose = field(init=False)      # true, at the last advance
    _poses: deque[HeadPose] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def __post_init__(self):
        self._platform = Platform(self.body)
        self.emulator = Emulator(self.body.servos, self.seed, None if self.limp else self.upright())
        self.port = EmulatorPort(self.emulator)
        self.bus = ServoBus(self.port, self.body.servos, self.parked())
        self._in_body = np.array([0.0, 0.0, self.body.rest_height, 0.0, 0.0, 0.0])
        if self.limp:
            self._in_body = np.array([*self.body.sleep_position, *rpy_of(self.body.sleep_rotation)])
        self._before = self._in_body     # a tick earlier: together they tell Newton where to begin
        self._repairs: list[tuple[float, str]] = []
        if not self.limp:
            goal = self.upright()
            for tick in range(round(-SWITCHED_ON_S / TICK_S), 0):
                self.exchange(tick * TICK_S, JointGoal(tick * TICK_S, goal, frozen(np.zeros(9))))
                self.port.advance(TICK_S)
        self._remember(0.0)

    def upright(self) -> Array:
        """(9,) rad: the head at rest."""
        arms = self._platform.joints(0.0, 0.0, self.body.rest_height, 0.0, 0.0, 0.0)
        return frozen([0.0, *arms, *self.body.rest_antennas])

    def parked(self) -> Array:
        """(9,) rad: the sleep pose, in which the head may lose its torque."""
        arms = self._platform.joints(*self.body.sleep_position, *rpy_of(self.body.sleep_rotation))
        return frozen([0.0, *arms, *self.body.sleep_antennas])

    def advance(self, t: float, dt: float) -> None:
        """The joints move until t."""
        if dt > 0:
            self.port.advance(dt)
        for repair in [r for r in self._repairs if r[0] <= t]:
            self._repairs.remove(repair)
            self._set_fault(repair[1], Faults())
        self._remember(t)

    def fault(self, t: float, of: str, kind: str, for_s: float | None = None) -> None:
        """`servo_13` or the whole `servo_bus` fails: one of FAULTS, from now on or for a while (s)."""
        servo = of.removeprefix("servo_")
        known = {"bus", *(str(s.id) for s in self.body.servos)}
        if servo not in known or kind not in FAULTS:
            raise BadRequest(f"fault {of} {kind}: expected servo_bus or servo_10 to servo_18 and one of: "
                             f"{', '.join(FAULTS)}")
        self._set_fault(servo, Faults(**FAULTS[kind]))  # type: ignore[arg-type]
        if for_s is not None:
            self._repairs.append((t + for_s, servo))

    def _set_fault(self, servo: str, faults: Faults) -> None:
        for index, fake in enumerate(self.emulator.servos):
            if servo in ("bus", str(fake.id)):
                self.emulator.set_faults(index, faults)

    def exchange(self, t: float, goal: JointGoal | None) -> tuple[JointReading, tuple[Health, ...]]:
        """One tick of the real bus code: the goals go out, the positions come in."""
        return self.bus.exchange(t, goal)

    @property
    def velocities(self) -> Array:
        """(9,) rad/s, true."""
        return self.emulator.true_velocities()

    def _remember(self, t: float) -> None:
        positions = self.emulator.true_positions()
        found = self._platform.forward(positions[STEWART], 2 * self._in_body - self._before)
        if found is not None:            # arms that no pose fits (a servo without torque is pushed) keep the last one
            self._before, self._in_body = self._in_body, found
        yaw = rotation(0.0, 0.0, positions[0])
        turned = yaw @ rotation(*self._in_body[3:])
        self.pose = HeadPose(t, frozen(yaw @ self._in_body[:3]), frozen(rpy_of(turned)), float(positions[0]))
        self._poses.append(self.pose)

    def pose_at(self, t: float) -> HeadPose:
        """The true pose at a recent time, between the two ticks around it."""
        times = [pose.t for pose in self._poses]
        after = bisect_right(times, t)
        if after in (0, len(times)):
            return self._poses[min(after, len(times) - 1)]
        low, high = self._poses[after - 1], self._poses[after]
        share = (t - low.t) / (high.t - low.t)
        turn = wrapped(high.rpy - low.rpy)
        return HeadPose(t, frozen(low.position + share * (high.position - low.position)),
                        frozen(low.rpy + share * turn), low.body_yaw + share * (high.body_yaw - low.body_yaw))
