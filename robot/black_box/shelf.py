"""The folder of boxes: names in the order of their making, bounded on the disk, gone when asked.

A name begins with a count; the wall clock only decorates it, because it may jump (no network at boot, a reset battery).
"""
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = re.compile(r"(\d{4,})_")
UNFINISHED = ".unfinished"       # suffix of a box that is being written, or was when the power went
ABOUT = "box.json"


class NoRoom(OSError):
    """The disk, or what boxes may take of it, is too full."""


@dataclass(frozen=True)
class Shelf:
    """Boxes in `folder`. most: bytes of all boxes. spare: bytes that stay free on the disk."""

    folder: Path
    most: float
    spare: float

    def boxes(self) -> list[Path]:
        """Whole boxes, oldest first."""
        if not self.folder.is_dir():
            return []
        return sorted((path for path in self.folder.iterdir() if NAME.match(path.name) and
                       path.suffix != UNFINISHED and path.is_dir()), key=count)

    def put(self, stamp: str, need: float, fill: Callable[[Path], None]) -> Path:
        """A new box, whole or not at all. stamp: for people. need: bytes, about. fill: writes into an empty folder."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._sweep()
        self._make_room(need)
        number = 1 + max((count(box) for box in self.boxes()), default=0)
        box = self.folder / f"{number:04d}_{re.sub('[^0-9A-Za-z.-]', '.', stamp)}"
        unfinished = box.with_name(box.name + UNFINISHED)
        unfinished.mkdir(mode=0o700)
        try:
            fill(unfinished)
            _settle(unfinished)
            if size(unfinished) > self.most:
                raise NoRoom(f"a box of {size(unfinished) / 1e6:.0f} MB, expected at most disk_mb = "
                             f"{self.most / 1e6:.0f}")
            unfinished.rename(box)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        _settle(self.folder)
        self._drop(lambda: sum(size(box) for box in self.boxes()) > self.most, keep=1)
        return box

    def forget(self) -> list[Path]:
        """Delete every box, whole or not; returns their paths."""
        gone = sorted(self.folder.iterdir()) if self.folder.is_dir() else []
        gone = [path for path in gone if NAME.match(path.name)]
        for path in gone:
            shutil.rmtree(path)
        return gone

    def _make_room(self, need: float) -> None:
        if need > self.most:
            raise NoRoom(f"a box of about {need / 1e6:.0f} MB, expected at most disk_mb = {self.most / 1e6:.0f}")
        wanted = need + self.spare
        if self._free() + sum(size(box) for box in self.boxes()) < wanted:     # no old box goes for nothing
            raise NoRoom(f"{self.folder}: {self._free() / 1e6:.0f} MB are free, expected {wanted / 1e6:.0f} "
                         "(free_mb and the box)")
        self._drop(lambda: self._free() < wanted, keep=0)

    def _drop(self, while_: Callable[[], bool], keep: int) -> None:
        boxes = self.boxes()
        while len(boxes) > keep and while_():
            shutil.rmtree(boxes.pop(0))

    def _free(self) -> int:
        return shutil.disk_usage(self.folder).free

    def _sweep(self) -> None:
        """What a crash left half written is no box."""
        for path in self.folder.glob(f"*{UNFINISHED}"):
            shutil.rmtree(path)


def count(box: Path) -> int:
    """The number that a box's name begins with."""
    found = NAME.match(box.name)
    return int(found[1]) if found else 0


def size(box: Path) -> int:
    """Bytes of a box."""
    return sum(path.stat().st_size for path in box.rglob("*"))


def about(box: Path) -> dict[str, Any] | None:
    """What box.json says; None when it is damaged."""
    try:
        told = json.loads((box / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) else None


def _settle(folder: Path) -> None:
    """What is in a folder survives a power cut from here on."""
    for path in (*folder.iterdir(), folder):
        if path.is_file() or path == folder:
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
