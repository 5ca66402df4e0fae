"""One line of `talkover doctor`."""
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "missing", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. needed: without it the simulated robot does not work either."""

    subject: str
    verdict: Verdict
    fact: str
    remedy: str = ""
    needed: bool = False
