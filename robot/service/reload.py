"""A new configuration for a run that goes on: what can be changed at once is, the rest is named in the log.

The mind's settings need a restart on purpose: a tape of the run must replay with the settings of its header. The file
is read by a child process, so that a slow disk never holds a tick up; a file that is wrong changes nothing.
"""
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

from dialogue.engine import Timed
from robot.config_keys import keys_of
from robot.errors import BadRequest
from robot.live_config import LiveConfig, read_live_config
from robot.service.log import Log
from robot.service.notify import Supervision
from robot.tick import Inputs, Tick
from robot.worker import ChildWorker, Worker

Apply = Callable[[Any], None]      # takes the new value of its section or key
READ_S = 20.0                      # s to read a file, with loading the packages; a pipe or a dead disk never ends


class ConfigReader:
    """Works in the child: a path becomes a config, or the words that say what is wrong with it."""

    def handle(self, request: Path | None) -> Iterator[Timed]:
        try:
            yield Timed(0.0, read_live_config(request))
        except BadRequest as error:
            yield Timed(0.0, str(error))


def _trouble(error: BaseException, running: Any) -> str:
    return f"the configuration could not be read: {error}"


@dataclass
class Reload:
    """An observer. `ask` may be called by a signal handler; what it began is finished some ticks later.

    apply: by section (`log`) or key (`sound.volume`), what puts a new value in force.
    """

    path: Path | None
    config: LiveConfig               # as it was read last
    log: Log
    supervision: Supervision
    apply: Mapping[str, Apply] = field(default_factory=dict)
    reader: Worker = field(default_factory=lambda: ChildWorker("robot.service.reload:ConfigReader", {}, _trouble))
    _asked: bool = False
    _reading: bool = False
    _began: float = 0.0
    _wait_restart: dict[str, Any] = field(default_factory=dict)     # running values of keys that could not be changed

    def ask(self) -> None:
        self._asked = True

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        if self._asked and not self._reading:
            self._asked, self._reading, self._began = False, True, inputs.t
            self.supervision.reloading()
            self.reader.submit(inputs.t, self.path)
        if self._reading:
            late = [f"{self.path}: not read within {READ_S:g} s"] if inputs.t - self._began > READ_S else []
            for reply in (self.reader.poll(inputs.t) or late)[:1]:
                self._reading = False
                self.reader.close()
                self._take(reply)
                self.supervision.reloaded()

    def _take(self, reply: LiveConfig | str) -> None:
        if isinstance(reply, str):
            self.log.note("error", "reload", f"nothing is changed: {reply}")
            return
        changed, restart = self._compared(reply)
        for name in sorted(changed):
            self.apply[name](_at(reply, name))
            self.log.note("info", "reload", "in force", key=name)
        for name in restart:
            self.log.note("warning", "reload", "needs a restart: systemctl restart talkover", key=name)
        if not changed and not restart:
            self.log.note("info", "reload", "nothing is different")
        self.config = reply

    def _compared(self, new: LiveConfig) -> tuple[set[str], list[str]]:
        """Sections and keys to apply, and keys whose running value is another that stays until a restart."""
        changed: set[str] = set()
        for key in keys_of(new):
            before = _at(self.config, key.name)
            name = next((name for name in self.apply if f"{key.name}.".startswith(f"{name}.")), None)
            if name is not None:
                if key.default != before:
                    changed.add(name)
            elif key.default == self._wait_restart.setdefault(key.name, before):
                del self._wait_restart[key.name]
        return changed, sorted(self._wait_restart)


def _at(config: Any, name: str) -> Any:
    return reduce(getattr, name.split("."), config)
