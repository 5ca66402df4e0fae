"""The lossless record of a run: every input and output of every tick, in an MCAP file.

A replay feeds the recorded inputs to a fresh mind and compares its outputs with the recorded ones by `!=` on their
encoded form: every bit. Small chunks keep a cut file readable up to the cut. Format: https://mcap.dev
"""
import io
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcap.exceptions import McapError
from mcap.records import Channel as McapChannel
from mcap.records import Message, Metadata
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer

from robot.codec import decoded, encoded
from robot.errors import BadRequest
from robot.tick import Inputs, Outputs, Tick

NAME = "tape.mcap"
CHUNK_BYTES = 256 * 1024   # about half a second of four microphones: what a cut can cost


class TapeWriter:
    """An observer that writes one run into DIR/tape.mcap. header: what is needed to build the same mind again."""

    def __init__(self, folder: Path, header: dict[str, Any]):
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / NAME).open("wb")
        self._writer = Writer(self._file, chunk_size=CHUNK_BYTES, compression=CompressionType.ZSTD)
        self._writer.start(profile="talkover", library="talkover")
        self._writer.add_metadata("header", {"json": json.dumps(header)})
        self._channels = {topic: self._writer.register_channel(topic, "json", 0) for topic in ("/inputs", "/outputs")}

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        for topic, value in (("/inputs", inputs), ("/outputs", tick.outputs)):
            stamp = round(inputs.t * 1e9)
            self._writer.add_message(self._channels[topic], stamp, encoded(value).encode(), stamp, inputs.index)

    def close(self) -> None:
        if not self._file.closed:
            self._writer.finish()
            self._file.close()


@dataclass(frozen=True)
class Tape:
    """A recording. cut: the file ends in the middle (a crash, a full disk); what came before the cut is whole."""

    path: Path
    header: dict[str, Any]
    pairs: list[tuple[Inputs, Outputs]] = field(repr=False)
    cut: bool = False


def read_tape(folder: Path) -> Tape:
    """Read DIR/tape.mcap (or the file itself); BadRequest when there is none or it is no tape."""
    path = folder / NAME if folder.is_dir() else folder
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadRequest(f"{path}: {error.strerror}, expected a recording made by `talkover record`") from error
    header: dict[str, Any] | None = None
    inputs: dict[int, Inputs] = {}
    pairs: list[tuple[Inputs, Outputs]] = []
    cut = False
    try:
        for record, topic in _records(data):
            if isinstance(record, Metadata) and record.name == "header":
                header = json.loads(record.metadata["json"])
            elif isinstance(record, Message) and topic == "/inputs":
                inputs[record.sequence] = decoded(record.data)
            elif isinstance(record, Message) and topic == "/outputs":
                pairs.append((inputs.pop(record.sequence), decoded(record.data)))
    except (McapError, EOFError, struct.error, BadRequest, ValueError, KeyError, TypeError) as error:
        if header is None:
            raise BadRequest(f"{path}: {error}, expected an MCAP file of profile talkover") from error
        cut = True
    if header is None:
        raise BadRequest(f"{path}: no header record, expected a recording made by `talkover record`")
    return Tape(path, header, pairs, cut)


def _records(data: bytes) -> Iterator[tuple[Any, str | None]]:
    topics: dict[int, str] = {}
    for record in StreamReader(io.BytesIO(data)).records:
        if isinstance(record, McapChannel):
            topics[record.id] = record.topic
        yield record, topics.get(record.channel_id) if isinstance(record, Message) else None
