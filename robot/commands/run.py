"""`talkover run`: the live runtime."""
import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from robot.clock import LiveClock
from robot.interaction.typed_people import HELP, TypedPerson, conversation
from robot.live import build_live, read_config, stopping
from robot.runtime import GuardedMind, Observer
from robot.runtime import run as run_loop

BODIES = ("simulated", "device", "reachy-daemon", "servo-bus")
ENGINES = ("embedded", "realtime", "minicpm", "chat", "scripted")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="FILE", help="TOML with sections [mind] and [room]")
    parser.add_argument("--body", choices=BODIES, default="simulated", help="what it lives in (default simulated)")
    parser.add_argument("--engine", choices=ENGINES, default="embedded", help="what answers (default embedded)")
    parser.add_argument("--for", dest="seconds", type=float, metavar="S", help="end after so many seconds")


def run(options: argparse.Namespace) -> int:
    return live(options, lambda mind: (conversation,))


def live(options: argparse.Namespace, watch: Callable[[GuardedMind], Iterable[Observer]]) -> int:
    """Run until SIGTERM, Ctrl-C, /quit or the time given; then park."""
    config, room = read_config(options.config)
    mind, body = build_live(options.body, options.engine, config, room)
    person = TypedPerson()
    body.script = person
    if not person.keyboard.closed and sys.stdin.isatty():
        print(HELP, flush=True)
    clock = LiveClock()
    with stopping() as signals:
        def leaving() -> bool:
            over = options.seconds is not None and clock.now() >= options.seconds
            return bool(signals) or person.quits or over
        run_loop(mind, body, clock, watch(mind), leaving=leaving)
    return 0

