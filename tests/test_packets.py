"""Protocol 2.0 byte by byte, against the examples that ROBOTIS prints in its e-manual (docs/en/dxl/protocol2/)."""
import pytest

from firmware_bridge import packets
from firmware_bridge.bus_line import BusLine
from firmware_bridge.bus_settings import BusSettings
from firmware_bridge.packets import PacketReader, crc16


def hexed(text: str) -> bytes:
    return bytes.fromhex(text)


def read_one(data: bytes) -> packets.Packet:
    (packet,) = PacketReader().feed(data)
    return packet


def test_crc_check_word():
    assert crc16(b"123456789") == 0xFEE8
    assert crc16(b"") == 0


@pytest.mark.parametrize("count", range(1, 12))
def test_crc_of_every_length_equals_the_bitwise_definition(count):
    data = bytes((37 * i + 11) % 256 for i in range(count))
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8005 if crc & 0x8000 else crc << 1) & 0xFFFF
    assert crc16(data) == crc


@pytest.mark.parametrize("made, printed", [
    (packets.ping(1), "FF FF FD 00 01 03 00 01 19 4E"),
    (packets.ping(packets.BROADCAST), "FF FF FD 00 FE 03 00 01 31 42"),
    (packets.read(1, 132, 4), "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15"),
    (packets.write(1, 116, (512).to_bytes(4, "little")), "FF FF FD 00 01 09 00 03 74 00 00 02 00 00 CA 89"),
    (packets.reboot(1), "FF FF FD 00 01 03 00 08 2F 4E"),
    (packets.sync_read((1, 2), 132, 4), "FF FF FD 00 FE 09 00 82 84 00 04 00 01 02 CE FA"),
    (packets.sync_write(116, 4, [(1, (150).to_bytes(4, "little")), (2, (170).to_bytes(4, "little"))]),
     "FF FF FD 00 FE 11 00 83 74 00 04 00 01 96 00 00 00 02 AA 00 00 00 82 87"),
    (packets.encode(1, packets.REG_WRITE, hexed("68 00 C8 00 00 00")),
     "FF FF FD 00 01 09 00 04 68 00 C8 00 00 00 AE 8E"),
    (packets.encode(1, packets.ACTION), "FF FF FD 00 01 03 00 05 02 CE"),
    (packets.encode(packets.BROADCAST, packets.BULK_READ, hexed("01 90 00 02 00 02 92 00 01 00")),
     "FF FF FD 00 FE 0D 00 92 01 90 00 02 00 02 92 00 01 00 1A 05"),
    (packets.status(1, 0, hexed("A6 00 00 00")), "FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0"),
    (packets.status(1), "FF FF FD 00 01 04 00 55 00 A1 0C"),
])
def test_the_manual_s_examples_are_made_and_read(made, printed):
    assert made == hexed(printed)
    packet = read_one(hexed(printed))
    assert packets.encode(packet.servo, packet.instruction, packet.parameters) == made


def test_stuffing_is_added_counted_and_taken_out():
    data = hexed("FF FF FD FF FF FD FD 00")
    made = packets.write(3, 116, data)
    assert made.count(hexed("FF FF FD FD")) == 2
    assert made[5] | made[6] << 8 == 3 + 2 + len(data) + 2
    assert read_one(made).parameters[2:] == data


def test_a_status_with_the_alert_bit_still_carries_its_data():
    """Field log F51: replies of a servo with a latched error were thrown away, so the error could not be read."""
    packet = read_one(packets.status(13, packets.ALERT, b"\x20"))
    assert packet.is_status and packet.alert and packet.error == 0
    assert packet.data == b"\x20"
    refused = read_one(packets.status(13, packets.ALERT | packets.NO_ACCESS))
    assert refused.alert and refused.error == packets.NO_ACCESS


@pytest.mark.parametrize("bits", [0x01, 0x04, 0x10, 0x20, 0x35])
def test_replies_with_the_alert_bit_are_answers_like_any_other_on_the_line(bits):
    """Field log F51, the whole kind: each latched error, a single read and a sync read, byte by byte."""
    body = hexed("FF FF FD 00 0D 05 00 55 80") + bytes((bits,))
    crc = 0
    for byte in body:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8005 if crc & 0x8000 else crc << 1) & 0xFFFF
    answer = body + crc.to_bytes(2, "little")

    class Wire:
        def write(self, data: bytes) -> None: ...
        def read(self, count: int, timeout: float) -> bytes:
            return (answer + packets.status(14, 0, b"\x00"))[:count] if timeout else b""

    line = BusLine(Wire(), BusSettings())
    found = line.ask(packets.read(13, 70, 1), (13,), 1, 0.002)
    assert found[13].alert and found[13].data == bytes((bits,)) and found[13].error == 0
    both = line.ask(packets.sync_read((13, 14), 70, 1), (13, 14), 1, 0.002)
    assert both[13].data == bytes((bits,)) and not both[14].alert
    assert line.statistics.alerts == 2 and line.statistics.missing == 0


def test_a_wrong_crc_is_counted_and_costs_one_packet_only():
    good, reader = packets.status(11, 0, b"\x01\x02\x03\x04"), PacketReader()
    bad = good[:-1] + bytes((good[-1] ^ 1,))
    assert reader.feed(bad + good) == [read_one(good)]
    assert reader.wrong_crc == 1


@pytest.mark.parametrize("lost", range(15))
def test_a_dropped_byte_costs_one_packet_only(lost):
    good, reader = packets.status(11, 0, b"\x01\x02\x03\x04"), PacketReader()
    cut = good[:lost] + good[lost + 1:]
    found = reader.feed(cut + packets.status(12)) + reader.silence()
    assert [packet.servo for packet in found] == [12]


def test_a_length_that_was_damaged_does_not_swallow_what_follows():
    reader = PacketReader()
    long = packets.HEADER + bytes((11, 200, 1, 0x55, 0))      # claims 456 bytes
    assert reader.feed(long + packets.status(12)) == []
    assert [packet.servo for packet in reader.silence()] == [12]
    assert reader.silence() == []


@pytest.mark.parametrize("length", [0, 1, 2, 506, 600, 65535])
def test_an_impossible_length_costs_nothing_that_follows(length):
    reader, good = PacketReader(), packets.status(12)
    found = reader.feed(packets.HEADER + bytes((11,)) + length.to_bytes(2, "little") + good)
    assert [packet.servo for packet in found] == [12] and reader.silence() == []


@pytest.mark.parametrize("cut", range(1, 30))
def test_packets_may_be_cut_anywhere(cut):
    reader = PacketReader()
    stream = b"\xff\xff" + packets.status(11, 0, b"\x01\x02\x03\x04") + packets.status(12, 0, b"\x09")
    found = reader.feed(stream[:cut]) + reader.feed(stream[cut:])
    assert [packet.servo for packet in found] == [11, 12] and reader.garbage == 2 and reader.wrong_crc == 0


def test_a_status_of_somebody_else_is_counted_and_not_taken():
    class Wire:
        def write(self, data: bytes) -> None: ...
        def read(self, count: int, timeout: float) -> bytes:
            return packets.status(99, 0, b"\x20") if timeout else b""

    line = BusLine(Wire(), BusSettings())
    assert line.ask(packets.read(13, 70, 1), (13,), 1, 0.002) == {}
    assert line.statistics.unexpected > 0 and line.statistics.missing == 1


def test_what_does_not_fit_the_protocol_is_refused():
    with pytest.raises(packets.NotAPacket, match="servo id 253"):
        packets.ping(253)
    with pytest.raises(packets.NotAPacket, match="expected 4"):
        packets.sync_write(116, 4, [(1, b"\0")])
    with pytest.raises(packets.NotAPacket, match="at most"):
        packets.write(1, 0, bytes(600))
