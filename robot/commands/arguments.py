"""Numbers and folders of the command line, refused in one line when they cannot be meant."""
import argparse
import math
import os
from pathlib import Path

from robot.errors import BadRequest

LONGEST_S = 31_536_000.0     # a year; a robot that runs for longer is not given a time at all
MOST = 10_000                # seeds, repeats: more is a slip of the pen


def seconds(text: str) -> float:
    """A time to run for, s."""
    return _positive(text, LONGEST_S, "seconds")


def minutes(text: str) -> float:
    """A length of takes or runs, min."""
    return _positive(text, 100_000.0, "minutes")


def hours(text: str) -> float:
    """A length of simulated life, h."""
    return _positive(text, 1000.0, "hours")


def count(text: str) -> int:
    """How many seeds or repeats."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number of 1 to {MOST}")
    return int(text)


def processes(text: str) -> int:
    """How many at once."""
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise argparse.ArgumentTypeError(f"{text}: expected 1 to 64")
    return int(text)


def _positive(text: str, most: float, unit: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= most:
        raise argparse.ArgumentTypeError(f"{text}: expected more than 0 and at most {most:g} {unit}")
    return value


def writable_folder(folder: Path) -> None:
    """Makes a folder for what a command writes; BadRequest before any work is done."""
    at = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if not at.is_dir():
        raise BadRequest(f"{at}: is a file, expected a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"{folder}: cannot be made ({error.strerror}), expected a folder to write to") from error
    if not os.access(folder, os.W_OK):
        raise BadRequest(f"{folder}: expected a folder that can be written to")
