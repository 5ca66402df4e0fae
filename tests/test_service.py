"""The run as a service: what the service manager is told, what the log says, and a configuration read anew."""
import os
import signal
import socket
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest

from calibration.health import Health
from motion.intent import MotionIntent
from perception.audio.scene import SoundScene
from perception.vision.frame import Sight
from robot.clock import LiveClock
from robot.live_config import LiveConfig
from robot.service.log import Journal, Log, LogConfig, Stream, sink_of
from robot.service.notify import LATE_S, TRIED_S, Notify, Supervision
from robot.service.parts import Parts, group_of
from robot.service.reload import ConfigReader, Reload
from robot.service.serving import serving, supervised
from robot.tick import Event, Inputs, Outputs, Tick
from robot.worker import InlineWorker

NOW = 100.0


def tick_of(*events: Event) -> Tick:
    return Tick(Outputs(), SoundScene(0.0), Sight(0.0), (), MotionIntent(0.0, "still"), "idle", events)


def inputs_of(t: float, *health: Health, **arrived) -> Inputs:
    return Inputs(round(t * 100), t, health=health, **arrived)


EVERYTHING = {"audio": (object(),), "faces": (object(),), "joints": object(), "replies": (object(),)}


class Manager:
    """The service manager's end of NOTIFY_SOCKET."""

    def __init__(self, address: str):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.settimeout(20)
        self.address = address
        self.told: list[Notify] = []

    def heard(self) -> list[dict[str, str]]:
        """All messages so far; a datagram is there as soon as it was sent."""
        self.socket.setblocking(False)
        messages = []
        try:
            while data := self.socket.recv(65536):
                messages.append(dict(line.split("=", 1) for line in data.decode().split("\n")))
        except BlockingIOError:
            return messages
        return messages


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    found = Manager(f"@talkover-test-{os.getpid()}" if request.param == "abstract" else str(tmp_path / "notify"))
    yield found
    for end in (found.socket, *found.told):
        end.close()


def supervision_of(manager, watchdog_s=8.0, now=lambda: NOW, failing=lambda: False, parts=None):
    manager.told.append(Notify(manager.address, watchdog_s))
    return Supervision(manager.told[-1], now, failing, parts or Parts())


def test_without_a_service_manager_nothing_is_sent():
    notify = Notify.of({"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": ""})
    assert not notify.tell("READY=1") and not notify.tell("WATCHDOG=1", keep=False)


def test_the_watchdog_time_is_ours_only_when_it_names_us():
    usec = {"WATCHDOG_USEC": "4000000"}
    assert Notify.of(usec | {"WATCHDOG_PID": str(os.getpid())}).watchdog_s == 4.0
    assert Notify.of(usec | {"WATCHDOG_PID": "1"}).watchdog_s == 0.0
    assert Notify.of({"WATCHDOG_USEC": "soon"}).watchdog_s == 0.0


def test_ready_when_every_part_has_come_or_said_that_it_cannot(manager):
    observe = supervision_of(manager)
    observe(inputs_of(0.0, audio=(object(),)), tick_of())
    observe(inputs_of(0.1, Health(0.1, "camera", "gone", "no such device"), joints=object()), tick_of())
    assert "READY" not in str(manager.heard())
    engine = Event(0.2, "engine", (("state", "ready"), ("reason", "embedded")))
    observe(inputs_of(0.2), tick_of(engine))
    ready = [message for message in manager.heard() if "READY" in message]
    told = [message["STATUS"] for message in ready]
    assert told == ["ears ok; eyes gone: camera: no such device; joints ok; engine ok"]
    observe(inputs_of(0.3), tick_of())
    assert not any("READY" in message for message in manager.heard())


def test_ready_without_a_part_that_says_nothing_for_long_and_late_ones_join(manager):
    clock = [0.0]
    observe = supervision_of(manager, now=lambda: clock[0])
    for t in (0.0, TRIED_S - 0.01, TRIED_S, TRIED_S + 2, TRIED_S + 4):
        clock[0] = t
        observe(inputs_of(t, audio=(object(),), **({"joints": object()} if t > TRIED_S + 3 else {})), tick_of())
    told = [message for message in manager.heard() if "STATUS" in message]
    ready = [n for n, message in enumerate(told) if "READY" in message]
    assert len(ready) == 1 and "joints waited for" in told[ready[0]]["STATUS"]
    assert "joints ok" in told[-1]["STATUS"]


@pytest.mark.parametrize(("late", "failing", "fed"), [(0.0, False, True), (LATE_S * 0.9, False, True),
                                                      (LATE_S * 1.1, False, False), (0.0, True, False)])
def test_only_a_healthy_tick_feeds_the_watchdog(manager, late, failing, fed):
    observe = supervision_of(manager, failing=lambda: failing)
    observe(inputs_of(NOW - late, **EVERYTHING), tick_of())
    assert any("WATCHDOG" in message for message in manager.heard()) is fed


def test_the_watchdog_is_fed_four_times_in_its_time(manager):
    clock = [0.0]
    observe = supervision_of(manager, watchdog_s=8.0, now=lambda: clock[0])
    for index in range(1600):
        clock[0] = index * 0.01
        observe(inputs_of(clock[0]), tick_of())
    assert sum("WATCHDOG" in message for message in manager.heard()) == 8


def test_nothing_waits_for_a_service_manager_that_does_not_read(manager):
    observe = supervision_of(manager, now=lambda: clock[0])
    clock = [0.0]
    for index in range(3000):                           # far more than its socket takes
        clock[0] = index * 2.0
        observe(inputs_of(clock[0], Health(clock[0], "camera", "gone", f"reason {index}"), **EVERYTHING), tick_of())
    observe(inputs_of(clock[0], parking=True), tick_of())
    assert "READY" in manager.heard()[0]
    assert observe.notify.flush()
    assert [message["STATUS"] for message in manager.heard()] == [
        "ears ok; eyes gone: camera: reason 2999; joints ok; engine ok", "parks the robot"]


def test_stopping_is_said_once_and_a_reload_carries_its_time(manager):
    observe = supervision_of(manager)
    observe.reloading()
    observe.reloaded()
    begun, done = manager.heard()
    assert begun["RELOADING"] == "1" and int(begun["MONOTONIC_USEC"]) > 0 and done["READY"] == "1"
    for t in (1.0, 1.01):
        observe(inputs_of(t, parking=True), tick_of())
    assert sum("STOPPING" in message for message in manager.heard()) == 1


def test_the_status_tells_the_worst_of_each_group():
    parts = Parts()
    parts.note(inputs_of(1.0, Health(1.0, "microphone_2", "gone", "no signal"), **EVERYTHING), tick_of())
    trouble = Event(1.0, "engine", (("state", "trouble"), ("reason", "no answer"), ("generation", 3)))
    parts.note(inputs_of(1.0, Health(1.0, "touch", "gone", "no pins")), tick_of(trouble))
    assert parts.line() == ("ears degraded: microphone_2: no signal; eyes ok; joints ok; "
                            "engine degraded: no answer; touch gone: no pins")
    parts.note(inputs_of(2.0, Health(2.0, "microphone_2", "ok"), Health(2.0, "touch", "ok")),
               tick_of(Event(2.0, "engine", (("state", "ready"), ("reason", "embedded")))))
    assert parts.line() == "ears ok; eyes ok; joints ok; engine ok"
    told = tick_of(Event(3.0, "health", (("of", "reference"), ("level", "gone"), ("reason", "silent"))))
    assert parts.note(inputs_of(3.0), told) == (Health(3.0, "reference", "gone", "silent"),)
    assert parts.line().startswith("ears degraded: reference: silent")
    assert [group_of(part) for part in ("servo_bus", "servo_13", "sound_card", "reachy_daemon", "disk")] == [
        "joints", "joints", "ears", "joints", "disk"]


class Kept:
    def __init__(self, room: int = 10**6):
        self.room, self.lines = room, []

    def send(self, priority, text, fields):
        if len(self.lines) >= self.room:
            return False
        self.lines.append((priority, text, dict(fields)))
        return True


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


@pytest.fixture
def reload(tmp_path, manager):
    path = tmp_path / "talkover.toml"
    path.write_text("[mind]\nseed = 1\n")
    log, sunk = Log(Kept()), []
    return SimpleNamespace(path=path, log=log, sunk=sunk, lines=log.sink.lines, run=Reload(
        path, LiveConfig(), log, supervision_of(manager),
        {"log": log.configure, "servo_bus.device": sunk.append}, InlineWorker(ConfigReader)))


def reloaded(reload, text: str) -> list[str]:
    """The lines that a reload of this text logs."""
    reload.path.write_text(text)
    reload.lines.clear()
    reload.run.ask()
    reload.run(inputs_of(1.0), tick_of())
    return [text for _, text, _ in reload.lines]


def test_what_can_be_reloaded_is_and_the_rest_is_named_until_it_is_as_before(reload, manager):
    said = reloaded(reload, '[log]\nlevel = "debug"\n[servo_bus]\ndevice = "/dev/new"\n[mind]\nseed = 5\n')
    assert said == ["reload key=log: in force", "reload key=servo_bus.device: in force",
                    "reload key=mind.seed: needs a restart: systemctl restart talkover"]
    assert reload.log.config.level == "debug" and reload.sunk == ["/dev/new"]
    assert [next(iter(message)) for message in manager.heard()] == ["RELOADING", "READY"]
    same = '[log]\nlevel = "debug"\n[servo_bus]\ndevice = "/dev/new"\n[mind]\nseed = 6\n'
    assert reloaded(reload, same) == ["reload key=mind.seed: needs a restart: systemctl restart talkover"]
    assert reloaded(reload, same.replace("6", "1")) == ["reload: nothing is different"]
    assert reload.sunk == ["/dev/new"]


@pytest.mark.parametrize("text", ["", "[mind]\nsede = 1\n", "[log", "version = 9\n"])
def test_a_bad_file_leaves_the_running_settings_and_itself_as_they_are(reload, manager, text):
    said = reloaded(reload, text)
    assert len(said) == 1 and "nothing is changed" in said[0] and str(reload.path) in said[0]
    assert reload.run.config == LiveConfig() and reload.path.read_text() == text
    assert [next(iter(message)) for message in manager.heard()] == ["RELOADING", "READY"]


@pytest.mark.parametrize("manager", ["path"], indirect=True)
def test_a_signal_reloads_and_the_reader_is_a_process_of_its_own(tmp_path, manager, monkeypatch, capfd):
    monkeypatch.setenv("NOTIFY_SOCKET", manager.address)
    assert supervised() and not supervised({})
    path = tmp_path / "talkover.toml"
    path.write_text('[log]\nlevel = "debug"\n')
    clock, mind = LiveClock(), SimpleNamespace(failed=0, report=None)
    with serving(clock, mind, path, LiveConfig()) as observers:
        os.kill(os.getpid(), signal.SIGHUP)
        for _ in range(600):
            for observe in observers:
                observe(inputs_of(clock.now()), tick_of())
            done = manager.heard()
            if any("READY" in message for message in done):
                break
            reload = observers[1]
            if reload.reader._channel is not None:
                reload.reader._channel.wait(0.2)
        assert observers[0].config.level == "debug"
        mind.report("Traceback\n  line")
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
    out = capfd.readouterr().out
    assert "reload key=log: in force" in out and "tick_failed: Traceback\n  line" in out


def test_a_config_is_replaced_whole():
    changed = replace(LiveConfig(), log=LogConfig("debug"))
    log = Log(Kept())
    log.configure(changed.log)
    assert log.config == changed.log
