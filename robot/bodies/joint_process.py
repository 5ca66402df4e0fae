"""The parent's side of a process that moves the joints: goals out, readings in, by shared memory.

No call waits for the child. It is the servo process (servo_child) or the link to the robot's daemon (daemon_child).
"""
import json
import mmap
import os
import time
from dataclasses import dataclass, field, replace

from calibration.health import Health
from firmware_bridge.joint_reading import JointReading
from motion.intent import JointGoal
from perception.audio.array_register import Reading as ArrayReading
from robot.bodies.child_process import ChildProcess
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

BACKOFF_S = (0.2, 10.0)          # s, first and longest pause before a child that died is started again
CLOSE_S = 12.0                   # s for the child to park; longer than its own limit
HANGS_S = 3.0                    # s without a bell, which it rings each exchange: stopped, or a call does not come back
LOADING_S = 20.0                 # the same before the first one: a small board loads its packages from a slow card


@dataclass
class JointProcess:
    """Joints in a process of their own. `start` begins it; then `write` a goal and `read` once a tick."""

    part: str                        # its name in health
    setup: JointSetup
    child: ChildProcess
    cycle_s: float = 0.0             # the last exchange took so long
    late_s: float = 0.0              # and began so late
    _memory: mmap.mmap = field(repr=False, kw_only=True)
    _read: int = 0
    _heard: int = 0
    _table: int = 0                  # count of the health table that was read last
    _told: dict[str, tuple[int, Health]] = field(default_factory=dict)
    _slots: Slots = field(init=False, repr=False)

    @classmethod
    def start(cls, program: str, part: str, setup: JointSetup) -> "JointProcess":
        """program: `robot.bodies.servo_child` or another that takes this setup. part: its own name in Health."""
        descriptor = os.memfd_create("talkover-joints")
        os.ftruncate(descriptor, sum(SIZES))
        child = ChildProcess(program, part, setup.start, HANGS_S, LOADING_S, BACKOFF_S, CLOSE_S)
        process = cls(part, replace(setup, memory=descriptor), child, _memory=mmap.mmap(descriptor, sum(SIZES)))
        process._begin(time.monotonic())
        return process

    def fileno(self) -> int:
        """Becomes readable when there is a new reading; -1 while no child lives."""
        return -1 if self.child.connection is None else self.child.connection.fileno()

    @property
    def pid(self) -> int | None:
        return self.child.pid

    @property
    def deaths(self) -> int:
        return self.child.deaths

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
        changes = self.child.health()
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
        self.child.close()                    # it hears that we hung up, and parks
        self._memory.close()
        os.close(self.setup.memory)

    def _begin(self, now: float) -> None:
        self._slots = slots(self._memory)
        self._slots.health.write(b"{}")       # of a child that died: its successor tells anew, and ends what it told
        standing = tuple(told for _, told in self._told.values() if told.level != "ok" and told.part != self.part)
        self._told = {}
        self.child.begin(now, replace(self.setup, standing=standing), (self.setup.memory,))

    def _watch(self) -> None:
        """Empties the doorbell; a child that hung up, or rings no more, is started again after a pause."""
        now = time.monotonic()
        if self.child.due(now):
            self._begin(now)
        connection = self.child.connection
        if connection is None:
            return
        try:
            while rung := connection.recv(4096):
                self.child.beat(now)
                if len(rung) < 4096:
                    return
        except BlockingIOError:
            self.child.watch(now)
            return
        except OSError:
            pass                              # reset: dead as well
        self.child.hung_up(now)
