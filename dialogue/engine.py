"""The port every conversation engine fills.

An engine lives in a worker: a child process in the live robot, inline with a declared latency in the simulation. It
gets requests in order and answers with replies. Everything that crosses is a frozen value; nothing is shared.
"""
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from calibration.health import Level
from perception.audio.block import Samples

ENGINE_RATE_HZ = 16000


# requests: mind -> engine -----------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True)
class Hear:
    """Clean audio of one tick (160 * n samples, 16 kHz). t: its end. Sent always, so that an engine may stream."""

    t: float
    samples: Samples
    speech: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """The person paused: perhaps the end of a turn. The engine may recognise ahead of the commit."""

    t: float
    turn: int
    onset: float         # s, start of the person's words
    end: float           # s, end of the person's words


@dataclass(frozen=True, slots=True)
class Commit:
    """The turn is the robot's: recognise (or take what was recognised) and answer as reply `generation`."""

    t: float
    turn: int
    onset: float
    end: float
    generation: int
    person: str | None = None      # id of who spoke, when known
    continues: int | None = None   # turn that these words go on with: its answer was withdrawn before a word was heard
    light: bool = False            # the machine has little left: an engine that loads it answers by lighter means


@dataclass(frozen=True, slots=True)
class Prompt:
    """Something to answer without a person's words: `greet ID`, `go on`, `cue:NAME`, or `say: WORDS` as they are."""

    t: float
    text: str
    generation: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """Reply `generation` must not go on; only `heard` of it left the loudspeaker."""

    t: float
    generation: int
    heard: str = ""
    unheard: str = ""
    clause: int = -1               # index of the clause that was cut; those before it were heard, -1: nothing was
    clause_s: float = 0.0          # s of that clause that left the loudspeaker


@dataclass(frozen=True, slots=True)
class Resume:
    """The interruption that cancelled reply `of` was false: it goes on as reply `generation`.

    The mind still has the clauses before `next_index`; the engine sends those from there on, numbered as before.
    """

    t: float
    of: int
    generation: int
    next_index: int


@dataclass(frozen=True, slots=True)
class Finished:
    """Reply `generation` was heard to its end."""

    t: float
    generation: int
    heard: str


@dataclass(frozen=True, slots=True)
class Cue:
    """A note on what the person did without words: `shakes_head`, `nods`, `sighs`, `looks_away`, `long_pause`."""

    t: float
    name: str
    person: str | None = None
    heard: str = ""                # words of the running reply that had been heard by then


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What became of a tool call."""

    t: float
    call: str
    result: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Who is there, sent when it changes: (name or id, azimuth rad, looks at the robot).

    seen: ids of those whose face is in sight.
    """

    t: float
    people: tuple[tuple[str, float, bool], ...]
    seen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """What the camera saw at t (s), as the bytes of a JPEG (n,). Only for an engine that was configured to see."""

    t: float
    jpeg: NDArray[np.uint8] = field(repr=False)


Request = Hear | Candidate | Commit | Prompt | Cancel | Resume | Finished | Cue | ToolResult | Surroundings | Picture


# replies: engine -> mind ------------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True)
class Transcript:
    """The person's words of a turn; final when it answers a commit, otherwise a guess made ahead."""

    turn: int
    text: str
    final: bool


@dataclass(frozen=True, slots=True)
class Clause:
    """A spoken piece of reply `generation`: its words and its sound (n,) at 16 kHz; index counts from 0.

    instead: takes the place of all clauses before it that have not begun (the engine changed its mind in mid-reply).
    joined: goes on in the same breath as the clause before: no gap is made between them, a resumed reply begins at the
    first of a breath.
    """

    generation: int
    index: int
    text: str
    samples: Samples
    instead: bool = False
    joined: bool = False


@dataclass(frozen=True, slots=True)
class ReplyDone:
    """No more clauses of this generation.

    silent: the engine chose to say nothing. yielded: it gives the floor away, what is not heard yet shall not be.
    """

    generation: int
    silent: bool = False
    yielded: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The engine asks the robot to do something: a name and arguments of `engines/tools.py`."""

    generation: int
    call: str
    name: str
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class EngineTrouble:
    """The engine (or its worker) failed, and is started again or connects again.

    generation: the reply it cost; 0: none, a message about the engine alone; None: whichever is running.
    """

    reason: str
    generation: int | None = None
    died: bool = False             # its process did, and is started again


@dataclass(frozen=True, slots=True)
class EngineReady:
    """The engine has started (again)."""

    name: str


@dataclass(frozen=True, slots=True)
class EngineHealth:
    """A part of the engine's own process has become worse or well again: its memory of people, say."""

    part: str
    level: Level
    reason: str


@dataclass(frozen=True, slots=True)
class EngineUsage:
    """What a reply has cost at the engine's server; the mind does nothing with it, the figures do.

    tokens: by kind, where the server tells them: `input_text`, `output_audio`, ... pieces: of its sound, each with the
    s that it took to come and the s that it sounds.
    """

    generation: int                                  # 0: nobody's
    tokens: tuple[tuple[str, int], ...] = ()
    pieces: tuple[tuple[float, float], ...] = ()


Reply = Transcript | Clause | ReplyDone | ToolCall | EngineTrouble | EngineReady | EngineHealth | EngineUsage


@dataclass(frozen=True, slots=True)
class Timed:
    """A reply with the compute time (s) that it cost its worker since the request or the reply before."""

    cost: float
    reply: object


class Engine(Protocol):
    """A conversation engine. `handle` yields its replies to one request, lazily, each with its declared cost.

    The worker stops iterating when a Cancel for the running generation arrives, then hands the Cancel over.
    """

    name: str

    def handle(self, request: Request) -> Iterator[Timed]: ...


# what the dialogue hands to the loudspeaker -----------------------------------------------------------------------

@dataclass(frozen=True, slots=True)
class SpeakerBlock:
    """10 ms for the loudspeaker. The last gate before the device drops every block whose generation is not live."""

    generation: int          # 0: silence of nobody's reply
    offset: int              # samples since the reply began
    samples: Samples = field(repr=False)  # (160,)


SILENCE = SpeakerBlock(0, 0, np.zeros(160, np.float32))
SILENCE.samples.flags.writeable = False
