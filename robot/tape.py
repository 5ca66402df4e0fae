"""The lossless record of a run: every input and output of every tick, in an MCAP file.

A replay feeds the recorded inputs to a fresh mind and compares its outputs with the recorded ones by `!=` on their
encoded form: every bit. Small chunks keep a cut file readable up to the cut. Format: https://mcap.dev
"""
import contextlib
import io
import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcap.exceptions import McapError
from mcap.records import Attachment, Message, Metadata
from mcap.records import Channel as McapChannel
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer

from robot.codec import decoded, encoded
from robot.errors import BadRequest
from robot.tick import Inputs, Outputs, Tick

NAME = "tape.mcap"
MIND = "mind"              # attachment: the mind before the first tick, of a recording that begins in mid-run
CHUNK_BYTES = 256 * 1024   # about half a second of four microphones: what a cut can cost


class TapeWriter:
    """An observer that writes one run into DIR/tape.mcap. header: what is needed to build the same mind again.

    A disk that is full or gone ends the tape, not the run. report: is told so, once.
    """

    def __init__(self, folder: Path, header: dict[str, Any], report: Callable[[str], None] = lambda text: None):
        folder.mkdir(parents=True, exist_ok=True)
        self._report, self.failed = report, False
        self._file = (folder / NAME).open("wb")
        self._writer = Writer(self._file, chunk_size=CHUNK_BYTES, compression=CompressionType.ZSTD)
        self._writer.start(profile="talkover", library="talkover")
        self._writer.add_metadata("header", {"json": json.dumps(header)})
        self._channels = {topic: self._writer.register_channel(topic, "json", 0) for topic in ("/inputs", "/outputs")}

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        if self.failed:
            return
        stamp = round(inputs.t * 1e9)
        try:
            for topic, value in (("/inputs", inputs), ("/outputs", tick.outputs)):
                self._writer.add_message(self._channels[topic], stamp, encoded(value).encode(), stamp, inputs.index)
        except OSError as error:
            self._end(error, inputs.index)

    def close(self) -> None:
        if self.failed or self._file.closed:
            return
        try:
            self._writer.finish()
            self._file.close()
        except OSError as error:
            self._end(error, None)

    def _end(self, error: OSError, index: int | None) -> None:
        self.failed = True
        where = "at its end" if index is None else f"at tick {index}"
        self._report(f"{self._file.name}: {error.strerror}; the recording stops {where}, the run goes on")
        with contextlib.suppress(OSError):      # said already
            self._file.close()


@dataclass(frozen=True)
class Tape:
    """A recording. cut: the file ends in the middle (a crash, a full disk); what came before the cut is whole."""

    path: Path
    header: dict[str, Any]
    pairs: list[tuple[Inputs, Outputs]] = field(repr=False)
    cut: bool = False
    box: dict[str, Any] | None = None                # what a black box says of itself
    mind: bytes | None = field(default=None, repr=False)    # before the first tick; None: a fresh one
    events: list[dict[str, Any]] = field(default_factory=list, repr=False)   # of a black box


def read_tape(folder: Path) -> Tape:
    """Read DIR/tape.mcap (or the file itself); BadRequest when there is none or it is no tape."""
    path = folder / NAME if folder.is_dir() else folder
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadRequest(f"{path}: {error.strerror}, expected a recording made by `talkover record`") from error
    metadata: dict[str, dict[str, Any]] = {}
    mind: bytes | None = None
    events: list[dict[str, Any]] = []
    inputs: dict[int, Inputs] = {}
    pairs: list[tuple[Inputs, Outputs]] = []
    cut = False
    try:
        for record, topic in _records(data):
            if isinstance(record, Metadata):
                metadata[record.name] = json.loads(record.metadata["json"])
            elif isinstance(record, Attachment) and record.name == MIND:
                mind = record.data
            elif isinstance(record, Message) and topic == "/events":
                events.append(json.loads(record.data))
            elif isinstance(record, Message) and topic == "/inputs":
                inputs[record.sequence] = decoded(record.data)
            elif isinstance(record, Message) and topic == "/outputs":
                pairs.append((inputs.pop(record.sequence), decoded(record.data)))
    except (McapError, EOFError, struct.error, BadRequest, ValueError, KeyError, TypeError) as error:
        if "header" not in metadata:
            raise BadRequest(f"{path}: {error}, expected an MCAP file of profile talkover") from error
        cut = True
    if "header" not in metadata:
        raise BadRequest(f"{path}: no header record, expected a recording made by `talkover record`")
    return Tape(path, metadata["header"], pairs, cut, metadata.get("box"), mind, events)


def _records(data: bytes) -> Iterator[tuple[Any, str | None]]:
    topics: dict[int, str] = {}
    for record in StreamReader(io.BytesIO(data)).records:
        if isinstance(record, McapChannel):
            topics[record.id] = record.topic
        yield record, topics.get(record.channel_id) if isinstance(record, Message) else None
