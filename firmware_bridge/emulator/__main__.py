"""Fake servos as a program of their own, on a pty, in real time: `python -m firmware_bridge.emulator`.

It stands in for a robot: what opens the pty finds nine servos at 1 Mbaud. Its first line is the pty's path; --link
keeps a symbolic link to it under a name that does not change. Faults come from the command line
(`--fault 13:silent@5-8`, s since the start) or, while it runs, from its standard input, one command a line:

    fault ID NAME[=VALUE]    latch ID BITS    push JOINT DEGREES    grip JOINT 0|1    power 0|1    cable 0|1
    state                    (answers one JSON line: positions, goals, torque, watchdog, errors, faults)

ID: 10 to 18, or 254 for all. NAME: silent, unplugged, wrong_crc, dropped_byte, garbage (probabilities), delay_s or
slow, torque_stays_off, dead_motor, temperature_c or hot, overload; =0 ends one, `none` all. A wrong command is answered
on stderr. The end of its standard input ends it, but for /dev/null, a terminal that another job uses, and --detached.

Try it:
    python -m firmware_bridge.emulator --link /tmp/servos &
    printf '[servo_bus]\\ndevice = "/tmp/servos"\\n' > bus.toml
    talkover run --body servo-bus --config bus.toml

This is a program, not a stage: it is the one place below robot/ that reads a clock.
"""
import argparse
import contextlib
import heapq
import os
import pty
import select
import signal
import sys
import time
import tty
from pathlib import Path

from calibration.body_model import reachy_mini
from firmware_bridge.emulator.console import BadCommand, Console
from firmware_bridge.emulator.emulated_bus import Emulator
from firmware_bridge.emulator.faults import NO_FAULTS, UnknownFault, with_fault

STEP_S = 0.002             # s, the joints move at least so often
PRIORITY = 40              # SCHED_FIFO, as the servo process's, where the system allows it
STDIN = 0


class Timeline:
    """Faults of the command line: `ID:NAME[=VALUE][@START[-END]]`, in s since the start. BadCommand, UnknownFault."""

    def __init__(self, specifications: list[str], console: Console):
        self.coming: list[tuple[float, int, str]] = []
        for order, text in enumerate(specifications):
            what, _, when = text.partition("@")
            servo, _, fault = what.partition(":")
            with_fault(NO_FAULTS, fault)
            start, _, end = when.partition("-")
            try:
                begins, ends = float(start or 0), float(end) if end else None
            except ValueError as trouble:
                raise BadCommand(f"{text!r}: expected ID:NAME[=VALUE][@START[-END]], times in s") from trouble
            command = f"fault {console.servo(servo)} {fault}"
            heapq.heappush(self.coming, (begins, 2 * order, command))
            if ends is not None:
                heapq.heappush(self.coming, (ends, 2 * order + 1, command.partition("=")[0] + "=0"))

    def due(self, t: float) -> list[str]:
        commands = []
        while self.coming and self.coming[0][0] <= t:
            commands.append(heapq.heappop(self.coming)[2])
        return commands


class Program:
    """One emulator, one pty, one loop."""

    def __init__(self, emulator: Emulator, faults: list[str], detached: bool):
        self.emulator, self.console, self.detached = emulator, Console(emulator), detached
        self.timeline = Timeline(faults, self.console)
        self.master, self._slave = pty.openpty()       # our own slave end stays open: masters come and go
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self._slave)
        self._answers: list[tuple[float, int, bytes]] = []
        self._count = 0
        self._lines = b""

    def run(self) -> None:
        start = last = time.monotonic()
        while True:
            wait = STEP_S if not self._answers else min(STEP_S, max(0.0, self._answers[0][0] - time.monotonic()))
            watched = [self.master, STDIN] if self._listens() else [self.master]
            ready, _, _ = select.select(watched, [], [], wait)
            now = time.monotonic()
            self.emulator.step(now - last)
            last = now
            for command in self.timeline.due(now - start):
                self.obey(command)
            if self.master in ready:
                self._feed(now, os.read(self.master, 4096))
            if STDIN in ready and not self._read_commands():
                return
            while self._answers and self._answers[0][0] <= time.monotonic():
                self._send(heapq.heappop(self._answers)[2])

    def _listens(self) -> bool:
        """A background job leaves the terminal to the one in front."""
        return not self.detached and (not os.isatty(STDIN) or os.tcgetpgrp(STDIN) == os.getpgrp())

    def _read_commands(self) -> bool:
        """False at the end of the standard input."""
        arrived = os.read(STDIN, 4096)
        *whole, self._lines = (self._lines + arrived).split(b"\n")
        for line in whole:
            self.obey(line.decode(errors="replace"))
        return bool(arrived)

    def _feed(self, now: float, data: bytes) -> None:
        if self.console.cable:
            for delay, answer in self.emulator.feed(data):
                self._count += 1
                heapq.heappush(self._answers, (now + delay, self._count, answer))

    def _send(self, answer: bytes) -> None:
        with contextlib.suppress(BlockingIOError):      # a master that asks and never reads loses answers, no more
            os.write(self.master, answer)

    def obey(self, command: str) -> None:
        """One command of the module's docstring; a wrong one is answered on stderr."""
        try:
            if answer := self.console.obey(command):
                print(answer, flush=True)
        except (UnknownFault, BadCommand) as trouble:
            print(trouble, file=sys.stderr, flush=True)


def keep_link(link: Path, path: str) -> None:
    """Points the link to the pty. A file of another kind is not touched: BadCommand."""
    if link.exists() and not link.is_symlink():
        raise BadCommand(f"--link {link}: there is a file already, expected a free name or a symbolic link")
    try:
        link.unlink(missing_ok=True)
        link.symlink_to(path)
    except OSError as trouble:
        raise BadCommand(f"--link {link}: {trouble.strerror}") from trouble


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m firmware_bridge.emulator", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of the random faults")
    parser.add_argument("--supply", type=float, default=6.9, metavar="V", help="supply voltage (default 6.9)")
    parser.add_argument("--link", type=Path, help="a symbolic link to the pty is kept here while the program runs")
    parser.add_argument("--fault", action="append", default=[], metavar="ID:NAME[=VALUE][@START[-END]]",
                        help="may be given several times; id 254 means all servos")
    parser.add_argument("--detached", action="store_true", help="takes no commands from the standard input")
    options = parser.parse_args()
    emulator = Emulator(reachy_mini().servos, options.seed, supply_v=options.supply)
    nobody = os.fstat(STDIN).st_rdev == os.stat(os.devnull).st_rdev
    try:
        program = Program(emulator, options.fault, options.detached or nobody)
        if options.link:
            keep_link(options.link, program.path)
    except (BadCommand, UnknownFault) as trouble:
        parser.exit(2, f"{parser.prog}: {trouble}\n")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with contextlib.suppress(PermissionError):         # hardware is on time, however busy the machine is
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(PRIORITY))
    print(program.path, flush=True)
    try:
        program.run()
    except KeyboardInterrupt:
        return
    finally:
        if options.link and options.link.is_symlink() and os.readlink(options.link) == program.path:
            options.link.unlink()


if __name__ == "__main__":
    main()
