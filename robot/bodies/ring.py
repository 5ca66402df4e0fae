"""A ring of records shared by two processes: one writes, one reads, nobody waits; a late reader loses old ones."""
import mmap
import struct
import zlib

_FRAME = struct.Struct("<IIH")     # CRC-32 of the rest, count, bytes of the record


class Ring:
    """`slots` records of up to `size` bytes in shared memory.

    Each record carries its count and a check sum over both, so that a reader tells a record that is not there yet, one
    that was overtaken and one that is half written, on every processor; neither side needs the other's position.
    """

    def __init__(self, memory: mmap.mmap, start: int, slots: int, size: int):
        self._memory, self._start, self._slots, self._size = memory, start, slots, self.record_bytes(size)
        self.capacity = size
        self._count = 0                # of records written or read here
        self.lost = 0                  # records that were overwritten before they were read

    @staticmethod
    def record_bytes(size: int) -> int:
        return _FRAME.size + size

    @classmethod
    def total_bytes(cls, slots: int, size: int) -> int:
        return slots * cls.record_bytes(size)

    def write(self, record: bytes) -> None:
        if len(record) > self.capacity:
            raise ValueError(f"{len(record)} bytes for a record of {self.capacity}")
        self._count = self._count % 0xFFFFFFFF + 1         # 0 is memory that was never written
        body = struct.pack("<IH", self._count, len(record)) + record
        at = self._place(self._count)
        self._memory[at:at + 4 + len(body)] = struct.pack("<I", zlib.crc32(body)) + body

    def read(self) -> list[bytes]:
        """All records since the call before, oldest first. After an overrun: the newest half of the ring."""
        out = []
        while True:
            wanted = self._count % 0xFFFFFFFF + 1
            count, record = self._record(self._place(wanted))
            if count == wanted:
                self._count = wanted
                out.append(record)
            elif count and 0 < (count - wanted) % 0xFFFFFFFF < 1 << 31:       # the writer has lapped this reader
                ahead = max(wanted, count - self._slots // 2)
                self.lost += ahead - wanted
                self._count = ahead - 1
            else:
                return out

    def _place(self, count: int) -> int:
        return self._start + (count % self._slots) * self._size

    def _record(self, at: int) -> tuple[int, bytes]:
        """(count, record) of a whole record; count 0 when it is none."""
        crc, count, length = _FRAME.unpack_from(self._memory, at)
        body = self._memory[at + 4:at + _FRAME.size + min(length, self.capacity)]
        if count and zlib.crc32(body) == crc:       # what was checked is given: the writer goes on
            return count, body[_FRAME.size - 4:]
        return 0, b""
