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
    state = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    write({"mean": state["mean"][None], "scale": state["scale"][None],
           "project_w": state["project.weight"].T, "project_b": state["project.bias"],
           "input_w": state["gru.weight_ih_l0"].T, "input_b": state["gru.bias_ih_l0"],
           "memory_w": state["gru.weight_hh_l0"].T, "memory_b": state["gru.bias_hh_l0"],
           "decide_w": state["decide.weight"].T, "decide_b": state["decide.bias"]}, path)


def write(weights: Weights, path: Path) -> None:
    """One step as ONNX: evidence (1, streams), memory (1, width) -> log_odds (1, 1), remembered (1, width)."""
    constants: Weights = {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}
    width = constants["project_b"].size
    constants |= {"thirds": np.array([width] * 3, np.int64), "one": np.ones(1, np.float32)}
    node = helper.make_node
    nodes = [
        node("Sub", ["evidence", "mean"], ["centred"]), node("Div", ["centred", "scale"], ["standard"]),
        node("Gemm", ["standard", "project_w", "project_b"], ["projected"]), node("Relu", ["projected"], ["seen"]),
        node("Gemm", ["seen", "input_w", "input_b"], ["gates_in"]),
        node("Gemm", ["memory", "memory_w", "memory_b"], ["gates_mem"]),
        node("Split", ["gates_in", "thirds"], ["ri", "zi", "ni"], axis=1),
        node("Split", ["gates_mem", "thirds"], ["rm", "zm", "nm"], axis=1),
        node("Add", ["ri", "rm"], ["rs"]), node("Sigmoid", ["rs"], ["r"]),
        node("Add", ["zi", "zm"], ["zs"]), node("Sigmoid", ["zs"], ["z"]),
        node("Mul", ["r", "nm"], ["rn"]), node("Add", ["ni", "rn"], ["ns"]), node("Tanh", ["ns"], ["n"]),
        node("Sub", ["one", "z"], ["fresh"]), node("Mul", ["fresh", "n"], ["new"]),
        node("Mul", ["z", "memory"], ["kept"]),
        node("Add", ["new", "kept"], ["remembered"]),
        node("Gemm", ["remembered", "decide_w", "decide_b"], ["log_odds"]),
    ]
    tensor = helper.make_tensor_value_info
    real = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "person_detector",
        [tensor("evidence", real, [1, constants["mean"].size]), tensor("memory", real, [1, width])],
        [tensor("log_odds", real, [1, 1]), tensor("remembered", real, [1, width])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="talkover")
    made.ir_version = 9
    onnx.checker.check_model(made)
    onnx.save(made, str(path))
