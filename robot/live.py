"""The whole robot in real time: a mind, a body, and everything slow in child processes."""
import functools
import gc
import importlib.util
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from calibration.body_model import BodyModel, reachy_mini
from robot.bodies.array_worker import RestartArray, array_process
from robot.bodies.body import Body
from robot.bodies.daemon_setup import PART as DAEMON
from robot.bodies.daemon_setup import DaemonSetup
from robot.bodies.device import DeviceConfig, build_device
from robot.bodies.joined import JoinedBody
from robot.bodies.joint_process import JointProcess
from robot.bodies.linked_joints import LinkedJoints
from robot.bodies.pose_track import parked
from robot.bodies.room.people import PersonScript
from robot.bodies.servo_child import ServoSetup
from robot.bodies.servo_loop import PART as SERVOS
from robot.bodies.simulated import SimulatedBody
from robot.bodies.sound_process import SoundProcess
from robot.bodies.touch_worker import touch_process
from robot.bodies.watched import WatchedBody
from robot.build import build_mind
from robot.engine_choice import engine_of, sees
from robot.errors import BadRequest
from robot.interaction.typed_people import NAME
from robot.live_config import LiveConfig
from robot.runtime import GuardedMind
from robot.service.vitals_process import VitalsProcess
from robot.simulation import detector_ready, detector_trouble
from robot.worker import ChildWorker

EMERGENCY = {signal.SIGUSR1: True, signal.SIGUSR2: False}     # emergency stop, and its end


@dataclass(frozen=True)
class Live:
    """What a live run is made of. room: the simulated room, where there is one. sound: the sound card, else."""

    mind: GuardedMind
    body: Body
    engine: ChildWorker
    room: SimulatedBody | None
    sound: SoundProcess | None = None


def build_live(config: LiveConfig, start: float) -> Live:
    """Mind, body and workers of a live run. start: monotonic clock (s) at t = 0 of the run."""
    model, engine = reachy_mini(), engine_of(config)
    joints = joints_of(config, model, start)
    if config.run.body == "simulated" or (joints is not None and config.run.senses == "simulated"):
        linked = None if joints is None else LinkedJoints(model, joints)
        room = simulated(config, model, engine, linked)
        return Live(mind_of(config, room.config.sound.loudspeaker.playback_delay_s), room, engine, room)
    devices = build_device(DeviceConfig(config.sound, config.camera), engine, start, sees(config))
    array = array_process(config.array, start) if config.array.on else None
    if array is not None:
        devices.sound.revive = functools.partial(array.send, RestartArray())
    touch = touch_process(config.touch, start) if config.touch.wanted else None
    body = WatchedBody(JoinedBody(devices, joints, array, touch), VitalsProcess(start))
    return Live(mind_of(config, None), body, engine, None, devices.sound)


def joints_of(config: LiveConfig, model: BodyModel, start: float) -> JointProcess | None:
    """What moves the joints; None: nothing but the simulated room's own."""
    park = parked(model)
    if config.run.body == "servo-bus":
        bus = config.servo_bus
        return JointProcess.start("robot.bodies.servo_child", SERVOS, ServoSetup(
            start, device=bus.device, servos=model.servos, park=park, bus=bus.bus, loop=bus.loop))
    if config.run.body == "reachy-daemon":
        if importlib.util.find_spec("websockets") is None:
            raise BadRequest("--body reachy-daemon: needs the package websockets: pip install 'talkover[reachy]'")
        daemon = config.daemon
        return JointProcess.start("robot.bodies.daemon_child", DAEMON, DaemonSetup(
            start, host=daemon.host, port=daemon.port, body=model, park=park, link=daemon.link, loop=daemon.loop,
            seed=config.mind.seed))
    return None


def simulated(config: LiveConfig, model: BodyModel, engine: ChildWorker, joints: LinkedJoints | None) -> SimulatedBody:
    """The simulated room with a person at the keyboard in it."""
    you = PersonScript(NAME, azimuth=0.3, distance=1.1)
    detector = ChildWorker("robot.simulation:DetectorHandler", {}, trouble=detector_trouble, ready=detector_ready)
    return SimulatedBody(config.room, (you,), engine, detector, config.mind.seed, model=model, joints=joints,
                         shown=sees(config))


def mind_of(config: LiveConfig, playback_delay_s: float | None) -> GuardedMind:
    """A mind for a body. playback_delay_s: nominal, where the configuration names none.

    A sound card with fewer microphones than the body has is heard as the first of them.
    """
    mind = config.mind
    if mind.playback_delay_s is None:
        mind = replace(mind, playback_delay_s=playback_delay_s)
    own, used = reachy_mini().mic_positions, len(config.sound.microphones)
    if playback_delay_s is None and mind.mic_positions_m is not None and len(mind.mic_positions_m) != used:
        raise BadRequest(f"[mind] mic_positions_m: expected a place for each of the {used} channels of [sound] "
                         f"microphones, found {len(mind.mic_positions_m)}")
    if playback_delay_s is None and mind.mic_positions_m is None and used < len(own):
        mind = replace(mind, mic_positions_m=tuple(map(tuple, own[:used].tolist())))
    return build_mind(mind, report=functools.partial(print, flush=True))


@contextmanager
def noted_emergency() -> Iterator[list[bool]]:
    """Orders of an emergency stop (True) and of its end (False) that come while there is no body yet to obey them."""
    ordered: list[bool] = []
    before = {number: signal.signal(number, functools.partial(lambda stopped, *_: ordered.append(stopped), stopped))
              for number, stopped in EMERGENCY.items()}
    try:
        yield ordered
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stopping(halt: Callable[[bool], None]) -> Iterator[list[int]]:
    """Collects SIGTERM, SIGINT and SIGHUP, so that the loop can end in order; garbage waits for idle moments.

    SIGHUP: the terminal was closed; under nohup it stays ignored, a service has another use for it (serving.py).
    halt: called with True at SIGUSR1 (emergency stop), with False at SIGUSR2 (its end).
    """
    got: list[int] = []
    ends = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ends.append(signal.SIGHUP)
    before = {s: signal.signal(s, lambda number, frame: got.append(number)) for s in ends}
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
