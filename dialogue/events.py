"""What the dialogue tells the log: something that happened, by name, with what it was about.

Names (CONTRACTS.md): speech_start, speech_end, turn_candidate, turn_committed, duck, release, barge_in, reply_start,
reply_end, reply_superseded, tool. Beyond the contract: turn_dropped, transcript, reply_resumed, heard_text,
stale_clause, cue, engine, holds_still, sleeps; of the mind: health, refused.
"""
from dataclasses import dataclass

from dialogue.engine import Request


@dataclass(frozen=True, slots=True)
class Event:
    """Something worth a line in the log. t: when the decision existed, never the back-dated cause."""

    t: float                                      # s
    name: str
    facts: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of what was said and heard. Of the robot's words only those that left the loudspeaker."""

    t: float                                      # s, when the words were complete
    who: str                                      # `robot`, a person's id, or `someone`
    text: str


class Notes:
    """Requests to the engine and events of one tick, in the order in which they arose."""

    def __init__(self, t: float):
        self.t = t
        self.requests: list[Request] = []
        self.events: list[Event] = []

    def ask(self, request: Request) -> None:
        self.requests.append(request)

    def tell(self, event: str, /, **facts: object) -> None:
        self.events.append(Event(self.t, event, tuple(facts.items())))
