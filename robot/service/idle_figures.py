"""`talkover bench --idle SECONDS`: what a robot costs that listens while nobody speaks, process by process.

The product as it is started: `talkover run` with a sound card (the rig's), servos (emulated), the embedded engine and
metrics, in a room that only hums. Rig, room and emulator stand for the outside and are not counted.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot.errors import BadRequest
from robot.rig.pulse import MICROPHONES, PulseRig, missing
from robot.service.machine import Machine

STARTS_S = 20.0             # before the first sample: models load, the head wakes, the floor of noise is learned
NOISE_DBFS = -58.0          # of each microphone: a quiet room
MOST_CPU, AIM_CPU = 0.35, 0.15           # of one core, all processes (issue 5)
MOST_MB, AIM_MB = 900.0, 600.0           # of proportional memory, all processes (issue 5)
ENDS_S = 10.0
MOST_LINES = 20             # of what the robot said, which should be nothing but what it found at its start
SERVOS_PRIORITY = 45        # SCHED_FIFO, of the emulated servos: over all of the robot's own processes
CONFIG = """[run]
body = "servo-bus"
engine = "embedded"
[sound]
input = "rig_array"
output = "rig_loudspeaker"
reference = 4
[camera]
source = ""
[servo_bus]
device = "{servos}"
[metrics]
on = true
port = 0
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one process. cpu: share of one core; memory in bytes, pss: what is shared counts in parts."""

    name: str
    cpu: float
    rss: int
    pss: int

    def line(self) -> str:
        return f"  {self.name:18} {100 * self.cpu:5.1f} %  PSS {self.pss / 1e6:5.0f} MB  RSS {self.rss / 1e6:5.0f} MB"


def idle_figures(seconds: float) -> list[str]:
    """Runs the robot for so long after its start. BadRequest where the rig cannot be started."""
    remedy = missing()
    if remedy:
        raise BadRequest(f"bench --idle: needs PulseAudio as a private sound card: {remedy}")
    with tempfile.TemporaryDirectory(prefix="talkover-idle-") as name:
        folder = Path(name)
        with surroundings(folder, seconds) as environment, (folder / "said").open("wb") as said:
            (folder / "idle.toml").write_text(CONFIG.format(servos=folder / "servos"), encoding="utf-8")
            command = [sys.executable, "-m", "robot", "run", "--config", str(folder / "idle.toml")]
            run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment)
            try:
                costs, others = measured(run.pid, seconds)
            finally:
                run.send_signal(signal.SIGTERM)
                run.wait(ENDS_S)
        told = (folder / "said").read_text(errors="replace").splitlines()
    return summary(costs, seconds, others) + [f"  it said: {line}" for line in told[:MOST_LINES]]


@contextmanager
def surroundings(folder: Path, seconds: float) -> Iterator[dict[str, str]]:
    """A sound card in a humming room and servos on a line; the environment for the robot."""
    rig = PulseRig(folder / "rig").start()
    environment = {**os.environ, **rig.environment, "STATE_DIRECTORY": str(folder)}
    hum = folder / "hum.raw"
    hum.write_bytes(room_noise(seconds + STARTS_S + ENDS_S).tobytes())
    player = subprocess.Popen(["pacat", "--playback", "--raw", "--rate=16000", "--format=s16le", "--channels=4",
                               f"--channel-map={MICROPHONES}", "--device=room", str(hum)], env=environment)
    emulator = subprocess.Popen([sys.executable, "-m", "firmware_bridge.emulator", "--link", str(folder / "servos")],
                                stdout=subprocess.PIPE)
    assert emulator.stdout is not None
    emulator.stdout.readline()                       # it says when the line is there
    with suppress(PermissionError):                  # real servos answer in time on a busy machine, too
        os.sched_setscheduler(emulator.pid, os.SCHED_FIFO, os.sched_param(SERVOS_PRIORITY))
    try:
        yield environment
    finally:
        for part in (emulator, player):
            part.terminate()
            part.wait()
        rig.close()


def room_noise(seconds: float) -> np.ndarray:
    """(n, 4) int16: noise that falls by 3 dB an octave, as rooms' does, each microphone its own."""
    rng, period = np.random.default_rng(3), 5 * 16000
    spectrum = np.fft.rfft(rng.standard_normal((4, period)), axis=1)
    spectrum /= np.sqrt(np.maximum(np.arange(spectrum.shape[1]), 200.0))
    noise = np.fft.irfft(spectrum, period, axis=1)
    noise *= 32768 * 10 ** (NOISE_DBFS / 20) / noise.std()
    return np.tile(noise.T, (int(np.ceil(seconds / 5)), 1)).astype("<i2")


def measured(pid: int, seconds: float) -> tuple[list[Cost], float]:
    """Of the run `pid` and its children; and the share of all cores that everything else on the machine takes."""
    machine = Machine(pid)
    time.sleep(STARTS_S)
    began, before, busy = time.monotonic(), dict(machine.tree()), _busy()
    time.sleep(seconds)
    passed, after, busy = time.monotonic() - began, machine.tree(), _busy() - busy
    costs = [Cost(machine.name(one), (spent - before.get(one, spent)) / passed, *_memory(one)) for one, spent in after]
    return costs, busy / passed - sum(cost.cpu for cost in costs)


def _memory(pid: int) -> tuple[int, int]:
    """(RSS, PSS) bytes: proc_pid_smaps_rollup(5)."""
    words = Path(f"/proc/{pid}/smaps_rollup").read_text().split()
    return int(words[words.index("Rss:") + 1]) * 1024, int(words[words.index("Pss:") + 1]) * 1024


def _busy() -> float:
    """s of work of all cores since the machine's start: proc_stat(5), user, nice and system."""
    user, nice, system = Path("/proc/stat").read_text().split()[1:4]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def summary(costs: list[Cost], seconds: float, others: float) -> list[str]:
    cpu, pss = sum(cost.cpu for cost in costs), sum(cost.pss for cost in costs) / 1e6
    rss = sum(cost.rss for cost in costs) / 1e6
    return [f"listening while nobody speaks, {seconds:g} s; everything else kept {others:.2f} cores busy meanwhile",
            *(cost.line() for cost in sorted(costs, key=lambda cost: -cost.cpu)),
            f"  {'all':18} {100 * cpu:5.1f} %  PSS {pss:5.0f} MB  RSS {rss:5.0f} MB",
            f"  processor: {_verdict(cpu, MOST_CPU, AIM_CPU, 100, '% of one core')}",
            f"  memory (PSS): {_verdict(pss, MOST_MB, AIM_MB, 1, 'MB')}"]


def _verdict(value: float, most: float, aim: float, scale: float, unit: str) -> str:
    met = "aim met" if value <= aim else "must met" if value <= most else "must MISSED"
    return f"{met} ({scale * value:.0f}, must {scale * most:g}, aim {scale * aim:g} {unit})"
