"""Evidence of the product's own simulated room while nobody speaks, from recorded tapes (`talkover demo --out DIR`).

    python -m training.own_room --out build/training --nobody 13:33 --nobody 40:70 DIR/tape.mcap ...

The robot talks and moves there through its own loudspeaker, gears and late field, which no training room draws; what it
then takes for a person is a false stop by definition.
"""
import argparse
from pathlib import Path

import numpy as np

from calibration.body_model import reachy_mini
from perception.audio.front import FrontEnd
from robot.tape import read_tape
from training.scenes import BLOCKS

WEIGHT = 2.0      # of the loss: few minutes against hours of drawn scenes
OVERLAP = BLOCKS // 2
PLAYS, TAIL = 3e-4, 30   # peak of the reference; blocks in which its echo is still heard


def pieces(tape: Path, nobody: list[tuple[float, float]]):
    """(evidence, weight, speaking) of overlapping pieces as long as a training scene, half of each without a person."""
    recorded = read_tape(tape)
    front = FrontEnd(reachy_mini().mic_positions, recorded.header["mind"].get("playback_delay_s"))
    rows, plays, times = [], [], []
    for inputs, outputs in recorded.pairs:
        for block in inputs.audio:
            rows.append(front.step(block, outputs.joints.velocity).evidence.streams)
            plays.append(np.abs(block.reference).max() > PLAYS)
            times.append(block.t)
    evidence, t = np.array(rows, np.float16), np.array(times)
    weight = WEIGHT * np.any([(t > low) & (t < high) for low, high in nobody], axis=0)
    speaking = np.convolve(plays, np.ones(TAIL))[:len(plays)] > 0
    for start in range(0, len(t) - BLOCKS, OVERLAP):
        part = slice(start, start + BLOCKS)
        if np.count_nonzero(weight[part]) >= BLOCKS // 2:
            yield evidence[part], weight[part], speaking[part]


def span(text: str) -> tuple[float, float]:
    low, high = text.split(":")
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tapes", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--nobody", type=span, action="append", required=True, help="FROM:TO in s, nobody speaks then")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for number, tape in enumerate(options.tapes):
        for index, (evidence, weight, speaking) in enumerate(pieces(tape, options.nobody)):
            np.savez(options.out / f"training_own_{number:03d}_{index:03d}.npz", evidence=evidence, weight=weight,
                     label=np.zeros(BLOCKS, np.float32), speaking=speaking, people=np.zeros((0, 3)), moving=True)


if __name__ == "__main__":
    main()
