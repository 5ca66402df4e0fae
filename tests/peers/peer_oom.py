"""The kernel's out-of-memory killer: does it take the child that is too large, and leave mind and motors alone?

Run by `make peers`, as root. The service's unit bounds its memory (MemoryMax); here a memory control group does, v2 or
v1, around a real servo process on the emulator, an engine's process that grows without end, and this one as the mind.
"""
import contextlib
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))
os.environ["PYTHONPATH"] = str(PROJECT)

from dialogue.engine import EngineTrouble, Prompt  # noqa: E402
from robot.bodies.joint_process import JointProcess  # noqa: E402
from robot.bodies.servo_child import ServoSetup  # noqa: E402
from robot.bodies.servo_loop import PART  # noqa: E402
from robot.worker import ChildWorker  # noqa: E402
from tests.bus_bench import BODY, PARK  # noqa: E402
from tests.conformance.test_bus_process import HASTY, PATIENT, EmulatorProgram, Mind  # noqa: E402

ROOM = 400 * 2**20         # bytes for all: this process and the servo process take 150 MB
PIECE = 16 * 2**20


@dataclass
class Growing:
    """An engine whose memory grows without end."""

    def handle(self, request):
        kept = []
        while True:
            kept.append(bytearray(os.urandom(4096) * (PIECE // 4096)))
            yield from ()


def bounded() -> Path | None:
    """A control group with ROOM, this process in it; None where there is none to be made."""
    for root, limit in (("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")):
        group = Path(root) / f"talkover-oom-{os.getpid()}"
        with contextlib.suppress(OSError):
            group.mkdir()
            if (group / limit).exists():
                (group / limit).write_text(str(ROOM))
                (group / "cgroup.procs").write_text(str(os.getpid()))
                return group
            group.rmdir()
    return None


def play(bus: JointProcess, engine: ChildWorker) -> None:
    mind, troubles, after = Mind(bus), [], []
    mind.until(Mind.upright)
    engine.submit(0.0, Prompt(0.0, "grow", 1))

    def ended(mind: Mind) -> bool:
        troubles.extend(reply for reply in engine.poll(0.0) if isinstance(reply, EngineTrouble))
        return bool(troubles)

    def goes_on(mind: Mind) -> bool:
        if not after or mind.reading is not after[-1]:
            after.append(mind.reading)
        return len(after) > 100

    mind.until(ended)
    mind.until(goes_on)
    assert troubles[0].died and bus.deaths == 0 and mind.upright()
    assert not [health for health in mind.told if health.level != "ok"], mind.told
    print(f"  the engine's process was ended ({troubles[0].reason}); the joints are read and held as before")


def main() -> None:
    group = bounded() if os.geteuid() == 0 else None
    if group is None:
        print("peer_oom: skipped, needs root and a memory control group")
        return
    servos = EmulatorProgram()
    bus = JointProcess.start("robot.bodies.servo_child", PART, ServoSetup(
        time.monotonic(), device=servos.path, servos=BODY.servos, park=PARK, bus=PATIENT, loop=HASTY))
    engine = ChildWorker("tests.peers.peer_oom:Growing", {})
    try:
        play(bus, engine)
        counts = [group / name for name in ("memory.events", "memory.oom_control") if (group / name).exists()]
        assert "oom_kill 1\n" in counts[0].read_text(), counts[0].read_text()
    finally:
        engine.close()
        bus.child.close()
        servos.close()
        (group.parent / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()
    print("peer_oom: the kernel and our scores agree")


if __name__ == "__main__":
    main()
