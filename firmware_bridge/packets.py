"""Dynamixel Protocol 2.0 as a pure core: bytes in, packets out, and back. No ports, no waiting.

Source: ROBOTIS e-manual, https://emanual.robotis.com/docs/en/dxl/protocol2/ and .../dxl/crc/. A packet is
`FF FF FD 00 | id | length lo hi | instruction | parameters | crc lo hi`, length = parameters + 3. `FF FF FD` inside
instruction and parameters is sent as `FF FF FD FD`; the extra byte counts in length and CRC. A status packet has
instruction 0x55 and an error byte as its first parameter.
"""
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

HEADER = b"\xff\xff\xfd\x00"
PATTERN, STUFFED = b"\xff\xff\xfd", b"\xff\xff\xfd\xfd"
FRAME = 7                  # bytes before the instruction
CRC_BYTES = 2
STATUS_BYTES = FRAME + 4   # a status packet without data: frame, instruction, error, CRC
BROADCAST = 0xFE
HIGHEST_ID = 252
# The longest packet on our buses is a sync write of goals (59 bytes) or a whole register block (139). A damaged length
# above this is known to be damaged at once, so that it cannot swallow the packets after it.
LONGEST = 512

PING, READ, WRITE, REG_WRITE, ACTION, REBOOT, CLEAR = 0x01, 0x02, 0x03, 0x04, 0x05, 0x08, 0x10
STATUS, SYNC_READ, SYNC_WRITE, BULK_READ, BULK_WRITE = 0x55, 0x82, 0x83, 0x92, 0x93

ALERT = 0x80               # error byte: look at the hardware error register
RESULT_FAIL, BAD_INSTRUCTION, BAD_CRC, BAD_RANGE, BAD_LENGTH, OVER_LIMIT, NO_ACCESS = range(1, 8)

Goals = Iterable[tuple[int, bytes]]   # (servo id, little-endian register bytes)


class NotAPacket(ValueError):
    """What was to be sent does not fit the protocol."""


def _crc_tables() -> tuple[list[int], list[int]]:
    """CRC-16 of each byte and of each big-endian 16-bit word: polynomial 0x8005, start 0, MSB first, no final XOR."""
    values = np.arange(256, dtype=np.uint32) << 8
    for _ in range(8):
        values = np.where(values & 0x8000, values << 1 ^ 0x8005, values << 1) & 0xFFFF
    words = np.arange(65536)
    after_first = values[words >> 8]
    pairs = (after_first << 8 & 0xFFFF) ^ values[(after_first >> 8) ^ (words & 0xFF)]
    return values.tolist(), pairs.tolist()


_BYTE_CRC, _WORD_CRC = _crc_tables()


def crc16(data: bytes | bytearray) -> int:
    """CRC of a packet from its header to its last parameter; crc16(b"123456789") is 0xFEE8."""
    crc = 0
    count = len(data)
    words = _WORD_CRC
    for word in struct.unpack_from(f">{count >> 1}H", data):   # two bytes a step: half the look-ups
        crc = words[crc ^ word]
    if count & 1:
        crc = (crc << 8 & 0xFFFF) ^ _BYTE_CRC[crc >> 8 ^ data[-1]]
    return crc


# what we send ------------------------------------------------------------------------------------------------------

def encode(servo: int, instruction: int, parameters: bytes = b"") -> bytes:
    """The bytes of one packet."""
    if not (0 <= servo <= HIGHEST_ID or servo == BROADCAST):
        raise NotAPacket(f"servo id {servo}: expected 0 to {HIGHEST_ID} or {BROADCAST} (all)")
    body = bytes((instruction,)) + parameters
    if PATTERN in body:
        body = body.replace(PATTERN, STUFFED)
    length = len(body) + CRC_BYTES
    if FRAME + length > LONGEST:
        raise NotAPacket(f"{len(parameters)} parameter bytes for servo {servo}: expected a packet of at most {LONGEST}")
    packet = HEADER + struct.pack("<BH", servo, length) + body
    return packet + struct.pack("<H", crc16(packet))


def ping(servo: int) -> bytes:
    return encode(servo, PING)


def read(servo: int, address: int, size: int) -> bytes:
    return encode(servo, READ, struct.pack("<HH", address, size))


def write(servo: int, address: int, data: bytes) -> bytes:
    return encode(servo, WRITE, struct.pack("<H", address) + data)


def reboot(servo: int) -> bytes:
    return encode(servo, REBOOT)


def sync_read(servos: Sequence[int], address: int, size: int) -> bytes:
    """Asks all named servos for the same registers; each answers with a status of its own, in the order asked."""
    return encode(BROADCAST, SYNC_READ, struct.pack("<HH", address, size) + bytes(servos))


def sync_write(address: int, size: int, goals: Goals) -> bytes:
    """Writes `size` bytes at `address` of each named servo. Nobody answers."""
    body = [struct.pack("<HH", address, size)]
    for servo, data in goals:
        if len(data) != size:
            raise NotAPacket(f"servo {servo}: {len(data)} bytes to write, expected {size}")
        body += bytes((servo,)), data
    return encode(BROADCAST, SYNC_WRITE, b"".join(body))


def status(servo: int, error: int = 0, data: bytes = b"") -> bytes:
    """What a servo answers."""
    return encode(servo, STATUS, bytes((error,)) + data)


# what we receive ---------------------------------------------------------------------------------------------------

class Packet(NamedTuple):
    """One whole packet with a right CRC, stuffing taken out. Of a status, parameters start with the error byte."""

    servo: int
    instruction: int
    parameters: bytes

    @property
    def is_status(self) -> bool:
        return self.instruction == STATUS and len(self.parameters) > 0

    @property
    def alert(self) -> bool:
        """A latched hardware error. The data of such a status is as good as any other."""
        return bool(self.parameters[0] & ALERT)

    @property
    def error(self) -> int:
        """0, or why the instruction was refused."""
        return self.parameters[0] & ~ALERT

    @property
    def data(self) -> bytes:
        return self.parameters[1:]


@dataclass(slots=True)
class PacketReader:
    """Finds packets in a stream that may be cut anywhere and may hold noise. Counts what was wrong, never raises."""

    wrong_crc: int = 0      # candidates whose CRC did not match
    garbage: int = 0        # bytes that belonged to no packet
    _buffer: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> list[Packet]:
        """The packets that are complete with these bytes."""
        self._buffer += data
        return self._scan(silence=False)

    def silence(self) -> list[Packet]:
        """The line went quiet: a packet cut short will not be finished, so look for others behind its header."""
        return self._scan(silence=True) if self._buffer else []

    def _scan(self, silence: bool) -> list[Packet]:
        buffer, at = self._buffer, 0
        found: list[Packet] = []
        while True:
            start = buffer.find(HEADER, at)
            if start < 0:
                keep = 0 if silence else _header_begun(buffer, at)
                self.garbage += len(buffer) - keep - at
                at = len(buffer) - keep
                break
            self.garbage += start - at
            at = start
            size = _packet_size(buffer, start)
            if size is None or start + size > len(buffer):
                if size == 0 or silence:
                    self.garbage += 1
                    at = start + 1
                    continue
                break
            if size == 0 or not self._checked(buffer[start:start + size], found):
                self.garbage += 1
                at = start + 1
                continue
            at = start + size
        del buffer[:at]
        return found

    def _checked(self, packet: bytearray, found: list[Packet]) -> bool:
        if crc16(packet[:-CRC_BYTES]) != packet[-2] | packet[-1] << 8:
            self.wrong_crc += 1
            return False
        body = bytes(packet[FRAME:-CRC_BYTES])
        if STUFFED in body:
            body = body.replace(STUFFED, PATTERN)
        found.append(Packet(packet[4], body[0], body[1:]))
        return True


def _packet_size(buffer: bytearray, start: int) -> int | None:
    """Bytes of the packet whose header is at start; 0 when no packet looks like this, None when it cannot be told."""
    if start + FRAME > len(buffer):
        return None
    length = buffer[start + 5] | buffer[start + 6] << 8
    servo = buffer[start + 4]
    if length < CRC_BYTES + 1 or FRAME + length > LONGEST or (servo > HIGHEST_ID and servo != BROADCAST):
        return 0
    return FRAME + length


def _header_begun(buffer: bytearray, at: int) -> int:
    """How many bytes at the end may be the beginning of a header."""
    for count in range(min(len(HEADER) - 1, len(buffer) - at), 0, -1):
        if buffer.endswith(HEADER[:count]):
            return count
    return 0
