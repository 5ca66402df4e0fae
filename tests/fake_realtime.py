"""A Realtime server without a model: its rules and its faults, as a pure object and behind a real socket.

Built from the protocol notes alone, so that a misreading of the engine cannot agree with itself. `Server.hear` takes a
client event and returns server events; `serve` puts it behind a WebSocket. What a real server would refuse, it refuses.
"""
import base64
import functools
import json
import threading
from dataclasses import dataclass, field

import numpy as np
from websockets.sync.server import ServerConnection
from websockets.sync.server import serve as serve_socket

GA = {"audio_delta": "response.output_audio.delta", "words_delta": "response.output_audio_transcript.delta"}
BETA = {"audio_delta": "response.audio.delta", "words_delta": "response.audio_transcript.delta"}
VAD_S = 0.3        # of quiet, then a detection of its own takes a turn to be over


@functools.cache
def tone(seconds: float, rate: int) -> str:
    t = np.arange(round(seconds * rate)) / rate
    return base64.b64encode((8000 * np.sin(2 * np.pi * 220 * t)).astype("<i2").tobytes()).decode()


@dataclass
class Faults:
    """What goes wrong."""

    late_deltas: int = 0             # of a cancelled response, after its response.done
    double_reply: bool = False       # a second response to one request
    never_answers: bool = False
    rate_hz: int = 24000             # of the sound; another than the usual is told in session.updated
    no_created_until_cancel: bool = False
    refuse_create: str = ""          # error code of every response.create
    close_after: int = 0             # client events, then the socket drops
    close_code: int = 1006
    status: int = 0                  # of the handshake
    full: bool = False               # session_limit_reached, then 1008


@dataclass
class Server:
    """One session. text: what every reply says; pieces: how many deltas it comes in, 0.2 s of sound each."""

    text: str = "Here is what I think about it."
    pieces: int = 5
    beta: bool = False
    commit_answers: bool = False     # a commit begins the reply, as LocalAI's does
    vad: str = ""                    # a detection of its own, asked for none: `told` in session.updated, or `untold`
    calls: tuple = ()                # (call_id, name, arguments) of the first reply
    faults: Faults = field(default_factory=Faults)
    log: list = field(default_factory=list)
    sound_s: float = 0.0             # of sound in the buffer
    active: str | None = None
    count: int = 0
    quiet_s: float = 9.0             # since it last heard a voice; over VAD_S: none is being heard
    items: dict = field(default_factory=dict)     # item -> ms of sound
    _sent: dict = field(default_factory=dict)

    def greeting(self) -> list[dict]:
        if self.faults.full:
            return [{"type": "error", "error": {"type": "session_limit_reached", "message": "no place"}}]
        old = {"modalities": ["audio", "text"], "input_audio_format": "pcm16"}
        return [{"type": "session.created", "event_id": "e0", "session": old if self.beta else
                 {"type": "realtime", "audio": {"output": {"format": {"type": "audio/pcm", "rate": 24000}}}}}]

    def hear(self, event: dict) -> list[dict]:
        self.log.append(event)
        handler = getattr(self, "on_" + event["type"].replace(".", "_"), None)
        return [] if handler is None else handler(event)

    def on_session_update(self, event):
        if not self.beta and event["session"].get("type") != "realtime":
            return [self.error("missing_required_parameter", event)]
        rate, detection = self.faults.rate_hz, {"type": "server_vad"} if self.vad == "told" else None
        return [{"type": "session.updated", "session": {"type": "realtime", "audio": {
            "input": {"turn_detection": detection}, "output": {"format": {"type": "audio/pcm", "rate": rate}}}}}]

    def on_input_audio_buffer_append(self, event):
        pcm = np.frombuffer(base64.b64decode(event["audio"], validate=True), "<i2")
        self.sound_s += len(pcm) / 24000
        return self.detect(len(pcm) / 24000, bool(np.max(np.abs(pcm), initial=0) > 300)) if self.vad else []

    def detect(self, seconds: float, loud: bool) -> list[dict]:
        """Its own detection: after a voice and VAD_S of quiet the turn is over, and a reply begins."""
        before, self.quiet_s = self.quiet_s, 0.0 if loud else self.quiet_s + seconds
        if loud and before > VAD_S:
            return [{"type": "input_audio_buffer.speech_started", "item_id": "user", "audio_start_ms": 0}]
        if not before <= VAD_S < self.quiet_s:
            return []
        self.sound_s = 0.0
        told = [{"type": "input_audio_buffer.committed", "item_id": f"user_{len(self.log)}"}]
        return told + (self.respond(None) if self.active is None else [])

    def on_input_audio_buffer_clear(self, event):
        self.sound_s = 0.0
        return [{"type": "input_audio_buffer.cleared"}]

    def on_input_audio_buffer_commit(self, event):
        if self.sound_s < 0.1:
            return [self.error("input_audio_buffer_commit_empty", event)]
        self.committed_s, self.sound_s = self.sound_s, 0.0
        told = [{"type": "input_audio_buffer.committed", "item_id": f"user_{len(self.log)}"}]
        return told + (self.finish("cancelled") + self.respond(None) if self.commit_answers else [])

    def on_response_create(self, event):
        faults = self.faults
        if self.active:
            return [self.error("conversation_already_has_active_response", event)]
        if faults.refuse_create:
            return [self.error(faults.refuse_create, event)]
        if faults.never_answers:
            return []
        asked = event.get("response", {})
        out = self.respond(asked.get("metadata"))
        if faults.double_reply:
            out += self.finish() + self.respond(None)
        return out

    def respond(self, metadata) -> list[dict]:
        """A response with all its deltas; its end comes with `finish`, so that a test can cancel in between."""
        self.count += 1
        self.active = response = f"resp_{self.count}"
        item = f"item_{self.count}"
        names = BETA if self.beta else GA
        out = [{"type": "response.created", "response": {"id": response, "status": "in_progress",
                                                          "metadata": metadata}}]
        if self.calls:
            out += [{"type": "response.output_item.done", "response_id": response, "item": {
                "type": "function_call", "call_id": call, "name": name, "arguments": arguments}}
                for call, name, arguments in self.calls]
            self.calls = ()
            return out
        text = self.text.format(n=self.count)
        ends = [len(text) * (n + 1) // self.pieces for n in range(self.pieces)]
        for n, end in enumerate(ends):
            begin = 0 if n == 0 else ends[n - 1]
            out.append({"type": names["words_delta"], "response_id": response, "item_id": item,
                        "delta": text[begin:end]})
            out.append({"type": names["audio_delta"], "response_id": response, "item_id": item,
                        "delta": tone(0.2, self.faults.rate_hz)})
        self.items[item] = 200 * self.pieces
        self._sent[response] = out[-1]
        return out

    def finish(self, status: str = "completed") -> list[dict]:
        response, self.active = self.active, None
        if response is None:
            return []
        done = {"type": "response.done", "response": {"id": response, "status": status, "output": []}}
        return [done] + [self._sent[response]] * self.faults.late_deltas if response in self._sent else [done]

    def on_response_cancel(self, event):
        if self.active is None or event.get("response_id") not in (None, self.active):
            return [self.error("response_cancel_not_active", event)]
        return self.finish("cancelled")

    def on_conversation_item_truncate(self, event):
        item = event["item_id"]
        if item not in self.items or not 1 <= event["audio_end_ms"] <= self.items[item]:
            return [self.error("invalid_value", event)]
        self.items[item] = event["audio_end_ms"]
        return [{"type": "conversation.item.truncated", "item_id": item, "audio_end_ms": event["audio_end_ms"]}]

    def on_conversation_item_delete(self, event):
        self.items.pop(event["item_id"], None)
        return [{"type": "conversation.item.deleted", "item_id": event["item_id"]}]

    def error(self, code: str, event: dict) -> dict:
        return {"type": "error", "error": {"type": "invalid_request_error", "code": code, "message": code,
                                           "event_id": event.get("event_id")}}

    def of(self, kind: str) -> list[dict]:
        return [event for event in self.log if event["type"] == kind]


class Served:
    """The server behind a socket on this machine; each connection gets a fresh Server with the same faults."""

    def __init__(self, make=Server):
        self.make, self.sessions, self.attempts = make, [], 0
        self._server = serve_socket(self._talk, "127.0.0.1", 0, process_request=self._admit)
        self.port = self._server.socket.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/v1/realtime"

    def _admit(self, connection, request):
        self.attempts += 1
        self.next = self.make()
        status = self.next.faults.status
        return connection.respond(status, "no\n") if status else None

    def _talk(self, line: ServerConnection) -> None:
        server = self.next
        self.sessions.append(server)
        for event in server.greeting():
            line.send(json.dumps(event))
        if server.faults.full:
            line.close(1008, "full")
            return
        faults = server.faults
        if faults.close_after == -1:
            self._end(line, faults.close_code)
            return
        for text in line:
            for event in server.hear(json.loads(text)):
                line.send(json.dumps(event))
            if server.active and not server.faults.never_answers:
                for event in server.finish():
                    line.send(json.dumps(event))
            if faults.close_after and len(server.log) >= faults.close_after:
                self._end(line, faults.close_code)
                return

    @staticmethod
    def _end(line: ServerConnection, code: int) -> None:
        if code == 1006:
            line.socket.shutdown(2)          # no close frame
        else:
            line.close(code)

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join(5)
