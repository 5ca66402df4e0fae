"""The official SDK's own audio control and ours on the same emulated microphone array: do both read it alike?

Run by `make peers`, in .venv-reachy. Both sides go through the real pyusb; only the wire is emulated. The SDK's file is
loaded by itself: its package wants GStreamer and motors.
"""
import importlib.metadata
import importlib.util
import random
import subprocess
import sys
import types
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from tests.peers import reachy_environment  # noqa: E402

PYUSB = "pyusb==1.3.1"
FLOATS = ("AUDIO_MGR_MIC_GAIN", "AUDIO_MGR_REF_GAIN")
OTHERS = {"LED_EFFECT": 255, "AUDIO_MGR_OP_L": 12, "AUDIO_MGR_OP_R": 12, "AUDIO_MGR_SYS_DELAY": 256}


def sdk_module(backend) -> types.ModuleType:
    """media/audio_control_utils.py of the installed SDK; libusb is our emulated bus."""
    stand_in = types.ModuleType("libusb_package")
    stand_in.get_libusb1_backend = lambda: backend
    sys.modules["libusb_package"] = stand_in
    files = importlib.metadata.files("reachy-mini")
    path = next(f for f in files if str(f).endswith("media/audio_control_utils.py")).locate()
    spec = importlib.util.spec_from_file_location("audio_control_utils", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Peers:
    """Both sides, and what they agreed on so far."""

    def __init__(self):
        from firmware_bridge.emulator.array_device import EmulatedArray
        from firmware_bridge.mic_array import MicArray
        from robot.bodies.usb_bus import PyUsbBus, WallTime
        from tests.usb_array import EmulatedUsb

        self.board, self.bus, self.checks = EmulatedArray(), EmulatedUsb(), 0
        self.bus.plug(self.board)
        self.sdk = sdk_module(self.bus)
        self.theirs, self.ours = self.sdk.init_respeaker_usb(), MicArray(PyUsbBus(self.bus), WallTime())
        self.expect("the SDK finds the array", self.theirs is not None, True)

    def expect(self, what: str, found, expected) -> None:
        self.checks += 1
        if found != expected:
            raise SystemExit(f"peer_array_sdk: {what}: found {found}, expected {expected}")

    def table(self) -> None:
        from firmware_bridge.array_commands import COMMANDS
        access = {"r": "ro", "w": "wo", "rw": "rw"}
        for name, command in COMMANDS.items():
            ours = (command.resource, command.command, command.count, access[command.access], command.kind)
            self.expect(f"entry of {name}", ours, self.sdk.PARAMETERS[name])

    def reading(self) -> None:
        from firmware_bridge.array_commands import COMMANDS
        for name, command in COMMANDS.items():
            if "r" in command.access:
                self.expect(f"values of {name}", self.ours.read(name), self.theirs.read_values(name))
        chance = random.Random(1)
        for _ in range(200):
            self.board.hears(chance.uniform(0, 3.1416), chance.random() < 0.5)
            angle, speech = self.theirs.read("DOA_VALUE_RADIANS")
            self.expect("direction", self.ours.direction(), (angle, bool(speech)))

    def writing(self) -> None:
        chance = random.Random(2)
        for _ in range(50):
            for name in FLOATS:
                self.theirs.write(name, [chance.uniform(0, 100)])
                self.expect(f"their {name}", self.ours.read(name), self.theirs.read_values(name))
                value = chance.uniform(0, 100)
                self.ours.write(name, (value,))
                self.expect(f"our {name}", abs(self.theirs.read_values(name)[0] - value) < 1e-4, True)
            for name, most in OTHERS.items():
                values = tuple(chance.randrange(most + 1) for _ in range(self.sdk.PARAMETERS[name][2]))
                self.ours.write(name, values)
                self.expect(f"our {name}", self.theirs.read_values(name), values)
                self.theirs.write(name, list(reversed(values)))
                self.expect(f"their {name}", self.ours.read(name), tuple(reversed(values)))
        config = (("AUDIO_MGR_MIC_GAIN", (2.5,)), ("AUDIO_MGR_OP_L", (8, 0)))
        self.expect("their verified config", self.theirs.apply_audio_config(config, write_settle_seconds=0.0), True)
        self.expect("gain after it", self.ours.gains().microphones, 2.5)

    def patience(self) -> None:
        """Both ask a busy array again, and both see a restart give the factory's values back."""
        for side in (self.theirs.read_values, self.ours.read):
            self.board.busy = 7
            self.expect("gain of a busy array", side("AUDIO_MGR_MIC_GAIN"), (2.5,))
        self.theirs.write("REBOOT", [1])
        self.expect("gain after their restart", self.ours.gains().microphones, 10.0)
        self.ours.set_gains(microphones=3.0)
        self.theirs.write("SAVE_CONFIGURATION", [1])
        self.ours.write("REBOOT", (1,))
        self.expect("saved gain", self.theirs.read_values("AUDIO_MGR_MIC_GAIN"), (3.0,))


def check() -> int:
    peers = Peers()
    for part in (peers.table, peers.reading, peers.writing, peers.patience):
        part()
    version = importlib.metadata.version("reachy-mini")
    print(f"peer_array_sdk: the SDK {version} and our array control agree in {peers.checks} checks")
    return 0


def main() -> int:
    if Path(sys.prefix) == reachy_environment.HOME:
        return check()
    if not reachy_environment.prepare():
        return 1
    python = reachy_environment.PYTHON
    if subprocess.run([python, "-c", "import usb.core"], stderr=subprocess.DEVNULL).returncode:
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
                        PYUSB], check=True)
    return subprocess.run([python, __file__]).returncode


if __name__ == "__main__":
    sys.exit(main())
