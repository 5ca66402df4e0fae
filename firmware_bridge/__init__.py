"""Bytes to hardware: servo packets, registers, the bus and a byte-level emulator."""
