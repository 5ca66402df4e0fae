"""Emulated microphone arrays on an emulated USB, behind pyusb's own backend interface: the real pyusb code runs."""
import errno
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace

import usb.backend
import usb.core

from firmware_bridge.emulator.array_device import EmulatedArray, Silence, Stall


@dataclass
class Socket:
    """Where a device is plugged in."""

    device: EmulatedArray
    number: int
    permitted: bool = True


@dataclass
class EmulatedUsb(usb.backend.IBackend):
    """A bus with sockets. `timeouts`: of all transfers, ms, as pyusb handed them on."""

    sockets: list[Socket] = field(default_factory=list)
    timeouts: list[int] = field(default_factory=list)
    opened: int = 0
    on_silence: Callable[[float], None] | None = None        # called with the timeout (s): lets virtual time pass
    _numbers: int = 2

    def plug(self, device: EmulatedArray, permitted: bool = True) -> Socket:
        """In at a new address, as Linux counts them."""
        self._numbers += 1
        self.sockets.append(Socket(device, self._numbers, permitted))
        return self.sockets[-1]

    def pull(self) -> EmulatedArray:
        return self.sockets.pop().device

    # usb.backend.IBackend -------------------------------------------------------------------------------------------

    def enumerate_devices(self):
        return iter(list(self.sockets))

    def get_parent(self, dev):
        return None

    def get_device_descriptor(self, dev):
        return SimpleNamespace(
            bLength=18, bDescriptorType=1, bcdUSB=0x200, bDeviceClass=0xEF, bDeviceSubClass=2, bDeviceProtocol=1,
            bMaxPacketSize0=64, idVendor=dev.device.vendor, idProduct=dev.device.product, bcdDevice=0x214,
            iManufacturer=1, iProduct=2, iSerialNumber=3, bNumConfigurations=1, bus=1, address=dev.number,
            port_number=1, port_numbers=(1,), speed=3)

    def open_device(self, dev):
        if dev not in self.sockets:
            raise usb.core.USBError("No such device (it may have been disconnected)", -4, errno.ENODEV)
        if not dev.permitted:
            raise usb.core.USBError("Access denied (insufficient permissions)", -3, errno.EACCES)
        self.opened += 1
        return dev

    def close_device(self, dev_handle):
        self.opened -= 1

    def ctrl_transfer(self, dev_handle, bmRequestType, bRequest, wValue, wIndex, data, timeout):
        self.timeouts.append(timeout)
        if dev_handle not in self.sockets:
            raise usb.core.USBError("No such device (it may have been disconnected)", -4, errno.ENODEV)
        reads = bool(bmRequestType & 0x80)
        try:
            answer = dev_handle.device.control(bmRequestType, bRequest, wValue, wIndex,
                                               len(data) if reads else data.tobytes())
        except Silence:
            if self.on_silence is not None:
                self.on_silence(timeout / 1000)
            raise usb.core.USBTimeoutError("Operation timed out", -7, errno.ETIMEDOUT) from None
        except Stall:
            raise usb.core.USBError("Pipe error", -9, errno.EPIPE) from None
        if not reads:
            return len(data)
        for at, byte in enumerate(answer):
            data[at] = byte
        return len(answer)
