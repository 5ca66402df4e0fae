"""The servo process's own program: `python -m robot.bodies.servo_child FD`. Started by joint_process, not by hand.

Real time: absolute deadlines, SCHED_FIFO where the system allows it, no garbage collection of what was there at the
start. The parent hangs up or dies: the robot is parked first.
"""
import mmap
import signal
import socket
import sys
import time
from dataclasses import dataclass, field

from calibration.body_model import Servo
from calibration.frames import Array
from calibration.health import Health
from firmware_bridge.bus_settings import BusSettings
from firmware_bridge.servo_bus import BUS, ServoBus
from robot.bodies.health_table import HealthTable
from robot.bodies.joint_slots import ORDERS, SIZES, JointSetup, packed_reading, slots, unpacked_goal
from robot.bodies.real_time import SERVO_PRIORITY, real_time
from robot.bodies.serial_port import SerialPort
from robot.bodies.servo_loop import PART, LoopSettings, ServoLoop
from robot.channel import Channel

CLOSING_S = 10.0                                   # s to park before the process ends anyway; the servos hold


@dataclass(frozen=True, kw_only=True)
class ServoSetup(JointSetup):
    """A serial port with servos. The port may appear later."""

    device: str
    servos: tuple[Servo, ...]
    park: Array                          # (9,) rad, where the head may lose its torque
    bus: BusSettings = field(default_factory=BusSettings)
    loop: LoopSettings = field(default_factory=LoopSettings)


class ServoChild:
    """Runs a ServoLoop against the clock."""

    def __init__(self, setup: ServoSetup, parent: socket.socket):
        self.setup, self.parent = setup, parent
        self.slots = slots(mmap.mmap(setup.memory, sum(SIZES)))
        self.health = HealthTable(self.slots.health)
        self.port = SerialPort(setup.device, setup.bus.baud)
        bus = ServoBus(self.port, setup.servos, setup.park, setup.bus)
        for trouble in setup.standing:
            bus.health.inherit(trouble, "silence" if trouble.part == BUS else "torque")
        self.loop = ServoLoop(bus, setup.loop)
        self._seen = self.slots.goals.read()[0]      # a goal from before a restart is not new; an order stands

    def run(self) -> None:
        period, start = self.setup.loop.period_s, self.setup.start
        self.health.add((Health(time.monotonic() - start, PART, "ok", real_time(SERVO_PRIORITY)),))
        due = time.monotonic()
        closing_at = None
        while not self.loop.finished:
            due += period
            wait = due - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            now = time.monotonic()
            self._tick(now - start, now - due)
            if now - due > period:
                due = now               # too late to catch up: drop the ticks that were missed
            if self.loop.closing:
                closing_at = closing_at or due
                if due - closing_at > CLOSING_S:
                    break
        self.port.close()

    def _tick(self, t: float, late: float) -> None:
        given, order = self.slots.orders.read()
        if given:
            self.loop.stopped, = ORDERS.unpack(order)
        count, data = self.slots.goals.read()
        if count not in (0, self._seen):
            self._seen = count
            self.loop.hear(t, unpacked_goal(data))
        reading, health = self.loop.step(t)
        self.slots.readings.write(packed_reading(reading, time.monotonic() - self.setup.start - t, late))
        self.health.add(health)
        self._ring()

    def _ring(self) -> None:
        """Tells the parent that there is something new, and hears when it hung up."""
        try:
            self.parent.send(b"\0")
        except BlockingIOError:
            pass                        # it does not look; the newest value waits for it
        except OSError:
            self.loop.closing = True


def main() -> None:
    parent = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # a Ctrl-C is the parent's to answer
    channel = Channel(parent)
    setups: list[ServoSetup] = []
    while not setups and not channel.closed:
        channel.wait(None)
        setups = channel.receive()
    if setups:
        child = ServoChild(setups[0], parent)
        signal.signal(signal.SIGTERM, lambda *_: setattr(child.loop, "closing", True))
        child.run()


if __name__ == "__main__":
    main()
