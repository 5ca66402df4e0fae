"""The detector as a torch module, and its export to the ONNX file that the product runs step by step."""
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

WIDTH = 64


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


Weights = dict[str, np.ndarray]


def export(model: Detector, path: Path) -> None:
    """One member, as `write` takes it."""
    state = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    scale = state["scale"]
    project_w = state["project.weight"].T / scale[:, None]
    write({"project_w": project_w, "project_b": state["project.bias"] - state["mean"] @ project_w,
           "input_w": state["gru.weight_ih_l0"].T[None], "input_b": state["gru.bias_ih_l0"][None, None],
           "memory_w": state["gru.weight_hh_l0"].T[None], "memory_b": state["gru.bias_hh_l0"][None, None],
           "decide_w": state["decide.weight"].T[None], "decide_b": state["decide.bias"]}, path)


def write(weights: Weights, path: Path) -> None:
    """One step of k members as ONNX: evidence (1, streams), memory (k, 1, width) -> log_odds (1, 1), remembered.

    project_w (streams, k * width), input_w and memory_w (k, width, 3 * width), decide_w (k, width, 1); log-odds are
    the members' mean.
    """
    constants: Weights = {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}
    members, width = constants["memory_w"].shape[:2]
    constants |= {"thirds": np.array([width] * 3, np.int64), "one": np.ones(1, np.float32),
                  "apart": np.array([members, 1, width], np.int64)}
    node = helper.make_node
    nodes = [
        node("Gemm", ["evidence", "project_w", "project_b"], ["projected"]), node("Relu", ["projected"], ["together"]),
        node("Reshape", ["together", "apart"], ["seen"]),
        node("MatMul", ["seen", "input_w"], ["from_seen"]), node("Add", ["from_seen", "input_b"], ["gates_in"]),
        node("MatMul", ["memory", "memory_w"], ["from_memory"]),
        node("Add", ["from_memory", "memory_b"], ["gates_mem"]),
        node("Split", ["gates_in", "thirds"], ["ri", "zi", "ni"], axis=2),
        node("Split", ["gates_mem", "thirds"], ["rm", "zm", "nm"], axis=2),
        node("Add", ["ri", "rm"], ["rs"]), node("Sigmoid", ["rs"], ["r"]),
        node("Add", ["zi", "zm"], ["zs"]), node("Sigmoid", ["zs"], ["z"]),
        node("Mul", ["r", "nm"], ["rn"]), node("Add", ["ni", "rn"], ["ns"]), node("Tanh", ["ns"], ["n"]),
        node("Sub", ["one", "z"], ["fresh"]), node("Mul", ["fresh", "n"], ["new"]),
        node("Mul", ["z", "memory"], ["kept"]), node("Add", ["new", "kept"], ["remembered"]),
        node("MatMul", ["remembered", "decide_w"], ["votes"]),
        node("ReduceMean", ["votes"], ["vote"], axes=[0], keepdims=0),
        node("Add", ["vote", "decide_b"], ["log_odds"]),
    ]
    tensor, real = helper.make_tensor_value_info, TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "person_detector",
        [tensor("evidence", real, [1, constants["project_w"].shape[0]]), tensor("memory", real, [members, 1, width])],
        [tensor("log_odds", real, [1, 1]), tensor("remembered", real, [members, 1, width])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="talkover")
    made.ir_version = 9
    onnx.checker.check_model(made)
    onnx.save(made, str(path))
