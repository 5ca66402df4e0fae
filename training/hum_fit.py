"""Fits perception/audio/models/hum.npz to what training.hums has drawn: a logistic regression.

    python -m training.hum_fit --data build/hums --out perception/audio/models/hum.npz

Printed first: how well hums and words are told apart of voices that were left out (training/README.md has the figures).
"""
import argparse
import pickle
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from perception.audio.hum import Track
from training.hums import Kept

DECISIONS = (0, 5, 10, 20)         # blocks after the ears were sure at which the fit looks
THRESHOLDS = (0.5, 0.7, 0.85, 0.95)
SHRINK = 0.01                      # of the weights: some hundred sounds, forty features

Values = NDArray[np.float64]


def features(kept: Kept, after: int) -> Values:
    track = Track()
    rows = kept.sure + after + 1
    for excess, voiced in zip(kept.excess[:rows], kept.voiced[:rows], strict=True):
        track.add(excess, float(voiced))
    return track.features().astype(float)


def logistic(x: Values, y: Values) -> Values:
    """(1 + features,) bias and weights; both kinds weigh the same."""
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-6
    z, weight = (x - mean) / spread, np.where(y > 0, 0.5 / y.mean(), 0.5 / (1 - y.mean())) / len(y)

    def loss(p: Values) -> tuple[float, Values]:
        score = z @ p[1:] + p[0]
        slope = weight * (1 / (1 + np.exp(-score)) - y)
        value = weight @ np.logaddexp(0, np.where(y > 0, -score, score)) + SHRINK * p[1:] @ p[1:]
        return float(value), np.concatenate([[slope.sum()], z.T @ slope + 2 * SHRINK * p[1:]])
    p = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B").x
    weights = p[1:] / spread
    return np.concatenate([[p[0] - weights @ mean], weights])


def left_out_scores(sounds: list[Kept], seen: dict[int, Values]) -> dict[int, Values]:
    """Log-odds of each sound by weights that never heard its voice, for each decision."""
    y, voices = np.array([s.hums for s in sounds], float), np.array([s.voice for s in sounds])
    scores = {after: np.zeros(len(y)) for after in DECISIONS}
    for voice in set(voices):
        others = voices != voice
        w = logistic(np.concatenate([seen[after][others] for after in DECISIONS]), np.tile(y[others], len(DECISIONS)))
        for after in DECISIONS:
            scores[after][~others] = seen[after][~others] @ w[1:] + w[0]
    return scores


def figures(sounds: list[Kept], scores: dict[int, Values]) -> list[str]:
    y, alone = np.array([s.hums for s in sounds]), np.array([s.alone for s in sounds])
    lines = []
    for after in DECISIONS:
        for where, chosen in (("over the robot", ~alone), ("alone", alone)):
            hums, words = scores[after][chosen & y], scores[after][chosen & ~y]
            rates = "  ".join(f"{(hums > at).mean():.2f} / {(words > at).mean():.2f}"
                              for at in (float(np.log(p / (1 - p))) for p in THRESHOLDS))
            lines.append(f"{where}, {10 * after} ms after: {len(hums)} hums, {len(words)} words, AUC "
                         f"{(hums[:, None] > words[None]).mean():.3f}; hums / words over "
                         f"{', '.join(map(str, THRESHOLDS))}: {rates}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("build/hums"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    sounds: list[Kept] = []
    for path in sorted(options.data.glob("hums_*.pickle")):
        with path.open("rb") as file:
            sounds += pickle.load(file)
    seen = {after: np.array([features(sound, after) for sound in sounds]) for after in DECISIONS}
    print("\n".join(figures(sounds, left_out_scores(sounds, seen))))
    if options.out is not None:
        y = np.array([sound.hums for sound in sounds], float)
        w = logistic(np.concatenate(list(seen.values())), np.tile(y, len(DECISIONS)))
        np.savez(options.out, bias=np.float32(w[0]), weights=w[1:].astype(np.float32))


if __name__ == "__main__":
    main()
