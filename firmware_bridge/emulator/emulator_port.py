"""The emulated bus as a Port in virtual time: the same calls, the same bytes, on every machine."""
from collections import deque

from firmware_bridge.emulator.emulated_bus import Emulator


class EmulatorPort:
    """Answers are there when the wire would have carried them; waiting costs virtual time only."""

    def __init__(self, emulator: Emulator):
        self.emulator = emulator
        self.connected = True                 # False: the cable is pulled
        self.cycle_s = 0.0                    # s spent on the wire since the last `advance`
        self._now = 0.0                       # s
        self._tick = 0.0                      # s, end of the last `advance`
        self._coming: deque[tuple[float, bytes]] = deque()
        self._here = bytearray()

    def advance(self, dt: float) -> None:
        """The time between two exchanges passes and the joints move."""
        self.emulator.step(dt)
        self._tick += dt
        self._now = max(self._now, self._tick)
        self.cycle_s = 0.0

    def write(self, data: bytes) -> None:
        if self.connected:
            for delay, answer in self.emulator.feed(data):
                self._coming.append((self._now + delay, answer))

    def read(self, count: int, timeout: float) -> bytes:
        until = self._now + timeout
        here = self._here
        while self._coming and (len(here) < count or timeout == 0.0) and self._coming[0][0] <= until:
            due, answer = self._coming.popleft()
            self._pass(due)
            if self.connected:
                here += answer
        if len(here) < count:
            self._pass(until)
        out = bytes(here[:count])
        del here[:count]
        return out

    def _pass(self, until: float) -> None:
        if until > self._now:
            self.cycle_s += until - self._now
            self._now = until
