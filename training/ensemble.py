"""Several trained detectors as one: their log-odds are averaged, in one ONNX graph of the same form.

    python -m training.ensemble member_1.onnx member_2.onnx ... --out person.onnx

Members that saw other data or noise err on other robots: on takes of another generator the mean of four found every
quiet voice at no false stop where each alone traded one for the other (README.md).
"""
import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from training.model import Weights, write

SHARED = ("project_w", "project_b", "decide_b")


def read(path: Path) -> Weights:
    stored = {item.name: numpy_helper.to_array(item) for item in onnx.load(str(path)).graph.initializer}
    return {name: stored[name] for name in stored if name not in ("thirds", "one", "apart")}


def merged(members: list[Weights]) -> Weights:
    """Memories side by side."""
    joined = {name: np.concatenate([m[name] for m in members]) for name in members[0] if name not in SHARED}
    return joined | {"project_w": np.concatenate([m["project_w"] for m in members], axis=1),
                     "project_b": np.concatenate([m["project_b"] for m in members]),
                     "decide_b": np.mean([m["decide_b"] for m in members], axis=0)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("members", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    write(merged([read(path) for path in options.members]), options.out)


if __name__ == "__main__":
    main()
