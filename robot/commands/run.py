"""`talkover run`: the live runtime."""
import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from robot.clock import LiveClock
from robot.interaction.typed_people import HELP, TypedPerson, conversation
from robot.live import build_live, stopping
from robot.live_config import read_live_config
from robot.runtime import GuardedMind, Observer
from robot.runtime import run as run_loop

BODIES = ("simulated", "device", "reachy-daemon", "servo-bus")
EPILOG = """\
SIGTERM or Ctrl-C parks the robot and ends. SIGUSR1 is the emergency stop: all joints decelerate and hold until SIGUSR2.

With --body servo-bus the joints are real servos on the serial line that [servo_bus] device names, or the emulator:
    python -m firmware_bridge.emulator --link /tmp/servos &
    printf '[servo_bus]\\ndevice = "/tmp/servos"\\n' > bus.toml
    talkover run --body servo-bus --config bus.toml
What is heard and seen still comes from the simulated room, whose head turns with these joints.
"""
ENGINES = ("embedded", "realtime", "minicpm", "chat", "scripted")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="FILE", help="TOML, sections [mind], [room], [servo_bus]")
    parser.add_argument("--body", choices=BODIES, default="simulated", help="what it lives in (default simulated)")
    parser.add_argument("--engine", choices=ENGINES, default="embedded", help="what answers (default embedded)")
    parser.add_argument("--for", dest="seconds", type=float, metavar="S", help="end after so many seconds")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG


def run(options: argparse.Namespace) -> int:
    return live(options, lambda mind: (conversation,))


def live(options: argparse.Namespace, watch: Callable[[GuardedMind], Iterable[Observer]]) -> int:
    """Run until SIGTERM, Ctrl-C, /quit or the time given; then park."""
    clock = LiveClock()
    mind, body = build_live(options.body, options.engine, read_live_config(options.config), clock.start)
    person = TypedPerson(body.stop)
    body.script = person
    if not person.keyboard.closed and sys.stdin.isatty():
        print(HELP, flush=True)
    with stopping(body.stop) as signals:
        def leaving() -> bool:
            over = options.seconds is not None and clock.now() >= options.seconds
            return bool(signals) or person.quits or over
        run_loop(mind, body, clock, watch(mind), leaving=leaving)
    return 0
