"""A vLLM-Omni duplex server without a model: its handshake, sequence numbers, listens, replies, epochs and resumes.

Built from the protocol notes; whether it is right, the official client tells (tests/peers/peer_duplex_client.py).
"""
import base64
import json
import threading
from dataclasses import dataclass, field

from websockets.sync.server import ServerConnection
from websockets.sync.server import serve as serve_socket

from tests.fake_realtime import tone

UNIT_BYTES = 32000        # a second of 16-bit sound at 16 kHz


@dataclass
class Session:
    """plan: units in which a reply begins; each reply is `pieces` pairs of 0.5 s of sound and its words."""

    plan: tuple[int, ...] = (3,)
    text: str = "I heard you very well."
    pieces: int = 2
    rate_hz: int = 24000
    number: int = 0
    units: int = 0
    count: int = 0
    epoch: int = 0
    seq: int = 0
    gathered: int = 0
    active: str | None = None
    attachments: int = 0
    token: str = ""
    journal: list = field(default_factory=list)
    log: list = field(default_factory=list)

    def say(self, event: dict) -> dict:
        self.seq += 1
        event = {**event, "event_id": f"ev_{self.seq}", "server_event_seq": self.seq}
        self.journal.append(event)
        return event

    def hear(self, event: dict) -> list[dict]:
        self.log.append(event)
        kind = event["type"]
        if kind == "session.update":
            return self._update(event)
        if kind == "input_audio_buffer.append":
            return self._append(event)
        if kind == "response.cancel":
            if self.active is None or event.get("response_id") not in (None, self.active):
                return [self._error("response_not_active", event)]
            self.epoch += 1
            return self._done("cancelled")
        if kind == "conversation.item.truncate":
            told = {key: event[key] for key in ("item_id", "audio_end_ms")}
            return [self.say({"type": "conversation.item.truncated", **told})]
        if kind == "session.close":
            return [self.say({"type": "session.closed", "reason": "client"})]
        if kind in ("playback.ack", "session.heartbeat", "session.event_ack"):
            return []
        if kind == "input_audio_buffer.commit":
            return [self.say({"type": "input_audio_buffer.committed", "item_id": f"user_{self.seq}"})]
        return [self._error("unknown_event", event)]

    def standing(self, kind: str) -> dict:
        """That it stands, with a fresh token; of a resume this is no event of the session, it has no number."""
        self.attachments += 1
        self.token = f"token-{self.number}-{self.attachments}"
        return {"type": kind, "attachment_generation": self.attachments, "resume_token": self.token,
                "session_id": f"duplex-{self.number}",
                "session": {"id": f"duplex-{self.number}", "epoch": self.epoch, "turn_id": 0,
                            "capabilities": {"supports_barge_in": False}}}

    def _update(self, event: dict) -> list[dict]:
        session = event["session"]
        if session.get("turn_detection") is not None or session.get("overlap_policy") != "listen_only":
            return [self._error("unsupported_turn_detection", event)]
        stands = self.say(self.standing("session.created"))
        return [stands, self.say({"type": "session.updated", "session": {"epoch": 0}})]

    def _append(self, event: dict) -> list[dict]:
        self.gathered += len(base64.b64decode(event["audio"], validate=True))
        out = []
        while self.gathered >= UNIT_BYTES:
            self.gathered -= UNIT_BYTES
            self.units += 1
            out += self._unit()
        return out

    def _unit(self) -> list[dict]:
        if self.active is not None:
            return self._done("completed")
        if self.units not in self.plan:
            return [self.say({"type": "response.listen"})]
        self.count += 1
        self.active = response = f"resp_{self.count}"
        common = {"response_id": response, "item_id": f"item_{response}"}
        out = [{"type": "response.created", "response": {"id": response, "status": "in_progress"}},
               {"type": "response.speak", **common}]
        for n in range(self.pieces):
            begin, end = (len(self.text) * k // self.pieces for k in (n, n + 1))
            out.append({"type": "response.output_audio.delta", **common, "delta": tone(0.5, self.rate_hz),
                        "sample_rate_hz": self.rate_hz, "format": "pcm16", "metadata": {
                            "epoch": self.epoch, "audio_duration_ms": 500 * (n + 1),
                            "audio_text_marks": [{"text_chars": end, "audio_end_ms": 500 * (n + 1)}]}})
            out.append({"type": "response.output_audio_transcript.delta", **common, "delta": self.text[begin:end]})
        return [self.say(event) for event in out]

    def _done(self, status: str) -> list[dict]:
        response, self.active = self.active, None
        return [self.say({"type": "response.done", "response": {"id": response, "status": status}})]

    def _error(self, code: str, event: dict) -> dict:
        return self.say({"type": "error", "error": {"type": "invalid_request_error", "code": code, "message": code,
                                                    "event_id": event.get("event_id")}})


class Served:
    """Sessions behind a socket; they outlive it. drops: appends after which a connection is cut, in turn."""

    def __init__(self, drops: tuple[int, ...] = (), **settings):
        self.drops, self.settings, self.sessions, self.paths = list(drops), settings, [], []
        self._server = serve_socket(self._talk, "127.0.0.1", 0)
        self.port = self._server.socket.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/v1/realtime"

    def _talk(self, line: ServerConnection) -> None:
        self.paths.append(line.request.path)
        first = json.loads(line.recv(timeout=10))
        if first["type"] == "session.resume":
            session = next((s for s in self.sessions if first["resume_token"] == s.token), None)
            if session is None:
                line.send(json.dumps({"type": "error", "error": {"code": "invalid_resume_token", "message": "no"}}))
                return
            missed = [e for e in session.journal if e["server_event_seq"] > first["last_received_server_event_seq"]]
            out = [session.standing("session.resumed"), *missed]
        else:
            session = Session(number=len(self.sessions) + 1, **self.settings)
            self.sessions.append(session)
            out = session.hear(first)
        left = self.drops.pop(0) if self.drops else 0
        for event in out:
            line.send(json.dumps(event))
        for text in line:
            event = json.loads(text)
            answers = session.hear(event)
            left -= event["type"] == "input_audio_buffer.append"
            if left == 0 and event["type"] == "input_audio_buffer.append":
                line.socket.shutdown(2)              # what was to be said stays in the journal
                return
            for answer in answers:
                line.send(json.dumps(answer))
            if event["type"] == "session.close":
                line.close()
                return

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join(5)
