"""When to connect to an engine's server, when to give up for good, and what waits to be sent. No socket, no clock.

A server that refuses (a key, a name, a policy) is not asked again: retries of a refused token once filled a memory
(field log F58), and a handshake that is accepted only to be closed with 1008 is a refusal too (F29).
"""
from collections import deque
from dataclasses import dataclass
from threading import Lock

import numpy as np


@dataclass(frozen=True, slots=True)
class LinkConfig:
    """Patience with a server. Close codes: RFC 6455, section 7.4.1."""

    first_wait_s: float = 0.5        # before the second try
    longest_wait_s: float = 30.0     # between two tries of a server that stays away
    jitter: float = 0.5              # share of each wait that is left to chance: robots must not come in step
    lasts_s: float = 20.0            # a connection that lasted so long: the next loss counts as the first
    refusals: int = 5                # connections in a row closed with 1008 at once, then it is a refusal for good
    open_s: float = 10.0             # for name, TLS and handshake
    silent_s: float = 20.0           # an unanswered ping after which a connection is half-open: over
    most_sound: int = 100            # messages of sound that may wait, 4 s of them: older ones are dropped, and counted


@dataclass(frozen=True, slots=True)
class Opened:
    """The connection stands."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The connection is over, or never came about. code: of the close frame; status: of a refused handshake (HTTP)."""

    code: int | None = None
    reason: str = ""
    status: int | None = None

    @property
    def told(self) -> str:
        """In words."""
        if self.status is not None:
            return f"refused with HTTP status {self.status}"
        return " ".join(word for word in (f"closed with {self.code}" if self.code else "lost", self.reason) if word)


POLICY = 1008                        # what servers close with when they do not want a client


class Link:
    """Decides about the next connection. rng draws the jitter."""

    def __init__(self, rng: np.random.Generator, config: LinkConfig = LinkConfig(),
                 permanent: tuple[int, ...] = (400, 401, 403, 404)):
        """permanent: HTTP statuses that no repetition changes."""
        self.config, self.permanent = config, permanent
        self.retry_at = 0.0          # s
        self.refused = ""            # why there is no next connection; "" while there is one
        self.losses = 0              # in a row
        self._rng, self._wait = rng, config.first_wait_s
        self._opened_at: float | None = None
        self._refusals = 0

    def opened(self, t: float) -> None:
        self._opened_at = t

    def lost(self, t: float, ended: Ended, busy: bool = False) -> None:
        """busy: the server said that it is full, which passes."""
        config = self.config
        lasted = self._opened_at is not None and t - self._opened_at >= config.lasts_s
        at_once = ended.code == POLICY and not lasted and not busy
        self._refusals = self._refusals + 1 if at_once else 0
        self._opened_at = None
        self.losses = 1 if lasted else self.losses + 1
        if ended.status in self.permanent or self._refusals >= config.refusals:
            self.refused = ended.told
            return
        self._wait = config.first_wait_s if self.losses == 1 else min(2.0 * self._wait, config.longest_wait_s)
        self.retry_at = t + self._wait * (1.0 - config.jitter * float(self._rng.random()))

    def left(self, t: float, pause: float) -> None:
        """The connection was ended on purpose, to begin another after `pause` s."""
        self._opened_at, self.retry_at = None, t + pause

    def due(self, t: float) -> bool:
        return not self.refused and t >= self.retry_at


class Uplink:
    """What waits for the socket, in order; sound beyond `most_sound` messages is dropped, oldest first.

    Two threads use it: the engine's puts, the socket's takes.
    """

    def __init__(self, most_sound: int):
        self.dropped = 0
        self._most = most_sound
        self._waiting: deque[tuple[str, bool]] = deque()
        self._sounds = 0
        self._lock = Lock()

    def put(self, text: str, sound: bool) -> None:
        with self._lock:
            if sound and self._sounds >= self._most:
                oldest = next(i for i, (_, is_sound) in enumerate(self._waiting) if is_sound)
                del self._waiting[oldest]
                self._sounds -= 1
                self.dropped += 1
            self._waiting.append((text, sound))
            self._sounds += sound

    def take(self) -> str | None:
        with self._lock:
            if not self._waiting:
                return None
            text, sound = self._waiting.popleft()
            self._sounds -= sound
            return text

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()
            self._sounds = 0

    def __len__(self) -> int:
        return len(self._waiting)
