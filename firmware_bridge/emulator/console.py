"""What can be said to the emulator while it runs, one command a line. No clock, no pty in here."""
import json
import math

from firmware_bridge.emulator.emulated_bus import Emulator
from firmware_bridge.emulator.faults import with_fault
from firmware_bridge.packets import BROADCAST

USAGE = {"fault": "fault ID NAME[=VALUE]", "latch": "latch ID BITS", "push": "push JOINT DEGREES",
         "grip": "grip JOINT 0|1", "power": "power 0|1", "cable": "cable 0|1", "state": "state", "help": "help"}


class BadCommand(ValueError):
    """A command that cannot be obeyed; says what was expected."""


class Console:
    """Obeys commands and answers in lines."""

    def __init__(self, emulator: Emulator):
        self.emulator = emulator
        self.cable = True                # False: no byte passes

    def obey(self, line: str) -> str:
        """The answer, or nothing. BadCommand, UnknownFault: what is wrong with the line."""
        word, *rest = line.split() or ("",)
        if not word:
            return ""
        if word not in USAGE:
            raise BadCommand(f"unknown command {word!r}: expected {', '.join(USAGE)}")
        if len(rest) != len(USAGE[word].split()) - 1:
            raise BadCommand(f"{line.strip()!r}: expected {USAGE[word]}")
        if word == "state":
            return json.dumps(self.state())
        if word == "help":
            return "; ".join(USAGE.values())
        getattr(self, f"_{word}")(*rest)
        return ""

    def state(self) -> dict:
        emulator = self.emulator
        return {"t_s": emulator.time, "joints": emulator.joints,
                "position_rad": emulator.true_positions().tolist(), "goal_rad": emulator.goals().tolist(),
                "torque": emulator.torques(), "watchdog": [fake.watchdog for fake in emulator.servos],
                "error": [fake.error_bits for fake in emulator.servos],
                "faults": {fake.id: changed for fake in emulator.servos if (changed := fake.faults.words())}}

    def servo(self, text: str) -> int:
        """A servo's id, or 254 for all."""
        known = [fake.id for fake in self.emulator.servos]
        if not text.isdecimal() or int(text) not in (*known, BROADCAST):
            raise BadCommand(f"servo {text!r}: expected {known[0]} to {known[-1]}, or {BROADCAST} for all")
        return int(text)

    def _fault(self, servo: str, fault: str) -> None:
        which = self.servo(servo)
        for index, fake in enumerate(self.emulator.servos):
            if which in (fake.id, BROADCAST):
                self.emulator.set_faults(index, with_fault(fake.faults, fault))

    def _latch(self, servo: str, bits: str) -> None:
        try:
            number = int(bits, 0)
        except ValueError:
            number = -1
        if not 0 <= number <= 255:
            raise BadCommand(f"bits {bits!r}: expected 0 to 255, such as 0x20 for an overload")
        self.emulator.latch(self.servo(servo), number)

    def _push(self, joint: str, degrees: str) -> None:
        try:
            angle = float(degrees)
        except ValueError:
            angle = math.nan
        if not abs(angle) <= 360.0:
            raise BadCommand(f"angle {degrees!r}: expected degrees, -360 to 360")
        self.emulator.push(self._joint(joint), math.radians(angle))

    def _grip(self, joint: str, held: str) -> None:
        self.emulator.grip(self._joint(joint), _yes(held))

    def _power(self, on: str) -> None:
        self.emulator.power(_yes(on))

    def _cable(self, on: str) -> None:
        self.cable = _yes(on)

    def _joint(self, name: str) -> str:
        if name not in self.emulator.joints:
            raise BadCommand(f"joint {name!r}: expected one of {', '.join(self.emulator.joints)}")
        return name


def _yes(text: str) -> bool:
    if text not in ("0", "1"):
        raise BadCommand(f"{text!r}: expected 0 or 1")
    return text == "1"
