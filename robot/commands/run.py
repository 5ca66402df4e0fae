"""`talkover run`: the live runtime."""
import argparse
import functools
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from robot.black_box.forgetting import forgetting
from robot.black_box.recorder import BlackBox
from robot.bodies.real_time import MIND_PRIORITY, real_time
from robot.clock import LiveClock
from robot.commands.arguments import seconds
from robot.interaction.typed_people import HELP, ORDERS, TypedPerson, conversation
from robot.live import Live, build_live, noted_emergency, stopping
from robot.live_config import LiveConfig, read_live_config
from robot.places import state_folder
from robot.runtime import GuardedMind, Observer
from robot.runtime import run as run_loop
from robot.service.metrics_process import MetricsProcess, measuring
from robot.service.reload import Apply
from robot.service.serving import serving, supervised
from robot.tick import Inputs, Tick

BODIES = ("simulated", "device", "reachy-daemon", "servo-bus")
MOST_LATE_S = 0.1    # with devices: the servo process takes a mind that is silent for longer for a dead one
ENGINES = ("embedded", "realtime", "minicpm", "chat", "scripted")
EPILOG = """\
SIGTERM or Ctrl-C parks the robot and ends. SIGUSR1 is the emergency stop: all joints decelerate and hold until SIGUSR2.

What to run with:
  simulated      a room with you in it at the keyboard; needs nothing
  device         sound card and camera of [sound] and [camera]; nothing moves
  servo-bus      the same, and servos on the serial line of [servo_bus]
  reachy-daemon  the same, and a Reachy Mini whose daemon listens at [daemon]
With senses = "simulated" in [run] the last two hear and see the simulated room. A servo bus without a robot:
  python -m firmware_bridge.emulator --link /tmp/servos &
  printf '[run]\\nsenses = "simulated"\\n[servo_bus]\\ndevice = "/tmp/servos"\\n' > bus.toml
  talkover run --body servo-bus --config bus.toml
All settings with their reasons: talkover config --explain.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="FILE", help="TOML; its sections: talkover config --explain")
    parser.add_argument("--body", choices=BODIES, help="what it lives in (default: [run] body, else simulated)")
    parser.add_argument("--engine", choices=ENGINES, help="what answers (default: [run] engine, else embedded)")
    parser.add_argument("--for", dest="seconds", type=seconds, metavar="S", help="end after so many seconds")
    parser.epilog = EPILOG


def run(options: argparse.Namespace) -> int:
    return live(options, lambda mind: ())


def live(options: argparse.Namespace, watch: Callable[[GuardedMind], Iterable[Observer]]) -> int:
    """Run until SIGTERM, Ctrl-C, /quit or the time given; then park."""
    with noted_emergency() as ordered:
        return _lived(options, watch, ordered)


def _lived(options: argparse.Namespace, watch: Callable[[GuardedMind], Iterable[Observer]], ordered: list[bool]) -> int:
    """ordered: emergency stops, or the end of one, from before the body could obey."""
    clock, config = LiveClock(), config_of(options)
    made = build_live(config, clock.start)
    say = functools.partial(print, file=sys.stderr, flush=True)
    if made.room is None:
        clock.most_late = MOST_LATE_S
        say(f"the mind {real_time(MIND_PRIORITY, threads=False)}")
    box = BlackBox(config.box, made.mind, state_folder(), say, forgetting(made.mind, made.engine))
    person = TypedPerson(made.body.stop, box.ask)
    with ExitStack() as stack:
        signals = stack.enter_context(stopping(made.body.stop))
        if ordered:
            made.body.stop(ordered[-1])
        stack.enter_context(box)
        told: Iterable[Observer] = (conversation,)
        if supervised():
            told = stack.enter_context(serving(clock, made.mind, options.config, config, changeable(made)))
        else:
            greet(made, person)

        def leaving() -> bool:
            over = options.seconds is not None and clock.now() >= options.seconds
            return bool(signals) or person.quits or over

        observers = (typed(made, person), box, *measured(config, made, clock.start, stack), *watch(made.mind), *told)
        run_loop(made.mind, made.body, clock, observers, leaving=leaving)
    return 0


def measured(config: LiveConfig, made: Live, start: float, stack: ExitStack) -> tuple[Observer, ...]:
    """Observers that serve figures, where they are wanted; `stack` ends them."""
    if not config.metrics.on:
        return ()
    process = MetricsProcess(config.metrics, start, report=functools.partial(print, file=sys.stderr, flush=True))
    stack.callback(process.close)
    return measuring(process, made.mind.mind)


def changeable(made: Live) -> dict[str, Apply]:
    """What of a running robot a reload puts in force; the sound process hears of it with the next tick."""
    names = () if made.sound is None else ("volume", "muted")
    return {f"sound.{name}": functools.partial(setattr, made.sound, name) for name in names}


def config_of(options: argparse.Namespace) -> LiveConfig:
    """The file's settings with the command line's over them."""
    config = read_live_config(options.config)
    chosen = {name: value for name in ("body", "engine") if (value := getattr(options, name)) is not None}
    return replace(config, run=replace(config.run, **chosen))


def greet(made: Live, person: TypedPerson) -> None:
    if not person.keyboard.closed and sys.stdin.isatty():
        print(HELP if made.room is not None else ORDERS, flush=True)


def typed(made: Live, person: TypedPerson) -> Observer:
    """Lets the person at the keyboard act: in the room, or, where there is none, once a tick."""
    if made.room is not None:
        made.room.script = person
        return lambda inputs, tick: None

    def orders(inputs: Inputs, tick: Tick) -> None:
        person(inputs.t, None)

    return orders
