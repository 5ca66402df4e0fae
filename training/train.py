"""Trains the detector on stored evidence and writes the ONNX file.

    python -m training.train --data DIR --out member.onnx [--epochs 24] [--seed 5] [--start member.npz]
"""
import argparse
from pathlib import Path

import numpy as np
import torch

from training.measure import Scored, report
from training.model import Detector, member, restore, write

CROP = 800          # blocks of one training sequence
BATCH = 16
INPUT_NOISE = 0.15      # of a standard deviation, fresh in every block
OFFSET_NOISE = 0.25     # constant in a sequence: another robot's bias
GROUP_DROP = 0.08       # chance that a group of streams is blanked in a sequence: none may carry the decision alone
OVER_MOTORS_WEIGHT = 1.5   # loss of blocks with a person over the motors: the hardest, and the reason for all this
EARLY_WEIGHT, EARLY_BLOCKS = 2.0, 40   # of the first 400 ms of a voice: who waits to be sure comes too late
FALSE_ALARM_WEIGHT = 1.5   # loss of blocks without a person: a false stop is worse than 10 ms of delay


def load(folder: Path, name: str) -> list[dict[str, np.ndarray]]:
    return [dict(np.load(file)) for file in sorted(folder.glob(f"{name}_*.npz"))]


def sequences(rng: np.random.Generator, scenes: list[dict], model: Detector):
    """Batches (evidence, label, weight) of random crops; half of them from the start of their scene."""
    order = rng.permutation(len(scenes))
    for first in range(0, len(order) - BATCH + 1, BATCH):
        crops = []
        for index in order[first:first + BATCH]:
            scene = scenes[index]
            start = 0 if rng.uniform() < 0.5 else int(rng.integers(0, len(scene["label"]) - CROP + 1))
            part = slice(start, start + CROP)
            weight = (scene["weight"] * importance(scene["label"] > 0, scene["moving"]))[part]
            if start:
                weight[:60] = 0          # the memory is still empty, which never happens in the middle of a run
            crops.append((scene["evidence"][part], scene["label"][part], weight))
        columns = zip(*crops, strict=True)
        evidence, label, weight = (torch.from_numpy(np.stack(column).astype(np.float32)) for column in columns)
        yield augmented(rng, model.standard(evidence)), label, weight


def importance(person: np.ndarray, moving: bool) -> np.ndarray:
    """Weights (blocks,) of the loss for person (blocks,), which are true while one speaks."""
    began = np.flatnonzero(person & ~np.concatenate([[False], person[:-1]]))
    early = np.zeros(person.size, bool)
    for at in began:
        early[at:at + EARLY_BLOCKS] = True
    weight = np.where(early & person, EARLY_WEIGHT, 1.0) * (OVER_MOTORS_WEIGHT if moving else 1.0)
    return np.where(person, weight, FALSE_ALARM_WEIGHT)


def augmented(rng: np.random.Generator, standard: torch.Tensor) -> torch.Tensor:
    batch, blocks, streams = standard.shape
    noise = torch.from_numpy(rng.standard_normal((batch, blocks, streams)).astype(np.float32)) * INPUT_NOISE
    offset = torch.from_numpy(rng.standard_normal((batch, 1, streams)).astype(np.float32)) * OFFSET_NOISE
    groups = np.arange(streams) // 10
    kept = rng.uniform(size=(batch, groups.max() + 1)) > GROUP_DROP
    return (standard + noise + offset) * torch.from_numpy(kept[:, groups].astype(np.float32))[:, None]


def log_odds(model: Detector, scenes: list[dict]) -> list[Scored]:
    model.eval()
    out = []
    with torch.no_grad():
        for scene in scenes:
            odds = model(model.standard(torch.from_numpy(scene["evidence"].astype(np.float32)))[None])[0].numpy()
            out.append(Scored(odds, scene["label"] > 0, scene["weight"] > 0, scene["speaking"], scene["people"],
                              bool(scene["moving"])))
    model.train()
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=24)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--start", type=Path, help="a member to go on from")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(options.seed)
    scenes, held_out = load(options.data, "training"), load(options.data, "validation")
    everything = np.concatenate([scene["evidence"][::10] for scene in scenes]).astype(np.float32)
    model = Detector(everything.shape[1])
    model.mean.copy_(torch.from_numpy(everything.mean(axis=0)))
    model.scale.copy_(torch.from_numpy(everything.std(axis=0) + 0.05))
    if options.start:
        restore(model, dict(np.load(options.start)))
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=1e-3)
    steps = options.epochs * (len(scenes) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, options.rate, total_steps=max(steps, 2), pct_start=0.15)
    for epoch in range(options.epochs):
        losses = []
        for evidence, label, weight in sequences(rng, scenes, model):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(model(evidence), label, weight, reduction="sum")
            loss = loss / weight.sum()
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(float(loss.detach()))
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}", flush=True)
        if epoch % 6 == 5 or epoch == options.epochs - 1:
            print(report(log_odds(model, held_out)), flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write([member(model)], options.out)
    np.savez(options.out.with_suffix(".npz"), **member(model))   # for training.ensemble


if __name__ == "__main__":
    main()
