"""`talkover replay`: run a recording again, and prove that it is the same to the bit."""
import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from robot.black_box.origin import differences
from robot.bodies.replayed import ReplayedBody
from robot.build import build_mind
from robot.clock import VirtualClock
from robot.config import config_of
from robot.errors import BadRequest
from robot.interaction.complaint import Complaint
from robot.mind_state import woken
from robot.runtime import GuardedMind
from robot.runtime import run as run_loop
from robot.tape import Tape, read_tape
from robot.tick import Inputs, Tick

SHOWN = 200   # characters of a differing value: enough to see which one


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recording", metavar="DIR", type=Path,
                        help="folder that `talkover record`, `demo` or `box` wrote")
    parser.add_argument("--verify", action="store_true", help="exit 1 unless every output is the same to the bit")
    parser.add_argument("--events", action="store_true", help="print the events as they happen")
    parser.add_argument("--scenario", type=Path, metavar="OUT.yaml",
                        help="write what was said, done and came of it as a scenario for `script`, to be edited")


def run(options: argparse.Namespace) -> int:
    tape = read_tape(options.recording)
    if tape.box is not None and tape.box["unverifiable"]:
        if options.scenario is not None:
            raise BadRequest(f"{tape.path}: cannot be run again ({tape.box['unverifiable']}); expected a recording "
                             "with sound for --scenario")
        return told(tape, options)
    for difference in differences(tape.box["origin"]) if tape.box is not None else ():
        print(f"{tape.path}: {difference}; the outcome may rightly differ", file=sys.stderr)
    body = ReplayedBody(tape)
    counts: Counter[str] = Counter()

    def observe(inputs: Inputs, tick: Tick) -> None:
        for event in tick.events:
            counts[event.name] += 1
            if options.events:
                print(_line(event.t, event.name, dict(event.facts)))

    complaint = Complaint()
    ticks = run_loop(mind_of(tape), body, VirtualClock(), [observe, complaint])
    if tape.cut:
        print(f"{tape.path}: cut after tick {len(tape.pairs)}; what came before the cut was replayed", file=sys.stderr)
    print(f"{ticks} ticks, {ticks / 100:.1f} s: " + ", ".join(f"{n} {name}" for name, n in sorted(counts.items())))
    if options.scenario is not None:
        keep(complaint, options.scenario, tape.path)
    if options.verify:
        return verdict(body, ticks)
    return 0


def keep(complaint: Complaint, file: Path, source: Path) -> None:
    """Write the scenario of a recording. BadRequest: nothing happened, no place to write, or a file is there."""
    if not complaint.said and not complaint.steps:
        raise BadRequest(f"{source}: nobody said or did anything; expected a recording with somebody in it")
    text = complaint.scenario(file.stem, source.name)
    try:
        with file.open("x") as out:
            out.write(text)
    except OSError as error:
        raise BadRequest(f"{file}: {error.strerror}, expected a new file to write the scenario to") from error
    print(f"wrote {file}")


def mind_of(tape: Tape) -> GuardedMind:
    """The mind at the beginning of a recording: a fresh one, or the one that a black box kept."""
    if tape.mind is not None:
        return woken(tape.mind, str(tape.path))
    return build_mind(config_of(tape.header, f"{tape.path}: header"))


def told(tape: Tape, options: argparse.Namespace) -> int:
    """A black box that cannot be run again: what happened, as it was written down."""
    assert tape.box is not None
    for event in tape.events if options.events else ():
        print(_line(event["t"], event["name"], event["facts"]))
    counts = Counter(event["name"] for event in tape.events)
    print(", ".join(f"{n} {name}" for name, n in sorted(counts.items())) or "no events")
    print(f"cannot be replayed to the bit: {tape.box['unverifiable']}")
    return int(options.verify)


def verdict(body: ReplayedBody, ticks: int) -> int:
    """Print the outcome of the comparison; the exit status."""
    found = body.difference
    if found is None:
        print(f"identical: outputs of all {ticks} ticks are the same to the bit")
        return 0
    print(f"different: first at tick {found.index} ({found.t:.2f} s), outputs.{found.part}\n"
          f"  recorded {found.recorded[:SHOWN]}\n  replayed {found.replayed[:SHOWN]}")
    return 1


def _line(t: float, name: str, facts: dict[str, Any]) -> str:
    return f"{t:9.2f}  {name:18} {' '.join(f'{key}={value}' for key, value in facts.items())}"
