"""`talkover doctor`."""
import argparse
import dataclasses
import json

from robot.service.doctor import examined

MARKS = {"ok": "ok  ", "warning": "note", "missing": "MISS"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="findings as JSON, for programs")


def run(options: argparse.Namespace) -> int:
    findings = examined()
    if options.json:
        print(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=1))
    else:
        for finding in findings:
            print(f"{MARKS[finding.verdict]}  {finding.subject:22} {finding.fact}")
            if finding.remedy:
                print(f"      {'':22} -> {finding.remedy}")
    return int(any(f.needed and f.verdict == "missing" for f in findings))
