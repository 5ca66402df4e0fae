"""The microphone array's own process: its direction ten times a second, its gains and mute, its trouble in Health.

USB calls block, so they never run in the mind's process. `array_process` starts it; poll gives Reading and Health.
"""
from collections.abc import Sequence
from dataclasses import dataclass, field

from calibration.health import Health, Level
from firmware_bridge.control_transfers import NoPermission, NotFound, Refused, Time, UsbBus, UsbTrouble, WrongDevice
from firmware_bridge.mic_array import MicArray, MicArraySettings
from perception.audio.array_register import Reading
from robot.bodies.device_child import DeviceSetup
from robot.bodies.device_process import DeviceProcess
from robot.bodies.usb_bus import PyUsbBus, WallTime

PART = "array"
LASTING = (NotFound, NoPermission, WrongDevice)     # told at once, and looked for more slowly


@dataclass(frozen=True, slots=True)
class ArraySettings:
    """Section [array] of the configuration."""

    on: bool = False                   # control the array over USB; off: it is a sound card and nothing else
    reads: bool = True                 # ask the array for its direction; not needed where raw microphones are recorded
    period_s: float = 0.1              # s between readings; the register's own pace
    search_s: float = 1.0              # s between two searches of a device that is not there
    patience_s: float = 1.0            # s of failed readings in a row until it counts as gone
    microphone_gain: float | None = None   # factor, set at each connection; None: as the array has it
    show_direction: bool = True        # by the LEDs of boards whose angle stands still otherwise (F08)
    usb: MicArraySettings = field(default_factory=MicArraySettings)


@dataclass(frozen=True, slots=True)
class MuteArray:
    """An order: no sound leaves the array, or again."""

    muted: bool


@dataclass(frozen=True, slots=True)
class RestartArray:
    """An order: start the board anew, unless it is muted; its sound card is gone for some seconds."""


Order = MuteArray | RestartArray


class ArrayLoop:
    """One array, stepped ten times a second."""

    def __init__(self, settings: ArraySettings, bus: UsbBus, time: Time):
        self.settings, self.period_s = settings, settings.period_s
        self._array = MicArray(bus, time, settings.usb)
        self._ready = False                # greeted since it was connected
        self._muted = False                # by our order; a person's own mute button is not touched
        self._order: Order | None = None
        self._good_at: float | None = None
        self._search_at = 0.0
        self._told: tuple[Level, str] | None = None

    def step(self, t: float, orders: Sequence[Order]) -> list[Reading | Health]:
        found: list[Reading | Health] = []
        if orders:
            self._order = orders[-1]
        if t < self._search_at:
            return found
        try:
            if not self._ready:
                found += self._greet(t)
            if self._order is not None:
                found += self._obey(t, self._order)
            if self.settings.reads:
                angle, speech = self._array.direction()
                found.append(Reading(t, angle, speech))
            self._good_at = t
        except UsbTrouble as trouble:
            self._ready = False
            found += self._failed(t, trouble)
        return found

    def close(self) -> None:
        self._array.close()

    def _greet(self, t: float) -> list[Health]:
        """Who it is, and everything that it forgets when it restarts."""
        who = self._array.identity()
        if self.settings.show_direction:
            self._array.show_direction()
        if self._muted:
            self._array.mute()
        elif self.settings.microphone_gain is not None:
            self._array.set_gains(microphones=self.settings.microphone_gain)
        self._ready = True
        shape = "a line" if who.line else "a square"
        version = ".".join(map(str, who.version))
        return self._tell(t, "ok", f"{who.name}, firmware {version}, {who.mics} microphones in {shape}")

    def _obey(self, t: float, order: Order) -> list[Health]:
        """Do it once; what cannot be done is told, and the direction goes on."""
        if isinstance(order, RestartArray):
            muted, self._order = self._array.muted(), None
            if muted:                      # a restart would open it against a person's will
                return self._tell(t, "degraded", "it is muted, and gives zeros on purpose")
            self._ready = False
            self._array.restart()
            return self._tell(t, "degraded", "started anew")
        try:
            if order.muted:
                self._array.mute()
            else:
                self._array.unmute(self.settings.microphone_gain)
            self._muted = order.muted
            told = []
        except Refused as refused:
            told = self._tell(t, "degraded", str(refused))
        self._order = None
        return told

    def _failed(self, t: float, trouble: UsbTrouble) -> list[Health]:
        if isinstance(trouble, LASTING):
            self._search_at = t + self.settings.search_s
            return self._tell(t, "gone", str(trouble))
        if self._good_at is None or t - self._good_at >= self.settings.patience_s:
            self._search_at = t + self.settings.search_s
            return self._tell(t, "gone", str(trouble))
        return []

    def _tell(self, t: float, level: Level, reason: str) -> list[Health]:
        if (level, reason) == self._told:
            return []
        self._told = level, reason
        return [Health(t, PART, level, reason)]


def array_loop(settings: ArraySettings) -> ArrayLoop:
    """What the child process makes."""
    return ArrayLoop(settings, PyUsbBus(), WallTime())


def array_process(settings: ArraySettings, start: float) -> DeviceProcess:
    """The array in its own process. start: monotonic clock (s) at t = 0 of the run."""
    return DeviceProcess(PART, DeviceSetup("robot.bodies.array_worker:array_loop", settings, start))
