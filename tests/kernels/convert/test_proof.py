"""Both networks on the same inputs: differences by hand, other orders of sums, wrong gates."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from math import inf, nan, sqrt

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as the code of networks has it

from gateproof import convert
from gateproof.kernels.convert.differences import difference, leaves
from gateproof.kernels.convert.proof import reverted
from gateproof.kernels.convert.reordered import Reordered
from gateproof.kernels.convert.runs import run


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Threads wait for each other on a busy machine: a hundred times what these small products take."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_differences_by_hand():
    a = torch.tensor([[1.0, 4.0], [nan, inf]])
    b = torch.tensor([[1.0, 4.0 + 2**-20], [nan, inf]])
    d = difference(a, b)
    # The spacing of float32 numbers in [4, 8) is 2**-21.
    assert (d.largest, d.max_ulp) == (2**-20, 2.0)
    assert d.rms == 2**-20 / 2
    assert d.max_relative == 2**-22
    assert d.rms_relative == pytest.approx(2**-20 / sqrt(17), rel=1e-15)
    assert d.argmax == 1
    assert difference(a, torch.tensor([[1.0, 0.5], [nan, -inf]])).largest == inf
    assert difference(a, torch.tensor([[1.0, 0.5], [nan, inf]])).argmax == 0.5
    assert difference(torch.tensor([nan]), torch.tensor([0.0])).largest == inf
    assert difference(torch.tensor([3, 4]), torch.tensor([3, 6])).max_ulp == 2
    assert difference(torch.tensor([True]), torch.tensor([False])).largest == 1
    assert difference(torch.empty(0), torch.empty(0)).equal
    assert a.isnan().any()
    with pytest.raises(ValueError, match=r"float32\[1\] and float64\[1\]"):
        difference(torch.zeros(1), torch.zeros(1, dtype=torch.float64))


@dataclass
class Out:
    logits: torch.Tensor
    parts: tuple


def test_leaves():
    t = torch.zeros(1)
    value = OrderedDict(a=(t, [t]), b=Out(t, (t, None)), c={"n": 3})
    assert [name for name, v in leaves(value) if isinstance(v, torch.Tensor)] == [
        "a.0", "a.1.0", "b.logits", "b.parts.0",
    ]  # fmt: skip


class Layers(nn.Module):
    """Sums of every kind."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv1d(4, 8, 3, padding=1), nn.LayerNorm(8)
        self.rnn, self.out, self.dead = nn.LSTM(8, 8, batch_first=True), nn.Linear(8, 5), nn.Linear(8, 1)

    def forward(self, x):
        y = F.silu(self.conv(x)).transpose(1, 2)
        torch.tanh(self.dead(y))
        y, state = self.rnn(self.norm(y))
        y = F.gelu(self.out(y))
        return {"logits": y, "state": state, "best": y.argmax(-1)}


@pytest.fixture(scope="module")
def proved():
    torch.manual_seed(0)
    model = Layers().eval()
    found = convert(model, inputs=[torch.randn(2, 4, 6) for _ in range(2)])
    said: list[str] = []
    proof = found.proof(progress=said.append)
    assert said[0] == "float64: input 1 of 2"
    assert said[-1].startswith("bfloat16: wrong gate")
    return found, proof


def test_an_exact_conversion_holds(proved):
    found, proof = proved
    assert proof.holds
    assert [t.dtype for t in proof.types] == ["float32", "float64", "bfloat16"]
    for t in proof.types:
        assert [c.name for c in t.outputs] == ["logits", "state.0", "state.1", "best"]
        assert t.gradients is not None
    single, double, _ = proof.types
    assert all(c.reordered.largest > 0 for c in single.outputs[:3])
    assert all(c.converted_rounding.rms_ulp < 4 for c in single.outputs[:3])
    assert all(c.converted.max_relative < 1e-12 for c in double.outputs)
    assert single.outputs[0].converted.argmax == 1
    text = str(proof)
    assert "float64: holds" in text
    # Five gates run: half an ulp each, independent of each other.
    assert single.outputs[0].floor == pytest.approx((sqrt(5) / 2, sqrt(5 / 12)))
    assert "floor, a rounding for each of 5 gates: max 1.12 ulp, rms 0.645 ulp" in text
    assert json.loads(proof.to_json())["types"][0]["outputs"][0]["within"]
    assert found.model.training is False


def test_wrong_gates_show_and_dead_ones_are_named(proved):
    _, proof = proved
    for t in proof.types:
        dead = [c for c in t.controls if not c.seen]
        assert [c.kind for c in dead] == ["tanh"]
        assert len(t.controls) == len([c for c in t.controls if c.seen]) + 1
        assert sum(c.seen for c in t.controls) == 4
    assert all(c.size == 1e-3 for c in proof.types[1].controls if c.seen)
    assert len(proof.unseen) == 3
    assert str(proof).count("not noticed: tanh") == 3


def test_a_wrong_conversion_does_not_hold():
    """GELU fitted with two logistic branches: 0.02 off, far beyond roundings."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 4))
    found = convert(model, mode="fit", branches=2, inputs=torch.randn(16, 8))
    assert found.report.rows[0].treatment == "fit"
    proof = found.proof(controls=0)
    assert not proof.holds
    assert all(not t.holds for t in proof.types[:2])
    assert proof.types[0].outputs[0].ratio > 1e3


def test_a_gate_changed_after_the_conversion_is_caught():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.SiLU(), nn.Linear(32, 4))
    found = convert(model, inputs=torch.randn(16, 8))
    with torch.no_grad():
        assert found.proof(controls=0, dtypes=["float32"]).holds
    site = next(iter(found.report._plan.sites.values()))
    name, tau, theta, slope, intercept, link = site.treatment.form
    object.__setattr__(site.treatment, "form", (name, tau * (1 + 1e-4), theta, slope, intercept, link))
    try:
        assert not found.proof(controls=0, dtypes=["float32"]).holds
    finally:
        object.__setattr__(site.treatment, "form", (name, tau, theta, slope, intercept, link))


def test_loss_and_perplexity():
    torch.manual_seed(0)
    model, labels = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 5)), torch.arange(5)
    x = torch.randn(5, 8)
    right = F.cross_entropy(model(x), labels).item()
    found = convert(model, inputs=x)
    (row,) = found.proof(dtypes=["float32"], loss=lambda y: F.cross_entropy(y, labels)).types
    assert row.loss == (right, right)
    assert "exp(loss)" in str(found.proof(dtypes=["float32"], loss=lambda y: F.cross_entropy(y, labels)))
    with pytest.raises(ValueError, match="floating types"):
        found.proof(dtypes=["int8"])
    with pytest.raises(ValueError, match="inputs="):
        convert(nn.Sequential(nn.ReLU())).proof()


def test_another_order_changes_roundings_alone():
    torch.manual_seed(0)
    model, x = Layers().double().eval(), torch.randn(2, 4, 6).double()
    right = run(model, ((x,), {}))
    with Reordered(1) as mode:
        other = run(model, ((x,), {}))
    assert mode.changed > 10
    d = difference(right.outputs["logits"], other.outputs["logits"])
    assert 0 < d.max_relative < 1e-14
    for name, g in right.gradients.items():
        torch.testing.assert_close(other.gradients[name], g, rtol=1e-10, atol=1e-13)


def test_what_cannot_run_is_said():
    class Narrow(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3)

        def forward(self, x):
            if x.dtype == torch.float64:
                raise RuntimeError("no double here")
            return F.relu(self.l(x))

    model = Narrow()
    model.cache = model(torch.ones(1, 3))
    proof = convert(model, inputs=torch.ones(2, 3)).proof(dtypes=["float32", "float64"])
    assert proof.types[0].holds
    assert "not run: the network cannot be copied" in proof.types[1].reason
    assert not proof.holds
    with reverted(model):
        assert type(model) is Narrow
