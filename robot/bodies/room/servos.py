"""The simulated robot's joints: fake servos that speak bytes, the bus code of a real robot, and the true head pose."""
from dataclasses import dataclass, field

import numpy as np

from calibration.body_model import BodyModel
from calibration.frames import Array, HeadPose, frozen
from calibration.health import Health
from firmware_bridge.emulator import Emulator, EmulatorPort, Faults
from firmware_bridge.joint_reading import JointReading
from firmware_bridge.servo_bus import ServoBus
from motion.intent import JointGoal
from robot.bodies.pose_track import PoseTrack, parked, upright
from robot.bodies.servo_loop import PART
from robot.errors import BadRequest
from robot.tick import TICK_S

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
    stopped: bool = False                   # emergency stop: decelerate and hold, whatever is wanted
    _track: PoseTrack = field(init=False)

    def __post_init__(self):
        goal = upright(self.body)
        self.emulator = Emulator(self.body.servos, self.seed, None if self.limp else goal)
        self.port = EmulatorPort(self.emulator)
        self.bus = ServoBus(self.port, self.body.servos, parked(self.body))
        self._track = PoseTrack(self.body, self.limp)
        self._repairs: list[tuple[float, str]] = []
        if not self.limp:
            for tick in range(round(-SWITCHED_ON_S / TICK_S), 0):
                self.exchange(tick * TICK_S, JointGoal(tick * TICK_S, goal, frozen(np.zeros(9))))
                self.port.advance(TICK_S)
        self._track.add(0.0, self.emulator.true_positions())

    def advance(self, t: float, dt: float) -> None:
        """The joints move until t."""
        if dt > 0:
            self.port.advance(dt)
        for repair in [r for r in self._repairs if r[0] <= t]:
            self._repairs.remove(repair)
            self._set_fault(repair[1], Faults())
        self._track.add(t, self.emulator.true_positions())

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
        if self.stopped:
            self.bus.health.begins(t, PART, "stop", "degraded", "emergency stop: holding until it is let go")
        else:
            self.bus.health.ends(t, PART, "stop", 0.0)
        return self.bus.exchange(t, None if self.stopped else goal)

    def stop(self, stopped: bool) -> None:
        """Emergency stop, or its end."""
        self.stopped = stopped

    def close(self) -> None:
        """Emulated servos need no parking."""

    @property
    def velocities(self) -> Array:
        """(9,) rad/s, true."""
        return self.emulator.true_velocities()

    @property
    def pose(self) -> HeadPose:
        """True, at the last advance."""
        return self._track.pose

    def pose_at(self, t: float) -> HeadPose:
        """The true pose at a recent time."""
        return self._track.at(t)
