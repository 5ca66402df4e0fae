"""A recording as a scenario: "replay this complaint". What was said, done and felt when, and what came of it.

The words are those that were recognised, the places those that were believed, and `expect` says what happened: who
keeps the scenario puts right what was heard wrongly, and says there what should have happened instead.
"""
import json
import re
from dataclasses import dataclass, field
from itertools import pairwise
from math import degrees
from typing import Any

from robot.bodies.room.faults import KINDS
from robot.interaction.expectations import CUES
from robot.interaction.timeline import SIGNS
from robot.tick import Event, Inputs, Tick

UNHEARD = "mm-hmm"          # stands for what was said over the robot and never recognised
DISTANCE_M = 1.2            # of somebody who was heard and never seen
SLACK_S = 0.5               # between what happened and what is expected: another room, another voice
STOP_SLACK_MS = 300
WORDS = 4                   # of an answer that are expected again


@dataclass
class Heard:
    """Something said: onset, end (s), by whom, and what was recognised."""

    onset: float
    end: float
    person: str
    text: str = ""
    committed: bool = False


@dataclass
class Complaint:
    """An observer of a replay (or of any run); afterwards it tells the scenario."""

    people: dict[str, tuple[float, float]] = field(default_factory=dict)      # id -> azimuth deg, distance m
    said: dict[int, Heard] = field(default_factory=dict)                      # by turn; murmurs below zero
    steps: list[tuple[float, str]] = field(default_factory=list)              # what nobody said
    events: list[Event] = field(default_factory=list)

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        for person in tick.people:
            near = DISTANCE_M if person.distance is None else person.distance
            if person.id not in self.people or (self.people[person.id][1] == DISTANCE_M != near):
                self.people[person.id] = degrees(person.azimuth), near
        somebody = next(iter(self.people), "someone")
        for touch in inputs.touches:
            self._does(touch.t, f"{somebody}: {{touches: {touch.kind}}}")
        for change in inputs.health:
            if change.level == "gone" and "gone" in KINDS.get(change.part, ()):
                self._does(change.t, f"fault: {{of: {change.part}, kind: gone, for_s: 5}}")
        for event in tick.events:
            self._note(event, dict(event.facts), somebody)

    def _does(self, t: float, what: str) -> None:
        self.steps.append((t, f"{{at: {t:.2f}, {what}}}"))

    def _note(self, event: Event, facts: dict[str, Any], somebody: str) -> None:
        self.events.append(event)
        turn: int = facts.get("turn") or 0
        match event.name:
            case "turn_candidate":
                self.said[turn] = Heard(facts["onset"], facts["end"], somebody)
            case "turn_committed" | "turn_dropped" if turn in self.said:
                heard = self.said[turn]
                heard.text, heard.committed = facts["guess"], event.name == "turn_committed"
                heard.person = facts.get("person") or heard.person
            case "transcript" if turn in self.said:
                self.said[turn].text = facts["text"]
            case "release" if facts.get("reason") == "murmur":
                ducks: list[dict[str, Any]] = [dict(e.facts) for e in self.events if e.name == "duck"]
                self.said[-len(self.said) - 1] = Heard(ducks[-1]["onset"] or event.t, event.t, somebody)
            case "cue" if facts["cue"] in SIGNS:
                self._does(facts["seen"], f"{facts['person'] or somebody}: {facts['cue']}")
            case "cue" if facts["cue"] == "looks_away":
                self._does(facts["seen"], f"{facts['person'] or somebody}: {{looks: away}}")

    # what it tells ------------------------------------------------------------------------------------------------

    def scenario(self, name: str, source: str) -> str:
        """The scenario in YAML. name: of it; source: of the recording, for the first line."""
        said = self._decided()
        people = {**{heard.person: (0.0, DISTANCE_M) for heard in said}, **self.people}
        steps = [(heard.onset, self._says(heard)) for heard in said] + self.steps
        lines = [f"# Made of {source}; put right what was heard wrongly, and say below what should have happened.",
                 f"scenario: {name}", "room: {seed: 1}"]
        if people:
            lines += ["people:", *(f"  {who}: {{azimuth_deg: {azimuth:.0f}, distance_m: {max(0.4, away):.1f}}}"
                                   for who, (azimuth, away) in people.items())]
        lines += ["timeline:", *(f"  - {step}" for _, step in sorted(steps))]
        lines += ["expect:", *(f"  - {line}" for line in self._expected(said))]
        return "\n".join(lines) + "\n"

    def _decided(self) -> list[Heard]:
        """What was said, in order; a candidate that went on is part of the next."""
        told: list[Heard] = sorted(self.said.values(), key=lambda heard: (heard.onset, heard.end))
        return [heard for heard, later in pairwise([*told, None])
                if heard is not None and (later is None or later.onset > heard.onset)]

    def _says(self, heard: Heard) -> str:
        """Over an answer at its place in that answer, else at its time."""
        starts = [event.t for event in self.events if event.name == "reply_start" and event.t <= heard.onset]
        ends = [event.t for event in self.events if event.name in ("reply_end", "barge_in") and event.t <= heard.onset]
        words = json.dumps(heard.text or UNHEARD, ensure_ascii=False)
        when = f"at: {heard.onset:.2f}"
        if starts and max(starts) > max(ends, default=-1.0):
            when = f"while: robot_speaking, after: {{heard_ms: {1000 * (heard.onset - max(starts)):.0f}}}"
        guessed = "" if heard.text else "   # no words were recognised"
        return f"{{{when}, {heard.person}: {{says: {words}}}}}{guessed}"

    def _expected(self, said: list[Heard]) -> list[str]:
        lines = []
        for number, heard in enumerate(said, 1):
            after = [event for event in self.events if event.t >= heard.onset]
            until = said[number].onset if number < len(said) else float("inf")
            here = [event for event in after if event.t < until]
            lines += self._outcome(number, heard, here)
        tools = [str(dict(event.facts)["name"]) for event in self.events if event.name == "tool"]
        lines += [f"{{tool: {tool}, times: {tools.count(tool)}}}" for tool in dict.fromkeys(tools)]
        cues = {dict(event.facts)["cue"] for event in self.events if event.name == "cue"}
        lines += [f"{{cue: {cue}}}" for cue in CUES if cue in cues and cue in (*SIGNS, "looks_away")]
        if not any(event.name == "barge_in" for event in self.events):
            lines.append("{never: barge_in}")
        return [*lines, "{metric: stale_blocks, equals: 0}"]

    @staticmethod
    def _outcome(number: int, heard: Heard, here: list[Event]) -> list[str]:
        """What came of one utterance, before the next one began."""
        first = {name: next((event for event in here if event.name == name), None)
                 for name in ("barge_in", "turn_committed", "reply_start", "reply_end")}
        stop, committed, starts, ends = first.values()
        lines = []
        if stop is not None:
            lines.append(f"{{silent_within_ms: {1000 * (stop.t - heard.onset) + STOP_SLACK_MS:.0f}, "
                         f"onset_of: {{says: {number}}}}}")
        if committed is not None:
            lines.append(f"{{event: turn_committed, within: {max(0.0, committed.t - heard.end) + SLACK_S:.1f}, "
                         f"of: {{says: {number}}}}}")
        if committed is not None and starts is not None and ends is not None:
            words = re.findall(r"[\w']+", str(dict(ends.facts)["heard"]))[:WORDS]
            pattern = json.dumps("\\W+".join(map(re.escape, words)))
            if words:
                lines.append(f"{{robot_says: {{matching: {pattern}}}, within: {ends.t - heard.end + SLACK_S:.1f}, "
                             f"of: {{says: {number}}}}}")
        return lines
