"""The parent's side of the servo process: goals out, readings in, by shared memory. No call waits for the child."""
import json
import mmap
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from calibration.body_model import Servo
from calibration.frames import Array
from calibration.health import Health
from firmware_bridge.bus_settings import BusSettings
from firmware_bridge.joint_reading import JointReading
from motion.intent import JointGoal
from robot.bodies.latest import LatestValue
from robot.bodies.servo_child import SLOTS, Setup, packed_goal, slots, unpacked_reading
from robot.bodies.servo_loop import PART, LoopSettings
from robot.channel import Channel

BACKOFF_S = (0.2, 10.0)          # s, first and longest pause before a child that died is started again
SOUND_S = 30.0                   # s of life after which a death counts as the first again
CLOSE_S = 12.0                   # s for the child to park; longer than its own limit


@dataclass
class ServoProcess:
    """A servo bus in a process of its own. `start` begins it; then `write` a goal and `read` once a tick."""

    setup: Setup
    cycle_s: float = 0.0             # the last bus cycle took so long
    late_s: float = 0.0              # and began so late
    deaths: int = 0
    _memory: mmap.mmap = field(repr=False, kw_only=True)
    _child: subprocess.Popen | None = None
    _socket: socket.socket | None = None
    _started_at: float = 0.0
    _restart_at: float = 0.0
    _wait_s: float = BACKOFF_S[0]
    _read: int = 0
    _table: int = 0                  # count of the health table that was read last
    _told: dict[str, tuple[int, Health]] = field(default_factory=dict)
    _own: list[Health] = field(default_factory=list)
    _goals: LatestValue = field(init=False, repr=False)
    _readings: LatestValue = field(init=False, repr=False)
    _health: LatestValue = field(init=False, repr=False)

    @classmethod
    def start(cls, device: str, servos: Sequence[Servo], park: Array, start: float | None = None,
              bus: BusSettings | None = None, loop: LoopSettings | None = None) -> "ServoProcess":
        """device: a serial port; it may appear later. park: (9,) rad, where the head may lose its torque. start: the
        monotonic clock (s) at the run's t = 0."""
        descriptor = os.memfd_create("talkover-servos")
        os.ftruncate(descriptor, sum(SLOTS))
        begun = time.monotonic() if start is None else start
        setup = Setup(device, tuple(servos), park, begun, bus or BusSettings(), loop or LoopSettings(), descriptor)
        process = cls(setup, _memory=mmap.mmap(descriptor, sum(SLOTS)))
        process._begin()
        return process

    def fileno(self) -> int:
        """Becomes readable when there is a new reading; -1 while no child lives."""
        return -1 if self._socket is None else self._socket.fileno()

    @property
    def pid(self) -> int | None:
        return None if self._child is None else self._child.pid

    def write(self, goal: JointGoal) -> None:
        """Hands a goal to the child; also the sign of life that keeps it from parking."""
        self._goals.write(packed_goal(goal))

    def read(self) -> JointReading | None:
        """The newest reading, or None when there is none since the call before."""
        self._watch()
        count, data = self._readings.read()
        if count in (0, self._read):
            return None
        self._read = count
        reading, self.cycle_s, self.late_s = unpacked_reading(data)
        return reading

    def health(self) -> tuple[Health, ...]:
        """What changed since the call before."""
        changes, self._own = self._own, []
        count, data = self._health.read()
        if count not in (0, self._table):
            self._table = count
            for part, (number, t, level, reason) in json.loads(data).items():
                if part not in self._told or self._told[part][0] != number:
                    self._told[part] = number, Health(t, part, level, reason)
                    changes.append(self._told[part][1])
        return tuple(changes)

    def close(self) -> None:
        """Parks the robot, lets go of the bus and waits until that is done."""
        if self._memory.closed:
            return
        if self._socket is not None:
            self._socket.close()             # the child hears it and parks
            self._socket = None
        if self._child is not None:
            try:
                self._child.wait(CLOSE_S)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
            self._child = None
        self._memory.close()
        os.close(self.setup.memory)

    def _begin(self) -> None:
        self._goals, self._readings, self._health = slots(self._memory)
        self._health.write(b"{}")             # of a child that died: its successor tells anew, and ends what it told
        standing = tuple(told for _, told in self._told.values() if told.level != "ok" and told.part != PART)
        self._told = {}
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "robot.bodies.servo_child", str(theirs.fileno())]
        self._child = subprocess.Popen(command, pass_fds=(theirs.fileno(), self.setup.memory))
        theirs.close()
        Channel(ours).send(replace(self.setup, standing=standing))
        self._socket, self._started_at = ours, time.monotonic()

    def _watch(self) -> None:
        """Empties the doorbell; a child that hung up has died and is started again after a pause."""
        now = time.monotonic()
        if self._socket is None:
            if now >= self._restart_at:
                self._begin()
                self._own.append(Health(now - self.setup.start, PART, "ok", "started again"))
            return
        try:
            while rung := self._socket.recv(4096):
                if len(rung) < 4096:
                    return
        except BlockingIOError:
            return
        except OSError:
            pass                              # reset: dead as well
        self._bury(now)

    def _bury(self, now: float) -> None:
        assert self._socket is not None and self._child is not None
        self._socket.close()
        self._socket = None
        self._child.kill()                    # it hung up; if it lives still, it must not share the bus with the next
        status = self._child.wait()
        self.deaths += 1
        first, longest = BACKOFF_S
        self._wait_s = first if now - self._started_at > SOUND_S else min(self._wait_s * 2, longest)
        self._restart_at = now + self._wait_s
        self._own.append(Health(now - self.setup.start, PART, "gone", f"the servo process ended with status {status}"))
