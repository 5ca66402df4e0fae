"""The two servers' messages: what is sent, and what theirs mean. Keys are exact: others are ignored or refused."""
import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from dialogue.engines.minicpm.config import MiniCpmConfig
from perception.audio.block import Samples

UNIT = 16000             # samples of a unit at 16 kHz: shorter pieces get answers that ignore force_listen
VOICE_HZ = 24000
Kind = Literal["queued", "go", "ready", "listen", "speak", "closed", "error", "other"]
NOTHING = np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that a server says. number: of the unit it answers; None where it does not tell."""

    kind: Kind
    text: str = ""
    samples: Samples = field(default_factory=lambda: NOTHING, repr=False)   # (n,) at 24 kHz
    number: int | None = None
    ends: bool = False            # the turn of the model is over
    kv: int = 0                   # tokens in its context
    position: int = 0             # in the queue, from 1
    wait_s: float = 0.0           # that the server expects
    cost_s: float = 0.0           # that the server says it took for the unit


class Words(Protocol):
    """One server's way to speak."""

    counts: bool                  # exactly one answer a unit, in order

    def path(self, frames: bool, name: str) -> str: ...

    def hello(self, config: MiniCpmConfig, prompt: str) -> dict[str, Any]: ...

    def unit(self, samples: Samples, number: int, force: bool, jpeg: bytes | None) -> dict[str, Any]: ...

    def bye(self) -> dict[str, Any]: ...

    def read(self, message: Mapping[str, Any]) -> Said: ...


class DemoWords:
    """`/ws/duplex/{id}` of MiniCPM-o-Demo."""

    counts = True

    def path(self, frames: bool, name: str) -> str:
        return f"/ws/duplex/{'omni' if frames else 'adx'}_{name}"

    def hello(self, config: MiniCpmConfig, prompt: str) -> dict[str, Any]:
        """The whole config each time: a worker keeps the previous user's."""
        return {"type": "prepare", "system_prompt": prompt, "max_slice_nums": 1, "config": {
            "decode_mode": "sampling", "temperature": 0.7, "top_k": 20, "top_p": 0.8, "listen_prob_scale": 1.0,
            "listen_top_k": None, "text_repetition_penalty": 1.05, "text_repetition_window_size": 512,
            "length_penalty": config.length_penalty}}

    def unit(self, samples: Samples, number: int, force: bool, jpeg: bytes | None) -> dict[str, Any]:
        body: dict[str, Any] = {"type": "audio_chunk", "audio_base64": coded(samples), "force_listen": force}
        return body | ({} if jpeg is None else {"frame_base64_list": [base64.b64encode(jpeg).decode("ascii")]})

    def bye(self) -> dict[str, Any]:
        return {"type": "stop"}

    def read(self, message: Mapping[str, Any]) -> Said:
        match message.get("type"):
            case "queued" | "queue_update":
                return _queued(message)
            case "queue_done":
                return Said("go")
            case "prepared":
                return Said("ready")
            case "result":
                kv = _number(message.get("kv_cache_length"))
                if message.get("is_listen", True):        # with a second of zeros, which are nobody's voice
                    return Said("listen", kv=kv)
                return Said("speak", str(message.get("text") or ""), sound(message.get("audio_data")), kv=kv,
                            ends=bool(message.get("end_of_turn")), cost_s=_seconds(message))
            case "stopped" | "timeout":
                return Said("closed", str(message.get("reason", message["type"])))
            case "error":
                return Said("error", str(message.get("error", message.get("message", ""))))
        return Said("other")


class GatewayWords:
    """`/v1/realtime?mode=` of the public gateway, version 2."""

    counts = False

    def path(self, frames: bool, name: str) -> str:
        return f"/v1/realtime?mode={'video' if frames else 'audio'}"

    def hello(self, config: MiniCpmConfig, prompt: str) -> dict[str, Any]:
        return {"type": "session.init", "payload": {"system_prompt": prompt,
                                                    "config": {"length_penalty": config.length_penalty}}}

    def unit(self, samples: Samples, number: int, force: bool, jpeg: bytes | None) -> dict[str, Any]:
        body: dict[str, Any] = {"audio": coded(samples), "force_listen": force, "input_id": str(number)}
        if jpeg is not None:
            body["video_frames"] = [base64.b64encode(jpeg).decode("ascii")]
        return {"type": "input.append", "input": body}

    def bye(self) -> dict[str, Any]:
        return {"type": "session.close", "reason": "user_stop"}

    def read(self, message: Mapping[str, Any]) -> Said:
        match message.get("type"):
            case "session.queued" | "session.queue_update":
                return _queued(message)
            case "session.queue_done":
                return Said("go")
            case "session.created":
                return Said("ready")
            case "response.output.delta":
                return self._delta(message)
            case "session.closed":
                return Said("closed", str(message.get("reason", "")))
            case "error":
                error = message.get("error")
                details = error if isinstance(error, Mapping) else {"message": error}
                return Said("error", f"{details.get('code', '')} {details.get('message', '')}".strip())
        return Said("other")

    @staticmethod
    def _delta(message: Mapping[str, Any]) -> Said:
        metrics, given = message.get("metrics"), message.get("input_id")
        kv = _number(metrics.get("kv_cache_length")) if isinstance(metrics, Mapping) else 0
        number = int(given) if isinstance(given, str) and given.isdecimal() else None
        if message.get("kind") == "listen":
            return Said("listen", kv=kv, number=number)
        if message.get("kind") == "text":
            return Said("speak", str(message.get("text") or ""), kv=kv, number=number)
        cost = _seconds(metrics) if isinstance(metrics, Mapping) else 0.0
        return Said("speak", "", sound(message.get("audio")), kv=kv, number=number, cost_s=cost)


def coded(samples: Samples) -> str:
    """Float32 little-endian in base64."""
    return base64.b64encode(np.asarray(samples, "<f4").tobytes()).decode("ascii")


def sound(data: object) -> Samples:
    """The float samples of a message; none for what is no sound."""
    if not isinstance(data, str):
        return NOTHING
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return NOTHING
    return np.clip(np.nan_to_num(np.frombuffer(raw[:len(raw) // 4 * 4], "<f4")), -1.0, 1.0).astype(np.float32)


def _queued(message: Mapping[str, Any]) -> Said:
    wait = message.get("estimated_wait_s")
    return Said("queued", position=_number(message.get("position")),
                wait_s=float(wait) if isinstance(wait, int | float) else 0.0)


def _seconds(message: Mapping[str, Any]) -> float:
    cost = message.get("cost_all_ms", message.get("wall_clock_ms"))
    return 0.001 * float(cost) if isinstance(cost, int | float) and 0 < cost < 1e6 else 0.0


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0


class ThoughtFilter:
    """Text without what stands between <think> and </think>, however the tags are split between fragments."""

    OPEN, CLOSE = "<think>", "</think>"

    def __init__(self) -> None:
        self._inside = False
        self._kept = ""                # the end of a fragment that may begin a tag

    def __call__(self, fragment: str) -> str:
        text, out = self._kept + fragment, ""
        while True:
            tag = self.CLOSE if self._inside else self.OPEN
            at = text.find(tag)
            if at < 0:
                break
            out += "" if self._inside else text[:at]
            text, self._inside = text[at + len(tag):], not self._inside
        keep = next((n for n in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:n])), 0)
        self._kept = text[len(text) - keep:]
        return out + ("" if self._inside else text[:len(text) - keep])

    def rest(self) -> str:
        """What waited for more and is no tag."""
        kept, self._kept = self._kept, ""
        return "" if self._inside else kept
