"""The ring shared by two processes."""
import mmap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot.bodies.ring import Ring

SLOTS, SIZE = 8, 16
QUICK = settings(deadline=None, max_examples=60, derandomize=True)


def pair() -> tuple[Ring, Ring, mmap.mmap]:
    memory = mmap.mmap(-1, Ring.total_bytes(SLOTS, SIZE) + 32)
    return Ring(memory, 32, SLOTS, SIZE), Ring(memory, 32, SLOTS, SIZE), memory


def record(number: int) -> bytes:
    return number.to_bytes(4, "little") * (1 + number % 4)


@QUICK
@given(st.lists(st.integers(0, SLOTS), max_size=30))
def test_a_reader_that_keeps_up_gets_every_record_once_and_in_order(bursts):
    writer, reader, _ = pair()
    written, got = [], []
    for burst in bursts:
        for _ in range(burst):
            written.append(record(len(written)))
            writer.write(written[-1])
        got += reader.read()
    assert got == written and reader.lost == 0


@QUICK
@given(st.lists(st.integers(0, 4 * SLOTS), min_size=1, max_size=12))
def test_a_late_reader_loses_old_records_never_order_and_counts_them(bursts):
    writer, reader, _ = pair()
    total, got = 0, []
    for burst in bursts:
        for _ in range(burst):
            writer.write(record(total))
            total += 1
        got += reader.read()
    numbers = [int.from_bytes(data[:4], "little") for data in got]
    assert numbers == sorted(set(numbers)) and all(record(n) == data for n, data in zip(numbers, got, strict=True))
    assert reader.lost + len(got) == total
    assert not total or numbers[-1] == total - 1


def test_half_written_records_are_not_there_yet():
    writer, reader, memory = pair()
    writer.write(b"whole")
    before = bytes(memory)
    writer.write(b"second")
    changed = next(i for i in range(len(before) - 1, 0, -1) if before[i] != memory[i])
    memory[changed] = before[changed]
    assert reader.read() == [b"whole"]
    memory[changed] = b"second"[-1]
    assert reader.read() == [b"second"]


def test_a_record_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="17 bytes for a record of 16"):
        pair()[0].write(bytes(17))
