"""`talkover record`: a live run with a lossless tape of it."""
import argparse
import sys
from pathlib import Path

from robot.commands import run as run_command
from robot.commands.arguments import writable_folder
from robot.config import header_of
from robot.errors import BadRequest
from robot.tape import NAME, TapeWriter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="where the recording goes; it holds sound and words")
    run_command.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    if (options.folder / NAME).exists():
        raise BadRequest(f"{options.folder / NAME}: exists, expected a folder without a recording")
    run_command.config_of(options)                    # what is wrong there is said before a folder is made
    writable_folder(options.folder)
    print(f"recording sound and words into {options.folder}", file=sys.stderr, flush=True)
    tapes: list[TapeWriter] = []

    def watch(mind):
        tapes.append(TapeWriter(options.folder, header_of(mind.config),
                                lambda text: print(text, file=sys.stderr, flush=True)))
        return (tapes[0],)

    try:
        return run_command.live(options, watch)
    finally:
        for tape in tapes:
            tape.close()
