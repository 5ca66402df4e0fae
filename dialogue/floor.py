"""Who has the floor: a state table, nothing else.

The states follow from the events alone (as the connection states of python-hyper/h11 do). A pair that is not in the
table cannot happen; meeting one is a fault of the caller and raises.

| state          | means                                                                        |
|----------------|------------------------------------------------------------------------------|
| idle           | nobody speaks, nobody is owed an answer                                      |
| person         | a person speaks, or has paused and may go on                                 |
| robot_thinking | a turn was committed; its answer has made no sound yet                       |
| both_waiting   | an answer is owed, but somebody makes a sound again: the answer is held back |
| robot_speaking | the robot speaks                                                             |
| ducked         | the robot speaks low, because somebody may be speaking over it               |
| interrupted    | the robot was stopped; a person has the floor, the unheard rest is kept      |
"""
from typing import Literal

State = Literal["idle", "person", "robot_thinking", "both_waiting", "robot_speaking", "ducked", "interrupted"]
Happening = Literal[
    "voice",      # somebody began to make a sound that may be speech
    "commit",     # their turn is over, the robot shall answer
    "drop",       # the sound was no turn: a noise, a murmur, the robot's own words
    "prompt",     # the robot has something to say that is no answer
    "start",      # the first sample of the answer leaves
    "duck",       # somebody may be speaking over the robot
    "release",    # nobody was
    "stop",       # somebody is: the robot has fallen silent
    "resume",     # the interruption was false: the rest is spoken
    "end",        # the answer was heard to its end, or there is none
]

TABLE: dict[State, dict[Happening, State]] = {
    "idle": {
        "voice": "person", "prompt": "robot_thinking",
    },
    "person": {
        "commit": "robot_thinking", "drop": "idle",
    },
    "robot_thinking": {
        "voice": "both_waiting", "start": "robot_speaking", "end": "idle", "prompt": "robot_thinking",
        "resume": "robot_thinking",
    },
    "both_waiting": {
        "commit": "robot_thinking", "drop": "robot_thinking", "end": "person", "prompt": "both_waiting",
    },
    "robot_speaking": {
        "duck": "ducked", "stop": "interrupted", "end": "idle", "prompt": "robot_thinking",
    },
    "ducked": {
        "release": "robot_speaking", "stop": "interrupted", "end": "idle", "prompt": "robot_thinking",
    },
    "interrupted": {
        "commit": "robot_thinking", "drop": "idle", "resume": "robot_thinking",
    },
}

ROBOT_SOUNDS: frozenset[State] = frozenset({"robot_speaking", "ducked"})
PERSON_SOUNDS: frozenset[State] = frozenset({"person", "both_waiting", "interrupted"})


class FloorError(ValueError):
    """Something happened that cannot happen in this state."""


def after(state: State, happening: Happening) -> State:
    """The state that follows. Raises FloorError for a pair that is not in the table."""
    try:
        return TABLE[state][happening]
    except KeyError:
        expected = ", ".join(sorted(TABLE[state])) if state in TABLE else "a state of the table"
        raise FloorError(f"floor {state!r}: {happening!r} cannot happen, expected {expected}") from None


class Floor:
    """The present state; it changes by what happens, in no other way."""

    def __init__(self) -> None:
        self.state: State = "idle"

    def happen(self, happening: Happening) -> None:
        self.state = after(self.state, happening)
