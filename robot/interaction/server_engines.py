"""Engines with a server in a scenario: the configured one, ready before the first tick, and closed after the last."""
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from dialogue.engine import Engine, EngineReady, EngineTrouble, Request, Timed
from robot.engine_choice import recipe, sees
from robot.errors import BadRequest
from robot.live_config import LiveConfig
from robot.service.privacy_findings import peers, reaches
from robot.worker_child import build

LOOK_S = 0.02        # between two looks at a server that is not ready yet
READY_S = 60.0       # that it may take: a model of 9 billion weights takes 15 s to prepare, and others may be before us
INSTEAD = "start it, name another at [{name}] url in --config FILE, or take --engine embedded or scripted"


class Begun:
    """An engine that said something before the run began: it says it again at the first request."""

    def __init__(self, engine: Engine, said: list[Timed]):
        self.engine, self.name, self._said = engine, engine.name, said

    def handle(self, request: Request) -> Iterator[Timed]:
        said, self._said = self._said, []
        yield from said
        yield from self.engine.handle(request)


class ServerEngines:
    """Makes engines for `robot.interaction.runner`, in this process. config: with the engine in `run`.

    What people tell is not kept, and no companion answers for a server that does not: it is the server that is tried.
    """

    def __init__(self, config: LiveConfig, wait: Callable[[float], None] = time.sleep):
        self.name, self.shown, self._wait = config.run.engine, sees(config), wait
        self.config = replace(config, chat=replace(config.chat, fallback="none"))
        self._made: list[Any] = []

    def __call__(self) -> Engine:
        engine: Any = build(*recipe(self.config, None))
        self._made.append(getattr(engine, "engine", engine))      # behind the memory's
        return Begun(engine, self._ready(engine))

    def close(self) -> None:
        while self._made:
            close = getattr(self._made.pop(), "close", None)      # one over HTTP has no line that stands
            if close is not None:
                close()

    def _ready(self, engine: Any) -> list[Timed]:
        """What it says until its server is ready. Its time stands still meanwhile, so nothing is tried twice."""
        said, told = list[Timed](), list[str]()
        if not hasattr(self._made[-1], "connection"):
            host = next(peer for peer in peers(self.config) if peer.section == self.name)
            told = [why] if (why := reaches(host.host, host.port)) else []
            if not told:
                return [Timed(0.0, EngineReady(self.name))]
        for _ in range(0 if told else round(READY_S / LOOK_S)):
            said += engine.pulse(0.0)
            if any(isinstance(timed.reply, EngineReady) for timed in said):
                return said
            told = [timed.reply.reason for timed in said if isinstance(timed.reply, EngineTrouble)]
            if told and not any("others use" in reason for reason in told):
                break
            self._wait(LOOK_S)
        self.close()
        why = told[-1] if told else f"{self.name}: its server is not ready within {READY_S:.0f} s"
        url = getattr(self.config, self.name).url
        raise BadRequest(f"--engine {self.name}: {url}: {why}; {INSTEAD.format(name=self.name)}")
