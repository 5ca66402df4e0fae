"""The newest value, shared by two processes: one writes, one reads, nobody waits, nothing grows."""
import mmap
import struct
import zlib

_FRAME = struct.Struct("<IIH")     # CRC-32 of the rest, count, bytes of the value
ATTEMPTS = 3                       # a torn read meets a write of microseconds; the next one is whole


class LatestValue:
    """A slot of `size` bytes in shared memory. The check sum tells a half-written value, on every processor."""

    def __init__(self, memory: mmap.mmap, start: int, size: int):
        self._memory, self._start = memory, start
        self.capacity = size - _FRAME.size
        self._count: int = _FRAME.unpack_from(memory, start)[1]     # a writer may take over from one that died

    def write(self, value: bytes) -> None:
        if len(value) > self.capacity:
            raise ValueError(f"{len(value)} bytes for a slot of {self.capacity}")
        self._count = self._count + 1 & 0xFFFFFFFF
        body = struct.pack("<IH", self._count, len(value)) + value
        end = self._start + 4 + len(body)
        self._memory[self._start:end] = struct.pack("<I", zlib.crc32(body)) + body

    def read(self) -> tuple[int, bytes]:
        """(count, value); count 0 before the first write or when every attempt met a writer."""
        for _ in range(ATTEMPTS):
            crc, count, length = _FRAME.unpack_from(self._memory, self._start)
            body = self._memory[self._start + 4:self._start + _FRAME.size + min(length, self.capacity)]
            if count and zlib.crc32(body) == crc:   # what was checked is given: the writer goes on
                return count, body[_FRAME.size - 4:]
        return 0, b""
