"""`talkover bench --kills`: each child process is killed while the robot speaks, live, in the simulated room.

The whole robot in real time with its engine, detector and servo process as children, the servos emulated on a pty. A
person asks for a story; in the middle of it one child gets SIGKILL; half a second later the person asks something else.
"""
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dialogue.engine import Clause
from dialogue.floor import ROBOT_SOUNDS
from firmware_bridge.joint_reading import JointReading
from robot.bodies.linked_joints import LinkedJoints
from robot.bodies.room.room import Room
from robot.bodies.simulated import SimulatedBody
from robot.clock import LiveClock
from robot.interaction.typed_people import NAME
from robot.live import Live, build_live, stopping
from robot.live_config import LiveConfig
from robot.runtime import run
from robot.tick import Inputs, Tick
from robot.worker import ChildWorker

SPOKEN_S = 3.0          # of a story before the kill
ASKS_S = 0.5            # after it the person speaks: nobody waits for a robot to recover
GIVES_UP_S = 25.0       # after the kill
CALM_S = 1.5            # of silence before the next story
STARTS_S = 60.0         # until the first answer, on a busy machine
PICTURES_FPS = 4.0      # drawn by the mind's process here; a real camera costs it nothing
LOOKED_AT_S = 6.0       # after a kill, in which the joints are watched


@dataclass
class Case:
    """One kill and what followed. Times in s of the run."""

    part: str
    killed_at: float = np.inf
    spoke_on: bool = False                     # it still spoke 0.4 s later
    words_at: float | None = None              # first sound of a clause after it, where it did not
    answered_at: float | None = None           # first sound of the answer to the question
    works_at: float | None = None              # the new process gave its first result
    speed: float = 0.0                         # deg/s, the fastest joint between two readings
    before: float = 0.0                        # deg/s, the same in the story before the kill

    def line(self) -> str:
        again = ("spoke on" if self.spoke_on else "silent" if self.words_at is None else
                 f"words after {self.words_at - self.killed_at:.2f} s")
        answered = "no answer" if self.answered_at is None else f"{self.answered_at - self.killed_at:.2f} s"
        works = "-" if self.works_at is None else f"{self.works_at - self.killed_at:.2f} s"
        return (f"  {self.part:9} {again:24} next question answered {answered:10} new process works {works:8} "
                f"fastest joint {self.speed:.0f} deg/s (before {self.before:.0f})")


@dataclass
class Kills:
    """Script and observer of the run."""

    live: Live
    pids: dict[str, Callable[[], int | None]]
    tell: Callable[[str], None]
    cases: list[Case] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    _phase: str = "waits"
    _since: float = 0.0
    _last: JointReading | None = None
    _speed: float = 0.0

    def finished(self, t: float) -> bool:
        return (len(self.cases) == len(self.pids) and self._phase == "waits") or (not self.cases and t > STARTS_S + 30)

    def act(self, t: float, room: Room) -> None:
        """The start of the tick at t."""
        person = room.person(NAME)
        if self._phase == "waits" and t - self._since > CALM_S and len(self.cases) < len(self.pids):
            person.say(t, "please tell me a long story", 6.0)
            self._enter("asked", t)
        elif self._phase == "speaks" and t - self._since > SPOKEN_S:
            part = list(self.pids)[len(self.cases)]
            pid = self.pids[part]()
            self.cases.append(Case(part, t, before=self._speed))
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
            self._enter("killed", t)
        elif self._phase == "killed" and t - self._since > ASKS_S:
            person.say(t, "what is your name?", 6.0)
            self._enter("waits for an answer", t)

    def _enter(self, phase: str, t: float) -> None:
        self.tell(f"{t:7.2f} s  {phase}")
        self._phase, self._since = phase, t

    def __call__(self, inputs: Inputs, tick: Tick) -> None:
        t, case = inputs.t, self.cases[-1] if self.cases else None
        self.late.append(inputs.late)
        self._watch_joints(t, inputs.joints, case)
        speaks = tick.floor in ROBOT_SOUNDS
        if self._phase == "asked" and speaks:
            self._speed = 0.0
            self._enter("speaks", t)
        elif (self._phase == "asked" and t - self._since > STARTS_S) or (
                self._phase == "speaks" and tick.floor == "idle"):
            self._enter("waits", t)
        if self._phase == "waits" and tick.floor != "idle":
            self._since = t
        for event in tick.events:
            facts = dict(event.facts)
            if event.name in ("engine", "health", "transcript", "reply_start", "reply_end", "barge_in", "degradation"):
                self.tell(f"{t:7.2f} s  {event.name} {facts}")
            if case is not None and event.name == "reply_start":
                self._note_reply(t, case, facts)
        if case is not None and self._phase in ("killed", "waits for an answer"):
            self._follow(t, case, inputs, speaks)

    def _note_reply(self, t: float, case: Case, facts: dict) -> None:
        clauses = self.live.mind.mind.dialogue.answering.running      # type: ignore[attr-defined]
        if case.words_at is None and clauses is not None and not clauses.local:
            case.words_at = t
        if self._phase == "waits for an answer" and facts["turn"] is not None and facts["waited_for"] > self._since:
            case.answered_at = case.answered_at or t

    def _follow(self, t: float, case: Case, inputs: Inputs, speaks: bool) -> None:
        if 0.35 < t - case.killed_at < 0.45:
            case.spoke_on = speaks and case.part != "engine"          # what the engine's death leaves are two tones
        if case.works_at is None and t > case.killed_at + 0.02:
            new = {"engine": any(isinstance(reply, Clause) for reply in inputs.replies) and not case.spoke_on,
                   "detector": bool(inputs.faces) and inputs.faces[-1].t_capture > case.killed_at,
                   "servos": inputs.joints is not None and inputs.joints.t > case.killed_at + 0.02
                   and all(inputs.joints.torque)}[case.part]
            case.works_at = t if new else None
        answered = case.answered_at is not None and t - case.answered_at > LOOKED_AT_S / 2
        if (answered and t - case.killed_at > LOOKED_AT_S) or t - case.killed_at > GIVES_UP_S:
            self._enter("waits", t)

    def _watch_joints(self, t: float, joints: JointReading | None, case: Case | None) -> None:
        last, self._last = self._last, joints or self._last
        if joints is None or last is None or joints.t <= last.t:
            return
        turned = np.abs(joints.position - last.position)
        speed = float(np.degrees(np.max(turned, where=np.isfinite(turned), initial=0.0))) / (joints.t - last.t)
        self._speed = max(self._speed, speed)
        if case is not None and t - case.killed_at < LOOKED_AT_S:
            case.speed = max(case.speed, speed)


def kill_figures(tell: Callable[[str], None] = lambda line: None) -> list[str]:
    """One kill of each child; takes about two minutes."""
    with tempfile.TemporaryDirectory(prefix="talkover-kills-") as folder:
        link = Path(folder) / "servos"
        emulator = subprocess.Popen([sys.executable, "-m", "firmware_bridge.emulator", "--link", str(link)],
                                    stdout=subprocess.PIPE)
        assert emulator.stdout is not None
        emulator.stdout.readline()                       # it says when the line is there
        try:
            return _killed(str(link), tell)
        finally:
            emulator.terminate()
            emulator.wait()


def _killed(device: str, tell: Callable[[str], None]) -> list[str]:
    config, clock = LiveConfig(), LiveClock()
    camera = replace(config.room.camera, fps=PICTURES_FPS)
    config = replace(config, room=replace(config.room, camera=camera),
                     run=replace(config.run, body="servo-bus", senses="simulated"),
                     servo_bus=replace(config.servo_bus, device=device))
    live = build_live(config, clock.start)
    room = live.room
    assert isinstance(room, SimulatedBody) and isinstance(room.joints, LinkedJoints)
    servos, detector = room.joints.process, room.detector
    assert isinstance(detector, ChildWorker)
    kills = Kills(live, {"engine": lambda: live.engine.pid, "detector": lambda: detector.pid,
                         "servos": lambda: servos.pid}, tell)
    room.script = kills.act
    with stopping(live.body.stop):
        run(live.mind, live.body, clock, (kills,), kills.finished)
    late = np.percentile(kills.late, [50, 99, 100]) * 1000
    return ["kill -9 while speaking, live in the simulated room", *(case.line() for case in kills.cases),
            f"  ticks late: p50 {late[0]:.2f}  p99 {late[1]:.1f}  most {late[2]:.0f} ms, {len(kills.late)} ticks"]
