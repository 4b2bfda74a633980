"""C07: TorchScript, fused and quantised modules (pytorch#180296, #28409, #26457): converted or listed."""

from __future__ import annotations

import copy
import io
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as the code of networks has it

from gateproof import convert

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


class Speech(nn.Module):
    """The operators of silero-vad's script: five relu, an LSTM cell, a sigmoid."""

    def __init__(self):
        super().__init__()
        self.first, self.convs = nn.Conv1d(1, 4, 3), nn.ModuleList(nn.Conv1d(4, 4, 1) for _ in range(4))
        self.cell, self.out = nn.LSTMCell(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        y = F.relu(self.first(x))
        for i, conv in enumerate(self.convs):
            y = conv(y)
            if i < 3:
                y = F.relu(y)
        h, _ = self.cell(y.mean(-1))
        return torch.sigmoid(self.out(F.relu(h)))


#: What one call runs: the cell has three sigmoids in place, a tanh in place and one anew.
OPERATORS = {"relu": 5, "sigmoid": 1, "sigmoid_": 3, "tanh": 1, "tanh_": 1}


def scripts():
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = Speech().eval()
        script = torch.jit.script(module)
        file = io.BytesIO()
        torch.jit.save(script, file)
        file.seek(0)
        return {"script": script, "loaded": torch.jit.load(file), "traced": torch.jit.trace(module, X)}


X = torch.linspace(-1, 1, 24).reshape(1, 1, 24)


@pytest.mark.parametrize("which", ["script", "loaded", "traced"])
def test_torchscript(which):
    script = scripts()[which]
    model = nn.Sequential(script, nn.Tanh())
    keys, right, code = list(model.state_dict()), model(X), script.code
    found = convert(model, inputs=X)
    assert found.census.original == {**OPERATORS, "tanh": 2}
    assert found.census.left == {}
    assert found.census.agrees
    assert {r.place for r in found.report} == {"0", "1"}
    products = [r for r in found.report if r.kind == "gate product"]
    # The cell multiplies its gates with its states.
    assert [r.place for r in products] == ["0"]
    others = [r for r in found.report if r.place == "0" and r not in products]
    assert all("gradients are by the original's rule" in r.reason for r in others)
    torch.testing.assert_close(model(X), right, rtol=0, atol=2.4e-7)
    assert list(model.state_dict()) == keys
    assert script.code == code
    assert script.train().training
    assert not script.eval().training
    assert torch.equal(copy.deepcopy(model)(X), model(X))
    found.revert()
    assert torch.equal(model(X), right)
    assert "forward" not in vars(script) or not type(vars(script)["forward"]).__module__.startswith(
        "gateproof"
    )


def test_gradients_through_a_script():
    script, x = scripts()["script"], X.clone().requires_grad_()
    (right,) = torch.autograd.grad(script(x).sum(), x)
    convert(script)
    (found,) = torch.autograd.grad(script(x).sum(), x)
    torch.testing.assert_close(found, right, rtol=1e-5, atol=1e-9)


def product(x):
    return torch.sigmoid(x) * F.gelu(x)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    scripted = torch.jit.script(product)


class Calls(nn.Module):
    def forward(self, x):
        return scripted(x) + F.gumbel_softmax(x, dim=-1).detach() * 0


def test_scripted_function_and_hidden_calls():
    """Neither is a call that a mode of functions sees: the census finds them, and the dispatcher helps."""
    model, x = Calls(), torch.linspace(-4, 4, 32).reshape(2, 16)
    right = scripted(x)
    found = convert(model, inputs=x)
    assert found.census.original == {"_softmax": 1, "gelu": 1, "sigmoid": 1}
    assert found.census.missed == ()
    torch.testing.assert_close(model(x), right, rtol=0, atol=5e-7)


def test_fused_float_modules():
    from torch.ao.nn.intrinsic.qat import ConvReLU2d
    from torch.ao.quantization import fuse_modules, get_default_qat_qconfig

    x = torch.linspace(-1, 1, 192).reshape(1, 3, 8, 8)
    layers = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
    for model in (
        fuse_modules(layers, [["0", "1", "2"]]),
        nn.Sequential(ConvReLU2d(3, 4, 3, qconfig=get_default_qat_qconfig("x86"))),
    ):
        right = model(x)
        found = convert(model, inputs=x)
        assert [r.kind for r in found.report.converted] == ["relu"]
        assert found.census.agrees
        assert torch.equal(model(x), right)


def test_quantised_modules_are_listed():
    from torch.ao import quantization

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.r, self.l = nn.LSTM(4, 4), nn.Linear(4, 4)

        def forward(self, x):
            return F.relu(self.l(self.r(x)[0]))

    model = quantization.quantize_dynamic(Recurrent(), {nn.LSTM, nn.Linear})
    for inputs in (None, torch.ones(1, 2, 4)):
        found = convert(model, inputs=inputs)
        (row,) = found.report.kept
        assert (row.place, row.kind) == ("r", "lstm")
        assert "quantised" in row.reason
    assert found.census.missed == ()
    assert [r.kind for r in found.report.converted] == ["relu"]

    layers = [quantization.QuantStub(), nn.Linear(4, 4), nn.ReLU(), nn.Sigmoid(), quantization.DeQuantStub()]
    static = nn.Sequential(*layers).eval()
    static.qconfig = quantization.get_default_qconfig("x86")
    static = quantization.fuse_modules(static, [["1", "2"]])
    quantization.prepare(static, inplace=True)
    static(torch.randn(8, 4))
    quantization.convert(static, inplace=True)
    found = convert(static, inputs=torch.randn(8, 4))
    assert sorted(r.kind for r in found.report.kept) == ["relu", "sigmoid"]
    assert found.census.missed == ()
