"""An hour of faults on the servo bus, in virtual time: what jumped, what lost its torque by our hand, what crashed.

The servo loop, the bus and its bytes are the product's; servos, cable and mind are emulated. Counted are:
- goal jumps: a goal moves away from its joint by more in a tick than top speed allows, or torque comes on with a goal
  that is over half a degree from the joint;
- joint jumps: a joint moves in 50 ms over 5 degrees further than its goals did in the 150 ms up to then (it lags), also
  one that a hand lets go or whose motor comes back to life, when the servo returns to its goal by its own force;
- out of reach: the same, of a servo that was sent no goals in those 150 ms because it had not answered (no master can
  keep it from going to the last goal that it heard);
- torque put off by a write or reboot of ours while that joint is not in the park pose;
- crashes: an exception out of the loop.
"""
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from calibration.body_model import STEWART, reachy_mini
from calibration.frames import Array
from calibration.health import Health
from firmware_bridge.emulator import Emulator, EmulatorPort, Faults
from firmware_bridge.registers import OVERHEAT, OVERLOAD, SHOCK, VOLTAGE
from firmware_bridge.servo_bus import ServoBus
from motion.intent import JointGoal
from robot.bodies.pose_track import parked
from robot.bodies.servo_loop import ServoLoop
from robot.tick import TICK_S

REALISTIC_S, HOSTILE_S = 60.0, 1.5     # s between faults, on average
WINDOW, BEFORE = 5, 15     # ticks: what happens within 50 ms looks like one jump; goals of the 150 ms up to its end
JUMP_DEG = 5.0
TORQUE_ON_DEG = 0.55       # half a degree and an encoder step
PARKED_DEG = 7.0           # the bus accepts 6 between measured and parked
PLATFORM = range(*STEWART.indices(9))
NEUTRAL = np.radians([0.0, *[35.9, -35.9] * 3, -10.0, 10.0])
LASTING = {"silent": Faults(silent=True), "unplugged": Faults(unplugged=True), "dead motor": Faults(dead_motor=True),
           "torque stays off": Faults(torque_stays_off=True), "wrong crc": Faults(wrong_crc=0.5),
           "dropped bytes": Faults(dropped_byte=0.5), "garbage": Faults(garbage=0.7),
           "standing overload": Faults(overload=True)}
KINDS = (*LASTING, "slow answers", "hot", "latched error", "cable", "power", "grip", "push", "other goals",
         "mind silent", "process pause", "emergency stop")


@dataclass
class Storm:
    """Random trouble on a moving robot; every_s: mean s between faults. `run` may be called again and again."""

    seed: int
    every_s: float = HOSTILE_S
    t: float = 0.0
    faults: dict[str, int] = field(default_factory=dict)     # how often each kind came
    goal_jumps: list[str] = field(default_factory=list)
    joint_jumps: list[str] = field(default_factory=list)
    out_of_reach: list[str] = field(default_factory=list)
    torque_offs: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    told: list[Health] = field(default_factory=list)
    torque_ons: int = 0
    largest: float = 0.0                                     # deg, of all joints in 50 ms beyond their goals

    def __post_init__(self) -> None:
        body = reachy_mini()
        self.random = np.random.default_rng(self.seed)
        self.emulator = Emulator(body.servos, self.seed)
        self.port = EmulatorPort(self.emulator)
        self.bus = ServoBus(self.port, body.servos, parked(body))
        self.loop = ServoLoop(self.bus)
        self._park = parked(body)
        self._offset = np.zeros(9)           # rad, jumps of the mind's goals
        self._mute_until = -1.0              # s
        self._ends: list[tuple[float, Callable[[], None]]] = []
        self._next = 6.0                     # s, first it wakes
        self._path: deque[Array] = deque(maxlen=WINDOW + 1)
        self._goals: deque[Array] = deque(maxlen=BEFORE + 1)
        self._armed = np.zeros(9, bool)
        self._led = np.full(9, -1.0)         # s, when each was sent a goal last
        self._jumped = np.full(9, -1.0)      # s

    def run(self, seconds: float, faults: bool = True) -> None:
        """faults False: what lasts ends, and it may heal."""
        end = self.t + seconds
        if not faults:
            for _, ending in self._ends:
                ending()
            self._ends.clear()
        while self.t < end:
            for due in [one for one in self._ends if one[0] <= self.t]:
                self._ends.remove(due)
                due[1]()
            if faults and self.t >= self._next:
                self._strike()
                self._next = self.t + float(self.random.exponential(self.every_s))
            self._tick()

    def _goal(self, t: float) -> JointGoal:
        """A lively mind: 115 deg/s of yaw at times, 35 of the platform, 60 of the antennas."""
        phase = np.array([1.6 * t, *(2.0 * t + np.arange(6)), 3.0 * t, 3.0 * t])
        rate = np.array([1.6, *[2.0] * 6, 3.0, 3.0])
        size = np.array([1.25, *[0.3] * 6, 0.35, 0.35])
        return JointGoal(t, NEUTRAL + self._offset + size * np.sin(phase), size * rate * np.cos(phase))

    # one tick and its judgement ------------------------------------------------------------------------------------

    def _tick(self) -> None:
        emulator, bus = self.emulator, self.bus
        self.port.advance(TICK_S)
        self.t += TICK_S
        if self.t >= self._mute_until:
            self.loop.hear(self.t, self._goal(self.t))
        torque, sent = emulator.torques(), bus.follower.sent.copy()
        try:
            _, health = self.loop.step(self.t)
        except Exception as crash:     # what the hour is about
            self.crashes.append(f"{self.t:.2f} s: {crash!r}")
            return
        self.told += health
        armed = np.array([watch.phase == "armed" for watch in bus.watches])
        self._judge_torque(torque)
        self._judge_goals(sent, armed)
        self._armed = armed
        self._judge_joints()

    def _judge_torque(self, before: tuple[bool, ...]) -> None:
        """Within the loop's step no time passes: torque that changed there, we changed."""
        goals, true = self.emulator.goals(), self.emulator.true_positions()
        away = np.degrees(np.abs(true - self._park))
        for joint, (was, now) in enumerate(zip(before, self.emulator.torques(), strict=True)):
            if was and not now and joint in PLATFORM and away[joint] > PARKED_DEG:
                self.torque_offs.append(f"{self.t:.2f} s: joint {joint}, {away[joint]:.1f} deg from its park pose")
            if now and not was:
                self.torque_ons += 1
                off = np.degrees(abs(goals[joint] - true[joint]))
                if off > TORQUE_ON_DEG:
                    self.goal_jumps.append(f"{self.t:.2f} s: torque of joint {joint} came on {off:.1f} deg away")

    def _judge_goals(self, before: Array, armed: Array) -> None:
        bus = self.bus
        sent, true = bus.follower.sent, self.emulator.true_positions()
        away = np.where(armed & self._armed, np.abs(sent - true) - np.abs(before - true), 0.0)
        for joint in np.flatnonzero(away > bus.settings.top_speed_rad_s * TICK_S + 1e-9):
            self.goal_jumps.append(f"{self.t:.2f} s: goal of joint {joint} by {np.degrees(away[joint]):.1f} deg")

    def _judge_joints(self) -> None:
        self._path.append(self.emulator.true_positions())
        self._goals.append(self.emulator.goals())
        goals = np.array(self._goals)
        moved = np.degrees(np.abs(self._path[-1] - self._path[0]) - (goals.max(axis=0) - goals.min(axis=0)))
        self._led = np.where(self._armed, self.t, self._led)
        led = self.t - self._led <= BEFORE * TICK_S
        self.largest = max(self.largest, float(np.where(led, moved, 0.0).max()))
        for joint in np.flatnonzero(moved > JUMP_DEG):
            if self.t - self._jumped[joint] > BEFORE * TICK_S:       # ticks of one jump count once
                jumps = self.joint_jumps if led[joint] else self.out_of_reach
                jumps.append(f"{self.t:.2f} s: joint {joint} by {moved[joint]:.1f} deg more than its goals")
            self._jumped[joint] = self.t

    # trouble -------------------------------------------------------------------------------------------------------

    def _strike(self) -> None:
        """One random fault."""
        chance, emulator = self.random, self.emulator
        kind = str(chance.choice(KINDS))
        joint, lasts = int(chance.integers(9)), float(chance.choice([0.1, 0.5, 2.5, 8.0]) * chance.uniform(0.5, 1.0))
        until = self.t + lasts
        self.faults[kind] = self.faults.get(kind, 0) + 1
        if kind in LASTING or kind in ("slow answers", "hot"):
            slow, warm = float(chance.uniform(0.001, 0.02)), float(chance.uniform(50, 75))
            other = Faults(delay_s=slow) if kind == "slow answers" else Faults(temperature_c=warm)
            self._last(joint, LASTING.get(kind, other), until)
        elif kind == "cable":
            self.port.connected = False
            self._ends.append((until, lambda: setattr(self.port, "connected", True)))
        elif kind == "power":
            emulator.power(False)
            self._ends.append((until, lambda: emulator.power(True)))
        elif kind == "grip":
            emulator.grip(emulator.joints[joint])
            self._ends.append((until, lambda: emulator.grip(emulator.joints[joint], False)))
        elif kind == "push":
            self._push(joint, float(chance.uniform(-0.3, 0.3)))
        elif kind == "latched error":
            emulator.latch(10 + joint, int(chance.choice([OVERLOAD, VOLTAGE, SHOCK, OVERHEAT])))
        elif kind == "other goals":
            self._offset[:] = 0.0
            self._offset[0] = chance.uniform(-1.0, 1.0)
            self._offset[STEWART] = chance.uniform(-0.25, 0.25, 6)
        elif kind == "mind silent":
            self._mute_until = until
        elif kind == "emergency stop":
            self.loop.stopped = True
            self._ends.append((until, lambda: setattr(self.loop, "stopped", False)))
        else:
            self._pause(min(lasts, 1.5))

    def _last(self, joint: int, faults: Faults, until: float) -> None:
        self.emulator.set_faults(joint, faults)       # in the place of one that it may have
        self._ends.append((until, lambda: self.emulator.set_faults(joint, Faults())))

    def _push(self, joint: int, way: float) -> None:
        """Somebody moves a joint that has no torque."""
        if not self.emulator.torques()[joint]:
            self.emulator.push(self.emulator.joints[joint], float(self.emulator.true_positions()[joint]) + way)
            self._path.clear()

    def _pause(self, seconds: float) -> None:
        """Nobody calls the bus for a while."""
        for _ in range(round(seconds / TICK_S)):
            self.port.advance(TICK_S)
            self.t += TICK_S
        self._path.clear()
        self._armed[:] = False
