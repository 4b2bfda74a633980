"""Gates whose numbers learn: where they start, what a state dict holds, what revert() gives back."""

from __future__ import annotations

import pickle
from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn import functional

from gateproof import convert
from gateproof.kernels.convert.trainable import HardGate, SoftGate, gate_of


class Net(nn.Module):
    """Modules, one of them twice, calls, and a function written out."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 5), nn.Linear(5, 5)
        self.relu, self.tanh = nn.ReLU(), nn.Tanh()
        self.again = self.relu

    def forward(self, x):
        x = self.again(self.a(self.relu(x)))
        x = functional.silu(self.b(x)) + self.tanh(x)
        x = functional.hardtanh(x, -2.0, 1.5)
        return functional.gelu(x) + x / (1 + torch.exp(-x))


@pytest.fixture
def pair():
    torch.manual_seed(0)
    return Net(), 2 * torch.randn(32, 5)


def test_starts_where_the_fixed_gates_are(pair):
    net, x = pair
    fixed = convert(deepcopy(net), mode="fit", inputs=x).model(x)
    found = convert(net, mode="trainable", inputs=x)
    torch.testing.assert_close(net(x), fixed, rtol=1e-5, atol=1e-5)
    assert {r.treatment for r in found.report} == {"trainable"}
    names = [n for n, _ in net.named_parameters() if ".gate_" in n or n.startswith("gate_")]
    assert {n.rpartition(".")[0] for n in names} == {
        "relu.gate_0", "tanh.gate_0", "gate_0", "gate_1", "gate_2", "gate_3"
    }  # fmt: skip
    net(x).square().sum().backward()
    assert all(p.grad is not None and p.grad.any() for n, p in net.named_parameters() if n in names)
    for copy in (deepcopy(net), pickle.loads(pickle.dumps(net))):  # noqa: S301 - our own
        assert torch.equal(copy(x), net(x))


@pytest.mark.deep
def test_compiled(pair):
    net, x = pair
    convert(net, mode="trainable", inputs=x)
    torch.testing.assert_close(torch.compile(net, fullgraph=True, backend="aot_eager")(x), net(x))


def test_state_dicts_and_revert(pair):
    net, x = pair
    old, want = deepcopy(net.state_dict()), net(x)
    found = convert(net, mode="trainable", inputs=x)
    optimiser = torch.optim.SGD([p for n, p in net.named_parameters() if "gate_" in n], 0.05)
    before = float((net(x).detach() - 1).square().mean())
    for _ in range(20):
        optimiser.zero_grad()
        (net(x) - 1).square().mean().backward()
        optimiser.step()
    assert float((net(x).detach() - 1).square().mean()) < 0.9 * before
    learned, y = deepcopy(net.state_dict()), net(x)
    assert set(old) < set(learned)
    net.load_state_dict(old, strict=True)
    assert torch.equal(net(x), y)
    other = Net()
    convert(other, mode="trainable", inputs=x)
    other.load_state_dict(learned, strict=True)
    assert torch.equal(other(x), y)
    half = {k: v for k, v in learned.items() if k != "gate_0.theta"}
    with pytest.raises(RuntimeError, match=r"Missing key\(s\) in state_dict: \"gate_0.theta\""):
        other.load_state_dict(half)
    found.revert()
    assert list(net.state_dict()) == list(old)
    assert all(torch.equal(v, old[k]) for k, v in net.state_dict().items())
    assert torch.equal(net(x), want)
    assert type(net.relu) is nn.ReLU


def test_families(pair):
    net, x = pair
    counts = {}
    for families in ("kept", "freed"):
        found = convert(deepcopy(net), mode="trainable", families=families, inputs=x)
        counts[families] = {r.kind: r.reason.split("; ")[-1].partition(" in ")[0] for r in found.report}
    assert counts["kept"]["silu"] == "4 parameters: 1 tau, 1 theta, 2 slope"
    assert counts["kept"]["tanh"] == "4 parameters: 1 tau, 1 theta, 2 intercept"
    assert counts["kept"]["relu"] == "3 parameters: 1 theta, 2 slope"
    assert counts["freed"]["silu"] == "6 parameters: 1 tau, 1 theta, 2 slope, 2 intercept"
    assert counts["freed"]["relu"] == "4 parameters: 1 theta, 2 slope, 1 height"


def test_without_inputs_modules_learn_and_calls_do_not(pair):
    net, x = pair
    found = convert(net, mode="trainable")
    assert [r.kind for r in found.report] == ["relu", "tanh"]
    before = list(net.state_dict())
    net(x)
    assert list(net.state_dict()) == before
    late = [r for r in found.report if r.kind == "silu"]
    assert "found after the conversion" in late[0].reason
    assert late[0].treatment == "exact"


@pytest.mark.parametrize(
    ("form", "function"),
    [
        (("pieces", (0.0,), (0.0, 1.0), (0.0, 0.0), (-1,)), torch.relu),
        (("pieces", (0.0, 6.0), (0.0, 1.0, 0.0), (0.0, 0.0, 6.0), (-1, 1)), functional.relu6),
        (("pieces", (-0.5, 0.5), (1.0, 0.0, 1.0), (0.0, 0.0, 0.0), (1, -1)), functional.hardshrink),
        (("two_branches", 2.0, 0.0, (0.0, 0.0), (-1.0, 1.0), "logistic"), torch.tanh),
        (("gate", 1.0, (0.0,), (0.0, 1.0), (0.0, 0.0)), functional.silu),
    ],
)
def test_derivatives(form, function):
    gate = gate_of(form, "freed", torch.ones((), dtype=torch.float64))
    x = torch.linspace(-7.1, 7.3, 13, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(gate(x), function(x), rtol=1e-12, atol=1e-12)
    names = [n for n, _ in gate.named_parameters()]

    def run(x, *numbers):
        return torch.func.functional_call(gate, dict(zip(names, numbers, strict=True)), (x,))

    numbers = tuple(p.detach().clone().requires_grad_() for p in gate.parameters())
    assert torch.autograd.gradcheck(run, (x, *numbers))
    if isinstance(gate, HardGate):
        assert torch.autograd.gradgradcheck(run, (x, *numbers))
        assert ("theta" in names) is gate.continuous
        y = gate(torch.tensor([float("nan"), float("inf"), -float("inf")]))
        torch.testing.assert_close(y, function(torch.tensor([float("nan"), float("inf"), -float("inf")])),
                                   equal_nan=True)  # fmt: skip
    else:
        assert isinstance(gate, SoftGate)
        with torch.no_grad():
            gate.log_tau -= 100
        assert gate.numbers()["tau"][0] > 0


def test_half_precision_networks(pair):
    net, x = pair
    convert(net, mode="trainable", inputs=x)
    half = deepcopy(net).bfloat16()
    assert half(x.bfloat16()).dtype == torch.bfloat16
    double = deepcopy(net).double()
    assert double(x.double()).dtype == torch.float64


@pytest.mark.parametrize("act", [nn.ReLU(), nn.ReLU6(), nn.Hardtanh(), nn.LeakyReLU(0.25), nn.Hardsigmoid()])
def test_hard_gates_under_vmap(act):
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(5, 7), act, nn.Linear(7, 3)).double()
    x = 3 * torch.randn(6, 5, dtype=torch.float64)
    convert(net, mode="trainable", inputs=x)
    names, call = dict(net.named_parameters()), torch.func.functional_call
    assert any("gate" in name for name in names)

    def loss(parameters, x):
        return call(net, parameters, (x,)).square().sum()

    rows = torch.vmap(torch.func.grad(loss), (None, 0))(names, x)
    for i, one in enumerate(x):
        want = torch.autograd.grad(net(one).square().sum(), list(names.values()))
        assert all(torch.allclose(rows[n][i], w, atol=1e-12) for n, w in zip(names, want, strict=True))
    # A tensor without dimensions, too.
    assert all(act(t).dim() == 0 and act(t) == act(t[None])[0] for t in x.flatten())
    back, forth = (f(lambda p: call(net, p, (x,)))(names) for f in (torch.func.jacrev, torch.func.jacfwd))
    assert all(torch.allclose(back[n], forth[n], atol=1e-12) for n in names)
    # An ensemble: each network has its own thresholds and slopes.
    nets = [deepcopy(net) for _ in range(3)]
    with torch.no_grad():
        for p in (p for n in nets for p in n.parameters()):
            p.add_(0.1 * torch.randn_like(p))
    given = torch.func.stack_module_state(nets)
    several = torch.vmap(lambda p, b, x: call(net, (p, b), (x,)), (0, 0, None))(*given, x)
    slopes = torch.vmap(torch.func.grad(loss), (0, None))(given[0], x)
    for i, one in enumerate(nets):
        assert torch.allclose(several[i], one(x), atol=1e-13)
        want = torch.autograd.grad(one(x).square().sum(), list(one.parameters()))
        assert all(torch.allclose(slopes[n][i], w, atol=1e-12) for n, w in zip(names, want, strict=True))
