"""What makes a box be written: somebody asks, a part fails, a person says that something was wrong. Pure."""
import re
from dataclasses import dataclass

from calibration.health import Health
from dialogue.events import Event
from dialogue.words import words_of
from robot.black_box.config import BoxConfig

# About the robot's doing, not about the world: "that's wrong" and "that was a mistake", not "what is wrong with Bob".
COMPLAINT = re.compile(r"\b(?:that|this|it) (?:was|is|wasn't|isn't|was not|is not)(?: so| very| just| really| all)? "
                       r"(?:wrong|right|correct|a mistake|an error|not right|not correct)\b|"
                       r"\b(?:that's|that's not|it's) (?:wrong|a mistake|right|correct)\b|"
                       r"\byou (?:got|have|did|understood|heard) (?:that|this|it|me) wrong\b")
NEGATED = re.compile(r"\b(?:not|isn't|wasn't|that's not)\b")
RIGHT = re.compile(r"\b(?:right|correct)\b")


def is_complaint(text: str) -> bool:
    """A person says that the robot did something wrong."""
    said = " ".join(words_of(text))
    found = COMPLAINT.search(said)
    if found is None:
        return False
    return not RIGHT.search(found[0]) or NEGATED.search(found[0]) is not None


@dataclass
class Causes:
    """Tells when a box is due, from the events and health of each tick."""

    config: BoxConfig
    _fault_at: float | None = None       # s, of the last box that a fault asked for

    def note(self, t: float, events: tuple[Event, ...], health: tuple[Health, ...]) -> str | None:
        """The cause of a box in this tick (s), in words for its file; nobody's words are in it."""
        for event in events:
            if event.name == "transcript" and is_complaint(str(dict(event.facts).get("text", ""))):
                return "a person said that something was wrong"
        for part, level, reason in _levels(events, health):
            failed = level == "gone" or (part == "mind" and level != "ok")
            if failed and t >= self.config.settle_s and self._may(t):
                self._fault_at = t
                return f"{part} {level}: {reason}"
        return None

    def _may(self, t: float) -> bool:
        return self._fault_at is None or t >= self._fault_at + self.config.quiet_s


def _levels(events: tuple[Event, ...], health: tuple[Health, ...]) -> list[tuple[str, str, str]]:
    """(part, level, reason) of every change told in a tick."""
    told: list[tuple[str, str, str]] = [(h.part, h.level, h.reason) for h in health]
    for event in events:
        facts = dict(event.facts)
        if event.name == "health":
            told.append((str(facts["of"]), str(facts["level"]), str(facts["reason"])))
    return told
