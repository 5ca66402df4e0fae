"""Whatever is sent is read back, however the line cuts it and whatever noise lies between."""
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge import packets
from firmware_bridge.packets import HEADER, Packet, PacketReader

STEADY = settings(deadline=None, derandomize=True, max_examples=150)

# Bytes that make stuffing and false headers likely.
spiteful = st.lists(st.sampled_from([0xFF, 0xFD, 0x00, 0x55, 0x07]), max_size=40).map(bytes)
parameters = st.one_of(spiteful, st.binary(max_size=60))
a_packet = st.builds(Packet, st.integers(0, 252), st.sampled_from([0x02, 0x03, 0x55, 0x82, 0x83]), parameters)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted(place % (len(data) + 1) for place in places)
    return [data[a:b] for a, b in zip([0, *ends], [*ends, len(data)], strict=True)]


@STEADY
@given(st.lists(a_packet, max_size=6), st.lists(st.integers(0, 10_000), max_size=12))
def test_packets_survive_any_cut(sent, places):
    stream = b"".join(packets.encode(*packet) for packet in sent)
    reader = PacketReader()
    found = [packet for piece in cut(stream, places) for packet in reader.feed(piece)]
    assert found == sent
    assert reader.garbage == reader.wrong_crc == 0


@STEADY
@given(a_packet)
def test_no_packet_holds_a_header_but_its_own(packet):
    body = packets.encode(*packet)[len(HEADER):-2]
    assert HEADER[:3] + b"\x00" not in body


@STEADY
@given(st.lists(st.tuples(spiteful, a_packet), max_size=5), spiteful)
def test_noise_between_packets_costs_no_packet(pairs, tail):
    stream = b"".join(noise + packets.encode(*packet) for noise, packet in pairs) + tail
    reader = PacketReader()
    found = reader.feed(stream) + reader.silence()
    wanted = [packet for _, packet in pairs]
    assert [packet for packet in found if packet in wanted][:len(wanted)] == wanted
    assert reader.silence() == []


@STEADY
@given(st.binary(max_size=300), st.lists(st.integers(0, 10_000), max_size=8))
def test_noise_alone_raises_nothing_and_does_not_pile_up(noise, places):
    reader = PacketReader()
    for piece in cut(noise, places):
        reader.feed(piece)
    reader.silence()
    assert len(reader._buffer) == 0


@STEADY
@given(a_packet, st.integers(0, 10_000), st.integers(1, 255))
def test_one_damaged_byte_is_never_believed(packet, place, flip):
    sent = bytearray(packets.encode(*packet))
    sent[place % len(sent)] ^= flip
    reader = PacketReader()
    assert packet not in reader.feed(bytes(sent)) + reader.silence()
