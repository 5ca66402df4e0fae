"""What of the room's sound goes to the server: the turns, each from a little before its onset; or all of it."""
from dataclasses import dataclass, field

import numpy as np

from dialogue.engine import ENGINE_RATE_HZ, Hear
from dialogue.engines.rate import StreamRate
from dialogue.engines.realtime.events import Event, append, clear, commit
from dialogue.engines.recent_sound import RecentSound
from perception.audio.block import Samples

CHUNK_S = 0.04       # of sound in a message: what a server hears is that late at most
AFTER_S = 0.2        # of sound after the end of a turn that belongs to it
LONGEST_LEAD_S = 1.5   # of sound before a turn that may stay in front of it: a breath, a murmur that was none
SHORTEST_S = 0.12    # a server refuses a commit of less than 0.1 s


@dataclass
class TurnSound:
    """Streams while somebody speaks, so that a commit need not wait for the line.

    always: everything is sent, for a server that decides by itself.
    """

    rate_hz: int
    always: bool
    preroll: float
    hang: float
    recent: RecentSound = field(default_factory=RecentSound)
    _since: float | None = None          # s, where what the server holds begins; None: it holds nothing
    _spoken: float = -1e9                # s, last speech
    _chunk: list[Samples] = field(default_factory=list)
    _rate: StreamRate | None = None

    def hear(self, hear: Hear) -> list[Event]:
        self.recent.add(hear)
        if hear.speech:
            self._spoken = hear.t
        if self._since is None:
            if not hear.speech and not self.always:
                return []
            length = len(hear.samples) / ENGINE_RATE_HZ
            begin = hear.t - length - (0.0 if self.always else self.preroll)
            self._begin(begin)
            return self._add(self.recent.between(begin, hear.t))
        if not self.always and hear.t - self._spoken > self.hang:
            self._since, self._chunk = None, []
            return [clear()]
        return self._add(hear.samples)

    def commit(self, onset: float, end: float) -> list[Event]:
        """The events that make a turn from onset to end (s) the server's."""
        events: list[Event] = []
        begin = onset - self.preroll
        if self._since is None or not onset - LONGEST_LEAD_S <= self._since <= onset:
            events += [clear()] if self._since is not None else []
            events += self.whole(begin, end)
        events += [*self._flush(), commit()]
        self._since = None
        return events

    def whole(self, begin: float, end: float) -> list[Event]:
        """The sound from begin to end (s) at once, e.g. for a new session."""
        self._begin(begin)
        sound = self.recent.between(begin, end + AFTER_S)
        missing = round(SHORTEST_S * ENGINE_RATE_HZ) - len(sound)
        return [*self._add(np.pad(sound, (0, max(0, missing)))), *self._flush()]

    def forget(self) -> None:
        """A new session holds nothing."""
        self._since, self._chunk = None, []

    @property
    def open(self) -> bool:
        return self._since is not None and not self.always

    def _begin(self, t: float) -> None:
        self._since, self._chunk = t, []
        self._rate = StreamRate(ENGINE_RATE_HZ, self.rate_hz)

    def _add(self, samples: Samples) -> list[Event]:
        self._chunk.append(samples)
        return self._flush() if sum(map(len, self._chunk)) >= CHUNK_S * ENGINE_RATE_HZ else []

    def _flush(self) -> list[Event]:
        if not self._chunk or self._rate is None:
            return []
        samples, self._chunk = np.concatenate(self._chunk), []
        return [append(self._rate(samples))] if len(samples) else []
