"""`talkover forget`: delete all that was kept of people, or of one of them, on the disk and in a running robot."""
import argparse
from contextlib import closing
from pathlib import Path

from dialogue.book import Book, Unfit, check, files_of
from dialogue.memory_config import MemoryConfig
from robot.black_box.door import NobodyThere, ask
from robot.black_box.shelf import Shelf
from robot.errors import BadRequest
from robot.live_config import read_live_config
from robot.places import state_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--state", type=Path, metavar="DIR", help="the run's state folder (default: as of the service)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="the run's settings, for [memory] file")
    parser.add_argument("--person", metavar="NAME", help="only who told this name; black boxes stay")


def run(options: argparse.Namespace) -> int:
    state = options.state or state_folder()
    memory = read_live_config(options.config).memory if options.config else MemoryConfig()
    place = memory.place(state)
    if options.person is not None:
        return _forget_one(place, options.person)
    count = _erase(place, "DELETE FROM people")          # first: the engine of a running robot starts again from it
    people = "no robot runs, nothing is left of them"
    try:
        told = ask(state, {"do": "forget"})
        gone, rest = told["gone"], [file for file in files_of(place) if ".kept-" in file.name]
        people = ("the running robot forgets them now" if told["people"] else
                  "the running robot keeps the unnamed ones until it is restarted: systemctl restart talkover")
    except NobodyThere:
        gone, rest = [str(path) for path in Shelf(state / "boxes", 0, 0).forget()], files_of(place)
    for file in rest:
        file.unlink()
    for path in (*gone, *rest):
        print(f"deleted {path}")
    print(f"black boxes: {f'{len(gone)} deleted' if gone else 'none were kept'}, and the last minutes in memory")
    print(f"names and facts that people told: {f'{count} people deleted' if count else 'none were kept'}; {people}")
    print("recordings made with `talkover record` and the log of the service are yours: they were not touched")
    return 0


def _forget_one(place: Path, name: str) -> int:
    count = _erase(place, "DELETE FROM people WHERE lower(name) = lower(?)", name)
    print(f"{place}: {count} of the name {name!r} deleted" if count else f"{place}: nobody is known as {name!r}")
    if count:
        print("black boxes may still hold what was said: talkover forget deletes all")
    return 0 if count else 1


def _erase(place: Path, statement: str, *values: str) -> int:
    """Delete people from the memory's file; returns how many. A file that is unfit is left to the caller."""
    if not place.exists():
        return 0
    try:
        check(place)
    except Unfit as unfit:
        if values:
            raise BadRequest(f"{place}: {unfit}") from unfit
        return 0
    with closing(Book(place)) as book:
        before = len(book.read("SELECT id FROM people"))
        book.erase((statement, values))
        if book.trouble:
            raise BadRequest(f"{book.trouble.partition(';')[0]}, expected a file that can be written")
        return before - len(book.read("SELECT id FROM people"))
