"""The port to a sound card: what PortAudio's packages have in common, and nothing else."""
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from perception.audio.block import SAMPLE_RATE_HZ, Samples

Heard = Callable[[Samples, bool], None]        # (frames (n, channels), sound was lost before them)
Wanted = Callable[[int, bool], Samples]        # (frames, the device ran dry before) -> (frames, channels)

USUAL_RATES_HZ = (8000, 16000, 22050, 32000, 44100, 48000, 96000)


@dataclass(frozen=True, slots=True)
class SoundDevice:
    """One device as it is listed now; indices change whenever something is plugged in."""

    index: int
    name: str
    inputs: int                # channels
    outputs: int
    rate_hz: int               # its own
    default_input: bool = False
    default_output: bool = False


class DeviceTrouble(Exception):
    """A device is not there or does not do what is asked; the reason is for people."""


class Stream(Protocol):
    """A running stream."""

    latency_s: float           # between the call and the air, as the driver says

    @property
    def active(self) -> bool: ...

    def close(self) -> None: ...


class SoundBackend(Protocol):
    """One package. Every call but `close` of a stream may raise DeviceTrouble; any may hang."""

    def devices(self) -> list[SoundDevice]:
        """A fresh list: what was unplugged is gone from it. No stream may be open."""

    def accepts(self, device: SoundDevice, rate_hz: int, channels: int, records: bool) -> bool: ...

    def record(self, device: SoundDevice, rate_hz: int, channels: int, block: int, latency_s: float,
               heard: Heard) -> Stream:
        """Calls `heard` from a thread of its own with float32 frames, full scale +-1."""

    def play(self, device: SoundDevice, rate_hz: int, channels: int, block: int, latency_s: float,
             wanted: Wanted) -> Stream:
        """Asks `wanted` for frames from a thread of its own."""

    def close(self) -> None: ...


def chosen(devices: Sequence[SoundDevice], wanted: str, channels: int, records: bool) -> SoundDevice:
    """The device of that name, or with that text in its name; the default one for "". Never another."""
    kind = "input" if records else "output"
    able = [d for d in devices if (d.inputs if records else d.outputs) > 0]
    if wanted:
        found = [d for d in able if d.name == wanted] or [d for d in able if wanted.lower() in d.name.lower()]
        missing = f"no {kind} device named {wanted!r}"
    else:
        found = [d for d in able if (d.default_input if records else d.default_output)]
        missing = f"no default {kind} device"
    if not found:
        raise DeviceTrouble(f"{missing}; there is {', '.join(sorted({d.name for d in able})) or 'none'}")
    best = found[0]
    has = best.inputs if records else best.outputs
    if has < channels:
        raise DeviceTrouble(f"{best.name} has {has} {kind} channels, expected {channels}: check the channel numbers")
    return best


def rate_for(backend: SoundBackend, device: SoundDevice, wanted_hz: int, channels: int, records: bool) -> int:
    """The rate at which to open a device: the one asked for, else 16 kHz, else the device's own."""
    for rate in (wanted_hz,) if wanted_hz else (SAMPLE_RATE_HZ, device.rate_hz):
        if backend.accepts(device, rate, channels, records):
            return rate
    works = [str(r) for r in USUAL_RATES_HZ if backend.accepts(device, r, channels, records)]
    raise DeviceTrouble(f"{device.name} takes no {channels} channels at {wanted_hz or device.rate_hz} Hz; "
                        f"with so many channels it takes {', '.join(works) or 'no usual rate'}")


def backend_named(name: str) -> SoundBackend:
    """sounddevice or pyaudio; DeviceTrouble names what to install."""
    try:
        if name == "pyaudio":
            from robot.bodies.sound_pyaudio import PyAudioBackend
            return PyAudioBackend()
        from robot.bodies.sound_portaudio import SounddeviceBackend
        return SounddeviceBackend()
    except (ImportError, OSError) as error:
        remedy = "pip install 'talkover[pyaudio]'" if name == "pyaudio" else "apt-get install libportaudio2"
        raise DeviceTrouble(f"{name} cannot be loaded ({error}): {remedy}") from error
