"""The servo process's own program: `python -m robot.bodies.servo_child FD`. Started by joint_process, not by hand.

Real time: absolute deadlines, SCHED_FIFO where the system allows it, no garbage collection of what was there at the
start. The parent hangs up or dies: the robot is parked first.
"""
import signal
import socket
import sys
import time
from dataclasses import dataclass, field

from calibration.body_model import Servo
from calibration.frames import Array
from firmware_bridge.bus_settings import BusSettings
from firmware_bridge.port import Port
from firmware_bridge.servo_bus import BUS, ServoBus
from robot.bodies.joint_child import JointChild
from robot.bodies.joint_slots import JointSetup
from robot.bodies.serial_port import SerialPort
from robot.bodies.servo_loop import PART, LoopSettings, ServoLoop
from robot.channel import Channel


@dataclass(frozen=True, kw_only=True)
class ServoSetup(JointSetup):
    """A serial port with servos. The port may appear later."""

    device: str
    servos: tuple[Servo, ...]
    park: Array                          # (9,) rad, where the head may lose its torque
    bus: BusSettings = field(default_factory=BusSettings)
    loop: LoopSettings = field(default_factory=LoopSettings)


def run(child: JointChild, period: float) -> None:
    """Steps against the clock, once a period (s), until the robot is parked."""
    due = time.monotonic()
    while True:
        due += period
        wait = due - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        now = time.monotonic()
        t = now - child.setup.start
        child.exchange(t, t, now - due)
        if now - due > period:
            due = now                   # too late to catch up: drop the ticks that were missed
        if child.finished(t):
            return


def loop_of(setup: ServoSetup, port: Port) -> ServoLoop:
    """The bus behind its port, which goes on with what a process before this one told."""
    bus = ServoBus(port, setup.servos, setup.park, setup.bus)
    for trouble in setup.standing:
        bus.health.inherit(trouble, "silence" if trouble.part == BUS else "torque")
    return ServoLoop(bus, setup.loop)


def main() -> None:
    parent = socket.socket(fileno=int(sys.argv[1]))
    for number in (signal.SIGINT, signal.SIGHUP):       # a Ctrl-C or a closed terminal is the parent's to answer
        signal.signal(number, signal.SIG_IGN)
    setup: ServoSetup | None = Channel(parent).first()
    if setup is not None:
        port = SerialPort(setup.device, setup.bus.baud)
        child = JointChild(setup, parent, loop_of(setup, port), PART)
        signal.signal(signal.SIGTERM, lambda *_: setattr(child.loop, "closing", True))
        run(child, setup.loop.period_s)
        port.close()


if __name__ == "__main__":
    main()
