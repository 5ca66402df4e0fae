"""The parent's side of a process that moves the joints: goals out, readings in, by shared memory.

No call waits for the child. It is the servo process (servo_child) or the link to the robot's daemon (daemon_child).
"""
import json
import mmap
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace

from calibration.health import Health
from firmware_bridge.joint_reading import JointReading
from motion.intent import JointGoal
from perception.audio.array_register import Reading as ArrayReading
from robot.bodies.joint_slots import (
    ORDERS,
    SIZES,
    JointSetup,
    Slots,
    packed_goal,
    slots,
    unpacked_bearing,
    unpacked_reading,
)
from robot.channel import Channel

BACKOFF_S = (0.2, 10.0)          # s, first and longest pause before a child that died is started again
SOUND_S = 30.0                   # s of life after which a death counts as the first again
CLOSE_S = 12.0                   # s for the child to park; longer than its own limit


@dataclass
class JointProcess:
    """Joints in a process of their own. `start` begins it; then `write` a goal and `read` once a tick."""

    program: str                     # module that the child runs
    part: str                        # its name in health
    setup: JointSetup
    cycle_s: float = 0.0             # the last exchange took so long
    late_s: float = 0.0              # and began so late
    deaths: int = 0
    _memory: mmap.mmap = field(repr=False, kw_only=True)
    _child: subprocess.Popen | None = None
    _socket: socket.socket | None = None
    _started_at: float = 0.0
    _restart_at: float = 0.0
    _wait_s: float = BACKOFF_S[0]
    _read: int = 0
    _heard: int = 0
    _table: int = 0                  # count of the health table that was read last
    _told: dict[str, tuple[int, Health]] = field(default_factory=dict)
    _own: list[Health] = field(default_factory=list)
    _slots: Slots = field(init=False, repr=False)

    @classmethod
    def start(cls, program: str, part: str, setup: JointSetup) -> "JointProcess":
        """program: `robot.bodies.servo_child` or another that takes this setup. part: its own name in Health."""
        descriptor = os.memfd_create("talkover-joints")
        os.ftruncate(descriptor, sum(SIZES))
        process = cls(program, part, replace(setup, memory=descriptor), _memory=mmap.mmap(descriptor, sum(SIZES)))
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
        self._slots.goals.write(packed_goal(goal))

    def stop(self, stopped: bool) -> None:
        """Emergency stop: the joints decelerate and hold, whatever goals come, until this is called with False."""
        self._slots.orders.write(ORDERS.pack(stopped))

    def read(self) -> JointReading | None:
        """The newest reading, or None when there is none since the call before."""
        self._watch()
        count, data = self._slots.readings.read()
        if count in (0, self._read):
            return None
        self._read = count
        reading, self.cycle_s, self.late_s = unpacked_reading(data)
        return reading

    def heard(self) -> tuple[ArrayReading, ...]:
        """What the robot's microphone array said since the call before, where this process asks it."""
        count, data = self._slots.bearings.read()
        if count in (0, self._heard):
            return ()
        self._heard = count
        return (unpacked_bearing(data),)

    def health(self) -> tuple[Health, ...]:
        """What changed since the call before."""
        changes, self._own = self._own, []
        count, data = self._slots.health.read()
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
        self._slots = slots(self._memory)
        self._slots.health.write(b"{}")       # of a child that died: its successor tells anew, and ends what it told
        standing = tuple(told for _, told in self._told.values() if told.level != "ok" and told.part != self.part)
        self._told = {}
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", self.program, str(theirs.fileno())]
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
                self._own.append(Health(now - self.setup.start, self.part, "ok", "started again"))
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
        self._own.append(Health(now - self.setup.start, self.part, "gone", f"{self.part} ended with status {status}"))
