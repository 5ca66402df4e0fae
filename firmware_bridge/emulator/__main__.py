"""Fake servos as a program of their own, on a pty, in real time: `python -m firmware_bridge.emulator`.

Prints the pty's path as its first line; any master that opens it finds nine servos at 1 Mbaud. Faults come from the
command line (`--fault 13:silent@5-8`) or, while it runs, from its standard input, one command a line:

    fault ID NAME[=VALUE]    latch ID BITS    push JOINT DEGREES    grip JOINT 0|1    power 0|1    cable 0|1
    state                    (answers one JSON line: positions, goals, torque, watchdog, errors)

The end of its standard input ends it (`--detached`: it is not read). This is a program, not a stage: it is the one
place below robot/ that reads a clock.
"""
import argparse
import heapq
import json
import math
import os
import pty
import select
import sys
import time
import tty
from pathlib import Path

from calibration.body_model import reachy_mini
from firmware_bridge.emulator.emulated_bus import Emulator
from firmware_bridge.emulator.faults import UnknownFault, with_fault
from firmware_bridge.packets import BROADCAST

STEP_S = 0.002             # s, the joints move at least so often
STDIN = 0


class Timeline:
    """Faults of the command line: `ID:NAME[=VALUE][@START[-END]]`, in s since the start."""

    def __init__(self, specifications: list[str]):
        self.coming: list[tuple[float, int, str, str]] = []
        for order, text in enumerate(specifications):
            what, _, when = text.partition("@")
            servo, _, fault = what.partition(":")
            start, _, end = when.partition("-")
            heapq.heappush(self.coming, (float(start or 0), 2 * order, servo, fault))
            if end:
                heapq.heappush(self.coming, (float(end), 2 * order + 1, servo, fault.partition("=")[0] + "=0"))

    def due(self, t: float) -> list[str]:
        commands = []
        while self.coming and self.coming[0][0] <= t:
            _, _, servo, fault = heapq.heappop(self.coming)
            commands.append(f"fault {servo} {fault}")
        return commands


class Program:
    """One emulator, one pty, one loop."""

    def __init__(self, emulator: Emulator, faults: list[str], detached: bool):
        self.emulator, self.detached = emulator, detached
        self.timeline = Timeline(faults)
        self.cable = True
        self.master, self._slave = pty.openpty()       # our own slave end stays open: masters come and go
        tty.setraw(self._slave)
        self.path = os.ttyname(self._slave)
        self._answers: list[tuple[float, int, bytes]] = []
        self._count = 0

    def run(self) -> None:
        watched = [self.master] if self.detached else [self.master, STDIN]
        start = last = time.monotonic()
        lines = b""
        while True:
            wait = STEP_S if not self._answers else min(STEP_S, max(0.0, self._answers[0][0] - time.monotonic()))
            ready, _, _ = select.select(watched, [], [], wait)
            now = time.monotonic()
            self.emulator.step(now - last)
            last = now
            for command in self.timeline.due(now - start):
                self.obey(command)
            if self.master in ready:
                self._feed(now, os.read(self.master, 4096))
            if STDIN in ready:
                arrived = os.read(STDIN, 4096)
                if not arrived:
                    return
                *whole, lines = (lines + arrived).split(b"\n")
                for line in whole:
                    self.obey(line.decode())
            while self._answers and self._answers[0][0] <= time.monotonic():
                os.write(self.master, heapq.heappop(self._answers)[2])

    def _feed(self, now: float, data: bytes) -> None:
        if self.cable:
            for delay, answer in self.emulator.feed(data):
                self._count += 1
                heapq.heappush(self._answers, (now + delay, self._count, answer))

    def obey(self, command: str) -> None:
        """One command of the module's docstring; a wrong one is answered on stderr."""
        word, *rest = command.split() or ("",)
        try:
            if word == "fault":
                servo, fault = rest
                for index, fake in enumerate(self.emulator.servos):
                    if int(servo) in (fake.id, BROADCAST):
                        self.emulator.set_faults(index, with_fault(fake.faults, fault))
            elif word == "latch":
                self.emulator.latch(int(rest[0]), int(rest[1], 0))
            elif word == "push":
                self.emulator.push(rest[0], math.radians(float(rest[1])))
            elif word == "grip":
                self.emulator.grip(rest[0], rest[1] == "1")
            elif word == "power":
                self.emulator.power(rest[0] == "1")
            elif word == "cable":
                self.cable = rest[0] == "1"
            elif word == "state":
                print(json.dumps(self.state()), flush=True)
            elif word:
                print(f"unknown command {word!r}: expected fault, latch, push, grip, power, cable or state",
                      file=sys.stderr, flush=True)
        except (UnknownFault, ValueError, IndexError) as trouble:
            print(f"{command!r}: {trouble}", file=sys.stderr, flush=True)

    def state(self) -> dict:
        emulator = self.emulator
        return {"t_s": emulator.time, "joints": emulator.joints,
                "position_rad": emulator.true_positions().tolist(), "goal_rad": emulator.goals().tolist(),
                "torque": emulator.torques(), "watchdog": [fake.watchdog for fake in emulator.servos],
                "error": [fake.error_bits for fake in emulator.servos]}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m firmware_bridge.emulator", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of the random faults")
    parser.add_argument("--supply", type=float, default=6.9, metavar="V", help="supply voltage")
    parser.add_argument("--link", type=Path, help="a symbolic link to the pty is kept here")
    parser.add_argument("--fault", action="append", default=[], metavar="ID:NAME[=VALUE][@START[-END]]",
                        help="may be given several times; id 254 means all servos")
    parser.add_argument("--detached", action="store_true", help="takes no commands from the standard input")
    options = parser.parse_args()
    emulator = Emulator(reachy_mini().servos, options.seed, supply_v=options.supply)
    program = Program(emulator, options.fault, options.detached)
    if options.link:
        options.link.unlink(missing_ok=True)
        options.link.symlink_to(program.path)
    print(program.path, flush=True)
    try:
        program.run()
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
