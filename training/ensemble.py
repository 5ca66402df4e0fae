"""Several trained detectors as one: their log-odds are averaged, in one ONNX graph.

    python -m training.ensemble member_1.npz member_2.npz ... --out person.onnx

Members that saw other data or noise err on other robots: on takes of another generator the mean of four found every
quiet voice at no false stop where each alone traded one for the other (README.md).
"""
import argparse
from pathlib import Path

import numpy as np

from training.model import write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("members", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    write([dict(np.load(path)) for path in options.members], options.out)


if __name__ == "__main__":
    main()
