"""The program that talks to the robot's daemon: `python -m robot.bodies.daemon_child FD`. Started by joint_process.

One thread: each beat of the daemon that is heard is answered at once with one target; motor mode and the array's
direction come ten times a second on a second socket, and are only noted. The parent hangs up or dies: parked first.
The daemon's camera is not read here: its local way out is GStreamer shared memory of ten frames a second without the
time of capture (media/media_server.py); the device body opens the camera itself.
"""
import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import sys

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException

from robot.bodies.daemon_beat import PERIOD_S
from robot.bodies.daemon_link import DaemonLink
from robot.bodies.daemon_setup import PART, DaemonSetup
from robot.bodies.daemon_words import STATE_PATH, state_of
from robot.bodies.joint_child import JointChild
from robot.bodies.joint_slots import packed_bearing
from robot.bodies.servo_loop import ServoLoop
from robot.channel import Channel

BEATLESS_S = 0.06          # s without a beat, then this process looks after itself on its own clock
HANDSHAKE_S = 2.0          # s; also of an HTTP request and of a polite end
FULL = 16_384              # bytes waiting to be sent: a line that is dead or full; newer goals are worth more
LARGEST = 16 * 2 ** 20     # bytes of a message: recordings of other clients come by; larger ones end the connection
STATE_AGAIN_S = 0.3        # s before a try to hear the second line
SILENT_LOOKS = 3           # in a row, so that a stalled process reads what has arrived before it hangs up
LOST = (WebSocketException, OSError, TimeoutError)


class DaemonChild(JointChild):
    """Runs a DaemonLink behind a ServoLoop against sockets and the clock."""

    def __init__(self, setup: DaemonSetup, parent: socket.socket):
        self.link = DaemonLink(setup.body, setup.park, np.random.default_rng(setup.seed), setup.link)
        for trouble in setup.standing:
            self.link.health.inherit(trouble, "link")
        super().__init__(setup, parent, ServoLoop(self.link, setup.loop, PART), PART)
        self.host, self.port = setup.host, setup.port
        self._line: ClientConnection | None = None       # /ws/sdk
        self._beside: ClientConnection | None = None     # STATE_PATH
        self._stepped_at = 0.0

    async def run(self) -> None:
        parts = (self._talk(), self._note_state(), self._ask_about_moves(), self._pace())
        done, _ = await asyncio.wait([asyncio.create_task(part) for part in parts],
                                     return_when=asyncio.FIRST_COMPLETED)
        for part in done:
            part.result()                            # a fault of ours ends the process, with its traceback
        if self._line is not None:
            await self._line.close()                 # what was said last arrives

    # the daemon -----------------------------------------------------------------------------------------------------

    async def _talk(self) -> None:
        """Connection after connection."""
        while True:
            await asyncio.sleep(max(self.link.retry_at - self.now(), 0.0))
            code, reason = None, "closed"
            try:
                async with self._connection("/ws/sdk") as self._line:
                    await self._answer(self._line)
                    code = self._line.close_code
            except InvalidStatus as refused:
                code, reason = refused.response.status_code, f"refused with status {refused.response.status_code}"
            except LOST as lost:
                code = None if self._line is None else self._line.close_code
                reason = str(lost) or type(lost).__name__
            self._line = None
            self.link.lost(self.now(), code, reason)
            if self._beside is not None:
                self._beside.transport.abort()       # what it says may be another daemon's

    def _connection(self, path: str) -> connect:
        return connect(f"ws://{self.host}:{self.port}{path}", compression=None, proxy=None,
                       open_timeout=HANDSHAKE_S, close_timeout=HANDSHAKE_S, ping_interval=None, max_size=LARGEST)

    async def _answer(self, line: ClientConnection) -> None:
        """Until the connection ends: every beat is answered."""
        self.link.connected(self.now())
        await self._say()
        async for text in line:
            arrival = self.now()
            beat = self.link.receive(arrival, text)
            if beat is not None:
                self._step(beat, arrival)
                await self._say()

    async def _say(self) -> None:
        for text in self.link.take():
            if self._line is not None and self._line.transport.get_write_buffer_size() < FULL:
                with contextlib.suppress(WebSocketException):       # who listens to this line hears of its end
                    await self._line.send(text)

    async def _note_state(self) -> None:
        """Motor mode and direction, on a line of their own."""
        while True:
            await asyncio.sleep(STATE_AGAIN_S)
            with contextlib.suppress(*LOST):         # why the daemon does not answer, the other line tells
                if self._line is not None:
                    async with self._connection(STATE_PATH) as self._beside:
                        await self._note(self._beside)
            self._beside = None

    async def _note(self, line: ClientConnection) -> None:
        async for text in line:
            arrival = self.now()
            said = state_of(arrival, text)
            if said is not None:
                self.link.note_mode(arrival, said.mode)
                if said.bearing is not None:
                    self.slots.bearings.write(packed_bearing(said.bearing))

    async def _ask_about_moves(self) -> None:
        while True:
            await asyncio.sleep(PERIOD_S)
            line = self._line
            if self.link.asks_about_move(self.now()):
                running = await asyncio.to_thread(move_running, self.host, self.port)
                if line is self._line:               # still the same daemon
                    self.link.moves(self.now(), running)

    # the mind -------------------------------------------------------------------------------------------------------

    async def _pace(self) -> None:
        """Looks after everything that must happen without a beat; returns when the robot is parked."""
        looks = 0
        while not self.finished(self.now()):
            await asyncio.sleep(PERIOD_S)
            now = self.now()
            if now - self._stepped_at > BEATLESS_S:
                self._step(now, now)
            looks = looks + 1 if self.link.silent(now) else 0
            if looks >= SILENT_LOOKS and self._line is not None:
                self._line.transport.abort()
        await self._say()

    def _step(self, t: float, arrival: float) -> None:
        """One beat at t (s) that was heard at its arrival."""
        self._stepped_at = arrival
        self.exchange(t, arrival, arrival - t)


def move_running(host: str, port: int) -> bool | None:
    """Whether the daemon plays a move of its own: then it ignores a target, and says so, only here. This one is empty.
    None: it cannot be asked."""
    line = http.client.HTTPConnection(host, port, timeout=HANDSHAKE_S)
    try:
        line.request("POST", "/api/move/set_target", "{}", {"Content-Type": "application/json"})
        answer = line.getresponse()
        said = json.loads(answer.read(4096))
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        line.close()
    return said.get("status") == "ignored" if answer.status == 200 and isinstance(said, dict) else None


def main() -> None:
    parent = socket.socket(fileno=int(sys.argv[1]))
    for number in (signal.SIGINT, signal.SIGHUP):       # a Ctrl-C or a closed terminal is the parent's to answer
        signal.signal(number, signal.SIG_IGN)
    setup: DaemonSetup | None = Channel(parent).first()
    if setup is not None:
        child, loop = DaemonChild(setup, parent), asyncio.new_event_loop()
        loop.add_signal_handler(signal.SIGTERM, lambda: setattr(child.loop, "closing", True))
        loop.run_until_complete(child.run())
        os._exit(0)                     # a name lookup that hangs in a thread must not keep it


if __name__ == "__main__":
    main()
