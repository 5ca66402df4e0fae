"""The log of a live run: one line an event with its reason, no words, and no waiting."""
import os
import resource
import socket
from contextlib import closing

import pytest

from calibration.health import Health
from robot.service.log import Journal, Log, LogConfig, Stream, sink_of
from robot.tick import Event
from tests.service_ends import Kept, Manager, inputs_of, tick_of

SAID = Event(3.0, "turn_committed", (("turn", 1), ("guess", "my secret"), ("reason", "complete")))


def test_one_line_an_event_with_its_reason_and_no_words():
    sink = Kept()
    log = Log(sink)
    log(inputs_of(3.0, Health(2.99, "camera", "gone", "unplugged")),
        tick_of(SAID, Event(3.0, "heard_text", (("text", "secret"),))))
    assert [line[:2] for line in sink.lines] == [
        (4, "health t=2.990 of=camera level=gone: unplugged"), (6, "turn_committed t=3.000 turn=1: complete")]
    assert "secret" not in str(sink.lines)


def test_words_are_written_when_the_settings_allow_it():
    sink = Kept()
    Log(sink, LogConfig("debug", words=True))(inputs_of(3.0), tick_of(SAID))
    assert sink.lines[0][1] == 'turn_committed t=3.000 turn=1 guess="my secret": complete'


def test_lost_lines_are_counted_and_told_when_there_is_room_again():
    sink = Kept(room=1)
    log = Log(sink)
    for number in range(4):
        log.note("info", "test", str(number))
    assert log.lost == 3
    sink.room = 9
    log.note("info", "test", "again")
    assert [text for _, text, _ in sink.lines] == ["test: 0", "log_lost count=3: nobody took the lines", "test: again"]


@pytest.mark.parametrize("pair", [os.pipe, lambda: tuple(s.detach() for s in reversed(socket.socketpair()))])
def test_a_full_pipe_or_socket_stalls_nothing_and_no_line_is_torn(pair):
    reader, writer = pair()
    stream = Stream(writer, prefix=True)
    taken = [stream.send(6, f"{number:07d} {'x' * 1000}", {}) for number in range(2000)]
    assert not all(taken) and taken[0]
    assert os.get_blocking(writer)                      # whoever shares it is not disturbed
    os.set_blocking(reader, False)
    got, last = b"", -1
    for number in (1, 2):
        try:
            while data := os.read(reader, 1 << 20):
                got += data
        except BlockingIOError:
            stream.send(6, f"end {number}", {})
    lines = got.decode().splitlines()
    assert lines[-1] == "<6>end 1"
    for line in lines[:-1]:
        assert line.startswith("<6>") and len(line) == 3 + 8 + 1000 and int(line[3:10]) > last
        last = int(line[3:10])
    assert len(lines) - 1 == sum(taken)
    os.close(reader)
    assert stream.send(6, "nobody reads", {})           # neither a signal nor an exception
    stream.close()
    os.close(writer)


def test_a_file_takes_plain_lines(tmp_path):
    with (tmp_path / "log").open("w") as file:
        sink = sink_of({}, file.fileno())
        sink.send(4, "two\nlines", {})
        sink.close()
    assert (tmp_path / "log").read_text() == "two\nlines\n"


def test_a_full_disk_loses_and_tears_no_line(tmp_path):
    """A limit on file size stands for the full disk: the same error from the same calls."""
    path, before = tmp_path / "log", resource.getrlimit(resource.RLIMIT_FSIZE)
    with path.open("w") as file:
        log = Log(Stream(file.fileno()))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        try:
            for number in range(100):
                log.note("info", "test", f"{number:03d} {'x' * 20}")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert path.stat().st_size == 1000 and log.lost == 0
        log.note("info", "test", "room again")
        log.sink.close()
    lines = path.read_text().splitlines()
    assert lines == [f"test: {number:03d} {'x' * 20}" for number in range(100)] + ["test: room again"]


def test_under_systemd_facts_are_fields_of_the_journal(tmp_path):
    journal = Manager(str(tmp_path / "journal"))
    reader, writer = os.pipe()
    status = os.fstat(writer)
    environment = {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}
    with closing(sink_of(environment, writer, journal.address)) as sink:
        assert isinstance(sink, Journal)
        sink.send(4, "one\ntwo", {"of": "camera", "level": "gone"})
    data = journal.socket.recv(4096)
    assert b"MESSAGE\n\x07\0\0\0\0\0\0\0one\ntwo\n" in data and b"PRIORITY=4\n" in data
    assert b"TALKOVER_OF=camera\nTALKOVER_LEVEL=gone\n" in data and b"SYSLOG_IDENTIFIER=talkover\n" in data
    with closing(sink_of(environment, writer, str(tmp_path / "none"))) as sink:
        sink.send(3, "two\nlines", {})
    assert os.read(reader, 100) == b"<3>two\n<3>lines\n"
    with closing(sink_of({"JOURNAL_STREAM": "1:2"}, writer, journal.address)) as sink:
        sink.send(3, "ours", {})
    assert os.read(reader, 100) == b"ours\n"
    for end in (reader, writer):
        os.close(end)
    journal.socket.close()
