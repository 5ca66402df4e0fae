"""Whom to look at, and why.

A line of microphones at rest hears a voice and its mirror behind the head alike. A small turn towards the side on which
both lie moves them apart, and then the ears can tell; only then the robot turns to the person.
"""
from collections.abc import Sequence
from dataclasses import dataclass
from math import radians

from calibration.frames import wrapped
from dialogue.floor import State
from motion.intent import Gaze
from perception.people import Person


@dataclass(frozen=True, slots=True)
class AttentionConfig:
    """How soon attention moves and how long it stays."""

    deciding_turn: float = radians(20)    # rad: moves voice and mirror 40 degrees apart, and is a small gesture
    deciding_time: float = 0.8            # s; a short call is over by then, so the likelier side is taken
    deciding_again: float = 3.0           # s until an undecided voice is tried again
    take_over: float = 0.3                # s that somebody else must speak to draw the gaze
    remember: float = 8.0                 # s that somebody neither heard nor seen stays the one talked with
    stay: float = 2.0                     # s between changes of gaze while nobody speaks
    interest: float = 0.2                 # 0..1, attention by which another face must be ahead
    facing: float = radians(10)           # rad, gaze error that counts as facing (issue 2)
    listening: float = radians(5)         # rad, gaze error at which the motors may rest while a person speaks
    listening_urgency: float = 0.2        # of turns while somebody speaks: fast motors would drown the words
    requested: float = 4.0                # s that a look asked for by the engine lasts


@dataclass(frozen=True, slots=True)
class Look:
    """Where to look now."""

    gaze: Gaze | None
    person: str | None             # whom the gaze is meant for
    urgency: float                 # 0..1
    reason: str
    settled: bool = True           # not a step towards finding out where the voice is


NOWHERE = Look(None, None, 0.2, "nobody is there")


class Attention:
    """Follows the speaker, else stays with the one talked with, else takes the most attentive face."""

    def __init__(self, config: AttentionConfig = AttentionConfig()):
        self.config = config
        self.look = NOWHERE
        self._changed_at = -1e9                              # s, last change of the person looked at
        self._rival: tuple[str, float] | None = None         # (id, since s) of another voice
        self._deciding: tuple[float, float] | None = None    # (since s, gaze azimuth) of a deciding turn
        self._taken: Gaze | None = None                      # likelier side of a voice that stayed undecided
        self._requested: tuple[float, Gaze] | None = None    # (until s, gaze) asked for by the engine

    def request(self, t: float, gaze: Gaze) -> None:
        """The engine wants the robot to look there for a while."""
        self._requested = (t + self.config.requested, gaze)

    def step(self, t: float, people: Sequence[Person], floor: State, head_yaw: float | None) -> Look:
        """Where to look at t (s). head_yaw: rad in base, None when unknown."""
        if floor == "ducked":
            return self.look  # the motors shall be quiet until it is known whether somebody speaks
        person = self._person(t, people)
        speaking = person is not None and person.speaking
        if self._requested is not None and t > self._requested[0]:
            self._requested = None
        if self._requested is not None and not speaking:
            self.look = Look(self._requested[1], self.look.person, 0.5, "asked to look there")
        elif person is None:
            self._hold_or_forget(t)
        else:
            self.look = self._towards(t, person, head_yaw or 0.0)
        return self.look

    def facing(self, head_yaw: float | None, within: float | None = None) -> bool:
        """The head points at whom it means to look at, within rad. Nobody, or an unknown head, counts as faced."""
        if head_yaw is None or self.look.gaze is None:
            return True
        within = self.config.facing if within is None else within
        return self.look.settled and abs(wrapped(self.look.gaze.azimuth - head_yaw)) <= within

    def _person(self, t: float, people: Sequence[Person]) -> Person | None:
        present = {p.id: p for p in people}
        current = present.get(self.look.person or "")
        chosen = self._speaker(t, people, current) or self._companion(t, people, current)
        if chosen is not None and chosen.id != self.look.person:
            self._changed_at, self._deciding = t, None
        return chosen

    def _speaker(self, t: float, people: Sequence[Person], current: Person | None) -> Person | None:
        voices = [p for p in people if p.speaking]
        if not voices:
            self._rival = None
            return None
        if current is not None and current.speaking:
            self._rival = None
            return current
        newest = max(voices, key=lambda p: (p.heard_at or 0.0, p.id))
        if self._rival is None or self._rival[0] != newest.id:
            self._rival = (newest.id, t)
        unrivalled = current is None or t - (current.heard_at if current.heard_at is not None else -1e9) > 2.0
        return newest if unrivalled or t - self._rival[1] >= self.config.take_over else current

    def _companion(self, t: float, people: Sequence[Person], current: Person | None) -> Person | None:
        known = [p for p in people if t - max(p.heard_at or -1e9, p.seen_at or -1e9) <= self.config.remember]
        if current is not None and current in known and t - self._changed_at < self.config.stay:
            return current
        if current is not None and current in known and t - (current.heard_at or -1e9) <= self.config.remember:
            return current
        faces = [p for p in known if p.seen_at is not None and p.attention > 0.0]
        best = max(faces, key=lambda p: (p.attention, p.id), default=None)
        if current is None or current not in known:
            return best
        ahead = best is not None and best.attention > current.attention + self.config.interest
        return best if ahead else current

    def _hold_or_forget(self, t: float) -> None:
        if self.look.gaze is None:
            return
        if t - self._changed_at > self.config.stay:
            self.look, self._changed_at = NOWHERE, t
        elif self.look.reason != "just lost sight":
            self.look = Look(self.look.gaze, None, 0.2, "just lost sight")
            self._changed_at = t

    def _towards(self, t: float, person: Person, head_yaw: float) -> Look:
        reason = "speaks" if person.speaking else "stays with"
        if not person.ambiguous or person.mirror is None:
            self._deciding = None
            urgency = self.config.listening_urgency if person.speaking else 0.4
            return Look(Gaze(person.azimuth, person.elevation, person.distance), person.id, urgency, reason)
        if self._deciding is None or t - self._deciding[0] > self.config.deciding_again:
            side = 1.0 if wrapped(person.azimuth - head_yaw) > 0.0 else -1.0
            turned = head_yaw + side * self.config.deciding_turn
            self._deciding = (t, float(wrapped(turned)))
            self._taken = None
        since, turned = self._deciding
        if person.speaking and t - since < self.config.deciding_time:
            return Look(Gaze(turned, 0.0), person.id, 1.0, "front or behind? a small turn decides", settled=False)
        self._taken = self._taken or Gaze(person.azimuth, person.elevation)  # a mirror runs ahead of the turning head
        return Look(self._taken, person.id, 0.9, "undecided, takes the likelier side")
