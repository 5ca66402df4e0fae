"""What the robot does at an engine's wish: moves, looks, tells who is there, speaks lower or louder, sleeps.

A wish comes with a reply. It is done once the turn that it answers stands, 0.3 s after its commit, while nobody else
seems to speak, and only once; it dies with its reply. Whatever becomes of it, the engine is told.
"""
from collections import deque
from collections.abc import Sequence
from math import degrees, radians

from dialogue.answering import Answering
from dialogue.attention import Attention
from dialogue.engine import ToolCall, ToolResult
from dialogue.engines.tools import GRANTED, TOOLS, BadCall, checked
from dialogue.events import Notes
from dialogue.floor import State
from dialogue.words import words_of
from motion.intent import Gaze, GestureName
from perception.people import Person

UNDISPUTED: frozenset[State] = frozenset({"robot_thinking", "robot_speaking"})
GESTURES: dict[str, GestureName] = {"nod": "nod", "shake": "shake", "tilt": "tilt"}
TOO_LATE_S = 8.0      # from a commit: what could not be done until then surprises people
QUIET_S = 0.15        # without a voice: one that takes back what was said may have gaps
DOUBT_S = 1.5         # a voice over the robot's is found to be one within 0.7 s; echo may look like one for longer
IN_SIGHT_S = 1.0      # since a sighting
WAKING = frozenset(words_of("wake awake hello hey hi morning"))


class Doing:
    """gesture: begins in this tick. volume: 0..1 of the configured one, None: untouched. asleep: it lies and rests."""

    def __init__(self) -> None:
        self.gesture: GestureName | None = None
        self.volume: float | None = None
        self.asleep = False
        self._voice_at = -1e9                                # s, when somebody last seemed to speak
        self._tired = False                                  # falls asleep once nobody speaks
        self._done: deque[ToolCall] = deque(maxlen=32)       # a server may say everything twice

    def step(self, notes: Notes, answering: Answering, attention: Attention, people: Sequence[Person],
             voice: bool = False) -> None:
        """Do what is due at the time of `notes`. voice: somebody rather speaks now than not."""
        self.gesture = None
        self._voice_at = notes.t if voice else self._voice_at
        answer, floor = answering.running, answering.floor.state
        for call in tuple(answering.calls):
            age = None if answer is None or call.generation != answer.generation else notes.t - answer.since
            if age is None or age > TOO_LATE_S or call in self._done:
                answering.calls.remove(call)
                if call not in self._done:
                    notes.ask(ToolResult(notes.t, call.call, "cancelled" if age is None else "too late"))
            elif floor in UNDISPUTED and self._stands(notes.t, age - answering.config.act_after):
                answering.calls.remove(call)
                self._done.append(call)
                result = self._result(notes.t, call, attention, people)
                notes.ask(ToolResult(notes.t, call.call, result))
                notes.tell("tool", name=call.name, arguments=call.arguments, result=result)
        if self._tired and answering.floor.state == "idle":
            self._tired, self.asleep = False, True
            notes.tell("sleeps")

    def _stands(self, t: float, due_for: float) -> bool:
        """Nobody has begun to say something else; a doubt that does not become a voice counts for a while only."""
        return due_for >= DOUBT_S or (due_for >= 0.0 and t - self._voice_at >= QUIET_S)

    def wakes(self, words: str | None) -> bool:
        """Whether these words, said to the robot, find it awake. None: an engine that does not read them ahead."""
        if self.asleep and (words is None or WAKING & set(words_of(words))):
            self.wake()
        return not self.asleep

    def wake(self) -> None:
        self.asleep = self._tired = False

    def _result(self, t: float, call: ToolCall, attention: Attention, people: Sequence[Person]) -> str:
        try:
            arguments = dict(checked(call.name, dict(call.arguments)))
        except BadCall as wrong:
            return str(wrong)
        if TOOLS[call.name].by != "mind":
            return GRANTED
        if call.name == "who_is_there":
            return self._there(t, people)
        if call.name == "look_at":
            return self._look(t, arguments, attention, people)
        if call.name == "gesture":
            self.gesture = GESTURES[arguments["name"]]
        elif call.name == "set_volume":
            before = 1.0 if self.volume is None else self.volume
            percent = float(arguments.get("percent", 100.0 * before)) + float(arguments.get("change", 0.0))
            self.volume = min(max(percent / 100.0, 0.0), 1.0)
            return f"done: {100.0 * self.volume:.0f} percent"
        elif call.name == "sleep":
            self._tired = True
        return "done"

    def _look(self, t: float, arguments: dict[str, str], attention: Attention, people: Sequence[Person]) -> str:
        if "azimuth_deg" in arguments:
            attention.request(t, Gaze(radians(float(arguments["azimuth_deg"]))))
            return "done"
        found = [p for p in people if p.id == arguments.get("person", attention.look.person)]
        if not found:
            return "nobody to look at"
        attention.request(t, Gaze(found[0].azimuth, found[0].elevation, found[0].distance))
        return "done"

    def _there(self, t: float, people: Sequence[Person]) -> str:
        told = []
        for person in people:
            angle = degrees(person.azimuth)
            side = "left" if angle > 0 else "right"
            seen = person.seen_at is not None and t - person.seen_at <= IN_SIGHT_S
            told.append(f"{person.id}: {abs(angle):.0f} degrees to the {side}, {'seen' if seen else 'heard, not seen'}"
                        + (f", {person.distance:.1f} m away" if seen and person.distance is not None else ""))
        return "; ".join(told) or "nobody"
