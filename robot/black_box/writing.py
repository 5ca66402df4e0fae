"""A box on disk: tape.mcap (opens in Foxglove and in `talkover replay`), audio.wav, box.json.

The MCAP file holds a channel with a JSON schema for each kind of fact and, where sound may be kept, the exact inputs
and outputs of every tick and the mind at the beginning. Time in it counts from the start of the run, as everywhere.
Format: https://mcap.dev
"""
import json
import pickle
import wave
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mcap.writer import CompressionType, Writer

from perception.audio.block import SAMPLE_RATE_HZ, AudioBlock
from robot.black_box.facts import SCHEMAS, event_facts
from robot.black_box.ring import Record, Segment, mind_of
from robot.black_box.shelf import ABOUT
from robot.codec import encoded
from robot.tape import CHUNK_BYTES, MIND, NAME

VERSION = 1
ON_DISK = 1.8              # bytes of a box for one of its ring, 1.65 measured: sound again as a WAV, base64 in zstd
EXACT = {"inputs": "all that arrived in a tick (robot/tick.py)", "outputs": "all that the mind wanted done"}


@dataclass(frozen=True)
class Contents:
    """What goes into a box. unverifiable: why a replay cannot be compared; "" when it can."""

    segments: list[Segment]
    header: Mapping[str, Any]          # of a tape: builds the same mind again
    about: Mapping[str, Any]           # for box.json
    words: bool
    exact: bool                        # sound may be kept
    unverifiable: str

    def records(self) -> Iterator[Record]:
        for segment in self.segments:
            yield from segment.records()


def write_box(folder: Path, contents: Contents) -> None:
    """Fill an empty folder."""
    sound = _Sound(folder / "audio.wav")
    span: list[float] = []
    ticks = 0
    with (folder / NAME).open("wb") as file:
        tape = _Tape(file, contents)
        for record in contents.records():
            span, ticks = [*span[:1], record.t], ticks + 1
            blocks = tape.add(record)
            for block in blocks:
                sound.add(block)
        tape.close()
    sound.close()
    told = {"version": VERSION, **contents.about, "ticks": ticks, "from_s": span[0] if span else None,
            "to_s": span[-1] if span else None, "verifiable": not contents.unverifiable,
            "unverifiable_because": contents.unverifiable}
    (folder / ABOUT).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


class _Tape:
    """tape.mcap."""

    def __init__(self, file: Any, contents: Contents):
        self._words = contents.words
        self._writer = writer = Writer(file, chunk_size=CHUNK_BYTES, compression=CompressionType.ZSTD)
        writer.start(profile="talkover", library="talkover")
        writer.add_metadata("header", {"json": json.dumps(contents.header)})
        writer.add_metadata("box", {"json": json.dumps({**contents.about,
                                                        "unverifiable": contents.unverifiable})})
        mind = mind_of(contents.segments[0]) if contents.segments and not contents.unverifiable else None
        if mind is not None:
            writer.add_attachment(0, 0, MIND, "application/octet-stream", mind)
        exact = {name: {"title": name, "description": text, "type": "object"} for name, text in EXACT.items()}
        self._channels = {name: writer.register_channel(
            f"/{name}", "json", writer.register_schema(f"talkover.{name}", "jsonschema", json.dumps(schema).encode()))
            for name, schema in {**SCHEMAS, **(exact if contents.exact else {})}.items()}

    def add(self, record: Record) -> tuple[AudioBlock, ...]:
        """One tick; returns its sound."""
        stamp = round(record.t * 1e9)
        for event in record.events:
            self._put("events", json.dumps(event_facts(event, self._words)), stamp, record.tick)
        for change in record.health:
            self._put("health", json.dumps({"t": change.t, "part": change.part, "level": change.level,
                                            "reason": change.reason}), stamp, record.tick)
        for name, facts in (record.facts or {}).items():
            self._put(name, json.dumps(facts), stamp, record.tick)
        if record.pair is None:
            return ()
        inputs, outputs = pickle.loads(record.pair)
        self._put("inputs", encoded(inputs), stamp, record.tick)
        self._put("outputs", encoded(outputs), stamp, record.tick)
        return inputs.audio

    def _put(self, name: str, text: str, stamp: int, index: int) -> None:
        self._writer.add_message(self._channels[name], stamp, text.encode(), stamp, index)

    def close(self) -> None:
        self._writer.finish()


@dataclass
class _Sound:
    """audio.wav: all microphones, then what was handed to the loudspeaker; 16 bits, lost sound is silence."""

    path: Path
    _file: wave.Wave_write | None = None
    _channels: int = 0
    _from: float = 0.0
    _written: int = 0      # samples a channel

    def add(self, block: AudioBlock) -> None:
        if self._file is None:
            self._channels, self._from = len(block.mics) + 1, block.t
            self._file = wave.Wave_write(str(self.path))
            self._file.setparams((self._channels, 2, SAMPLE_RATE_HZ, 0, "NONE", ""))
        missing = round((block.t - self._from) * SAMPLE_RATE_HZ) - self._written
        for start in range(0, missing, SAMPLE_RATE_HZ):
            self._put(np.zeros((self._channels, min(SAMPLE_RATE_HZ, missing - start))))
        self._put(np.vstack([block.mics, block.reference[None]]))

    def _put(self, samples: np.ndarray) -> None:
        assert self._file is not None
        whole = np.clip(np.nan_to_num(samples), -1, 1) * 32767
        self._file.writeframesraw(whole.T.astype("<i2").tobytes())
        self._written += samples.shape[1]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
