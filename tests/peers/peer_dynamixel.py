"""ROBOTIS' own SDK as the master of our emulated servos, over a pty: do both read the protocol alike?

Run by `make peers`. Needs `dynamixel-sdk`; where it is missing, an environment of its own is made in .venv-dynamixel.
Uses nothing of the project but the emulator program, so that a misreading of ours cannot agree with itself.
"""
import os
import random
import subprocess
import sys
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
HOME = PROJECT / ".venv-dynamixel"
PYTHON = os.environ.get("TALKOVER_PYTHON", sys.executable)      # runs the emulator
SERVOS = tuple(range(10, 19))
TORQUE, ERROR, P_GAIN, WATCHDOG, GOAL, POSITION, VOLTAGE, TEMPERATURE = 64, 70, 84, 98, 116, 132, 144, 146
HOMING = 20
PATIENCE = 5               # tries of one request: the emulator is a program on a machine that may be busy


class Peer:
    """The SDK's handlers on the emulator's pty."""

    def __init__(self, path: str):
        import dynamixel_sdk as sdk

        self.sdk = sdk
        self.port, self.packet = sdk.PortHandler(path), sdk.PacketHandler(2.0)
        assert self.port.openPort() and self.port.setBaudRate(1_000_000)
        self.checks = 0

    def expect(self, what: str, found, expected) -> None:
        self.checks += 1
        if found != expected:
            raise SystemExit(f"peer_dynamixel: {what}: found {found}, expected {expected}")

    def call(self, name: str, *arguments):
        """(values..., error byte) of a request that was answered."""
        for _ in range(PATIENCE):
            *values, result, error = getattr(self.packet, name)(self.port, *arguments)
            if result == self.sdk.COMM_SUCCESS:
                return *values, error
        raise SystemExit(f"peer_dynamixel: {name}{arguments}: {self.packet.getTxRxResult(result)}")

    def ping_and_models(self) -> None:
        models = {10: 1240, 17: 1190, 18: 1190}
        for servo in SERVOS:
            model, error = self.call("ping", servo)
            self.expect(f"model of {servo}", (model, error), (models.get(servo, 1200), 0))
        found, result = self.packet.broadcastPing(self.port)
        self.expect("broadcast ping", (sorted(found), result), (list(SERVOS), self.sdk.COMM_SUCCESS))

    def single_registers(self) -> None:
        for servo in SERVOS:
            self.expect("write of the gain", self.call("write2ByteTxRx", servo, P_GAIN, 300), (0,))
            self.expect("gain", self.call("read2ByteTxRx", servo, P_GAIN), (300, 0))
            self.expect("hardware error", self.call("read1ByteTxRx", servo, ERROR), (0, 0))
            self.expect("voltage", self.call("read2ByteTxRx", servo, VOLTAGE), (69, 0))
        self.expect("homing offset", self.call("read4ByteTxRx", 12, HOMING), (-1024 & 0xFFFFFFFF, 0))
        self.expect("write of a read-only register", self.call("write2ByteTxRx", 11, VOLTAGE, 1), (7,))
        self.expect("goal beyond its limit", self.call("write4ByteTxRx", 11, GOAL, 4000), (6,))
        self.expect("torque", self.call("write1ByteTxRx", 11, TORQUE, 1), (0,))
        self.expect("EEPROM under torque", self.call("write4ByteTxRx", 11, HOMING, 0), (7,))
        self.expect("torque off", self.call("write1ByteTxRx", 11, TORQUE, 0), (0,))

    def groups(self) -> None:
        """Sync write and read of goals, with values that need stuffing in between."""
        sdk, chance = self.sdk, random.Random(1)
        for round_ in range(40):
            goals = {servo: 2048 + chance.randrange(-400, 400) for servo in SERVOS}
            writer = sdk.GroupSyncWrite(self.port, self.packet, GOAL, 4)
            reader = sdk.GroupSyncRead(self.port, self.packet, GOAL, 4)
            for servo, goal in goals.items():
                writer.addParam(servo, list(goal.to_bytes(4, "little")))
                reader.addParam(servo)
            writer.txPacket()
            for _ in range(PATIENCE):
                if reader.txRxPacket() == sdk.COMM_SUCCESS:
                    break
            found = {servo: reader.getData(servo, GOAL, 4) for servo in SERVOS}
            self.expect(f"goals of round {round_}", found, goals)
        bulk = sdk.GroupBulkRead(self.port, self.packet)
        for servo, address, size in ((10, POSITION, 4), (13, TEMPERATURE, 1), (18, VOLTAGE, 2)):
            bulk.addParam(servo, address, size)
        for _ in range(PATIENCE):
            if bulk.txRxPacket() == sdk.COMM_SUCCESS:
                break
        self.expect("bulk read", bulk.getData(18, VOLTAGE, 2), 69)

    def stuffing(self) -> None:
        """FF FF FD in registers, both ways (the goal limits of mode 4 allow any number)."""
        for servo in (17, 18):
            self.call("write1ByteTxRx", servo, 11, 4)
            for value in (0x00FDFFFF, 0xFDFFFF00, 0xFFFDFFFF, 0x00FFFFFD):
                self.expect("write", self.call("write4ByteTxRx", servo, GOAL, value), (0,))
                self.expect("stuffed value", self.call("read4ByteTxRx", servo, GOAL), (value, 0))
            self.call("write4ByteTxRx", servo, GOAL, 2048)
            self.call("write1ByteTxRx", servo, 11, 3)

    def alert_and_reboot(self, emulator: subprocess.Popen) -> None:
        emulator.stdin.write("latch 14 0x20\nstate\n")
        emulator.stdin.flush()
        emulator.stdout.readline()                       # the state: the latch has happened
        bits, error = self.call("read1ByteTxRx", 14, ERROR)
        self.expect("overload and alert", (bits, error), (0x20, 0x80))
        self.packet.reboot(self.port, 14)                # a second request would find it silent already
        for _ in range(100):
            if self.packet.ping(self.port, 14)[1] == self.sdk.COMM_SUCCESS:
                break
        self.expect("error after the reboot", self.call("read1ByteTxRx", 14, ERROR), (0, 0))


def check() -> int:
    emulator = subprocess.Popen([PYTHON, "-m", "firmware_bridge.emulator"], cwd=PROJECT, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        peer = Peer(emulator.stdout.readline().strip())
        for part in (peer.ping_and_models, peer.single_registers, peer.groups, peer.stuffing):
            part()
        peer.alert_and_reboot(emulator)
        peer.port.closePort()
    finally:
        emulator.kill()
        emulator.wait()
    print(f"peer_dynamixel: the official SDK and our servos agree in {peer.checks} checks")
    return 0


def main() -> int:
    try:
        import dynamixel_sdk  # noqa: F401
    except ImportError:
        python = HOME / "bin" / "python"
        if not python.exists():
            venv.create(HOME, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "-q", "dynamixel-sdk==4.1.0", "pyserial==3.5"], check=True)
        return subprocess.run([python, __file__], env={**os.environ, "TALKOVER_PYTHON": PYTHON}).returncode
    return check()


if __name__ == "__main__":
    sys.exit(main())
