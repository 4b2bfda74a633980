"""The instruments that hold a converted network against the original, on networks whose answers are known."""

import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "networks"))

from harness.census import Disturbed, census
from harness.compare import distance
from harness.measure import measure
from harness.network import Call, Missing, Network, load, names, outputs, package
from harness.onnx_graph import OnnxGraph
from harness.reorder import Reordered


class Small(nn.Module):
    """A convolution, a norm, a gate product, attention, a cell."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv1d(3, 8, 3), nn.LayerNorm(8)
        self.up, self.gate, self.cell = nn.Linear(8, 8), nn.Linear(8, 8), nn.LSTMCell(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(functional.relu(self.conv(x)).transpose(1, 2)).relu_()
        x = self.up(x) * functional.silu(self.gate(x))
        mask = torch.where(torch.ones(6, 6, dtype=torch.bool), 0.0, -torch.inf)
        x = functional.scaled_dot_product_attention(x, x, x, mask)
        return self.cell(functional.softplus(x).flatten(0, 1))[0]


def small() -> tuple[Network, nn.Module, list[Call]]:
    torch.manual_seed(0)
    model, calls = Small().eval(), [Call((torch.randn(2, 3, 8),))]
    return Network("", lambda: model, lambda: calls, lambda *_: {}), model, calls


def test_census_counts_calls_and_no_masks():
    network, model, calls = small()
    found = census(network, model, calls[0])
    counts = {(name, place): n for (_, name, place), n in found.items()}
    ours = dict.fromkeys(("relu", "relu_", "silu", "softplus", "_safe_softmax", "mul (gate product)"), 1)
    # In the cell input times candidate and output times tanh; forget times the state 0 depends on nothing.
    cell = {"sigmoid_": 3, "tanh_": 1, "tanh": 1, "mul (gate product)": 2}
    assert counts == {(k, "Small"): n for k, n in ours.items()} | {
        (k, "LSTMCell"): n for k, n in cell.items()
    }


def test_another_order_of_sums_changes_roundings_alone():
    network, model, calls = small()
    for dtype in (torch.float32, torch.float64):
        model.to(dtype)
        given = [call.to(dtype) for call in calls]
        before = outputs(network, model, given)
        with Reordered(0) as mode:
            after = outputs(network, model, given)
        assert mode.changed >= 5
        assert 0 < distance(before, after).relative < 64 * torch.finfo(dtype).eps


@pytest.mark.parametrize("name", ["relu", "relu_", "silu", "softplus", "sigmoid_", "tanh_", "tanh"])
def test_a_planted_fault_is_seen(name: str):
    network, model, calls = small()
    before = outputs(network, model, calls)
    with Disturbed(name):
        assert distance(before, outputs(network, model, calls)).relative > 1e-5


def test_distance():
    a = [torch.tensor([1.0, -2.0, torch.inf]), torch.tensor([torch.nan])]
    assert distance(a, [x.clone() for x in a]).same == 1
    d = distance(a, [torch.tensor([1.0, -2.0 - 2**-22, torch.inf]), torch.tensor([torch.nan])])
    assert (d.largest, d.relative, d.ulps, d.same) == (2**-22, 2**-23, 1, 0.75)
    assert d.rms == 2**-23
    assert distance(a, [a[0], torch.tensor([0.0])]).largest == torch.inf
    with pytest.raises(ValueError, match="different shapes"):
        distance(a, a[:1])


def onnx_file(folder: Path, kind: str) -> Path:
    """y = sigmoid(conv(pad(x))) with a guard, the operations of Basic Pitch; `kind` is the last one."""
    weight = np.random.default_rng(0).normal(size=(4, 2, 3)).astype(np.float32)
    constants = {
        "w": weight,
        "pads": np.array([0, 0, 1, 0, 0, 2]),
        "axes": np.array([0]),
        "starts": np.array([1]),
        "ends": np.array([2**31]),
        "shape": np.array([0, -1]),
        "zero": np.array(0, np.float32),
    }
    nodes = [
        helper.make_node("Pad", ["x", "pads"], ["a"], mode="reflect"),
        helper.make_node("Conv", ["a", "w"], ["b"], strides=[2], pads=[1, 0]),
        helper.make_node("Slice", ["b", "starts", "ends", "starts"], ["c"]),
        helper.make_node("Unsqueeze", ["c", "axes"], ["d"]),
        helper.make_node("ReduceMax", ["d"], ["e"], axes=[0], keepdims=0),
        helper.make_node("Equal", ["e", "zero"], ["f"]),
        helper.make_node("Where", ["f", "zero", "e"], ["g"]),
        helper.make_node("Reshape", ["g", "shape"], ["h"]),
        helper.make_node(kind, ["h"], ["y"]),
    ]
    values = [onnx.numpy_helper.from_array(v, k) for k, v in constants.items()]
    inputs, found = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [3, 2, 9]), ("y", [None, None]))
    )
    graph = helper.make_graph(nodes, "g", [inputs], [found], values)
    file = folder / "g.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), file)
    return file


def test_an_onnx_graph_gives_what_onnxruntime_gives(tmp_path: Path):
    file = onnx_file(tmp_path, "Sigmoid")
    x = torch.randn(3, 2, 9, generator=torch.Generator().manual_seed(0))
    (want,) = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"]).run(
        None, {"x": x.numpy()}
    )
    (y,) = OnnxGraph(file)(x)
    torch.testing.assert_close(y, torch.from_numpy(want), rtol=1e-6, atol=1e-6)
    (double,) = OnnxGraph(file).double()(x.double())
    assert double.dtype == torch.float64
    with pytest.raises(ValueError, match="not read: Celu"):
        OnnxGraph(onnx_file(tmp_path, "Celu"))


def test_what_is_missing_is_said():
    assert {"crepe", "g2p", "minilm", "silero"} <= set(names())
    with pytest.raises(ValueError, match="unknown network 'no'; known are basicpitch, crepe"):
        load("no")
    with pytest.raises(Missing, match="no_such_package is not installed: pip install --no-deps no-such"):
        package("no_such_package", "no-such")


class Narrow(nn.Module):
    """Its norm rounds to float32, as those of Hugging Face do."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.gelu(self.a(x))
        wide = x.float()
        return self.b((wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype))


@pytest.mark.parametrize("kind", [Narrow, Small])
def test_a_network_that_rounds_to_float32_inside_is_said_to(kind):
    torch.manual_seed(0)
    model, calls = kind().eval(), [Call((torch.randn(64, 8 if kind is Narrow else 3, 8),))]
    network = Network("", lambda: deepcopy(model), lambda: calls, lambda *_: {})
    trial = measure("", network, mode="exact", branches=2, calibrate=None, compiled=False)
    # Throughout in float64 both hold 1e-12; the norm's own rounding is 2**-24 or so.
    assert trial.rows["float64"].converted.relative < 1e-12
    if kind is Small:
        assert trial.narrow is None
    else:
        assert trial.narrow is not None
        assert all(d < 1e-6 for d in trial.narrow)
