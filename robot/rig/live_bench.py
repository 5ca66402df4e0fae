"""`talkover bench --live MINUTES`: the whole robot in real time on the rig, with a room played into its microphones.

The device body of a real robot, the embedded engine in its process, emulated servos that turn the room's microphones,
and a person who talks over the robot. Silence is measured at the rig's loudspeaker.
"""
import os
import resource
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from calibration.body_model import reachy_mini
from robot.bodies.device import DeviceBody, DeviceConfig, build_device
from robot.bodies.real_time import MIND_PRIORITY, real_time
from robot.bodies.room.servos import Joints
from robot.bodies.sound_config import SoundDeviceConfig
from robot.build import build_mind
from robot.channel import Channel
from robot.clock import LiveClock
from robot.config import MindConfig
from robot.errors import BadRequest
from robot.rig.live_plan import QUIET_S, Fell, Ready, RoomFigures, RoomSetup, Talked
from robot.rig.pulse import PulseRig, missing
from robot.runtime import run as run_loop
from robot.tick import Inputs, Outputs, Tick
from robot.worker import ChildWorker

ROOM_STARTS_S = 60.0           # of the room's child, on a busy machine
AIR_S = 0.02                   # from the room's loudspeaker's gate to its air
SETTLED_S = 5.0                # of lateness that is not counted: the stages' first calls
OVERLAP_S = 1.5                # after a person's last sound in which a stop may still be because of it
MOST_JUMPS = 2                 # of the room's air: a real one never jumps, and the echo has to be found again each time
STOPS_S = 3.0                  # a later silence has another cause


@dataclass
class StagedBody:
    """A device body with emulated servos; the room is told where the head is and how fast the joints run."""

    device: DeviceBody
    joints: Joints
    room: Channel
    clock: LiveClock
    said: list = field(default_factory=list)       # by the room
    late: list[float] = field(default_factory=list)    # s, at the beginning of each tick
    _t: float | None = None
    _goal: object = None

    def read(self, index: int, t: float) -> Inputs:
        self.late.append(self.clock.lateness(index))
        self.joints.advance(t, 0.0 if self._t is None else t - self._t)
        self._t = t
        reading, health = self.joints.exchange(t, self._goal)          # type: ignore[arg-type]
        self.said += self.room.receive()
        inputs = self.device.read(index, t)
        if index % 2 == 0:
            self.room.send((self.joints.pose, self.joints.velocities))
        return replace(inputs, joints=reading, health=inputs.health + health)

    def write(self, t: float, outputs: Outputs) -> None:
        self._goal = outputs.joints
        self.device.write(t, outputs)

    def stop(self, stopped: bool) -> None:
        self.joints.stop(stopped)

    def close(self) -> None:
        self.device.close()


@dataclass
class Watcher:
    """Keeps what the figures are made of."""

    tell: Callable[[str], None]
    barge_ins: list[float] = field(default_factory=list)      # s of the run
    ducks: list[float] = field(default_factory=list)
    spoke_s: float = 0.0                                      # of voice handed to the loudspeaker
    health: list[str] = field(default_factory=list)

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        self.spoke_s += 0.01 * sum(bool(block.samples.any()) for block in tick.outputs.speaker)
        for health in (*inputs.health, *tick.sound.health):
            self.health.append(f"{health.t:7.1f} s  {health.part} {health.level}: {health.reason}")
            self.tell(self.health[-1])
        for event in tick.events:
            facts = dict(event.facts)
            if event.name == "barge_in":
                self.barge_ins.append(event.t)
            if event.name == "duck":
                self.ducks.append(event.t)
            if event.name in ("transcript", "barge_in", "reply_end", "reply_superseded", "reply_start", "engine"):
                self.tell(f"{event.t:7.1f} s  {event.name} {facts.get('text') or facts.get('heard') or ''}")


def live_figures(minutes: float, seed: int, tell: Callable[[str], None] = lambda line: None,
                 interrupts: bool = True) -> list[str]:
    """Runs the robot for so many minutes; lines of figures. BadRequest where the rig cannot be started."""
    remedy = missing()
    if remedy:
        raise BadRequest(f"bench --live: needs PulseAudio as a private sound card: {remedy}")
    with tempfile.TemporaryDirectory(prefix="talkover-rig-") as folder:
        rig = PulseRig(Path(folder)).start()
        try:
            os.environ.update(rig.environment)
            return _on_rig(minutes, seed, tell, interrupts)
        finally:
            rig.close()


def _on_rig(minutes: float, seed: int, tell: Callable[[str], None], interrupts: bool) -> list[str]:
    ours, theirs = socket.socketpair()
    child = subprocess.Popen([sys.executable, "-m", "robot.rig.live_room", str(theirs.fileno())],
                             pass_fds=[theirs.fileno()])
    theirs.close()
    room = Channel(ours)
    room.send(RoomSetup(seed, interrupts))
    try:
        ready: list = []
        while not ready:
            room.wait(ROOM_STARTS_S)
            ready = room.receive()
            if room.closed:
                raise ChildProcessError("the room on the rig ended")
        return _measured(minutes, seed, tell, room, ready)
    finally:
        ours.close()
        child.wait(10)


def _measured(minutes: float, seed: int, tell: Callable[[str], None], room: Channel,
              ready: list) -> list[str]:
    clock = LiveClock()
    model = reachy_mini()
    engine = ChildWorker("robot.engine_start:embedded", {"start": datetime.now().isoformat(timespec="seconds")})
    sound = SoundDeviceConfig(input="rig_array", output="rig_loudspeaker", reference=4)
    device = build_device(DeviceConfig(sound, replace(DeviceConfig().camera, source="")), engine, clock.start)
    body = StagedBody(device, Joints(model, seed), room, clock, ready)
    mind = build_mind(MindConfig(seed=seed, playback_delay_s=ready[0].echo_s + AIR_S), model, tell)
    watcher = Watcher(tell)
    engine.poll(0.0)
    real_time(MIND_PRIORITY, threads=False)        # its children, the engine among them, are ordinary work
    figures: dict = {}

    def finished(t: float) -> bool:
        figures.update(device.sound.figures)
        return t >= 60 * minutes
    ticks = run_loop(mind, body, clock, (watcher,), finished)
    return summary(body, watcher, figures, device.sound.missed, ticks)


def summary(body: StagedBody, watcher: Watcher, figures: dict, missed: int, ticks: int) -> list[str]:
    """The figures in words."""
    said, start = body.said, body.clock.start
    talked = [word for word in said if isinstance(word, Talked)]
    fell = [word for word in said if isinstance(word, Fell)]
    over = [word for word in talked if word.sounds]
    barge_ins = [t + start for t in watcher.barge_ins]
    stops = [after for word in over
             if not _in_a_gap(word, fell) and (after := stopped_after(word, fell, barge_ins)) is not None]
    gaps = sum(_in_a_gap(word, fell) for word in over)
    own = [t for t in watcher.barge_ins
           if not any(word.onset - start - 0.2 < t < word.end - start + OVERLAP_S for word in talked)]
    ready = next((word.echo_s for word in said if isinstance(word, Ready)), float("nan"))
    room = next((word for word in reversed(said) if isinstance(word, RoomFigures)), RoomFigures(0, 0))
    captured = figures.get("sound_s", 0.0) or float("nan")
    late = np.array(body.late[round(SETTLED_S * 100):] or [np.nan]) * 1000
    lost = figures.get("lost_s", 0.0) + missed * 0.01
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        f"live on the rig: {ticks / 100:.0f} s, {len(talked)} sentences of a person, {len(over)} of them over the "
        f"robot; it spoke {watcher.spoke_s:.0f} s",
        f"onset to silence at the loudspeaker: {_quantiles(stops)}; the rig's own "
        f"way from loudspeaker to microphone, {1000 * ready:.0f} ms, is in it (without: "
        f"{_quantiles([s - ready for s in stops])}); "
        f"{gaps} of {len(over)} fell into a pause that it did not end, {len(over) - len(stops) - gaps} did not stop it "
        f"within {STOPS_S:g} s",
        f"self-interruptions: {len(own)} in {watcher.spoke_s / 60:.1f} min of its speech",
        f"audio lost: {100 * lost / captured:.3f} % ({1000 * lost:.0f} ms of {captured:.0f} s); xruns "
        f"{figures.get('overflows', 0)} in, {figures.get('underflows', 0)} out; starved {figures.get('starved', 0)}, "
        f"late {figures.get('dropped', 0)} blocks; xruns of the room's own streams {room.xruns}"
        + (": the air itself jumped, the machine is too busy for these figures" if room.xruns > MOST_JUMPS else ""),
        f"tick lateness: p50 {np.percentile(late, 50):.2f}, p99 {np.percentile(late, 99):.2f}, "
        f"most {late.max():.1f} ms; {memory:.0f} MB of the mind's process",
        "each sentence over the robot, ms after its onset (the rig's own way is in all of them):",
        *(_story(word, fell, watcher, start) for word in over),
    ]


def _story(word: Talked, fell: list[Fell], watcher: Watcher, start: float) -> str:
    """When the robot ducked, decided to stop, and was silent."""
    def first(times: list[float]) -> str:
        return next((f"{1000 * (t + start - word.onset):.0f}" for t in times
                     if word.onset < t + start < word.onset + STOPS_S), "never")
    silent = stopped_after(word, fell, [t + start for t in watcher.barge_ins])
    fallen = "already" if _in_a_gap(word, fell) else "never" if silent is None else f"{1000 * silent:.0f}"
    return (f"  {word.onset - start:6.1f} s: duck {first(watcher.ducks)}, barge_in {first(watcher.barge_ins)}, "
            f"silent {fallen}: {word.text}")


def _in_a_gap(word: Talked, fell: list[Fell]) -> bool:
    """The robot was between two words when the sentence began, and said no other: no time to silence can be told."""
    return any(word.onset - QUIET_S < silence.t <= word.onset for silence in fell)


def stopped_after(word: Talked, fell: list[Fell], barge_ins: list[float]) -> float | None:
    """Seconds from the sentence's onset until the loudspeaker was silent because of it; None: it was not."""
    for silence in sorted(f.t for f in fell if word.onset < f.t < word.onset + STOPS_S):
        if any(word.onset < t < silence + 0.1 for t in barge_ins):      # a pause between clauses is no stop
            return silence - word.onset
    return None


def _quantiles(seconds: list[float]) -> str:
    if not seconds:
        return "none"
    ms = 1000 * np.array(seconds)
    return f"p50 {np.percentile(ms, 50):.0f}, p95 {np.percentile(ms, 95):.0f} ms of {len(ms)}"
