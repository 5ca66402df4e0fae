"""A sound server as the robot's card, and everything that goes wrong with it: does our sound process heal by itself?

Run by `make peers`. PulseAudio is the peer: four microphones, a loudspeaker and its loopback on a private server
(robot/rig/pulse.py). All faults are played against sounddevice here, then against PyAudio in an environment of its
own (.venv-pyaudio, made where it is missing; PyAudio has no wheels: portaudio19-dev and gcc are needed).
"""
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path

import numpy as np

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from dialogue.engine import SILENCE, SpeakerBlock  # noqa: E402
from robot.bodies.sound_config import SoundDeviceConfig  # noqa: E402
from robot.bodies.sound_process import SoundProcess  # noqa: E402
from robot.rig.pulse import PulseRig, missing  # noqa: E402

HOME = PROJECT / ".venv-pyaudio"
LIMIT_S = 60.0
HERTZ = 500.0


class Robot:
    """A mind that speaks one tone, and keeps what it hears."""

    def __init__(self, rig: PulseRig, config: SoundDeviceConfig):
        os.environ.update(rig.environment)
        self.rig, self.sound = rig, SoundProcess(config)
        self.told, self.blocks, self.said, self.generation = [], [], 0, 0
        self.checks = 0

    def live(self, done: Callable[[], bool], what: str, limit_s: float = LIMIT_S) -> None:
        """Ticks until `done`."""
        end = time.monotonic() + limit_s
        while not done():
            if time.monotonic() > end:
                raise SystemExit(f"peer_sound: {what}: not within {limit_s:g} s; {self.told[-4:]}")
            select.select([], [], [], 0.01)
            blocks = self.sound.read()
            self.blocks += blocks
            self.told += self.sound.health()
            self.sound.write([self._block() for _ in blocks], self.generation)
        self.checks += 1
        print(f"  {what}", flush=True)

    def _block(self) -> SpeakerBlock:
        if not self.generation:
            return SILENCE
        n = self.said + np.arange(160)
        self.said += 160
        return SpeakerBlock(self.generation, self.said - 160,
                            (0.3 * np.sin(2 * np.pi * HERTZ * n / 16000)).astype(np.float32))

    def heard(self, level: str, *words: str) -> bool:
        return any(h.part == "sound_card" and h.level == level and all(w in h.reason for w in words)
                   for h in self.told)

    def fresh(self) -> None:
        self.told.clear()
        self.blocks.clear()

    def hears_itself(self) -> bool:
        """The newest half second of the loopback is the tone."""
        if len(self.blocks) < 60:
            return False
        sound = np.concatenate([b.reference for b in self.blocks[-50:]])
        spectrum = np.abs(np.fft.rfft(sound * np.hanning(sound.size)))
        return sound.std() > 0.1 and abs(np.argmax(spectrum) * 16000 / sound.size - HERTZ) < 3

    def silent_loudspeaker(self) -> bool:
        return len(self.blocks) >= 10 and not any(b.reference.any() for b in self.blocks[-10:])


def play(backend: str, folder: Path) -> int:
    """All faults, one after the other; returns the number of checks."""
    rig = PulseRig(folder)
    config = SoundDeviceConfig(backend=backend, input="rig_array", output="rig_loudspeaker", reference=4, dead_s=1e9,
                               backoff_s=(0.5, 1.0))
    robot = Robot(rig, config)
    try:
        robot.live(lambda: robot.heard("gone", "device named 'rig_array'"), "a server that is late is waited for")
        rig.start()
        robot.live(lambda: robot.heard("ok") and len(robot.blocks) > 50, "and used when it comes")
        assert robot.blocks[0].gap and sum(b.gap for b in robot.blocks) == 1
        robot.generation = 1
        robot.live(robot.hears_itself, "the voice comes out and back, pure")
        child(robot)
        stop(robot)
        stall(robot)
        server(robot)
        check_rates(robot, backend)
    finally:
        robot.sound.close()
        rig.close()
    return robot.checks


def stop(robot: Robot) -> None:
    """A superseded reply is silent within what the device itself holds, though the mind goes on sending it."""
    stale = [SpeakerBlock(1, i * 160, np.full(160, 0.3, np.float32)) for i in range(20)]
    robot.sound.write(stale, 1)
    at = time.monotonic() - robot.sound.start
    robot.sound.write([], 2)
    robot.generation = 0
    robot.fresh()
    robot.live(robot.silent_loudspeaker, "a stop empties 200 ms of queue at once")
    last = max((b.t for b in robot.blocks if b.reference.any()), default=at)
    assert last - at < 0.2, f"sound {last - at:.3f} s after the stop"
    robot.generation = 3


def stall(robot: Robot) -> None:
    for device in ("array", "loudspeaker"):
        robot.fresh()
        robot.rig.suspend(device, True)
        began = time.monotonic()
        robot.live(lambda: robot.heard("gone", "stall") or robot.heard("gone", "ended"),
                   f"a stream that hangs silently ({device}) is noticed")
        assert time.monotonic() - began < 15
        robot.rig.suspend(device, False)
        robot.fresh()
        robot.live(lambda: robot.heard("ok") and robot.hears_itself(), "and comes back by itself")


def server(robot: Robot) -> None:
    robot.fresh()
    robot.rig.kill()
    robot.live(lambda: robot.heard("gone"), "a killed server is noticed")
    robot.live(lambda: robot.heard("gone", "no input device named"), "nothing else is used in its place")
    robot.fresh()
    robot.rig.start()
    robot.live(lambda: robot.heard("ok") and robot.hears_itself(), "and it is found again when it returns")
    times = [b.t for b in robot.blocks]
    assert times == sorted(times)


def child(robot: Robot) -> None:
    robot.fresh()
    assert robot.sound.child.pid
    began = time.monotonic()
    os.kill(robot.sound.child.pid, signal.SIGKILL)
    robot.live(lambda: robot.heard("gone", "ended"), "kill -9 of the sound process is told")
    robot.blocks.clear()
    robot.live(lambda: bool(robot.blocks), "and costs a gap only")
    print(f"  heard again {time.monotonic() - began:.1f} s after kill -9", flush=True)
    assert robot.blocks[0].gap
    robot.live(robot.hears_itself, "the voice goes on")


def check_rates(robot: Robot, backend: str) -> None:
    robot.sound.close()
    for rate in (44100, 48000, 8000):
        config = SoundDeviceConfig(backend=backend, input="rig_array", output="rig_loudspeaker", reference=4,
                                   rate_hz=rate, dead_s=1e9)
        other = Robot(robot.rig, config)
        other.generation = 1
        try:
            other.live(other.hears_itself, f"the tone stays a tone at {rate} Hz")
        finally:
            other.sound.close()
        robot.checks += other.checks


def environment_of_pyaudio() -> Path:
    python = HOME / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-c", "import pyaudio"], capture_output=True).returncode:
        venv.create(HOME, with_pip=True)
        done = subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "PyAudio", "numpy",
                               "scipy"])
        if done.returncode:
            raise SystemExit("peer_sound: PyAudio cannot be built: apt-get install -y portaudio19-dev gcc python3-dev")
    return python


def main() -> None:
    remedy = missing()
    if remedy:
        raise SystemExit(f"peer_sound: {remedy}")
    backend = sys.argv[1] if len(sys.argv) > 1 else "sounddevice"
    with tempfile.TemporaryDirectory(prefix="talkover-peer-") as folder:
        print(f"peer_sound: {backend} {json.dumps(sys.version.split()[0])}", flush=True)
        checks = play(backend, Path(folder))
    print(f"peer_sound: {backend}: {checks} checks")
    if len(sys.argv) == 1:
        sys.exit(subprocess.run([environment_of_pyaudio(), __file__, "pyaudio"]).returncode)


if __name__ == "__main__":
    main()
