"""A live run as a service: log, readiness, watchdog, reload. Nothing of it happens in a terminal."""
import faulthandler
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from robot.clock import LiveClock
from robot.live_config import LiveConfig
from robot.runtime import GuardedMind, Observer
from robot.service.log import Log, sink_of, stream_of
from robot.service.notify import Notify, Supervision
from robot.service.parts import GROUPS, Parts
from robot.service.reload import Apply, Reload


def supervised(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a service manager has started this process and listens to it.

    A terminal of a desktop session hands its own JOURNAL_STREAM down: only one that names our standard output counts.
    """
    return "NOTIFY_SOCKET" in environment or environment.get("JOURNAL_STREAM") == stream_of(1)


def expected_of(config: LiveConfig) -> tuple[str, ...]:
    """Groups of parts that this robot has by its configuration, in order."""
    room = config.run.body == "simulated" or (config.run.body != "device" and config.run.senses == "simulated")
    left_out = {"eyes": not room and not config.camera.source, "joints": config.run.body == "device"}
    return tuple(group for group in GROUPS if not left_out.get(group))


@contextmanager
def serving(clock: LiveClock, mind: GuardedMind, path: Path | None, config: LiveConfig,
            apply: Mapping[str, Apply]) -> Iterator[tuple[Observer, ...]]:
    """Observers of a run under a service manager, the watchdog's last. SIGHUP reloads `path`.

    A stuck tick is ended by the watchdog's SIGABRT, which leaves the place where it was stuck in the log.
    apply: what can be reloaded beside [log], see reload.py.
    """
    log = Log(sink_of(), config.log)
    mind.report = log.report
    supervision = Supervision(Notify.of(), clock.now, lambda: mind.failed > 0, Parts(expected_of(config)))
    reload = Reload(path, config, log, supervision, {"log": log.configure, **apply})
    before = signal.signal(signal.SIGHUP, lambda *_: reload.ask())
    traced = faulthandler.is_enabled()
    faulthandler.enable()
    try:
        yield log, reload, supervision
    finally:
        if not traced:
            faulthandler.disable()
        signal.signal(signal.SIGHUP, before)
        reload.reader.close()
        supervision.notify.close()
        log.sink.close()
