"""A storm of faults on the bus: no jump, no torque lost by our own hand, no crash, and all well again afterwards.

`python -m tests.conformance.test_bus_faults [SECONDS] [SEED]` runs it for an hour of virtual time and prints the sums.
"""
import sys
import time
from collections import deque
from dataclasses import dataclass, field

import numpy as np
import pytest

from firmware_bridge.emulator import Faults
from firmware_bridge.registers import OVERLOAD, SHOCK, VOLTAGE
from motion.intent import JointGoal
from tests.bus_bench import NEUTRAL, Bench, joint, woken

WINDOW = 5                 # ticks: what happens within 50 ms looks like one jump
ORDERED_DEG = 7.0          # in a window: the goals below make 50 deg/s, catching up 90 more
JUMP_DEG = 5.0             # beyond what was ordered
SNAP_S = 0.5               # s after a motor revives before the bus could know of it: the servo returns by itself
FAULTS = {"silent": Faults(silent=True), "unplugged": Faults(unplugged=True), "dead": Faults(dead_motor=True),
          "stays_off": Faults(torque_stays_off=True), "noise": Faults(wrong_crc=0.3, dropped_byte=0.2, garbage=0.3)}
ARMS = [joint(f"stewart_{n}") for n in range(1, 7)]


@dataclass
class Storm:
    """Random trouble on a moving robot. One fault at a time most of the time, sometimes several."""

    seed: int
    bench: Bench = field(init=False)
    ours: list[float] = field(default_factory=list)      # s, torque went off by a write of ours
    crashes: list[str] = field(default_factory=list)
    blamed_until: np.ndarray = field(default_factory=lambda: np.full(9, -1.0))   # s, the world may take the torque
    yielded: np.ndarray = field(default_factory=lambda: np.zeros(9, int))         # ticks of being held on a leash
    snaps_until: np.ndarray = field(default_factory=lambda: np.full(9, -1.0))    # s
    path: deque = field(default_factory=lambda: deque(maxlen=WINDOW + 1))        # (9,) deg, true joints
    jumps: list[tuple[float, int, float]] = field(default_factory=list)          # s, index, deg
    largest: float = 0.0                                  # deg in a window
    mind: float = 0.0                                     # rad, jumps of the mind's goals
    mute_until: float = -1.0                              # s, no goals

    def __post_init__(self):
        self.random = np.random.default_rng(self.seed)
        self.bench = woken(seed=self.seed)

    def goal(self, t: float) -> np.ndarray:
        goal = NEUTRAL.copy()
        goal[0] = 0.8 * np.sin(1.1 * t) + self.mind
        goal[ARMS] += 0.12 * np.sin(2.0 * t + np.arange(6))
        goal[7:] += 0.5 * np.sin(3.0 * t)
        return goal

    def run(self, seconds: float, faults: bool = True) -> None:
        bench, ends = self.bench, []
        after = bench.t + seconds
        next_fault = bench.t + 0.5
        while bench.t < after:
            for end in [end for end in ends if end[0] <= bench.t]:
                ends.remove(end)
                end[1]()
            if faults and bench.t >= next_fault:
                for _ in range(1 + (self.random.random() < 0.2)):
                    ends += self.strike()
                next_fault = bench.t + self.random.exponential(1.5)
            self.tick()
        for _, end in ends:
            end()

    def tick(self) -> None:
        bench = self.bench
        torque, lost = bench.emulator.torques(), len(bench.torque_lost)
        goal = None if bench.t < self.mute_until else JointGoal(bench.t, self.goal(bench.t), np.zeros(9))
        try:
            bench.tick(goal)
        except Exception as crash:     # what the test is about
            self.crashes.append(f"{bench.t:.2f} {crash!r}")
        yields = [watch.phase == "armed" and watch.yielding for watch in bench.bus.watches]
        self.yielded = np.where(yields, self.yielded + 1, 0)
        del bench.readings[:-1000]                        # an hour has 360,000
        self.path.append(np.degrees(bench.emulator.true_positions()))
        moved = np.where(bench.t > self.snaps_until, np.abs(self.path[-1] - self.path[0]), 0.0)
        self.largest = max(self.largest, float(moved.max()))
        self.jumps += [(bench.t, int(i), float(moved[i])) for i in np.flatnonzero(moved > ORDERED_DEG + JUMP_DEG)]
        for t, index in bench.torque_lost[lost:]:
            if torque[index] and t > self.blamed_until[index]:
                self.ours.append(t)

    def strike(self) -> list:
        """One random fault; returns (when, how) it ends."""
        bench, emulator = self.bench, self.bench.emulator
        index, until = int(self.random.integers(9)), bench.t + float(self.random.uniform(0.05, 2.5))
        word = self.random.choice([*FAULTS, "slow", "warm", "latch", "cable", "power", "grip", "mind", "mute", "pause"])
        if word in ("unplugged", "latch", "power", "grip"):
            self.blamed_until[slice(None) if word == "power" else index] = until + 3.0
        if word in FAULTS or word in ("slow", "warm"):
            faults = FAULTS.get(word) or (Faults(delay_s=float(self.random.uniform(0.001, 0.02))) if word == "slow"
                                          else Faults(temperature_c=float(self.random.uniform(50, 69))))
            if emulator.servos[index].faults.dead_motor:       # the new fault takes the place of this one
                self.revive(index, lambda: None)
            emulator.set_faults(index, faults)
            return [(until, lambda: self.revive(index, lambda: emulator.set_faults(index, Faults())))]
        if word == "cable":
            bench.port.connected = False
            return [(until, lambda: setattr(bench.port, "connected", True))]
        if word == "power":
            emulator.power(False)
            return [(until, lambda: emulator.power(True))]
        if word == "grip":
            emulator.grip(emulator.joints[index])
            return [(until, lambda: self.revive(index, lambda: emulator.grip(emulator.joints[index], False)))]
        if word == "latch":
            emulator.latch(10 + index, int(self.random.choice([OVERLOAD, VOLTAGE, SHOCK])))
        elif word == "mind":
            self.mind = float(self.random.uniform(-0.8, 0.8))
        elif word == "mute":
            self.mute_until = until
        elif word == "pause":
            self.pause(float(self.random.uniform(0.02, 1.0)))
        return []

    def revive(self, index: int, how) -> None:
        """A fault ends. A joint that the bus yields to must not leap then; of others it could not know."""
        if self.yielded[index] < WINDOW:
            self.snaps_until[index] = self.bench.t + SNAP_S
        how()

    def pause(self, seconds: float) -> None:
        """Nobody calls the bus for a while."""
        for _ in range(round(seconds / self.bench.dt)):
            self.bench.port.advance(self.bench.dt)
        self.bench.t += seconds
        self.path.clear()


def judge(storm: Storm) -> dict[str, object]:
    bench = storm.bench
    return {"jumps over 5 deg": len(storm.jumps), "largest way in 50 ms, deg": round(storm.largest, 2),
            "torque on away from the joint by over 0.5 deg": sum(off > 0.55 for off in bench.torque_on_errors),
            "times torque came on": len(bench.torque_on_errors),
            "torque put off by us": len(storm.ours), "crashes": len(storm.crashes),
            "health lines": len(bench.told), "reboots": bench.bus.statistics.reboots}


@pytest.mark.parametrize("seed", range(3))
def test_a_storm_of_faults(seed):
    storm = Storm(seed)
    storm.run(12.0)
    result = judge(storm)
    assert not storm.crashes
    assert not storm.jumps and not storm.ours
    assert result["torque on away from the joint by over 0.5 deg"] == 0


def test_after_the_storm_all_is_well():
    storm = Storm(7)
    storm.run(8.0)
    storm.run(25.0, faults=False)
    bench = storm.bench
    waiting = [watch for watch in bench.bus.watches if watch.act_at > bench.t]      # a recovery's pause
    assert sum(bench.reading.torque) == 9 - len(waiting)
    assert len(waiting) <= 2
    standing = {line.part: line.level for line in bench.told}
    for watch in bench.bus.watches:
        if watch not in waiting:
            assert standing.get(watch.part, "ok") == "ok"


if __name__ == "__main__":
    SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 3600.0
    storm = Storm(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    began = time.process_time()
    storm.run(SECONDS)
    for what, number in judge(storm).items():
        print(f"{what}: {number}")
    print(f"CPU: {time.process_time() - began:.0f} s for {SECONDS:.0f} s")
    print(*storm.crashes[:5], *storm.jumps[:20], sep="\n")
