"""Results as a JUnit XML file, which build servers show (format: https://github.com/testmoapp/junitxml)."""
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

from robot.interaction.result import Result

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")   # XML 1.0 section 2.2


def write_junit(results: Iterable[Result], path: Path) -> None:
    """One test suite a scenario, one test case an expectation and run."""
    top = ET.Element("testsuites", name="talkover script")
    suites: dict[str, ET.Element] = {}
    for result in results:
        name = _clean(result.scenario.name)
        suite = suites.get(name)
        if suite is None:
            suite = suites[name] = ET.SubElement(top, "testsuite", name=name)
        for outcome in result.outcomes:
            case = ET.SubElement(suite, "testcase", name=_clean(f"{outcome.source} [seed {result.seed}]"),
                                 classname=name, file=str(result.scenario.path), line=str(outcome.line),
                                 time=f"{result.trace.end:.2f}")
            if not outcome.ok:
                ET.SubElement(case, "failure", message=_clean(outcome.text)).text = _clean(outcome.text)
    for suite in (top, *suites.values()):
        suite.set("tests", str(len(suite.findall(".//testcase"))))
        suite.set("failures", str(len(suite.findall(".//failure"))))
    ET.indent(top)
    ET.ElementTree(top).write(path, encoding="utf-8", xml_declaration=True)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("�", text)
