"""What became of one run of a scenario."""
from dataclasses import dataclass, field

from robot.interaction.judgement import judge
from robot.interaction.scenario import Scenario
from robot.interaction.trace import Trace, fact


@dataclass(frozen=True, slots=True)
class Outcome:
    """One expectation (or one step that never happened). text: one line for a reader."""

    line: int
    source: str
    ok: bool
    happened: str
    t: float | None = None

    @property
    def text(self) -> str:
        when = "" if self.t is None else f" (at {self.t:.2f} s)"
        return f"expected {self.source}; {self.happened}{when}"


@dataclass(frozen=True)
class Result:
    """One run. digest: of everything that virtual time makes the same on every machine."""

    scenario: Scenario
    seed: int
    trace: Trace = field(repr=False)
    outcomes: tuple[Outcome, ...]
    digest: str = ""

    @property
    def ok(self) -> bool:
        return all(outcome.ok for outcome in self.outcomes)


def outcomes_of(scenario: Scenario, trace: Trace) -> tuple[Outcome, ...]:
    """All expectations judged; a step that never happened fails too, for what it was to test was not tested.

    So does a mind that raised: the runtime stands it, a test must not.
    """
    undone = tuple(Outcome(line, source, False, f"this step never happened: {why}", trace.end)
                   for line, source, why in trace.undone)
    failed = [e for e in trace.named("health") if fact(e, "of") == "mind" and fact(e, "level") != "ok"]
    broken = tuple(Outcome(1, "a mind that never fails", False, f"it failed: {fact(e, 'reason')}", e.t) for e in failed)
    judged = ((e, judge(e, trace)) for e in scenario.expect)
    return broken + undone + tuple(Outcome(e.line, e.source, j.ok, j.happened, j.t) for e, j in judged)
