"""Touch pads and the vibration motor on the pins of a small board, by gpiozero, in a process of their own.

gpiozero starts threads (software PWM, edge waiting), which would hold the mind's interpreter. `touch_process` starts
the process; poll gives Touch and Health, send takes the name of a pattern (firmware_bridge.haptics).
"""
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from calibration.health import Health
from firmware_bridge.haptics import PATTERNS, REST, Haptics
from firmware_bridge.touch import Touch, TouchSense, TouchSenseConfig
from robot.bodies.device_child import DeviceSetup
from robot.bodies.device_process import DeviceProcess

PART = "touch"


@dataclass(frozen=True, slots=True)
class TouchSettings:
    """Section [touch] of the configuration. Pins by their BCM numbers; without any there is nothing to start."""

    pads: tuple[int, ...] = ()         # in the order in which a hand strokes them
    motor: int | None = None           # pin of the motor's transistor
    active_high: bool = True           # of a touched pad: TTP223 boards drive their pin high
    pull_up: bool | None = None        # of the pads' pins; None: the pad drives both levels
    frequency_hz: float = 200.0        # of the motor's PWM: above what a motor follows, below what lgpio's pins reach
    strongest: float = 1.0             # 0..1 of the supply: a 3 V motor at 5 V wants 0.6
    period_s: float = 0.01             # s between looks at the pads
    retry_s: float = 10.0              # s between tries to open pins that cannot be opened
    sense: TouchSenseConfig = field(default_factory=TouchSenseConfig)

    def __post_init__(self):
        if not 0.0 < self.strongest <= 1.0:
            raise ValueError(f"strongest: expected more than 0 to 1, found {self.strongest}")
        pins = (*self.pads, *(() if self.motor is None else (self.motor,)))
        if len(set(pins)) < len(pins) or any(not 0 <= pin <= 27 for pin in pins):
            raise ValueError(f"pads and motor: expected different BCM pins 0 to 27, found {pins}")

    @property
    def wanted(self) -> bool:
        return bool(self.pads) or self.motor is not None


class PinTrouble(Exception):
    """Pins that cannot be opened, and why."""


class Pins(Protocol):
    """The pads' levels and the motor's strength."""

    def touched(self) -> Sequence[bool]: ...

    def drive(self, strength: float) -> None: ...

    def close(self) -> None: ...


class GpioPins:
    """The pins by gpiozero's default pin factory."""

    def __init__(self, settings: TouchSettings):
        try:
            from gpiozero import DigitalInputDevice, GPIOZeroError, PWMOutputDevice
        except ImportError as error:
            raise PinTrouble(f"{error}: pip install 'talkover[pi]'") from error
        self._devices: list[Any] = []
        self._motor = None
        try:
            active = settings.active_high if settings.pull_up is None else None   # a pull decides it by itself
            for pin in settings.pads:
                self._devices.append(DigitalInputDevice(pin, pull_up=settings.pull_up, active_state=active))
            self._pads = tuple(self._devices)
            if settings.motor is not None:
                self._motor = PWMOutputDevice(settings.motor, frequency=settings.frequency_hz)
                self._devices.append(self._motor)
        except (GPIOZeroError, OSError, _lgpio_error()) as error:
            self.close()
            raise PinTrouble(f"{type(error).__name__}: {error}") from error

    def touched(self) -> Sequence[bool]:
        return [bool(pad.value) for pad in self._pads]

    def drive(self, strength: float) -> None:
        if self._motor is not None and self._motor.value != strength:
            self._motor.value = strength

    def close(self) -> None:
        """The motor stands: closing a PWM pin sets it low."""
        for device in self._devices:
            device.close()
        self._devices = []


class TouchLoop:
    """Pads and motor, stepped a hundred times a second. Every pattern ends by itself: a mind that hangs cannot buzz."""

    def __init__(self, settings: TouchSettings, opened: Callable[[TouchSettings], Pins] = GpioPins):
        self.settings, self.period_s = settings, settings.period_s
        self._open = opened
        self._pins: Pins | None = None
        self._try_at = 0.0
        self._told = ""
        self._haptics, self._sense = Haptics(), TouchSense(len(settings.pads), settings.sense)
        self._t: float | None = None

    def step(self, t: float, orders: Sequence[str]) -> list[Touch | Health]:
        dt, self._t = 0.0 if self._t is None else t - self._t, t
        for name in orders:
            if name == REST or name in PATTERNS:
                self._haptics.start(name)
        found: list[Touch | Health] = []
        if self._pins is None:
            found += self._ready(t)
        strength = self._haptics.step(dt) * self.settings.strongest
        if self._pins is None:
            return found
        try:
            self._pins.drive(strength)
            touch = self._sense.step(t, dt, self._pins.touched()) if self.settings.pads else None
        except OSError as lost:                 # gpiochip gone: a driver was unloaded
            self.close()
            return found + self._tell(t, str(lost))
        return found if touch is None else [*found, touch]

    def close(self) -> None:
        if self._pins is not None:
            self._pins.close()
            self._pins = None

    def _ready(self, t: float) -> list[Health]:
        """Opens the pins now and then; what happened, when it is new."""
        if t < self._try_at:
            return []
        self._try_at = t + self.settings.retry_s
        try:
            self._pins = self._open(self.settings)
        except PinTrouble as trouble:
            return self._tell(t, str(trouble))
        self._told = ""
        return [Health(t, PART, "ok", f"{len(self.settings.pads)} pads, "
                       + ("no motor" if self.settings.motor is None else f"motor on pin {self.settings.motor}"))]

    def _tell(self, t: float, reason: str) -> list[Health]:
        if reason == self._told:
            return []
        self._told = reason
        return [Health(t, PART, "gone", reason)]


def _lgpio_error() -> type[Exception]:
    """The error of the pin library that gpiozero has chosen by now; it is no OSError."""
    return getattr(sys.modules.get("lgpio"), "error", OSError)


def touch_process(settings: TouchSettings, start: float) -> DeviceProcess:
    """Pads and motor in their own process. start: monotonic clock (s) at t = 0 of the run."""
    return DeviceProcess(PART, DeviceSetup("robot.bodies.touch_worker:TouchLoop", settings, start))
