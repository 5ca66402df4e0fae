"""Real USB devices behind firmware_bridge's door, by pyusb. Its calls block: they belong into a child process."""
import errno
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import usb.core
import usb.util

from firmware_bridge.control_transfers import (
    NoAnswer,
    NoPermission,
    Refused,
    UsbAddress,
    UsbDevice,
    UsbTrouble,
    Vanished,
)

VENDOR_IN = usb.util.CTRL_IN | usb.util.CTRL_TYPE_VENDOR | usb.util.CTRL_RECIPIENT_DEVICE
VENDOR_OUT = usb.util.CTRL_OUT | usb.util.CTRL_TYPE_VENDOR | usb.util.CTRL_RECIPIENT_DEVICE
GONE = (errno.ENODEV, errno.ENXIO, errno.ENOENT, errno.EIO, errno.ESHUTDOWN)   # libusb says EIO of a pulled plug too


class WallTime:
    """The machine's monotonic clock."""

    now: Callable[[], float] = staticmethod(time.monotonic)
    wait: Callable[[float], None] = staticmethod(time.sleep)


class PyUsbDevice:
    """One device, opened at its first transfer."""

    def __init__(self, device: Any):
        self._device = device
        self.address = UsbAddress(device.idVendor, device.idProduct, device.bus or 0, device.address or 0)

    def control_in(self, value: int, index: int, length: int, timeout_s: float) -> bytes:
        with self._told():
            return bytes(self._device.ctrl_transfer(VENDOR_IN, 0, value, index, length, _ms(timeout_s)))

    def control_out(self, value: int, index: int, data: bytes, timeout_s: float) -> None:
        with self._told():
            written = self._device.ctrl_transfer(VENDOR_OUT, 0, value, index, data, _ms(timeout_s))
            if written != len(data):
                raise Refused(f"{self.address} took {written} of {len(data)} bytes")

    def close(self) -> None:
        usb.util.dispose_resources(self._device)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """pyusb's errors as UsbTrouble."""
        try:
            yield
        except usb.core.USBTimeoutError as error:
            raise NoAnswer(f"{self.address} did not answer in time; unplug it and plug it in again") from error
        except usb.core.USBError as error:
            raise self._named(error) from error

    def _named(self, error: usb.core.USBError) -> UsbTrouble:
        if error.errno in (errno.EACCES, errno.EPERM):
            return NoPermission(f"{self.address} may not be opened: {permission_rule(self.address)}")
        if error.errno in GONE:
            return Vanished(f"{self.address} was unplugged or has restarted")
        if error.errno == errno.EPIPE:
            return Refused(f"{self.address} does not know this command: another firmware?")
        if error.errno == errno.ETIMEDOUT:
            return NoAnswer(f"{self.address} did not answer in time; unplug it and plug it in again")
        return UsbTrouble(f"{self.address}: {error}")


class PyUsbBus:
    """All USB devices of this machine. backend: pyusb's, None: libusb as installed."""

    def __init__(self, backend: Any = None):
        self._backend = backend

    def devices(self, vendors: Sequence[int]) -> list[UsbDevice]:
        try:
            found = usb.core.find(find_all=True, backend=self._backend,
                                  custom_match=lambda device: device.idVendor in vendors)
            devices: list[UsbDevice] = [PyUsbDevice(device) for device in found]
        except usb.core.NoBackendError as error:
            raise UsbTrouble("libusb is missing; sudo apt-get install -y libusb-1.0-0") from error
        except usb.core.USBError as error:
            raise UsbTrouble(f"USB devices cannot be listed: {error}") from error
        return sorted(devices, key=lambda device: (device.address.bus, device.address.number))


def permission_rule(address: UsbAddress) -> str:
    """What to do so that the group plugdev may open the device."""
    rule = (f'SUBSYSTEM=="usb", ATTR{{idVendor}}=="{address.vendor:04x}", ATTR{{idProduct}}=="{address.product:04x}", '
            'MODE="0660", GROUP="plugdev", TAG+="uaccess"')
    return (f"echo '{rule}' | sudo tee /etc/udev/rules.d/70-talkover-array.rules && sudo udevadm control --reload "
            "&& sudo udevadm trigger")


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))     # 0 would mean for ever
