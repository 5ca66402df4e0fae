"""`talkover forget`: delete all that was kept of people, on the disk and in a running robot."""
import argparse
from pathlib import Path

from robot.black_box.door import NobodyThere, ask
from robot.black_box.shelf import Shelf
from robot.places import state_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--state", type=Path, metavar="DIR", help="the run's state folder (default: as of the service)")


def run(options: argparse.Namespace) -> int:
    state = options.state or state_folder()
    people = "no robot runs, nothing is left of them"
    try:
        told = ask(state, {"do": "forget"})
        gone = told["gone"]
        people = ("the running robot forgets them now" if told["people"] else
                  "the running robot keeps them until it is restarted: systemctl restart talkover")
    except NobodyThere:
        gone = [str(path) for path in Shelf(state / "boxes", 0, 0).forget()]
    for path in gone:
        print(f"deleted {path}")
    print(f"black boxes: {f'{len(gone)} deleted' if gone else 'none were kept'}, and the last minutes in memory")
    print(f"names and facts that people told: in memory only; {people}")
    print("recordings made with `talkover record` and the log of the service are yours: they were not touched")
    return 0
