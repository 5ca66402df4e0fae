"""The loop: read, tick, guard, write, observe. The only place that catches every exception."""
import math
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import Protocol

from calibration.health import Health, Level
from dialogue.engine import SILENCE
from motion.intent import MotionIntent
from perception.audio.scene import SoundScene
from perception.vision.frame import Sight
from robot.bodies.body import Body, EndOfRun
from robot.clock import Clock
from robot.config import MindConfig
from robot.mind import Mind
from robot.safety import Safety
from robot.tick import Event, Inputs, Outputs, Tick, health_events

PARK_S = 3.0     # from the wish to end until the head lies down: the mover takes 2 s from the farthest pose
PATIENCE = 100   # failed ticks in a row (1 s) until the run gives up, so that a supervisor can start it anew


class Observer(Protocol):
    """Sees every tick after it has been written; must not wait."""

    def __call__(self, inputs: Inputs, tick: Tick) -> None: ...


@dataclass
class GuardedMind:
    """A mind that always answers: a goal is checked, a tick that raises becomes silence and a held goal."""

    mind: Mind
    safety: Safety
    config: MindConfig
    report: Callable[[str], None] = lambda text: None
    failed: int = 0                  # ticks in a row, until now

    def tick(self, inputs: Inputs) -> Tick:
        try:
            tick = self.mind.tick(inputs)
            if self.failed:
                tick = replace(tick, events=(*tick.events, _mind_told(inputs.t, "ok", "thinks again")))
            self.failed = 0
        except Exception as error:
            self.failed += 1
            if self.failed == 1:
                self.report(traceback.format_exc())
            if self.failed >= PATIENCE:
                raise
            tick = self._silent(inputs, error)
        goal, health = self.safety.check(tick.outputs.joints, inputs.joints)
        return replace(tick, outputs=replace(tick.outputs, joints=goal), events=tick.events + health_events(health))

    def _silent(self, inputs: Inputs, error: Exception) -> Tick:
        outputs = Outputs(self.safety.held(inputs.t), (SILENCE,) * len(inputs.audio))
        reason = f"{type(error).__name__}: {error}"
        told = _mind_told(inputs.t, "degraded", reason)
        intent = MotionIntent(inputs.t, "still", reason="the mind failed")
        events = (told,) if self.failed == 1 else ()
        return Tick(outputs, SoundScene(inputs.t), Sight(inputs.t), (), intent, "idle", events)


def _mind_told(t: float, level: Level, reason: str) -> Event:
    return health_events((Health(t, "mind", level, reason),))[0]


def run(mind: GuardedMind, body: Body, clock: Clock, observers: Iterable[Observer] = (),
        finished: Callable[[float], bool] = lambda t: False, leaving: Callable[[], bool] = lambda: False) -> int:
    """Tick until the body has no more inputs or `finished(t)`; returns the number of ticks. Closes the body.

    leaving: once true, the robot parks, and the run ends when it has.
    """
    observers = tuple(observers)
    index, parked_at = 0, math.inf
    try:
        for index in count():
            t = clock.wait(index)
            if finished(t) or t >= parked_at:
                break
            late, inputs = clock.lateness(index), body.read(index, t)
            if late > inputs.late:
                inputs = replace(inputs, late=late)
            if leaving():
                inputs, parked_at = replace(inputs, parking=True), min(parked_at, t + PARK_S)
            tick = mind.tick(inputs)
            body.write(t, tick.outputs)
            for observe in observers:
                observe(inputs, tick)
    except EndOfRun:
        pass
    finally:
        body.close()
    return index
