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
import mmap
import os
import signal
import socket
import sys
import time

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException

from calibration.health import Health
from robot.bodies.daemon_beat import PERIOD_S
from robot.bodies.daemon_link import DaemonLink
from robot.bodies.daemon_setup import PART, DaemonSetup
from robot.bodies.daemon_words import STATE_PATH, state_of
from robot.bodies.health_table import HealthTable
from robot.bodies.joint_slots import (
    ORDERS,
    SIZES,
    packed_bearing,
    packed_reading,
    slots,
    unpacked_goal,
)
from robot.bodies.real_time import SERVO_PRIORITY, real_time
from robot.bodies.servo_loop import ServoLoop
from robot.channel import Channel

CLOSING_S = 10.0           # s to park before the process ends anyway; the daemon holds its last target
BEATLESS_S = 0.06          # s without a beat, then this process looks after itself on its own clock
HANDSHAKE_S = 2.0          # s; also of an HTTP request and of a polite end
FULL = 16_384              # bytes waiting to be sent: a line that is dead or full; newer goals are worth more
LARGEST = 16 * 2 ** 20     # bytes of a message: recordings of other clients come by; larger ones end the connection
STATE_AGAIN_S = 0.3        # s before a try to hear the second line
SILENT_LOOKS = 3           # in a row, so that a stalled process reads what has arrived before it hangs up
LOST = (WebSocketException, OSError, TimeoutError)


class DaemonChild:
    """Runs a DaemonLink behind a ServoLoop against sockets and the clock."""

    def __init__(self, setup: DaemonSetup, parent: socket.socket):
        self.setup, self.parent = setup, parent
        self.slots = slots(mmap.mmap(setup.memory, sum(SIZES)))
        self.health = HealthTable(self.slots.health)
        self.link = DaemonLink(setup.body, setup.park, np.random.default_rng(setup.seed), setup.link)
        for trouble in setup.standing:
            self.link.health.inherit(trouble, "link")
        self.loop = ServoLoop(self.link, setup.loop, PART)
        self._line: ClientConnection | None = None       # /ws/sdk
        self._beside: ClientConnection | None = None     # STATE_PATH
        self._seen = self.slots.goals.read()[0]      # a goal from before a restart is not new; an order stands
        self._stepped_at = 0.0

    async def run(self) -> None:
        self.health.add((Health(self._now(), PART, "ok", real_time(SERVO_PRIORITY)),))
        parts = (self._talk(), self._note_state(), self._ask_about_moves(), self._pace())
        done, _ = await asyncio.wait([asyncio.create_task(part) for part in parts],
                                     return_when=asyncio.FIRST_COMPLETED)
        for part in done:
            part.result()                            # a fault of ours ends the process, with its traceback
        if self._line is not None:
            await self._line.close()                 # what was said last arrives

    def _now(self) -> float:
        return time.monotonic() - self.setup.start

    # the daemon -----------------------------------------------------------------------------------------------------

    async def _talk(self) -> None:
        """Connection after connection."""
        while True:
            await asyncio.sleep(max(self.link.retry_at - self._now(), 0.0))
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
            self.link.lost(self._now(), code, reason)
            if self._beside is not None:
                self._beside.transport.abort()       # what it says may be another daemon's

    def _connection(self, path: str) -> connect:
        return connect(f"ws://{self.setup.host}:{self.setup.port}{path}", compression=None, proxy=None,
                       open_timeout=HANDSHAKE_S, close_timeout=HANDSHAKE_S, ping_interval=None, max_size=LARGEST)

    async def _answer(self, line: ClientConnection) -> None:
        """Until the connection ends: every beat is answered."""
        self.link.connected(self._now())
        await self._say()
        async for text in line:
            arrival = self._now()
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
            arrival = self._now()
            said = state_of(arrival, text)
            if said is not None:
                self.link.note_mode(arrival, said.mode)
                if said.bearing is not None:
                    self.slots.bearings.write(packed_bearing(said.bearing))

    async def _ask_about_moves(self) -> None:
        while True:
            await asyncio.sleep(PERIOD_S)
            line = self._line
            if self.link.asks_about_move(self._now()):
                running = await asyncio.to_thread(move_running, self.setup.host, self.setup.port)
                if line is self._line:               # still the same daemon
                    self.link.moves(self._now(), running)

    # the mind -------------------------------------------------------------------------------------------------------

    async def _pace(self) -> None:
        """Looks after everything that must happen without a beat; returns when the robot is parked."""
        looks, closing_at = 0, None
        while not self.loop.finished:
            await asyncio.sleep(PERIOD_S)
            now = self._now()
            if now - self._stepped_at > BEATLESS_S:
                self._step(now, now)
            looks = looks + 1 if self.link.silent(now) else 0
            if looks >= SILENT_LOOKS and self._line is not None:
                self._line.transport.abort()
            if self.loop.closing:
                closing_at = closing_at or now
                if now - closing_at > CLOSING_S:
                    break
        await self._say()

    def _step(self, t: float, arrival: float) -> None:
        """One beat at t (s) that was heard at its arrival."""
        given, order = self.slots.orders.read()
        if given:
            self.loop.stopped, = ORDERS.unpack(order)
        count, data = self.slots.goals.read()
        if count not in (0, self._seen):
            self._seen = count
            self.loop.hear(t, unpacked_goal(data))
        reading, health = self.loop.step(t)
        self._stepped_at = arrival
        self.slots.readings.write(packed_reading(reading, self._now() - arrival, arrival - t))
        self.health.add(health)
        self._ring()

    def _ring(self) -> None:
        """Tells the parent that there is something new, and hears when it hung up."""
        try:
            self.parent.send(b"\0")
        except BlockingIOError:
            pass                        # it does not look; the newest value waits for it
        except OSError:
            self.loop.closing = True


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
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # a Ctrl-C is the parent's to answer
    channel = Channel(parent)
    setups: list[DaemonSetup] = []
    while not setups and not channel.closed:
        channel.wait(None)
        setups = channel.receive()
    if setups:
        child, loop = DaemonChild(setups[0], parent), asyncio.new_event_loop()
        loop.add_signal_handler(signal.SIGTERM, lambda: setattr(child.loop, "closing", True))
        loop.run_until_complete(child.run())
        os._exit(0)                     # a name lookup that hangs in a thread must not keep it


if __name__ == "__main__":
    main()
