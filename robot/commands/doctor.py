"""`talkover doctor`."""
import argparse
import dataclasses
import json
from pathlib import Path

from robot.errors import BadRequest
from robot.live_config import LiveConfig, read_live_config
from robot.places import state_folder
from robot.service.doctor import examined
from robot.service.findings import Finding

MARKS = {"ok": "ok  ", "warning": "note", "missing": "MISS"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="findings as JSON, for programs")
    parser.add_argument("--config", type=Path, metavar="FILE", help="the run's configuration: says what is needed")
    parser.add_argument("--state", type=Path, metavar="DIR", help="the run's state folder (default: as of the service)")
    parser.add_argument("--quick", action="store_true", help="without loading the models and measuring the speed")


def run(options: argparse.Namespace) -> int:
    findings, config = configured(options.config)
    findings += examined(config, options.state or state_folder(), options.quick)
    if options.json:
        print(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=1))
    else:
        for finding in findings:
            print(f"{MARKS[finding.verdict]}  {finding.subject:22} {finding.fact}")
            if finding.remedy:
                print(f"      {'':22} -> {finding.remedy}")
    return int(any(f.needed and f.verdict == "missing" for f in findings))


def configured(path: Path | None) -> tuple[list[Finding], LiveConfig]:
    """The configuration, and what there is to say of it; with a bad one, the rest is examined for the defaults."""
    try:
        config = read_live_config(path)
    except BadRequest as error:
        mend = "talkover config --explain names every key; until then the run ends with status 2"
        return [Finding("configuration", "missing", " ".join(str(error).split()), mend, True)], LiveConfig()
    run = config.run
    return [Finding("configuration", "ok", f"{path or 'defaults'}: body {run.body}, engine {run.engine}")], config
