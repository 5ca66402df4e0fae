"""The official Reachy Mini daemon as the body of our motion: does it go where we say, also after a restart?

Run by `make peers`. The daemon (mockup-sim: targets are reached within its tick) has .venv-reachy to itself; the mind's
side is the product's: mover, JointProcess, daemon_child. An observer of its own hears what the daemon reports.
"""
import json
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from calibration.body_model import reachy_mini
from motion.intent import Gaze, MotionIntent
from motion.mover import Mover
from robot.bodies.daemon_link import PART as DAEMON
from robot.bodies.daemon_setup import PART, DaemonSetup
from robot.bodies.joint_process import JointProcess
from robot.bodies.pose_track import parked
from tests.peers import reachy_environment

TICK_S = 0.01
PATIENCE_S = 60.0          # for what must happen at all
SPEED_DEG_S = 240.0        # in what the daemon reports; the goals keep to 200
MOVING_DEG = 3.0           # from the commanded way, whose points lie 1.2 deg apart at 120 deg/s
STANDING_DEG = 0.5
LAG_S = 0.12
SILENCE = np.zeros(160)


class Observer(threading.Thread):
    """Keeps (arrival s, joints (9,) rad) of every report, by a connection of its own."""

    def __init__(self, port: int):
        super().__init__(daemon=True)
        self.port, self.reports, self.over = port, [], False

    def run(self) -> None:
        from websockets.exceptions import WebSocketException
        from websockets.sync.client import connect

        while not self.over:
            try:
                with connect(f"ws://127.0.0.1:{self.port}/ws/sdk", proxy=None, compression=None) as line:
                    for text in line:
                        said = json.loads(text)
                        if said.get("type") == "joint_positions":
                            joints = said["head_joint_positions"] + said["antennas_joint_positions"]
                            self.reports.append((time.monotonic(), np.array(joints)))
            except (WebSocketException, OSError, TimeoutError):
                time.sleep(0.05)

    def fastest(self, since: float, until: float) -> float:
        """deg/s over three reports: the daemon's tick is 20 ms, and longer where the machine is busy."""
        kept = [report for report in list(self.reports) if since <= report[0] <= until]
        pairs = zip(kept, kept[3:], strict=False)
        speeds = [np.abs(b - a).max() / max(late - early, 0.06) for (early, a), (late, b) in pairs]
        return float(np.degrees(max(speeds, default=0.0)))


class Robot:
    """The mind's side: the mover a hundred times a second."""

    def __init__(self, port: int):
        self.body, self.port = reachy_mini(), port
        self.mover = Mover(self.body, np.random.default_rng(1))
        self.start = time.monotonic()
        setup = DaemonSetup(self.start, port=port, body=self.body, park=parked(self.body))
        self.process = JointProcess.start("robot.bodies.daemon_child", PART, setup)
        self.reading, self.told = None, []
        self.commanded: list[tuple[float, np.ndarray]] = []
        self.measured: list[tuple[float, np.ndarray]] = []
        self._due = self.start

    def run(self, seconds: float, azimuth: float = 0.0, until=None) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (until is not None and until(self)):
            self._due = max(self._due + TICK_S, time.monotonic() - TICK_S)
            time.sleep(max(self._due - time.monotonic(), 0.0))
            t = time.monotonic() - self.start
            reading = self.process.read()
            if reading is not None:
                self.reading = reading
                self.measured.append((reading.t, reading.position))
            self.told += self.process.health()
            if (self.reading is not None and np.isfinite(self.reading.position).all()) or self.commanded:
                goal = self.mover.step(t, MotionIntent(t, "listen", Gaze(azimuth), urgency=0.6), SILENCE, reading)
                self.process.write(goal)
                self.commanded.append((t, goal.position))

    def obeys(self) -> bool:
        return self.reading is not None and all(self.reading.torque)

    def off(self) -> float:
        """deg between measured and commanded body and head, nan without a reading."""
        return float(np.degrees(np.abs(self.reading.position - self.commanded[-1][1])[:7].max()))

    def arrived(self) -> bool:
        return self.obeys() and self.off() < STANDING_DEG

    def heard(self, part: str, level: str) -> bool:
        return any((line.part, line.level) == (part, level) for line in self.told)

    def follows(self, seconds: float) -> tuple[float, float, float]:
        """Of the last seconds: lag (s) and 99th percentile (deg) of measured against commanded joints at that lag; and
        the largest distance (deg) from the commanded way of the second before, which no busy machine makes larger."""
        since = self.commanded[-1][0] - seconds
        times, goals = (np.array(column) for column in zip(*self.commanded, strict=True))
        pairs = [(t, position) for t, position in self.measured if since < t < times[-1]]
        at, joints = (np.array(column) for column in zip(*pairs, strict=True))
        away = max(np.abs(goals[(times > t - 1.0) & (times <= t)] - q).max(1).min() for t, q in pairs)
        best = (0.0, np.inf)
        for lag in np.arange(0.0, LAG_S, 0.002):
            played = np.stack([np.interp(at - lag, times, goals[:, joint]) for joint in range(9)], axis=1)
            off = float(np.degrees(np.percentile(np.abs(joints - played).max(1), 99)))
            best = min(best, (lag, off), key=lambda pair: pair[1])
        return *best, float(np.degrees(away))


def expect(what: str, true: bool, detail: object = "") -> None:
    print(f"peer_reachy_daemon: {'ok  ' if true else 'FAIL'} {what} {detail}", flush=True)
    if not true:
        raise SystemExit(1)


def ask(port: int, path: str, body: dict | None = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)


def goes_our_way(robot: Robot, observer: Observer) -> None:
    robot.run(PATIENCE_S, until=Robot.obeys)
    expect("the official daemon takes our goals", robot.obeys(), f"after {time.monotonic() - robot.start:.1f} s")
    robot.run(4.0)
    begun = time.monotonic()
    for azimuth in (0.9, -0.9, 0.9, -0.9, 0.0):
        robot.run(1.5, azimuth)
    lag, off, away = robot.follows(7.0)
    expect("its joints go our way", away < MOVING_DEG, f"within {away:.2f} deg; lag {1e3 * lag:.0f} ms and then "
           f"p99 {off:.2f} deg (on a quiet machine 50 ms, 0.1 deg)")
    fast = observer.fastest(begun, time.monotonic())
    expect("no step in its reports", 60 < fast < SPEED_DEG_S, f"fastest {fast:.0f} deg/s")


def comes_back(robot: Robot, observer: Observer) -> None:
    """A new daemon has begun in its sleep pose."""
    begun = time.monotonic()
    robot.run(PATIENCE_S, 0.9, until=Robot.arrived)
    expect("after its restart it is led to where the mind wants it", robot.arrived(), f"{robot.off():.2f} deg")
    fast = observer.fastest(begun, time.monotonic())
    expect("and no step in what the new daemon reports", 20 < fast < SPEED_DEG_S, f"fastest {fast:.0f} deg/s")


def owns_the_motion(robot: Robot, observer: Observer, port: int) -> None:
    begun = time.monotonic()
    ask(port, "/api/move/goto", {"head_pose": {"yaw": -0.6}, "body_yaw": -0.6, "duration": 3.0})
    robot.run(PATIENCE_S, 0.9, until=lambda r: any("move of its own" in line.reason for line in r.told))
    robot.run(PATIENCE_S, 0.9, until=Robot.arrived)
    expect("a move that somebody else starts is ended and told", robot.arrived(), f"{robot.off():.2f} deg")
    fast = observer.fastest(begun, time.monotonic())
    expect("without a step", fast < SPEED_DEG_S, f"fastest {fast:.0f} deg/s")


def parks(robot: Robot, observer: Observer, port: int) -> None:
    robot.process.close()
    joints = observer.reports[-1][1]
    off = float(np.degrees(np.abs(joints - robot.process.setup.park)[1:7].max()))
    mode = ask(port, "/api/motors/status")["mode"]
    expect("closing parks it, then its motors are off", mode == "disabled" and off < 6, f"{off:.1f} deg, {mode}")


def check(port: int, log: Path) -> None:
    robot, observer = Robot(port), Observer(port)
    observer.start()
    robot.run(PATIENCE_S, until=lambda r: r.heard(DAEMON, "gone"))
    expect("without a daemon: told, and the process lives", robot.heard(DAEMON, "gone") and robot.process.deaths == 0)
    daemon = reachy_environment.daemon(port, log=log)                # wakes up by a move of its own
    try:
        goes_our_way(robot, observer)
        robot.run(0.4, 0.9)
        daemon.send_signal(signal.SIGKILL)                           # in mid-motion
        daemon.wait()
        robot.told.clear()
        robot.run(1.5, 0.9, until=lambda r: r.heard(DAEMON, "gone"))
        expect("a killed daemon is told", robot.heard(DAEMON, "gone"))
        daemon = reachy_environment.daemon(port, "--no-wake-up-on-start", log=log)
        comes_back(robot, observer)
        owns_the_motion(robot, observer, port)
        parks(robot, observer, port)
    finally:
        observer.over = True
        robot.process.close()
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()


def main() -> int:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if not reachy_environment.prepare():
        return 1
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        check(port, Path(folder) / "daemon.log")
    return 0


if __name__ == "__main__":
    sys.exit(main())
