"""Requests and answers over a port: what was asked, who answered, and how often it went wrong."""
from collections.abc import Sequence
from dataclasses import dataclass

from firmware_bridge import packets
from firmware_bridge.bus_settings import BusSettings
from firmware_bridge.packets import STATUS, STATUS_BYTES, Packet, PacketReader
from firmware_bridge.port import Port

MOST = 4096          # bytes taken at once from a port
PIECES = 3           # more reads for bytes that were not expected (noise, an adapter's echo, stuffing)
SYNC_READ_BYTES = packets.FRAME + 5 + packets.CRC_BYTES


@dataclass(slots=True)
class BusStatistics:
    """Counts since the start."""

    exchanges: int = 0
    asked: int = 0            # answers that were due
    missing: int = 0          # of these: did not come in time
    retries: int = 0          # second requests
    late_bytes: int = 0       # came after their request was given up
    wrong_crc: int = 0
    garbage: int = 0          # bytes that belonged to no packet
    unexpected: int = 0       # whole statuses that nobody waited for
    alerts: int = 0           # statuses with the alert bit
    arms: int = 0             # times a servo's torque was switched on
    reboots: int = 0
    watchdog_trips: int = 0


class BusLine:
    """One half-duplex line. Nothing here raises for what a servo does or does not say."""

    def __init__(self, port: Port, settings: BusSettings):
        self.port = port
        self.statistics = BusStatistics()
        self._byte_s = 10.0 / settings.baud
        self._reader = PacketReader()

    def send(self, data: bytes) -> None:
        """A request that nobody answers."""
        self.port.write(data)

    def ask(self, request: bytes, servos: Sequence[int], size: int, patience: float) -> dict[int, Packet]:
        """Sends, and collects statuses with `size` bytes of data from these servos. Waits at most the wire time plus
        `patience` s. A status with the alert bit counts as any other."""
        statistics, port = self.statistics, self.port
        statistics.asked += len(servos)
        if late := port.read(MOST, 0.0):
            statistics.late_bytes += len(late)
        port.write(request)
        expected = len(servos) * (STATUS_BYTES + size)
        timeout = (len(request) + expected) * self._byte_s + patience
        found: dict[int, Packet] = {}
        for _ in range(1 + PIECES):
            data = port.read(expected, timeout)
            self._sort(self._reader.feed(data), servos, size, found)
            if len(found) == len(servos) or len(data) < expected:
                break
            expected = (len(servos) - len(found)) * (STATUS_BYTES + size)
        if len(found) < len(servos):
            self._sort(self._reader.silence(), servos, size, found)
            statistics.missing += len(servos) - len(found)
        statistics.wrong_crc, statistics.garbage = self._reader.wrong_crc, self._reader.garbage
        return found

    def _sort(self, arrived: list[Packet], servos: Sequence[int], size: int, found: dict[int, Packet]) -> None:
        for packet in arrived:
            if packet.instruction == STATUS and len(packet.parameters) == size + 1 and packet.servo in servos:
                found[packet.servo] = packet
                if packet.parameters[0] & packets.ALERT:
                    self.statistics.alerts += 1
            elif packet.instruction == STATUS:
                self.statistics.unexpected += 1
