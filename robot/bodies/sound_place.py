"""Where a sound server has put this process's streams. When a device is unplugged, PulseAudio and PipeWire move its
streams to another one without a word: a robot's voice would come out of the laptop (field log F33).

pactl tells of changes (`subscribe`) and where streams are (`-f json list`). Without it, or without a server, nothing is
watched: then nobody moves anything.
"""
import json
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

KINDS = {"source-output": "source", "sink-input": "sink"}     # a stream that records, one that plays: its device
ASK_S = 2.0                                                   # for an answer of pactl; a server answers in 10 ms


def served(environment: Mapping[str, str]) -> bool:
    """Whether a sound server runs: where none does, pactl would start one, which takes the card for itself."""
    runtime = environment.get("PULSE_RUNTIME_PATH", f"{environment.get('XDG_RUNTIME_DIR', '/run')}/pulse")
    return "PULSE_SERVER" in environment or Path(runtime, "native").exists()


class SoundPlace:
    """Begun when the streams are open. `moved` tells once they are elsewhere."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._at: dict[tuple[str, int], int] = {}     # (kind, stream): device, as it was found first
        self._environment = {**environment, "LC_ALL": "C"}
        self._half = b""                              # of a line
        self._looks = True                            # once in any case: where they are at first
        self._changes: subprocess.Popen[bytes] | None = None
        if not served(environment):
            return
        with suppress(FileNotFoundError):             # no pactl: no such server
            self._changes = subprocess.Popen(["pactl", "subscribe"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                             stderr=subprocess.DEVNULL, env=self._environment)
            assert self._changes.stdout is not None
            os.set_blocking(self._changes.stdout.fileno(), False)

    def moved(self) -> str | None:
        """Why the streams are not where they were opened; None: they are, as far as anybody can tell."""
        if not self._told():
            return None
        for kind, device in KINDS.items():
            for stream in self._listed(kind):
                if stream.get("properties", {}).get("application.process.id") == str(os.getpid()):
                    place = stream[device]
                    if self._at.setdefault((kind, stream["index"]), place) != place:
                        return f"the sound server moved a stream to another {device}: its own device is gone"
        return None

    def close(self) -> None:
        if self._changes is not None:
            self._changes.kill()
            self._changes.wait()

    def _told(self) -> bool:
        """Whether the server told of a stream since the call before."""
        if self._changes is None or self._changes.stdout is None:
            return False
        *lines, self._half = (self._half + (self._changes.stdout.read() or b"")).split(b"\n")   # None: nothing new
        news = any(f" on {kind} #".encode() in line for line in lines for kind in KINDS)
        looks, self._looks = self._looks or news, False
        return looks

    def _listed(self, kind: str) -> list[dict[str, Any]]:
        """All streams of a kind on the server; none where it does not answer as expected."""
        with suppress(OSError, subprocess.SubprocessError, ValueError):
            told = subprocess.run(["pactl", "-f", "json", "list", f"{kind}s"], stdin=subprocess.DEVNULL, check=True,
                                  capture_output=True, timeout=ASK_S, env=self._environment)
            return json.loads(told.stdout)
        return []
