"""`talkover script FILE.yaml...`: scripted interaction tests in the simulated room."""
import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from robot.commands.arguments import count, writable_folder
from robot.errors import BadRequest
from robot.interaction.junit import write_junit
from robot.interaction.report import lines_of, summary
from robot.interaction.result import Result
from robot.interaction.scenario import Scenario, read_scenario

if TYPE_CHECKING:              # loads engines, and other engines need none of them
    from robot.interaction.server_engines import ServerEngines

SERVERS = ("realtime", "minicpm", "chat")     # engines that talk to a server
ENGINES = ("embedded", "scripted", *SERVERS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.yaml", help="a scenario (format: docs/formats.md)")
    parser.add_argument("--engine", default="embedded", metavar="NAME",
                        help="what answers: embedded (default), scripted, or the server of "
                             f"{', '.join(SERVERS[:-1])} or {SERVERS[-1]} in --config; with a server the run takes as "
                             "long as the talk")
    parser.add_argument("--config", type=Path, metavar="FILE", help="TOML with the section of that server")
    parser.add_argument("--junit", type=Path, metavar="OUT.xml", help="also write the results as JUnit XML")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="of each failed run write a stereo WAV (people left, robot right) and a timeline picture")
    parser.add_argument("--repeat", type=count, default=1, metavar="N",
                        help="run each scenario N times with seeds S, S+1, ..., and the first seed once more: "
                             "it must give the same to the bit")


def run(options: argparse.Namespace) -> int:
    """0: all as expected; 1: something was not; 2 (by BadRequest): a scenario cannot be read or played."""
    if options.engine not in ENGINES:
        raise BadRequest(f"--engine {options.engine}: expected {', '.join(ENGINES[:-1])} or {ENGINES[-1]}")
    if options.config is not None and options.engine not in SERVERS:
        raise BadRequest(f"--config {options.config}: names a server, and --engine {options.engine} has none; expected "
                         f"--engine {', '.join(SERVERS[:-1])} or {SERVERS[-1]}")
    scenarios = [read_scenario(path) for path in options.files]     # all are read before the first one is run
    for place in (options.junit, options.out):
        _check_writable(place, options.junit)
    from robot.interaction.stage import check_playable
    for scenario in scenarios:
        check_playable(scenario)
    servers = _servers(options)
    results: list[Result] = []
    same = True
    try:
        for scenario in scenarios:
            results += _runs(scenario, options, servers)
            again = options.repeat > 1 and servers is None       # a server says nothing twice in the same words
            same = (not again or _same_again(results[-options.repeat], options.engine)) and same
    finally:
        if servers is not None:
            servers.close()
        if options.junit is not None:
            write_junit(results, options.junit)
    print(summary(results))
    return 0 if same and all(result.ok for result in results) else 1


def _servers(options: argparse.Namespace) -> "ServerEngines | None":
    """What makes engines with a server; None where none was asked for."""
    if options.engine not in SERVERS:
        return None
    from robot.interaction.server_engines import ServerEngines
    from robot.live_config import read_live_config
    config = read_live_config(options.config)
    return ServerEngines(replace(config, run=replace(config.run, engine=options.engine)))


def _runs(scenario: Scenario, options: argparse.Namespace, servers: "ServerEngines | None") -> list[Result]:
    """A scenario with each of its seeds, told as it goes."""
    from robot.interaction.runner import run_scenario
    results = []
    for i in range(options.repeat):
        run = run_scenario(scenario, options.engine, scenario.room.seed + i, servers=servers)
        if servers is not None:
            servers.close()
        results.append(run.result)
        print(*lines_of(run.result), sep="\n", flush=True)
        if options.out is not None and not run.result.ok:
            print(*(f"  wrote {path}" for path in run.keep(options.out)), sep="\n", flush=True)
    return results


def _same_again(first: Result, engine: str) -> bool:
    """The same seed once more: virtual time leaves no room for a difference."""
    from robot.interaction.runner import run_scenario
    again = run_scenario(first.scenario, engine, first.seed).result
    if again.digest == first.digest:
        return True
    print(f"FAILED {first.scenario.name}: seed {first.seed} gave something else the second time")
    return False


def _check_writable(path: Path | None, file: Path | None) -> None:
    if path is None:
        return
    if path is file and path.is_dir():
        raise BadRequest(f"{path}: is a folder, expected a file to write")
    writable_folder(path.parent if path is file else path)
