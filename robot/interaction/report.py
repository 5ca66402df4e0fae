"""What `talkover script` prints."""
from robot.interaction.result import Result


def lines_of(result: Result) -> list[str]:
    """One line for a run that passed; for one that failed, a line a failed expectation with what happened instead."""
    passed = sum(outcome.ok for outcome in result.outcomes)
    verdict = "ok    " if result.ok else "FAILED"
    head = (f"{verdict} {result.scenario.name} (seed {result.seed}): {passed} of {len(result.outcomes)} as expected, "
            f"{result.trace.end:.1f} s")
    place = result.scenario.path
    return [head, *(f"  {place}:{outcome.line}: {outcome.text}" for outcome in result.outcomes if not outcome.ok)]


def summary(results: list[Result]) -> str:
    """The last line."""
    failed = sum(not result.ok for result in results)
    runs = f"{len(results)} run{'s' if len(results) != 1 else ''}"
    return f"{runs}, all as expected" if not failed else f"{runs}, {failed} not as expected"
