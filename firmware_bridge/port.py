"""The door to a serial line. Live ports are opened by robot/; the emulator has one for the simulation."""
from typing import Protocol


class Port(Protocol):
    """A byte line to a bus. A lost device is a silent one: neither call raises for it."""

    def write(self, data: bytes) -> None: ...

    def read(self, count: int, timeout: float) -> bytes:
        """Returns as soon as `count` bytes are there, or with what has come after `timeout` s (0: do not wait)."""
