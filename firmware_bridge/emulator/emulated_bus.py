"""The emulated bus: servos on one wire, as a pure core. Bytes in, timed bytes out."""
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from calibration.body_model import Servo
from calibration.frames import Array
from firmware_bridge import packets
from firmware_bridge.emulator.faults import NO_FAULTS, Faults
from firmware_bridge.emulator.servo_bank import ServoBank
from firmware_bridge.packets import Packet, PacketReader

Answer = tuple[float, bytes]    # s from the request's first byte to the answer's last, bytes
Reply = tuple[int, int, bytes]  # index of the servo, error, data

BYTE_S = 1e-5                   # 10 bits at 1 Mbaud
TURNAROUND_S = 3e-5             # from a request to the answer's first byte at return delay 0
RETURN_DELAY = 9                # register, 2 us units


class Emulator(ServoBank):
    """Servos that answer bytes and move. `feed` what the master sends, `step` the time, inject faults at any time.

    seed: of the random faults. chain_breaks: servos behind a silent one in a sync read stay silent too.
    """

    def __init__(self, servos: Sequence[Servo], seed: int = 0, positions: Array | None = None, supply_v: float = 6.9,
                 shutdown_mask: int = 52, chain_breaks: bool = False):
        super().__init__(servos, positions, supply_v, shutdown_mask)
        self.chain_breaks = chain_breaks
        self._random = np.random.default_rng(seed)
        self._reader = PacketReader()

    def feed(self, data: bytes) -> list[Answer]:
        """What comes back for bytes that the master sends, and when."""
        answers: list[Answer] = []
        elapsed = len(data) * BYTE_S
        for packet in self._reader.feed(data):
            if not self.powered or packet.instruction == packets.STATUS:
                continue
            self.heard_at = self.time
            for index, error, out in self._execute(packet):
                fake = self.servos[index]
                if fake.faults.silent or not fake.answers(packet.instruction):
                    continue
                answer = packets.status(fake.id, error | packets.ALERT if fake.error_bits else error, out)
                if fake.faults is not NO_FAULTS:
                    answer = self._spoiled(answer, fake.faults)
                elapsed += TURNAROUND_S + 2e-6 * fake.table[RETURN_DELAY] + fake.faults.delay_s + len(answer) * BYTE_S
                answers.append((elapsed, answer))
        return answers

    def _execute(self, packet: Packet) -> Iterator[Reply]:
        """Does what a packet says; yields the replies in their order."""
        instruction, parameters = packet.instruction, packet.parameters
        if instruction == packets.SYNC_WRITE:
            address, size = _word(parameters, 0), _word(parameters, 2)
            for at in range(4, len(parameters) - size, size + 1):
                self._write_to(parameters[at], address, parameters[at + 1:at + 1 + size])
        elif instruction == packets.SYNC_READ:
            address, size = _word(parameters, 0), _word(parameters, 2)
            yield from self._chain((servo, address, size) for servo in parameters[4:])
        elif instruction == packets.BULK_READ:
            yield from self._chain((parameters[at], _word(parameters, at + 1), _word(parameters, at + 3))
                                   for at in range(0, len(parameters) - 4, 5))
        elif instruction == packets.BULK_WRITE:
            at = 0
            while at + 5 <= len(parameters):
                size = _word(parameters, at + 3)
                self._write_to(parameters[at], _word(parameters, at + 1), parameters[at + 5:at + 5 + size])
                at += 5 + size
        elif packet.servo == packets.BROADCAST:
            for index in range(len(self.servos)):
                if self.listens(index):
                    error, data = self._single(index, instruction, parameters)
                    if instruction == packets.PING:
                        yield index, error, data
        else:
            mine = self.by_id.get(packet.servo)
            if mine is not None and self.listens(mine):
                yield mine, *self._single(mine, instruction, parameters)

    def _chain(self, reads: Iterable[tuple[int, int, int]]) -> Iterator[Reply]:
        """Statuses in the order asked; each servo waits for the one before it."""
        for servo, address, size in reads:
            index = self.by_id.get(servo)
            if index is None or self.servos[index].faults.silent or not self.listens(index):
                if self.chain_breaks:
                    return
                continue
            yield index, *self.read(index, address, size)

    def _single(self, index: int, instruction: int, parameters: bytes) -> tuple[int, bytes]:
        fake = self.servos[index]
        if instruction == packets.PING:
            return 0, fake.read(0, 2)[1] + fake.read(6, 1)[1]
        if instruction == packets.READ and len(parameters) == 4:
            return self.read(index, _word(parameters, 0), _word(parameters, 2))
        if instruction == packets.WRITE and len(parameters) > 2:
            return self.write(index, _word(parameters, 0), parameters[2:]), b""
        if instruction == packets.REG_WRITE and len(parameters) > 2:
            return fake.register_write(_word(parameters, 0), parameters[2:]), b""
        if instruction == packets.ACTION:
            error = fake.action()
            self.obey(index)
            return error, b""
        if instruction == packets.REBOOT:
            self.reboot(index)
            return 0, b""
        return packets.BAD_INSTRUCTION, b""

    def _write_to(self, servo: int, address: int, data: bytes) -> None:
        index = self.by_id.get(servo)
        if index is not None and self.listens(index):
            self.write(index, address, data)

    def _spoiled(self, answer: bytes, faults: Faults) -> bytes:
        """An answer with the random faults of its servo."""
        if faults.wrong_crc and self._random.random() < faults.wrong_crc:
            answer = answer[:-1] + bytes((answer[-1] ^ 0x5A,))
        if faults.dropped_byte and self._random.random() < faults.dropped_byte:
            at = int(self._random.integers(len(answer)))
            answer = answer[:at] + answer[at + 1:]
        if faults.garbage and self._random.random() < faults.garbage:
            answer = self._random.bytes(int(self._random.integers(1, 8))) + answer
        return answer


def _word(parameters: bytes, at: int) -> int:
    return int.from_bytes(parameters[at:at + 2], "little")
