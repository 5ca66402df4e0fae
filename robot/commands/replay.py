"""`talkover replay`: run a recording again, and prove that it is the same to the bit."""
import argparse
import sys
from collections import Counter
from pathlib import Path

from robot.bodies.replayed import ReplayedBody
from robot.build import build_mind
from robot.clock import VirtualClock
from robot.config import config_of
from robot.runtime import run as run_loop
from robot.tape import read_tape
from robot.tick import Inputs, Tick

SHOWN = 200   # characters of a differing value: enough to see which one


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recording", metavar="DIR", type=Path, help="folder that `talkover record` or `demo` wrote")
    parser.add_argument("--verify", action="store_true", help="exit 1 unless every output is the same to the bit")
    parser.add_argument("--events", action="store_true", help="print the events as they happen")


def run(options: argparse.Namespace) -> int:
    tape = read_tape(options.recording)
    mind = build_mind(config_of(tape.header, f"{tape.path}: header"))
    body = ReplayedBody(tape)
    counts: Counter[str] = Counter()

    def observe(inputs: Inputs, tick: Tick) -> None:
        for event in tick.events:
            counts[event.name] += 1
            if options.events:
                print(f"{event.t:9.2f}  {event.name:18} {' '.join(f'{k}={v}' for k, v in event.facts)}")

    ticks = run_loop(mind, body, VirtualClock(), [observe])
    if tape.cut:
        print(f"{tape.path}: cut after tick {len(tape.pairs)}; what came before the cut was replayed", file=sys.stderr)
    print(f"{ticks} ticks, {ticks / 100:.1f} s: " + ", ".join(f"{n} {name}" for name, n in sorted(counts.items())))
    if options.verify:
        return verdict(body, ticks)
    return 0


def verdict(body: ReplayedBody, ticks: int) -> int:
    """Print the outcome of the comparison; the exit status."""
    found = body.difference
    if found is None:
        print(f"identical: outputs of all {ticks} ticks are the same to the bit")
        return 0
    print(f"different: first at tick {found.index} ({found.t:.2f} s), outputs.{found.part}\n"
          f"  recorded {found.recorded[:SHOWN]}\n  replayed {found.replayed[:SHOWN]}")
    return 1
