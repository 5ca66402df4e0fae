"""`talkover config`: what can be set, and whether a file sets it rightly."""
import argparse
import os
from pathlib import Path

from robot.config_keys import keys_of
from robot.config_text import default_file, explained
from robot.errors import BadRequest
from robot.live_config import LiveConfig, given_settings, read_live_config
from robot.settings import nearest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--explain", nargs="?", const="", metavar="SECTION", help="every key, or those of a section, "
                      "with its default, unit and reason")
    what.add_argument("--default", action="store_true", help="the commented file that an installation begins with")
    what.add_argument("--check", type=Path, metavar="FILE", help="read a file as `run --config` does; exit status 2 "
                      "names what is wrong in it")


def run(options: argparse.Namespace) -> int:
    if options.default:
        print(default_file(), end="")
    elif options.check is not None:
        read_live_config(options.check)
        keys = sorted(_named(given_settings(options.check)))
        over = sorted(_named(given_settings(None, os.environ)))
        print(f"{options.check}: good, {len(keys)} keys set: {', '.join(keys) or 'all as by default'}"
              + (f"; of these from the environment: {', '.join(over)}" if over else ""))
    else:
        text = explained(options.explain)
        if not text:
            sections = {".".join(key.path[:n]) for key in keys_of(LiveConfig()) for n in range(1, len(key.path) + 1)}
            close = nearest(options.explain, sections)
            raise BadRequest(f"--explain {options.explain}: no such section or key, {close}")
        print(text, end="")
    return 0


def _named(settings: dict, path: tuple[str, ...] = ()) -> list[str]:
    """Names of the keys that are set; their values may be secrets."""
    names: list[str] = []
    for key, value in settings.items():
        names += _named(value, (*path, key)) if isinstance(value, dict) else [".".join((*path, key))]
    return names
