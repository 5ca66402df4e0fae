"""`make train`: the whole recipe, from nothing to perception/audio/models/person.onnx (hours on one core).

    python -m training [--scenes 900] [--data build/training]

Needs the extra `train` and the Debian packages flite, espeak-ng, klettres-data and ktuberling-data.
"""
import argparse
import subprocess
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=900)
    parser.add_argument("--data", type=Path, default=Path("build/training"))
    parser.add_argument("--words", default="/usr/share", help="where klettres/ and ktuberling/ are")
    options = parser.parse_args()
    features = [sys.executable, "-m", "training.features", "--out", str(options.data), "--words", options.words]
    train = [sys.executable, "-m", "training.train", "--data", str(options.data), "--out",
             "perception/audio/models/person.onnx"]
    for command in ([*features, "--count", str(options.scenes)], [*features, "--count", "60", "--validation"], train):
        done = subprocess.run(command).returncode
        if done:
            return done
    return 0


if __name__ == "__main__":
    sys.exit(main())
