"""One WebSocket at a time, read and written in a thread of its own: an engine that computes still answers pings.

The engine's thread never waits for it: `send` queues, `receive` takes what has come.
"""
import asyncio
import contextlib
import ssl
from collections.abc import Mapping
from concurrent.futures import TimeoutError as FutureTimeout
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException

from dialogue.engines.link import Ended, LinkConfig, Opened, Uplink

LARGEST = 64 * 2 ** 20      # bytes of a message; the largest known are seconds of float sound in base64, 0.2 MB
MOST_UNREAD = 2000          # messages: then the server waits, not this machine's memory
FAREWELL_S = 2.0            # for the closing handshake
Arrived = Opened | Ended | str


class Connection:
    """`open` again and again; every connection ends with exactly one Ended."""

    def __init__(self, headers: Mapping[str, str], config: LinkConfig,
                 trust: ssl.SSLContext | None = None):
        """trust: other certificates than those that the system trusts."""
        self.headers, self.config, self.trust = dict(headers), config, trust
        self.url = ""
        self.uplink = Uplink(config.most_sound)
        self._arrived: SimpleQueue[Arrived] = SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._wake = asyncio.Event()                 # there is something to send, or to end
        self._leaving = False
        self._line: ClientConnection | None = None
        self._thread = Thread(target=self._run, name="engine socket", daemon=True)
        self._thread.start()

    def open(self, url: str) -> None:
        """Begin to connect. Only after the Ended of the connection before."""
        self.url, self._leaving = url, False
        self.uplink.clear()
        asyncio.run_coroutine_threadsafe(self._talk(), self._loop)

    def send(self, text: str, sound: bool = False) -> None:
        """sound: may be dropped for newer sound when the line does not keep up."""
        self.uplink.put(text, sound)
        self._loop.call_soon_threadsafe(self._wake.set)

    def receive(self) -> list[Arrived]:
        """What has happened, in order."""
        out: list[Arrived] = []
        with contextlib.suppress(Empty):
            while True:
                out.append(self._arrived.get_nowait())
        return out

    def leave(self) -> None:
        """End the connection once everything queued is sent."""
        self._leaving = True
        self._loop.call_soon_threadsafe(self._wake.set)

    def stop(self) -> None:
        """End connection and thread; a child process simply ends."""
        if self._line is not None:
            closing = asyncio.run_coroutine_threadsafe(self._line.close(), self._loop)
            with contextlib.suppress(FutureTimeout):
                closing.result(FAREWELL_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_forever()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.wait(tasks))
        self._loop.close()

    async def _talk(self) -> None:
        config = self.config
        trust: dict[str, Any] = {} if self.trust is None else {"ssl": self.trust}
        try:
            async with connect(self.url, additional_headers=self.headers, open_timeout=config.open_s,
                               ping_interval=config.silent_s / 2, ping_timeout=config.silent_s, compression=None,
                               close_timeout=FAREWELL_S, max_size=LARGEST, **trust) as line:
                self._line = line
                self._arrived.put(Opened())
                writer = asyncio.create_task(self._write(line))
                try:
                    await self._read(line)
                finally:
                    self._line = None
                    writer.cancel()
        except InvalidStatus as refused:
            ended = Ended(status=refused.response.status_code)
        except (WebSocketException, OSError, TimeoutError, ValueError) as lost:   # ValueError: a URL that is none
            ended = Ended(reason=str(lost) or type(lost).__name__)
        else:
            ended = Ended(line.close_code, line.close_reason or "")
        self._arrived.put(ended)

    async def _read(self, line: ClientConnection) -> None:
        with contextlib.suppress(WebSocketException):          # how it ended, its close code tells
            async for text in line:
                self._arrived.put(text if isinstance(text, str) else text.decode("utf-8", "replace"))
                while self._arrived.qsize() > MOST_UNREAD:
                    await asyncio.sleep(0.01)

    async def _write(self, line: ClientConnection) -> None:
        with contextlib.suppress(WebSocketException):          # who reads hears of the end
            while True:
                self._wake.clear()
                while (text := self.uplink.take()) is not None:
                    await line.send(text)
                if self._leaving:
                    await line.close()
                    return
                await self._wake.wait()
