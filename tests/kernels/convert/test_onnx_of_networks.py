"""Converted networks in onnxruntime: standard operators, the same outputs."""

from __future__ import annotations

import io

import onnx
import onnxruntime
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as the code of networks has it

from gateproof import convert


class Pointwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.p = nn.Linear(8, 8), nn.PReLU(3)

    def forward(self, x):
        y = self.l(x)
        soft = (
            F.gelu(y)
            + F.silu(y)
            + torch.tanh(y) * torch.sigmoid(y)
            + F.gelu(y, approximate="tanh")
            + F.mish(y)
        )
        hard = (
            F.hardswish(y)
            + y.clamp(-1, 1)
            + F.leaky_relu(y)
            + F.hardsigmoid(y)
            + F.softshrink(y)
            + F.relu6(y)
        )
        return soft + hard + torch.maximum(y, x) + F.glu(torch.cat([y, x], -1)) + self.p(y) + F.softplus(y)


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True)

    def forward(self, x):
        return torch.softmax(self.a(x), -1) + F.log_softmax(x, -1)


class Recurs(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.LSTM(8, 8, batch_first=True), nn.GRU(8, 4, batch_first=True, bidirectional=True)

    def forward(self, x):
        return self.b(self.a(x)[0])[0]


#: Of which activations no operator of the same name may be left.
NAMED = {
    "Relu",
    "Gelu",
    "HardSwish",
    "HardSigmoid",
    "LeakyRelu",
    "PRelu",
    "Mish",
    "Softmax",
    "LogSoftmax",
    "LSTM",
    "GRU",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [Pointwise, Attends, Recurs])
def test_the_same_outputs(make):
    torch.manual_seed(0)
    model, x, file = make().eval(), torch.randn(2, 3, 8), io.BytesIO()
    right = model(x)
    convert(model, inputs=x)
    with torch.no_grad():
        torch.onnx.export(model, (x,), file, dynamo=False, opset_version=18)
    nodes = onnx.load_from_string(file.getvalue()).graph.node
    assert {n.domain for n in nodes} == {""}
    assert not {n.op_type for n in nodes} & NAMED
    session = onnxruntime.InferenceSession(file.getvalue())
    (y,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    torch.testing.assert_close(torch.from_numpy(y), right, rtol=1e-6, atol=2e-6)
