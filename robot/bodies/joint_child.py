"""What every joint process does inside: the mind's newest goal and order in, reading and health out, and the bell."""
import mmap
import socket
import time

from calibration.health import Health
from robot.bodies.health_table import HealthTable
from robot.bodies.joint_slots import ORDERS, SIZES, JointSetup, packed_reading, slots, unpacked_goal
from robot.bodies.real_time import SERVO_PRIORITY, real_time
from robot.bodies.servo_loop import ServoLoop

CLOSING_S = 10.0       # s to park before the process ends anyway; the servos, or the daemon, hold


class JointChild:
    """The child's side of JointProcess, around a ServoLoop."""

    def __init__(self, setup: JointSetup, parent: socket.socket, loop: ServoLoop, part: str):
        self.setup, self.parent, self.loop = setup, parent, loop
        self.slots = slots(mmap.mmap(setup.memory, sum(SIZES)))
        self.health = HealthTable(self.slots.health)
        self._seen = self.slots.goals.read()[0]      # a goal from before a restart is not new; an order stands
        self._closing_at: float | None = None
        self.health.add((Health(self.now(), part, "ok", real_time(SERVO_PRIORITY)),))

    def now(self) -> float:
        """s, on the clock of the run."""
        return time.monotonic() - self.setup.start

    def exchange(self, t: float, since: float, late: float) -> None:
        """One step of the loop at t, which began at `since` and so much (s) too late."""
        given, order = self.slots.orders.read()
        if given:
            self.loop.stopped, = ORDERS.unpack(order)
        count, data = self.slots.goals.read()
        if count not in (0, self._seen):
            self._seen = count
            self.loop.hear(t, unpacked_goal(data))
        reading, health = self.loop.step(t)
        self.slots.readings.write(packed_reading(reading, self.now() - since, late))
        self.health.add(health)
        self._ring()

    def finished(self, t: float) -> bool:
        """Parked, or told to close for so long that it ends anyway."""
        if self.loop.closing and self._closing_at is None:
            self._closing_at = t
        return self.loop.finished or (self._closing_at is not None and t - self._closing_at > CLOSING_S)

    def _ring(self) -> None:
        """Tells the parent that there is something new, and hears when it hung up."""
        try:
            self.parent.send(b"\0")
        except BlockingIOError:
            pass                        # it does not look; the newest value waits for it
        except OSError:
            self.loop.closing = True
