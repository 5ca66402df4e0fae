"""The newest value shared by two processes: what is given is whole, whatever the writer does meanwhile."""
import mmap
import struct

from robot.bodies import latest, ring
from robot.bodies.latest import LatestValue
from robot.bodies.ring import Ring


class Interrupted:
    """zlib whose checks are followed by the other process's next write."""

    def __init__(self, real, write):
        self.real, self.write = real, write

    def crc32(self, data):
        out = self.real.crc32(data)
        write, self.write = self.write, lambda: None
        write()
        return out


def test_a_value_that_is_overwritten_right_after_the_check_is_still_whole(monkeypatch):
    memory = mmap.mmap(-1, 128)
    writer, reader = LatestValue(memory, 0, 64), LatestValue(memory, 0, 64)
    writer.write(b"a" * 30)
    monkeypatch.setattr(latest, "zlib", Interrupted(latest.zlib, lambda: memory.__setitem__(slice(10, 40), b"b" * 30)))
    assert reader.read() == (1, b"a" * 30)


def test_a_record_that_is_overwritten_right_after_the_check_is_still_whole(monkeypatch):
    memory = mmap.mmap(-1, Ring.total_bytes(4, 32))
    writer, reader = Ring(memory, 0, 4, 32), Ring(memory, 0, 4, 32)
    writer.write(b"a" * 30)
    place = bytes(memory).index(b"a" * 30)
    monkeypatch.setattr(ring, "zlib", Interrupted(ring.zlib, lambda: memory.__setitem__(slice(place, place + 30),
                                                                                       b"b" * 30)))
    assert reader.read() == [b"a" * 30]


def test_a_half_written_value_is_none():
    memory = mmap.mmap(-1, 128)
    writer, reader = LatestValue(memory, 0, 64), LatestValue(memory, 0, 64)
    assert reader.read() == (0, b"")
    writer.write(b"whole")
    memory[12:13] = struct.pack("B", 255)
    assert reader.read() == (0, b"")
