"""`make train`: the whole recipe, from nothing to perception/audio/models/person.onnx (hours on one core).

    python -m training [--scenes 1050] [--data build/training]

Needs the extra `train` and the Debian packages flite, espeak-ng, klettres-data and ktuberling-data. Pieces of the
product's own room (training.own_room) that lie in DATA are used as well.
"""
import argparse
import subprocess
import sys
from pathlib import Path

from training.scenes import MANY_DUCKS

SEEDS = (5, 6, 7)     # of the members: order of the crops, noise, start of the weights


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=1050)
    parser.add_argument("--data", type=Path, default=Path("build/training"))
    parser.add_argument("--words", default="/usr/share", help="where klettres/ and ktuberling/ are")
    options = parser.parse_args()
    features = ["training.features", "--out", str(options.data), "--words", options.words]
    members = [options.data / f"member_{seed}.onnx" for seed in SEEDS]
    steps = [[*features, "--count", str(options.scenes)], [*features, "--count", "40", "--validation"],
             [*features, "--first", str(MANY_DUCKS), "--count", str(MANY_DUCKS + 156)]]
    steps += [["training.train", "--data", str(options.data), "--out", str(path), "--seed", str(seed)]
              for path, seed in zip(members, SEEDS, strict=True)]
    steps.append(["training.ensemble", *(str(path.with_suffix(".npz")) for path in members),
                  "--out", "perception/audio/models/person.onnx"])
    return next((done for step in steps if (done := subprocess.run([sys.executable, "-m", *step]).returncode)), 0)


if __name__ == "__main__":
    sys.exit(main())
