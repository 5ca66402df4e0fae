"""The door to a USB device that is controlled by vendor transfers. robot/ opens real ones by pyusb."""
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class UsbTrouble(Exception):
    """A transfer or a search that failed; the text says what to do."""


class NotFound(UsbTrouble):
    """No such device is connected."""


class WrongDevice(UsbTrouble):
    """Something is connected, but not what was looked for."""


class NoPermission(UsbTrouble):
    """The device is there and may not be opened."""


class NoAnswer(UsbTrouble):
    """No answer in time, or only `busy` until the deadline."""


class ShortAnswer(UsbTrouble):
    """Fewer bytes than the command has."""


class Refused(UsbTrouble):
    """The device knows the transfer and does not do it."""


class Vanished(UsbTrouble):
    """The device was there and is gone."""


@dataclass(frozen=True, slots=True)
class UsbAddress:
    """What tells a device from others; bus and number change when it is plugged in again."""

    vendor: int
    product: int
    bus: int
    number: int

    def __str__(self) -> str:
        return f"{self.vendor:04x}:{self.product:04x}"


class UsbDevice(Protocol):
    """One device. Every transfer ends after its timeout and raises UsbTrouble when it failed."""

    address: UsbAddress

    def control_in(self, value: int, index: int, length: int, timeout_s: float) -> bytes: ...

    def control_out(self, value: int, index: int, data: bytes, timeout_s: float) -> None: ...

    def close(self) -> None: ...


class UsbBus(Protocol):
    """What is connected."""

    def devices(self, vendors: Sequence[int]) -> list[UsbDevice]:
        """All devices of these makers, in order of bus and number; none is opened yet."""


class Time(Protocol):
    """The clock of who asks: no device waits longer than its deadline."""

    def now(self) -> float: ...

    def wait(self, seconds: float) -> None: ...
