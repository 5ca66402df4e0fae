"""`talkover box`: have a running robot write its black box, and list the boxes there are."""
import argparse
from pathlib import Path
from typing import Any

from robot.black_box.door import NobodyThere, ask
from robot.black_box.shelf import Shelf, about, size
from robot.places import state_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("why", nargs="?", default="", help="a word about the reason; it goes into the box")
    parser.add_argument("--list", action="store_true", help="show the boxes on the disk, write none")
    parser.add_argument("--state", type=Path, metavar="DIR", help="the run's state folder (default: as of the service)")


def run(options: argparse.Namespace) -> int:
    state = options.state or state_folder()
    if options.list:
        return listed(state)
    try:
        told = ask(state, {"do": "box", "why": options.why})
    except NobodyThere as error:
        print(f"no robot is listening: {error}")
        return 1
    if "box" not in told:
        print(told.get("failed", told))
        return 1
    print(told["box"])
    if not told["verifiable"]:
        print(f"cannot be replayed to the bit: {told['unverifiable_because']}")
    return 0


def listed(state: Path) -> int:
    """One line a box, oldest first."""
    boxes = Shelf(state / "boxes", 0, 0).boxes()
    for box in boxes:
        print(f"{box}  {size(box) / 1e6:6.1f} MB  {_summary(about(box))}")
    if not boxes:
        print(f"no boxes in {state / 'boxes'}")
    return 0


def _summary(told: dict[str, Any] | None) -> str:
    if told is None:
        return "box.json is damaged; the tape may be whole"
    seconds = told.get("ticks", 0) / 100
    sound = "with sound" if told.get("kept", {}).get("sound") else "without sound"
    return f"{seconds:.0f} s {sound}, {told.get('cause', 'cause unknown')}"
