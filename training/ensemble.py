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
from scipy.linalg import block_diag

from training.model import Weights, write


def read(path: Path) -> Weights:
    stored = {item.name: numpy_helper.to_array(item) for item in onnx.load(str(path)).graph.initializer}
    return {name: stored[name] for name in stored if name not in ("thirds", "one")}


def merged(members: list[Weights]) -> Weights:
    """One network whose memory is all memories side by side; standardisation is folded into the projection."""
    project_w = [m["project_w"] / m["scale"].T for m in members]
    project_b = [m["project_b"] - (m["mean"] @ w)[0] for m, w in zip(members, project_w, strict=True)]
    streams = members[0]["mean"].shape[1]

    def gates(name: str) -> np.ndarray:
        thirds = [np.split(m[name], 3, axis=-1) for m in members]
        join = block_diag if thirds[0][0].ndim == 2 else (lambda *parts: np.concatenate(parts))
        return np.concatenate([join(*(third[gate] for third in thirds)) for gate in range(3)], axis=-1)

    share = 1 / len(members)
    return {
        "mean": np.zeros((1, streams)), "scale": np.ones((1, streams)),
        "project_w": np.concatenate(project_w, axis=1), "project_b": np.concatenate(project_b),
        **{name: gates(name) for name in ("input_w", "input_b", "memory_w", "memory_b")},
        "decide_w": np.concatenate([share * m["decide_w"] for m in members]),
        "decide_b": np.sum([share * m["decide_b"] for m in members], axis=0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("members", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    write(merged([read(path) for path in options.members]), options.out)


if __name__ == "__main__":
    main()
