"""An environment of its own, .venv-reachy, with the official Reachy Mini daemon and its Rust kinematics.

As little as `--mockup-sim --no-media` needs: the packages for hardware, media and the local network (PyGObject and
GStreamer, motors, USB, mDNS) are imported by the daemon but not used then, and are stood in for.
"""
import os
import subprocess
import sys
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
HOME = PROJECT / ".venv-reachy"
PYTHON = HOME / "bin" / "python"
OFFICIAL = ("reachy-mini==1.13.0", "reachy-mini-rust-kinematics==1.0.3", "log-throttling==0.0.3")
NEEDED = ("numpy>=2.2.5", "fastapi", "starlette>=1.3.1,<2", "uvicorn", "websockets>=12,<16", "pydantic>=2.12.5,<3",
          "huggingface-hub>=1.20.1,<2", "aiohttp>=3.14", "asgiref", "jinja2", "platformdirs", "psutil", "pyyaml",
          "python-multipart", "requests", "rich")
STOOD_IN = ("gi", "gi.repository", "libusb_package", "onnxruntime", "pulsectl", "questionary",
            "reachy_mini_motor_controller", "rustypot", "serial", "serial.tools", "serial.tools.list_ports", "usb",
            "usb.core", "usb.util", "zeroconf")
DAEMON = f"""
import sys
from unittest.mock import MagicMock
sys.modules.update((name, MagicMock()) for name in {STOOD_IN!r})
from reachy_mini.daemon.app.main import main
main()
"""


def prepare() -> bool:
    """Makes the environment where it is missing; False, with a line on what to do, when that failed."""
    ready = HOME / ".ready"
    wanted = "\n".join(OFFICIAL + NEEDED)
    if ready.exists() and ready.read_text() == wanted:
        return True
    venv.create(HOME, with_pip=True)
    pip = [PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    quiet = {"stderr": subprocess.PIPE, "text": True}
    for packages in (NEEDED, ("--no-deps", *OFFICIAL)):
        done = subprocess.run([*pip, *packages], **quiet)
        if done.returncode:
            print(f"{HOME.name}: pip could not install {' '.join(packages)}:\n{done.stderr.strip()[-600:]}\n"
                  f"Give pip an index that has them (PIP_INDEX_URL), delete {HOME.name} and run `make peers` again.")
            return False
    ready.write_text(wanted)
    return True


def daemon(port: int, *options: str, log: Path) -> subprocess.Popen:
    """The official daemon on 127.0.0.1. It writes its settings into the environment's folder, and tells nobody."""
    home = HOME / "home"
    home.mkdir(exist_ok=True)
    alone = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1"}
    command = [PYTHON, "-c", DAEMON, "--mockup-sim", "--no-media", "--fastapi-host", "127.0.0.1", "--fastapi-port",
               str(port), "--dataset-update-interval", "0", *options]
    with log.open("ab") as out:
        return subprocess.Popen(command, env={**os.environ, **alone}, stdout=out, stderr=out)


if __name__ == "__main__":
    sys.exit(0 if prepare() else 1)
