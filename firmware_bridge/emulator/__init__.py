"""Fake servos at the level of bytes: for the simulated room, for tests, and as a program on a pty."""
from firmware_bridge.emulator.emulated_bus import Answer, Emulator
from firmware_bridge.emulator.emulator_port import EmulatorPort
from firmware_bridge.emulator.faults import Faults, UnknownFault, with_fault

__all__ = ["Answer", "Emulator", "EmulatorPort", "Faults", "UnknownFault", "with_fault"]
