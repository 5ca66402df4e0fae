"""One request to an OpenAI-compatible server, read as it comes by a thread of its own; and what its lines mean."""
import contextlib
import http.client
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from dialogue.engines.usage import Tokens, tokens_of

LONGEST_LINE = 1 << 20     # bytes


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of the reply's text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of a tool call; the first names it, all carry a piece of its arguments."""

    index: int
    call: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Used:
    """What the server says that the reply has cost."""

    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Over:
    """The reply has ended; trouble: "" or why it is not whole."""

    trouble: str = ""


Piece = Words | CallPiece | Used | Over


def pieces_of(line: str) -> list[Piece]:
    """What a line of the stream says (server-sent events: `data: {...}`, at last `data: [DONE]`)."""
    if not line.startswith("data:"):
        return []
    body = line.removeprefix("data:").strip()
    if body == "[DONE]":
        return [Over()]
    try:
        value = json.loads(body)
    except ValueError:
        return []
    if not isinstance(value, dict):
        return []
    if "error" in value:
        return [Over(f"the server says: {value['error']}")]
    tokens = tokens_of(value.get("usage"))
    out: list[Piece] = [Used(tokens)] if tokens else []
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return out                                        # the last piece of some servers holds the counts alone
    delta = choices[0].get("delta") or {}
    if isinstance(delta.get("content"), str) and delta["content"]:
        out.append(Words(delta["content"]))
    for call in delta.get("tool_calls") or ():
        function = call.get("function") or {}
        out.append(CallPiece(int(call.get("index") or 0), str(call.get("id") or ""), str(function.get("name") or ""),
                             str(function.get("arguments") or "")))
    return out


class ChatStream:
    """Begins at once; `read` never waits; `stop` ends it, also in the middle."""

    def __init__(self, url: str, body: Mapping[str, Any], key: str, connect_s: float, stall_s: float):
        self._url, self._body = url, json.dumps(body).encode()
        self._headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._connect_s, self._stall_s = connect_s, stall_s
        self._pieces: SimpleQueue[Piece] = SimpleQueue()
        self._line: http.client.HTTPConnection | None = None
        self._stopped = False
        Thread(target=self._run, name="chat", daemon=True).start()

    def read(self) -> list[Piece]:
        out: list[Piece] = []
        with contextlib.suppress(Empty):
            while True:
                out.append(self._pieces.get_nowait())
        return out

    def stop(self) -> None:
        """Nothing more of it is wanted; the server sees the connection end."""
        self._stopped = True
        line = self._line
        if line is not None and line.sock is not None:
            with contextlib.suppress(OSError):
                line.sock.shutdown(2)

    def _run(self) -> None:
        try:
            self._talk()
        except (OSError, http.client.HTTPException, ValueError) as lost:
            self._pieces.put(Over(f"{type(lost).__name__}: {lost}"))
        finally:
            if self._line is not None:
                self._line.close()

    def _talk(self) -> None:
        parts = urlsplit(self._url)
        host = parts.hostname or ""
        if parts.scheme == "https":
            self._line = http.client.HTTPSConnection(host, parts.port, timeout=self._connect_s,
                                                     context=ssl.create_default_context())
        else:
            self._line = http.client.HTTPConnection(host, parts.port, timeout=self._connect_s)
        self._line.connect()
        assert self._line.sock is not None
        self._line.sock.settimeout(self._stall_s)
        self._line.request("POST", parts.path + (f"?{parts.query}" if parts.query else ""), self._body, self._headers)
        answer = self._line.getresponse()
        if answer.status != 200:
            told = answer.read(300).decode("utf-8", "replace").strip()
            self._pieces.put(Over(f"HTTP status {answer.status}: {' '.join(told.split())}"))
            return
        while not self._stopped and (line := answer.readline(LONGEST_LINE)):
            for piece in pieces_of(line.decode("utf-8", "replace").strip()):
                self._pieces.put(piece)
                if isinstance(piece, Over):
                    return
        self._pieces.put(Over("the stream ended before its end was told"))
