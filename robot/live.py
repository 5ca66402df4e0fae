"""The whole robot in real time: a mind, a body, and workers in child processes."""
import functools
import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from calibration.body_model import BodyModel, reachy_mini
from dialogue.engine import Engine
from dialogue.engines.embedded import EmbeddedConfig, EmbeddedEngine
from robot.bodies.joint_process import JointProcess
from robot.bodies.linked_joints import LinkedJoints
from robot.bodies.pose_track import parked
from robot.bodies.room.people import PersonScript
from robot.bodies.servo_child import ServoSetup
from robot.bodies.servo_loop import PART
from robot.bodies.simulated import SimulatedBody
from robot.build import build_mind
from robot.errors import BadRequest
from robot.interaction.typed_people import NAME
from robot.live_config import LiveConfig, ServoBusConfig
from robot.runtime import GuardedMind
from robot.simulation import detector_trouble
from robot.worker import ChildWorker

LATER = ("device", "reachy-daemon")
EMERGENCY = {signal.SIGUSR1: True, signal.SIGUSR2: False}     # emergency stop, and its end


def embedded(start: str) -> Engine:
    """The embedded engine of a child process; start: ISO time at the beginning of the run."""
    return EmbeddedEngine(EmbeddedConfig(start=start))


def servo_process(config: ServoBusConfig, model: BodyModel, start: float) -> JointProcess:
    """The servos of a bus in their own process. start: monotonic clock (s) at t = 0 of the run."""
    setup = ServoSetup(start, device=config.device, servos=model.servos, park=parked(model), bus=config.bus,
                       loop=config.loop)
    return JointProcess.start("robot.bodies.servo_child", PART, setup)


def build_live(body: str, engine: str, config: LiveConfig, start: float) -> tuple[GuardedMind, SimulatedBody]:
    """Mind and body of a live run; BadRequest for a body or an engine that does not exist yet.

    start: monotonic clock (s) at t = 0 of the run.
    """
    if body in LATER:
        raise BadRequest(f"--body {body}: comes later, expected simulated or servo-bus")
    if engine != "embedded":
        raise BadRequest(f"--engine {engine}: comes later, expected embedded")
    model = reachy_mini()
    joints = None
    if body == "servo-bus":
        joints = LinkedJoints(model, servo_process(config.servo_bus, model, start))
    you = PersonScript(NAME, azimuth=0.3, distance=1.1)
    talker = ChildWorker("robot.live:embedded", {"start": datetime.now().isoformat(timespec="seconds")})
    detector = ChildWorker("robot.simulation:DetectorHandler", {}, trouble=detector_trouble)
    mind, room = config.mind, config.room
    simulated = SimulatedBody(room, (you,), talker, detector, mind.seed, model=model, joints=joints)
    if mind.playback_delay_s is None:
        mind = replace(mind, playback_delay_s=room.sound.loudspeaker.playback_delay_s)
    return build_mind(mind, model, functools.partial(print, flush=True)), simulated


@contextmanager
def stopping(halt: Callable[[bool], None]) -> Iterator[list[int]]:
    """Collects SIGTERM and SIGINT, so that the loop can end in order; garbage is collected in idle moments only.

    halt: called with True at SIGUSR1 (emergency stop), with False at SIGUSR2 (its end).
    """
    got: list[int] = []
    before = {s: signal.signal(s, lambda number, frame: got.append(number)) for s in (signal.SIGTERM, signal.SIGINT)}
    for number, stopped in EMERGENCY.items():
        before[number] = signal.signal(number, functools.partial(lambda stopped, *_: halt(stopped), stopped))
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield got
    finally:
        gc.enable()
        gc.unfreeze()
        for number, handler in before.items():
            signal.signal(number, handler)
