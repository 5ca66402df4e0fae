"""Runs the product's own front end over training scenes and stores evidence and labels, one file a scene.

    python -m training.features --out DIR --first 0 --count 500 [--validation] --words FOLDER
"""
import argparse
from pathlib import Path

import numpy as np

from perception.audio.block import BLOCK_S, AudioBlock
from perception.audio.front import FrontEnd
from training import voices
from training.scenes import BLOCKS, TrainingScene, Voices, drawn_scene

VALIDATION_OFFSET = 1_000_000     # seeds of validation scenes; their voices are other ones, too


def split_voices(words: str, cache: str, validation: bool) -> Voices:
    """Every fifth voice of each kind is kept for validation."""
    recorded = voices.recorded(words)
    spoken = list(voices.SPOKEN)

    def part(names: list[str]) -> tuple[str, ...]:
        return tuple(name for number, name in enumerate(names) if (number % 5 == 4) == validation)

    people, robots = part(recorded) + part(spoken), part(spoken) * 2 + part(recorded)[::2]
    return Voices(robots, people, part(spoken) + part(recorded), cache)


def evidence_of(scene: TrainingScene) -> np.ndarray:
    """(BLOCKS, COUNT) evidence streams."""
    front = FrontEnd(scene.mic_positions, scene.delay_s)
    rows = []
    for index in range(BLOCKS):
        part = slice(index * 160, index * 160 + 160)
        block = AudioBlock((index + 1) * BLOCK_S, scene.sound[:, part], scene.reference[part])
        rows.append(front.step(block, scene.speeds[min(index, len(scene.speeds) - 1)]).evidence.streams)
    return np.array(rows, np.float16)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--validation", action="store_true")
    parser.add_argument("--words", required=True, help="folder with the sounds of klettres-data and ktuberling-data")
    options = parser.parse_args()
    who = split_voices(options.words, str(options.out / "voices"), options.validation)
    options.out.mkdir(parents=True, exist_ok=True)
    name = "validation" if options.validation else "training"
    for number in range(options.first, options.count, options.step):
        file = options.out / f"{name}_{number:05d}.npz"
        if file.exists():
            continue
        scene = drawn_scene(number + (VALIDATION_OFFSET if options.validation else 0), who)
        np.savez(file, evidence=evidence_of(scene), label=scene.label, weight=scene.weight, speaking=scene.speaking,
                 people=np.array(scene.people).reshape(-1, 3), moving=scene.moving)


if __name__ == "__main__":
    main()
