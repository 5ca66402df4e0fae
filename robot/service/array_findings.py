"""What `talkover doctor` says of the microphone array's control and of the pins for touch and vibration."""
import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from firmware_bridge.control_transfers import NoPermission, NotFound, Time, UsbBus, UsbTrouble
from firmware_bridge.mic_array import MicArray
from robot.bodies.usb_bus import PyUsbBus, WallTime
from robot.service.findings import Finding

SUBJECT = "array control"
CARDS = re.compile(r"Reachy Mini Audio|reSpeaker|XVF3800", re.IGNORECASE)
PROCESSED = 2              # channels of the standard firmware


def array_control(bus: UsbBus | None = None, time: Time | None = None,
                  cards: Path = Path("/proc/asound")) -> Iterator[Finding]:
    """Who the array is, what it hands on, and whether it can be heard."""
    array = MicArray(bus or PyUsbBus(), time or WallTime())
    try:
        who = array.identity()
        gain = array.gains().microphones
    except NoPermission as error:
        fact, _, rule = str(error).partition(": ")
        yield Finding(SUBJECT, "warning", fact, rule)
    except NotFound as error:
        fact, _, _ = str(error).partition(";")
        yield Finding(SUBJECT, "warning", fact, "plug the array in; raw microphones of a sound card do without it")
    except UsbTrouble as error:
        fact, _, remedy = str(error).partition("; ")
        yield Finding(SUBJECT, "warning", fact, remedy or "unplug the array and plug it in again")
    else:
        length = round(1000 * float(np.ptp(who.positions, axis=0).max()))
        shape = f"a line of {length} mm" if who.line else f"a square of {length} mm"
        version = ".".join(map(str, who.version))
        yield Finding(SUBJECT, "ok", f"{who.name} {who.address}, firmware {version}, {who.mics} microphones in {shape}")
        yield from _channels(capture_channels(cards))
        if gain == 0.0:
            yield Finding("array gain", "warning", "0: the microphones are muted", "restart the array, or set "
                          "microphone_gain in [array] (10 is usual)")
    finally:
        array.close()


def _channels(count: int | None) -> Iterator[Finding]:
    if count is None:
        yield Finding("array channels", "warning", "no sound card of the array",
                      "unplug the array and plug it in again")
    elif count > PROCESSED:
        yield Finding("array channels", "ok", f"{count}: {count - PROCESSED} raw microphones")
    else:
        yield Finding("array channels", "ok", f"{count} processed: where people are comes from the array's register; "
                      "its 6-channel firmware gives raw microphones, in which more is heard")


def capture_channels(cards: Path) -> int | None:
    """Channels that the array's sound card records, from ALSA's files; None: no such card."""
    for stream in sorted(cards.glob("card*/stream*")):
        text = stream.read_text(errors="replace")
        _, _, capture = text.partition("Capture:")
        if CARDS.search(text.splitlines()[0] if text else "") and (found := re.findall(r"Channels:\s*(\d+)", capture)):
            return max(map(int, found))
    return None


def gpio(devices: Path = Path("/dev")) -> Iterator[Finding]:
    """Pins for touch pads and the vibration motor; most machines have none and need none."""
    chips = sorted(devices.glob("gpiochip*"))
    if not chips:
        yield Finding("gpio", "ok", "no pins on this machine: no touch, no vibration")
    elif importlib.util.find_spec("gpiozero") is None or importlib.util.find_spec("lgpio") is None:
        yield Finding("gpio", "warning", f"{len(chips)} chips, but gpiozero or lgpio is not installed",
                      "pip install 'talkover[pi]' if [touch] names pins")
    elif not any(os.access(chip, os.R_OK | os.W_OK) for chip in chips):
        yield Finding("gpio", "warning", f"{chips[0]} may not be opened",
                      "sudo usermod -aG gpio $USER, then log in again")
    else:
        yield Finding("gpio", "ok", f"{len(chips)} chips")
