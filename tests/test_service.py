"""The run as a service: what the service manager is told, and a configuration read anew."""
import os
import signal
from types import SimpleNamespace

import pytest

from calibration.health import Health
from robot.bodies.camera_config import CameraDeviceConfig
from robot.clock import LiveClock
from robot.live_config import LiveConfig, RunConfig
from robot.service.log import Log
from robot.service.notify import LATE_S, TRIED_S, Notify, Supervision
from robot.service.parts import Parts, group_of
from robot.service.reload import ConfigReader, Reload
from robot.service.serving import expected_of, serving, supervised
from robot.tick import Event
from robot.worker import InlineWorker
from tests.service_ends import EVERYTHING, Kept, Manager, inputs_of, tick_of

NOW = 100.0


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
    """Field log F56, F57: late devices and networks are waited for step by step, nothing exits for them."""
    clock = [0.0]
    observe = supervision_of(manager, now=lambda: clock[0])
    for t in (0.0, TRIED_S - 0.01, TRIED_S, TRIED_S + 2, TRIED_S + 4):
        clock[0] = t
        observe(inputs_of(t, audio=(object(),), **({"joints": object()} if t > TRIED_S + 3 else {})), tick_of())
    told = [message for message in manager.heard() if "STATUS" in message]
    ready = [n for n, message in enumerate(told) if "READY" in message]
    assert len(ready) == 1 and "joints waited for" in told[ready[0]]["STATUS"]
    assert "joints ok" in told[-1]["STATUS"]


def test_every_device_that_comes_is_reported_and_one_that_never_comes_keeps_nobody_waiting(manager):
    """F56: the sound card after 8 s, the servo bus after 15 s, the camera never; the engine at once."""
    arrivals = {0.5: {"replies": (object(),)}, 8.0: {"audio": (object(),)}, 15.0: {"joints": object()}}
    told_of = {0.2: Health(0.2, "sound_card", "gone", "no input device"), 8.0: Health(8.0, "sound_card", "ok"),
               0.3: Health(0.3, "servo_bus", "gone", "no /dev/ttyACM0"), 15.0: Health(15.0, "servo_bus", "ok")}
    clock, heard = [0.0], []
    observe = supervision_of(manager, now=lambda: clock[0])
    for index in range(2001):
        t = clock[0] = round(index * 0.01, 2)
        health = (told_of[t],) if t in told_of else ()
        observe(inputs_of(t, *health, **arrivals.get(t, {})), tick_of())
        heard += manager.heard()
    told = [(message["STATUS"], "READY" in message) for message in heard if "STATUS" in message]
    assert next(status for status, _ in told if "ears ok" in status).startswith("ears ok; eyes waited for; joints gone")
    assert told[-1][0] == "ears ok; eyes waited for; joints ok; engine ok" and sum(ready for _, ready in told) == 1
    assert told[0][0] == "ears waited for; eyes waited for; joints waited for; engine waited for"


def test_what_is_not_configured_is_off_and_not_waited_for(manager):
    """F63: a part without its device is shown as off, one that is configured and missing by its reason."""
    deaf = LiveConfig(run=RunConfig(body="device"), camera=CameraDeviceConfig(source=""))
    assert expected_of(deaf) == ("ears", "engine")
    assert expected_of(LiveConfig(run=RunConfig(body="device"))) == ("ears", "eyes", "engine")
    assert expected_of(LiveConfig(run=RunConfig(body="servo-bus"))) == ("ears", "eyes", "joints", "engine")
    simulated = LiveConfig(run=RunConfig(body="servo-bus", senses="simulated"), camera=CameraDeviceConfig(source=""))
    assert expected_of(simulated) == expected_of(LiveConfig()) == ("ears", "eyes", "joints", "engine")
    observe = supervision_of(manager, parts=Parts(expected_of(deaf)))
    observe(inputs_of(0.0, Health(0.0, "sound_card", "gone", "no input device"), replies=(object(),)), tick_of())
    ready, = (message["STATUS"] for message in manager.heard() if "READY" in message)
    assert ready == "ears gone: sound_card: no input device; eyes off; joints off; engine ok"


def test_a_mind_that_failed_and_thinks_again_is_told_in_the_status(manager):
    observe = supervision_of(manager)
    fails = Event(1.0, "health", (("of", "mind"), ("level", "degraded"), ("reason", "ZeroDivisionError")))
    again = Event(2.0, "health", (("of", "mind"), ("level", "ok"), ("reason", "thinks again")))
    observe(inputs_of(1.0, **EVERYTHING), tick_of(fails))
    assert observe.parts.line().endswith("engine ok; mind degraded: ZeroDivisionError")
    observe(inputs_of(2.0), tick_of(again))
    assert observe.parts.line().endswith("engine ok")


@pytest.mark.parametrize(("late", "failing", "fed"), [(0.0, False, True), (LATE_S * 0.9, False, True),
                                                      (LATE_S * 1.1, False, False), (0.0, True, False)])
def test_only_a_healthy_tick_feeds_the_watchdog(manager, late, failing, fed):
    observe = supervision_of(manager, failing=lambda: failing)
    observe(inputs_of(NOW - late, **EVERYTHING), tick_of())
    assert any("WATCHDOG" in message for message in manager.heard()) is fed


def test_a_simulated_room_that_is_slower_than_its_machine_is_alive(manager):
    clock = [NOW]
    observe = supervision_of(manager, now=lambda: clock[0])
    observe(inputs_of(1.0, **EVERYTHING), tick_of())
    assert not any("WATCHDOG" in message for message in manager.heard())
    clock[0] += 0.05
    observe(inputs_of(1.01), tick_of())
    assert any("WATCHDOG" in message for message in manager.heard())


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
    with serving(clock, mind, path, LiveConfig(), {}) as observers:
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
