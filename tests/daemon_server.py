"""The stand-in daemon behind a real WebSocket, in a thread: on its port, cut, mute, not ready, full of rubbish."""
import asyncio
import json
import threading
from collections.abc import Callable

import numpy as np
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from robot.bodies import daemon_words as words
from tests.daemon_stand_in import TICK_S, StandIn

RUBBISH = ("not json", "[1, 2", '{"type": 7}', b"\xff\x00\xfe",
           '{"type": "joint_positions", "head_joint_positions": [1]}',
           json.dumps({"type": "recorded_data", "data": [0.5] * 400_000}), "[" * 50_000)


class DaemonServer:
    """`start` listens (again) on the same port; `stop` cuts everything. Watch `daemon`, `ticks`, `steps`."""

    def __init__(self, daemon: StandIn):
        self.daemon = daemon
        self.port = 0
        self.refusals = 0                        # connections still to be closed with 1013
        self.refused = 0
        self.mute = False                        # says nothing, to connections that there are; new ones are heard
        self.rubbish = False
        self.direction = 1.25                    # rad, of the array
        self.answered: list[int] = []            # targets that came between two ticks of a client that is heard
        self.jumps: list[float] = []             # rad beyond what the time since the target before allows
        self._heard_at = 0.0
        self._loop = asyncio.new_event_loop()
        self._lines: set[ServerConnection] = set()
        self._server: Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def start(self) -> None:
        self._do(self._start())

    def stop(self) -> None:
        self._do(self._stop())

    def close(self) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def change(self, how: Callable[[], None]) -> None:
        """Between two ticks."""
        async def changed() -> None:
            how()
        self._do(changed())

    def _do(self, work) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30.0)

    async def _start(self) -> None:
        self._server = await serve(self._meet, "127.0.0.1", self.port, ping_interval=None, max_size=None)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        if self._server is not None:
            for line in self._lines:
                line.transport.abort()           # as a killed process leaves it
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def _meet(self, line: ServerConnection) -> None:
        if self.refusals:
            self.refusals, self.refused = self.refusals - 1, self.refused + 1
            await line.close(1013, "Daemon not ready")
            return
        self._lines.add(line)
        speaking = asyncio.create_task(self._tell_state(line) if line.request.path == words.STATE_PATH
                                       else self._tick(line))
        try:
            async for text in line:
                self._hear(text)
        except ConnectionClosed:
            pass
        finally:
            speaking.cancel()
            self._lines.discard(line)

    def _hear(self, text: str) -> None:
        before, count = self.daemon.targets[-1:], len(self.daemon.targets)
        self.daemon.say(text)
        for target in self.daemon.targets[count:]:
            self.answered[-1] += 1
            off = np.abs(target - self.daemon.joints)
            elapsed, self._heard_at = self._loop.time() - self._heard_at, self._loop.time()
            step = np.abs(target - before[0]) if before else off
            allowed = np.where(off < np.radians(0.5), np.inf, np.radians(240) * (elapsed + 1.5 * TICK_S))
            self.jumps.append(float((step - allowed).max()))
            before = [target]

    async def _tick(self, line: ServerConnection) -> None:
        muted = self.mute
        if self.rubbish:
            for text in RUBBISH:
                await line.send(text)
        while True:
            await asyncio.sleep(TICK_S)
            self.answered.append(0)
            for text in self.daemon.tick():
                if not (muted or self.mute):
                    await line.send(text)

    async def _tell_state(self, line: ServerConnection) -> None:
        while True:
            await asyncio.sleep(5 * TICK_S)
            self.direction += 0.001
            await line.send(json.dumps({"control_mode": self.daemon.mode, "doa": {"angle": self.direction,
                                                                                  "speech_detected": True}}))
