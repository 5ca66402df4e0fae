"""The command line: `talkover` and `python -m robot` are the same program (contract: CONTRACTS.md)."""
import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # one thread: a second one would hold the tick up
    os.environ.setdefault(_variable, "1")
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # onnxruntime's builds report their use to their maker otherwise

import argparse
import importlib
import sys
from typing import NoReturn

from robot.errors import BadRequest
from robot.help_pages import PAGES, PROGRAM
from robot.settings import nearest

COMMANDS = {
    "run": "the live runtime: on a robot, or in a simulated room at the keyboard",
    "demo": "one scene in a simulated room, with a summary, a stereo WAV and a timeline picture",
    "hear": "the ears alone, over a recording: who spoke, when and from where",
    "see": "the eyes alone, over a recording: faces, attention, nods",
    "move": "the motion alone, over a list of timed wishes, to a CSV",
    "script": "scripted interaction tests in the simulated room",
    "record": "a live run with a tape of all inputs and outputs",
    "replay": "runs a tape again, and proves that it is the same to the bit",
    "box": "has a running robot write down its last minutes; --list shows what is kept",
    "forget": "deletes what was kept of people",
    "bench": "the project's own figures",
    "config": "what can be set, and whether a file sets it rightly",
    "doctor": "what is installed, connected and fast enough; what to do about what is not",
}
LATER = {
    "calibrate": "calibration, live or from a recording (comes later)",
    "dashboard": "opens or serves the debug page of a running robot (comes later)",
}


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, with exit status 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser_for(command: str | None) -> Parser:
    """The whole parser; only the module of the chosen command is imported."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog="talkover", description="A companion robot that you can talk over.", epilog=PROGRAM,
                    formatter_class=raw)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name, does in (COMMANDS | LATER).items():
        sub = commands.add_parser(name, help=does, description=does[0].upper() + does[1:] + ".")
        if name == command and name in COMMANDS:
            importlib.import_module(f"robot.commands.{name}").add_arguments(sub)
            sub.formatter_class, sub.epilog = raw, "\n".join(filter(None, (PAGES[name], sub.epilog)))
    return parser


def open_streams() -> None:
    """Opens /dev/null where standard input, output or error were closed.

    A socket or shared memory under such a number would be handed down to every child: none heard its parent die then,
    and a library's warning would land in the memory.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)      # takes the lowest free number: this one
            os.set_inheritable(descriptor, True)


def main(arguments: list[str] | None = None) -> int:
    open_streams()
    arguments = sys.argv[1:] if arguments is None else arguments
    command = next((word for word in arguments if not word.startswith("-")), None)
    if command in LATER:
        print(f"talkover {command}: {LATER[command]}", file=sys.stderr)
        return 2
    if command is not None and command not in COMMANDS:
        meant = nearest(command, COMMANDS)
        print(f"talkover: unknown command {command!r}, {meant} (see talkover --help)", file=sys.stderr)
        return 2
    try:
        options = parser_for(command).parse_args(arguments)
        return importlib.import_module(f"robot.commands.{options.command}").run(options)
    except BadRequest as error:
        print(f"talkover {command}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output went away: nothing more to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
