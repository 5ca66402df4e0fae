"""MiniCPM-o servers without a model: the demo's and the gateway's rules and faults, pure, and behind a socket.

Built from the protocol notes. Each unit is answered once, in order; `plan` tells what the model says at which unit.
"""
import base64
import functools
import json
import threading
from dataclasses import dataclass, field

import numpy as np
from websockets.sync.server import ServerConnection
from websockets.sync.server import serve as serve_socket

UNIT_BYTES = 64000
DEMO_KEYS = {"type", "audio_base64", "frame_base64_list", "force_listen", "max_slice_nums"}


@functools.cache
def floats(seconds: float, level: float = 0.2) -> str:
    t = np.arange(round(seconds * 24000)) / 24000
    return base64.b64encode((level * np.sin(2 * np.pi * 220 * t)).astype("<f4").tobytes()).decode()


@dataclass
class Faults:
    """What goes wrong."""

    queued: int = 0                  # updates before the queue is done
    full: bool = False
    no_queue_done: bool = False
    no_end_of_turn: bool = False     # only the next listen tells that a turn is over
    ignores_force: bool = False
    no_input_id: bool = False        # the gateway does not say which input it answers
    kv_a_unit: int = 28
    late: int = 0                    # speaking answers to units from before a forced one, which come after it


@dataclass
class Demo:
    """`/ws/duplex`. plan: unit number -> words that it says then; a run of such units is a turn."""

    plan: dict[int, str] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    sound_s: float = 1.0             # of voice in a speaking unit
    log: list = field(default_factory=list)
    units: int = 0
    kv: int = 0
    forced: list = field(default_factory=list)

    def greeting(self) -> list[dict]:
        if self.faults.full:
            return [{"type": "error", "error": "Queue full (1000 requests)"}]
        waits = [{"type": "queued" if n == 0 else "queue_update", "position": 1, "estimated_wait_s": 20.0,
                  "queue_length": 1} for n in range(self.faults.queued)]
        return waits + ([] if self.faults.no_queue_done else [{"type": "queue_done"}])

    def hear(self, message: dict) -> list[dict]:
        self.log.append(message)
        if message["type"] == "prepare":
            return [{"type": "prepared", "prompt_length": len(message["system_prompt"])}]
        if message["type"] == "stop":
            return [{"type": "stopped"}]
        if message["type"] != "audio_chunk" or set(message) - DEMO_KEYS:
            return [{"type": "error", "error": f"unknown: {sorted(message)}"}]
        if len(base64.b64decode(message["audio_base64"], validate=True)) != UNIT_BYTES:
            return [self.listen()]
        self.units += 1
        if message["force_listen"] and not self.faults.ignores_force:
            self.forced.append(self.units)
            return [self.speak("late", False)] * self.faults.late + [self.listen()]
        if self.units > 3 and self.units in self.plan:
            return [self.speak(self.plan[self.units], self.units + 1 not in self.plan)]
        return [self.listen()]

    def listen(self) -> dict:
        self.kv += self.faults.kv_a_unit
        zeros = base64.b64encode(bytes(96000)).decode()
        return {"type": "result", "is_listen": True, "text": "", "audio_data": zeros, "end_of_turn": False,
                "current_time": self.units, "kv_cache_length": self.kv}

    def speak(self, text: str, last: bool) -> dict:
        self.kv += self.faults.kv_a_unit
        return {"type": "result", "is_listen": False, "text": text, "audio_data": floats(self.sound_s),
                "end_of_turn": last and not self.faults.no_end_of_turn, "current_time": self.units,
                "kv_cache_length": self.kv}


@dataclass
class Gateway(Demo):
    """`/v1/realtime?mode=audio`, version 2."""

    def greeting(self) -> list[dict]:
        return [{**m, "type": f"session.{m['type']}"} for m in super().greeting() if m["type"] != "error"]

    def hear(self, message: dict) -> list[dict]:
        self.log.append(message)
        if message["type"] == "session.init":
            if not isinstance(message.get("payload"), dict):
                return [{"type": "session.closed", "reason": "backend_error"}]
            return [{"type": "session.created", "session_id": "s", "mode": "full_duplex", "metrics": {}}]
        if message["type"] == "session.close":
            return [{"type": "session.closed", "session_id": "s", "reason": "user_stop"}]
        given = message["input"]
        self.units += 1
        self.kv += self.faults.kv_a_unit
        common = {"type": "response.output.delta", "session_id": "s", "response_id": "r",
                  "metrics": {"kv_cache_length": self.kv}}
        if not self.faults.no_input_id:
            common["input_id"] = given["input_id"]
        if given.get("force_listen"):
            self.forced.append(self.units)
            return [{**common, "kind": "listen"}]
        if self.units in self.plan:
            return [{**common, "kind": "text", "text": self.plan[self.units]},
                    {**common, "kind": "audio", "audio": floats(self.sound_s)}]
        return [{**common, "kind": "listen"}]


class Served:
    """A demo server behind a socket on this machine."""

    def __init__(self, make=Demo):
        self.make, self.sessions, self.paths = make, [], []
        self._server = serve_socket(self._talk, "127.0.0.1", 0)
        self.port = self._server.socket.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def _talk(self, line: ServerConnection) -> None:
        server = self.make()
        self.sessions.append(server)
        self.paths.append(line.request.path)
        for message in server.greeting():
            line.send(json.dumps(message))
        if server.faults.full:
            line.close(1013, "Queue full")
            return
        for text in line:
            for message in server.hear(json.loads(text)):
                line.send(json.dumps(message))
                if message["type"] == "stopped":
                    line.socket.shutdown(2)          # the relay ends without a close frame
                    return

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join(5)
