"""A microphone array with a XVF3800: who it is, where it hears a voice, its gains and its mute.

Every call ends within the deadline. A device that vanished is looked for again at the next call, whatever its address
is then. Writes are read back. Nothing is written to flash but by `save`.
"""
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from firmware_bridge.array_commands import (
    BEFORE_GAIN,
    BUSY,
    COMMANDS,
    GAIN_RANGE,
    GOOD,
    GPO_PINS,
    LED_DIRECTION,
    MUTE_PIN,
    READ,
    Value,
    agree,
    packed,
    unpacked,
)
from firmware_bridge.array_products import LINE, MAJOR, PRODUCTS, SQUARE, Identity, Mute, in_head
from firmware_bridge.control_transfers import (
    NoAnswer,
    NotFound,
    Refused,
    ShortAnswer,
    Time,
    UsbBus,
    UsbDevice,
    Vanished,
    WrongDevice,
)


@dataclass(frozen=True, slots=True)
class MicArraySettings:
    """Times in s; a whole call ends after `deadline`, never after the SDK's 100 s."""

    transfer: float = 0.05         # of one transfer; an answer takes about 1 ms
    deadline: float = 0.3          # of one command with all its retries, and of a write with its check
    retry: float = 0.005           # between two tries of a busy device: it serves commands between audio frames
    origin_m: tuple[float, float, float] = (0.02, 0.0, 0.0)   # of the array in `head` (calibration.body_model)


@dataclass(frozen=True, slots=True)
class Gains:
    """Factors before the canceller."""

    microphones: float
    reference: float


class MicArray:
    """One array, found when it is first needed."""

    def __init__(self, bus: UsbBus, time: Time, settings: MicArraySettings = MicArraySettings()):
        self._bus, self._time, self.settings = bus, time, settings
        self._device: UsbDevice | None = None
        self._product = PRODUCTS[0]
        self._identity: Identity | None = None
        self._gain_before: float | None = None     # of the microphones, while muted by it

    # who it is ----------------------------------------------------------------------------------------------------

    def identity(self) -> Identity:
        """Version and geometry, read once a connection; WrongDevice when it cannot give directions."""
        self._connected()
        if self._identity is None:
            major, minor, patch = (int(v) for v in self.read("VERSION"))
            version = major, minor, patch
            mics, kind = int(self.read("AEC_NUM_MICS")[0]), int(self.read("AEC_MIC_ARRAY_TYPE")[0])
            told = f"{self._product.name}, firmware {'.'.join(map(str, version))}"
            if version[0] != MAJOR or version < self._product.oldest:
                oldest = ".".join(map(str, self._product.oldest))
                raise WrongDevice(f"{told}: expected {MAJOR}.x from {oldest} on; update the firmware of the array")
            if mics < 2 or kind not in (LINE, SQUARE):
                raise WrongDevice(f"{told}: {mics} microphones, array type {kind}; expected 2 or more, type 1 or 2")
            positions = in_head(self.read("AEC_MIC_ARRAY_GEO"), mics, kind == LINE, self.settings.origin_m)
            device = self._device
            assert device is not None
            self._identity = Identity(self._product.name, str(device.address), version, mics, kind == LINE,
                                      positions)
        return self._identity

    # what it hears --------------------------------------------------------------------------------------------------

    def direction(self) -> tuple[float, bool]:
        """(angle in rad as the array counts it, somebody speaks)."""
        angle, speech = self.read("DOA_VALUE_RADIANS")
        return float(angle), speech == 1.0

    def show_direction(self) -> bool:
        """Let the LEDs show the direction, on boards whose angle stands still otherwise; False: no such board."""
        self._connected()
        if self._product.leds:
            self.write("LED_EFFECT", (LED_DIRECTION,))
        return self._product.leds

    # gains and mute -------------------------------------------------------------------------------------------------

    def gains(self) -> Gains:
        return Gains(float(self.read("AUDIO_MGR_MIC_GAIN")[0]), float(self.read("AUDIO_MGR_REF_GAIN")[0]))

    def set_gains(self, microphones: float | None = None, reference: float | None = None) -> None:
        """Factors; None: as it is."""
        for name, gain in (("AUDIO_MGR_MIC_GAIN", microphones), ("AUDIO_MGR_REF_GAIN", reference)):
            if gain is None:
                continue
            if not GAIN_RANGE[0] <= gain <= GAIN_RANGE[1]:
                raise ValueError(f"{name}: {gain}, expected {GAIN_RANGE[0]:g} to {GAIN_RANGE[1]:g}")
            self.write(name, (gain,))

    def mute(self) -> Mute:
        """Silence the microphones; says how. Refused when a channel carries them from before the gain."""
        self._connected()
        if self._product.mute == "pin":
            self.write("GPO_WRITE_VALUE", (MUTE_PIN, 1))
            return "pin"
        for name in ("AUDIO_MGR_OP_L", "AUDIO_MGR_OP_R"):
            if self.read(name)[0] in BEFORE_GAIN:
                raise Refused(f"{name} carries a microphone before its gain: mute the sound card's capture instead")
        gain = self.gains().microphones
        if gain > 0.0:
            self._gain_before = gain
        self.set_gains(microphones=0.0)
        return "gain"

    def unmute(self, gain: float | None = None) -> None:
        """gain: for an array that somebody else muted; else the one from before `mute`."""
        self._connected()
        if self._product.mute == "pin":
            self.write("GPO_WRITE_VALUE", (MUTE_PIN, 0))
            return
        gain = gain if gain is not None else self._gain_before
        if gain is not None:
            self.set_gains(microphones=gain)
        elif self.gains().microphones == 0.0:
            raise Refused("the gain from before is not known: set one, or restart the array")
        self._gain_before = None

    def muted(self) -> bool:
        """Whether its microphones give zeros on purpose: by `mute`, or by a person's button."""
        self._connected()
        if self._product.mute == "pin":
            return self.read("GPO_READ_VALUES")[GPO_PINS.index(MUTE_PIN)] == 1
        return self.gains().microphones == 0.0

    def restart(self) -> None:
        """Start the board anew, as after its plug was pulled: some list well and record zeros until then (F34)."""
        with suppress(NoAnswer, Vanished):       # it may be quicker than its answer
            self.write("REBOOT", (1,))
        self.close()

    def save(self) -> None:
        """Write the present values to the array's flash: only when a person asks for it."""
        self.write("SAVE_CONFIGURATION", (1,))

    def close(self) -> None:
        if self._device is not None:
            self._device.close()
        self._device = self._identity = None

    # transfers ------------------------------------------------------------------------------------------------------

    def read(self, name: str) -> tuple[Value, ...]:
        """The values of a command; retries while the array is busy."""
        return self._within(lambda until: self._read(name, until))

    def write(self, name: str, values: Sequence[Value]) -> None:
        """Write, and check by reading back where that can be."""
        data = packed(name, values)
        self._within(lambda until: self._write(name, values, data, until))

    def _within(self, exchange):
        """The result before the deadline; a device in trouble is let go of, to be found again."""
        until = self._time.now() + self.settings.deadline
        try:
            return exchange(until)
        except (Vanished, NoAnswer, ShortAnswer):
            self.close()
            raise

    def _read(self, name: str, until: float) -> tuple[Value, ...]:
        command, device = COMMANDS[name], self._connected()
        while True:
            answer = device.control_in(READ | command.command, command.resource, command.answer_bytes,
                                       self._left(name, until))
            if answer and answer[0] == BUSY:
                self._pause(name, until)
                continue
            if len(answer) != command.answer_bytes:
                raise ShortAnswer(f"{name}: {len(answer)} bytes, expected {command.answer_bytes}")
            if answer[0] != GOOD:
                raise Refused(f"{name}: status {answer[0]}, expected {GOOD}")
            return unpacked(name, answer)

    def _write(self, name: str, values: Sequence[Value], data: bytes, until: float) -> None:
        command = COMMANDS[name]
        self._connected().control_out(command.command, command.resource, data, self._left(name, until))
        check = "GPO_READ_VALUES" if name == "GPO_WRITE_VALUE" else name
        while "r" in COMMANDS[check].access:
            found = self._read(check, until)
            if name == "GPO_WRITE_VALUE":
                found = (values[0], found[GPO_PINS.index(int(values[0]))])
            if agree(name, values, found):
                return
            if self._time.now() + self.settings.retry >= until:
                raise Refused(f"{name}: wrote {list(values)}, reads {list(found)}")
            self._time.wait(self.settings.retry)     # it takes over between two audio frames

    def _left(self, name: str, until: float) -> float:
        """Timeout (s) of the next transfer."""
        left = until - self._time.now()
        if left <= 0.0:
            raise NoAnswer(f"{name}: no answer in {self.settings.deadline:g} s; unplug the array and plug it in again")
        return min(left, self.settings.transfer)

    def _pause(self, name: str, until: float) -> None:
        self._time.wait(self.settings.retry)
        self._left(name, until)

    def _connected(self) -> UsbDevice:
        """The device, looked for when there is none."""
        if self._device is None:
            vendors = tuple({product.vendor for product in PRODUCTS})
            found = self._bus.devices(vendors)
            for product in PRODUCTS:                  # the newer firmware first
                for device in found:
                    if (device.address.vendor, device.address.product) == (product.vendor, product.product):
                        self._device, self._product = device, product
                        return device
            expected = " or ".join(f"{p.vendor:04x}:{p.product:04x}" for p in PRODUCTS)
            if found:
                others = ", ".join(str(device.address) for device in found)
                raise WrongDevice(f"no microphone array, only {others} of the same makers; expected {expected}")
            raise NotFound(f"no microphone array on USB; expected {expected}: plug it in")
        return self._device
