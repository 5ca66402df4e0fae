"""A sound server as the robot's card, and everything that goes wrong with it: does our sound process heal by itself?

Run by `make peers`. PulseAudio is the peer: four microphones, a loudspeaker and its loopback on a private server
(robot/rig/pulse.py). All faults are played against sounddevice here, then against PyAudio in an environment of its
own (.venv-pyaudio, made where it is missing; PyAudio has no wheels: portaudio19-dev and gcc are needed).
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from dialogue.engine import SpeakerBlock  # noqa: E402
from robot.bodies.sound_config import SoundDeviceConfig  # noqa: E402
from robot.rig.pulse import PulseRig, missing  # noqa: E402
from tests.rig_robot import RigRobot  # noqa: E402

HOME = PROJECT / ".venv-pyaudio"


def play(backend: str, folder: Path) -> int:
    """All faults, one after the other; returns the number of checks."""
    rig = PulseRig(folder)
    config = SoundDeviceConfig(backend=backend, input="rig_array", output="rig_loudspeaker", reference=4, dead_s=1e9,
                               backoff_s=(0.5, 1.0))
    robot = RigRobot(rig, config)
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


def stop(robot: RigRobot) -> None:
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


def stall(robot: RigRobot) -> None:
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


def server(robot: RigRobot) -> None:
    robot.fresh()
    robot.rig.kill()
    robot.live(lambda: robot.heard("gone"), "a killed server is noticed")
    robot.live(lambda: robot.heard("gone", "no input device named"), "nothing else is used in its place")
    robot.fresh()
    robot.rig.start()
    robot.live(lambda: robot.heard("ok") and robot.hears_itself(), "and it is found again when it returns")
    times = [b.t for b in robot.blocks]
    assert times == sorted(times)


def child(robot: RigRobot) -> None:
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


def check_rates(robot: RigRobot, backend: str) -> None:
    robot.sound.close()
    for rate in (44100, 48000, 8000):
        config = SoundDeviceConfig(backend=backend, input="rig_array", output="rig_loudspeaker", reference=4,
                                   rate_hz=rate, dead_s=1e9)
        other = RigRobot(robot.rig, config)
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
