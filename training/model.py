"""The detector as a torch module, and its export to the ONNX file that the product runs step by step."""
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

WIDTH = 96


class Detector(nn.Module):
    """Standardise, project, remember, decide: log-odds of a speaking person for every block."""

    def __init__(self, streams: int, width: int = WIDTH):
        super().__init__()
        self.register_buffer("mean", torch.zeros(streams))
        self.register_buffer("scale", torch.ones(streams))
        self.project = nn.Linear(streams, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.decide = nn.Linear(width, 1)

    def forward(self, standard: torch.Tensor) -> torch.Tensor:
        """standardised evidence (batch, blocks, streams) -> log-odds (batch, blocks)."""
        hidden, _ = self.gru(torch.relu(self.project(standard)))
        return self.decide(hidden)[..., 0]

    def standard(self, evidence: torch.Tensor) -> torch.Tensor:
        return (evidence - self.mean) / self.scale


Member = dict[str, np.ndarray]


def member(model: Detector) -> Member:
    """One trained network as arrays, the standardisation folded into its projection."""
    state = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    project = state["project.weight"] / state["scale"]
    return {"project_w": project.T, "project_b": state["project.bias"] - project @ state["mean"],
            "input_w": _gates(state["gru.weight_ih_l0"])[None], "memory_w": _gates(state["gru.weight_hh_l0"])[None],
            "bias": np.concatenate([_gates(state["gru.bias_ih_l0"]), _gates(state["gru.bias_hh_l0"])])[None],
            "decide_w": state["decide.weight"].T, "decide_b": state["decide.bias"]}


def restore(model: Detector, stored: Member) -> None:
    """The reverse of `member`, for the standardisation that the model has."""
    scale, mean = model.scale.numpy(), model.mean.numpy()
    project = stored["project_w"].T
    biases = np.split(stored["bias"][0], 2)
    state = {"mean": mean, "scale": scale, "project.weight": project * scale,
             "project.bias": stored["project_b"] + project @ mean,
             "gru.weight_ih_l0": _gates(stored["input_w"][0]), "gru.weight_hh_l0": _gates(stored["memory_w"][0]),
             "gru.bias_ih_l0": _gates(biases[0]), "gru.bias_hh_l0": _gates(biases[1]),
             "decide.weight": stored["decide_w"].T, "decide.bias": stored["decide_b"]}
    model.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in state.items()})


def _gates(rows: np.ndarray) -> np.ndarray:
    """torch keeps reset, update, new; ONNX update, reset, new. Its own inverse."""
    first, second, new = np.split(rows, 3)
    return np.concatenate([second, first, new])


def write(members: list[Member], path: Path) -> None:
    """One step of k networks as ONNX: evidence (1, streams), memory (k, 1, width) -> log_odds (1, 1), the networks'
    mean, and remembered (k, 1, width)."""
    width, streams = members[0]["project_w"].shape[1], members[0]["project_w"].shape[0]
    constants = {f"{name}_{k}": np.ascontiguousarray(value, np.float32)
                 for k, one in enumerate(members) for name, value in one.items()}
    constants |= {"apart": np.array([1] * len(members), np.int64), "front": np.zeros(1, np.int64)}
    node = helper.make_node
    memories = [f"memory_{k}" for k in range(len(members))]
    nodes = [node("Split", ["memory", "apart"], memories, axis=0)]
    for k, memory in enumerate(memories):
        nodes += [
            node("Gemm", ["evidence", f"project_w_{k}", f"project_b_{k}"], [f"projected_{k}"]),
            node("Relu", [f"projected_{k}"], [f"seen_{k}"]), node("Unsqueeze", [f"seen_{k}", "front"], [f"step_{k}"]),
            node("GRU", [f"step_{k}", f"input_w_{k}", f"memory_w_{k}", f"bias_{k}", "", memory],
                 ["", f"kept_{k}"], hidden_size=width, linear_before_reset=1),
            node("Squeeze", [f"kept_{k}", "front"], [f"flat_{k}"]),
            node("Gemm", [f"flat_{k}", f"decide_w_{k}", f"decide_b_{k}"], [f"vote_{k}"])]
    nodes += [node("Concat", [f"kept_{k}" for k in range(len(members))], ["remembered"], axis=0),
              node("Mean", [f"vote_{k}" for k in range(len(members))], ["log_odds"])]
    tensor, real = helper.make_tensor_value_info, TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "person_detector",
        [tensor("evidence", real, [1, streams]), tensor("memory", real, [len(members), 1, width])],
        [tensor("log_odds", real, [1, 1]), tensor("remembered", real, [len(members), 1, width])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="talkover")
    made.ir_version = 9
    onnx.checker.check_model(made)
    onnx.save(made, str(path))
