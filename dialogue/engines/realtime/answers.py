"""Which response of the server belongs to which reply of ours, and which of them are dead."""
import base64
import binascii
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from dialogue.engine import ENGINE_RATE_HZ
from dialogue.engines.outflow import Outflow
from dialogue.engines.rate import StreamRate
from perception.audio.block import Samples

REMEMBERED = 256     # dead responses; a server that is that late is beyond help


@dataclass
class Answer:
    """A reply that the mind waits for or has heard of; several responses may make it (tools, going on)."""

    generation: int
    flow: Outflow
    asked_at: float                                       # s
    turn: tuple[float, float] | None = None               # onset and end (s) of the words it answers
    responses: list[str] = field(default_factory=list)
    calls: dict[str, str | None] = field(default_factory=dict)   # call -> result, None while it is awaited
    dead: bool = False                                    # cancelled
    told: bool = False                                    # its end was told
    complete: bool = True                                 # nothing of it was lost by a cancel
    resumed: str = ""                                     # words that the server was told were not heard
    failed: str = ""                                      # why the server gave up
    pieces: list[tuple[float, float]] = field(default_factory=list)   # s that each took to come, s that it sounds
    came_at: float | None = None                          # s, the last of them; before it: when its response began

    def came(self, t: float, seconds: float) -> None:
        """A piece of sound has come."""
        if seconds > 0:
            self.pieces.append((t - (t if self.came_at is None else self.came_at), seconds))
            self.came_at = t


@dataclass
class Asked:
    """A request for a response. event: its id, by which errors are bound. at: s when it was sent; None: waits."""

    generation: int
    event: str
    instructions: str = ""
    at: float | None = None
    cancelled: bool = False


class Voice16:
    """The sound of one response: base64 PCM at any rate, to (n,) at 16 kHz; a sample may be split between messages."""

    def __init__(self) -> None:
        self._rate: StreamRate | None = None
        self._hz = 0
        self._odd = b""

    def __call__(self, data: str, rate_hz: int) -> Samples:
        try:
            raw = self._odd + base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            return np.zeros(0, np.float32)
        whole = len(raw) // 2 * 2
        self._odd = raw[whole:]
        if self._rate is None or rate_hz != self._hz:
            self._rate, self._hz = StreamRate(rate_hz, ENGINE_RATE_HZ), rate_hz
        return self._rate(np.frombuffer(raw[:whole], "<i2").astype(np.float32) / 32768.0)

    def tail(self) -> Samples:
        """What the filter still holds, at the end."""
        if self._rate is None:
            return np.zeros(0, np.float32)
        return self._rate(np.zeros(round(0.002 * self._hz), np.float32))


class Responses:
    """response id -> whose it is."""

    def __init__(self) -> None:
        self.owner: dict[str, Answer] = {}
        self.voices: dict[str, Voice16] = {}
        self.active: str | None = None                    # the one that the server makes now
        self.cancelled_at: float | None = None            # s, when the active one was cancelled
        self.late = 0                                     # deltas of dead responses that were dropped
        self._dead: deque[str] = deque(maxlen=REMEMBERED)

    def begin(self, response: str, answer: Answer, t: float) -> None:
        self.owner[response], self.voices[response] = answer, Voice16()
        answer.responses.append(response)
        answer.came_at = t
        self.active, self.cancelled_at = response, None

    def kill(self, response: str) -> None:
        """From now on nothing of it is for anybody's ears."""
        self.owner.pop(response, None)
        self.voices.pop(response, None)
        if response not in self._dead:
            self._dead.append(response)

    def of(self, response: object) -> Answer | None:
        """Whose a delta is; None, and counted, for nobody's."""
        answer = self.owner.get(response) if isinstance(response, str) else None
        if answer is None or answer.dead:
            self.late += 1
            return None
        return answer

    def is_dead(self, response: object) -> bool:
        return response in self._dead

    def over(self, response: str) -> None:
        if self.active == response:
            self.active = self.cancelled_at = None

    def reset(self) -> None:
        """Another session: nothing of the old one can come any more."""
        for response in list(self.owner):
            self.kill(response)
        self.active = self.cancelled_at = None
