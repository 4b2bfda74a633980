"""CPU code without a compiler: float64 in pieces, one rounding, shorter forms where they keep digits."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gateproof.kernels import eager, functional, native_gate  # noqa: E402
from gateproof.kernels.check.gate_truth import Gate, exact  # noqa: E402
from gateproof.kernels.check.rounding import FORMATS, rounded  # noqa: E402
from gateproof.kernels.gate_op import GATE  # noqa: E402

INF = math.inf
GATES = {
    "both ends vanish": (2.0, [-1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]),
    "right end vanishes": (1.0, [0.0], [1.0, 0.0], [0.0, 0.0]),
    "right end constant": (2.0, [0.0, 6.0], [0.0, 1.0, 0.0], [0.0, 0.0, 6.0]),
    "sigmoid": (1.5, [-1.0], [0.0, 0.0], [0.0, 1.0]),
    "lines that outgrow each other": (1.0, [0.0], [1024.0, 0.0], [0.0, 0.0078125]),
    "far threshold": (2.0, [1048576.0], [0.0, 1.0], [0.0, 0.0]),
}


def errors(gate, grad):
    """Of value or slope on a line with tails, in units of 2**-24 of the sum of absolute terms."""
    tau, theta, slope, intercept = gate
    exactly = Gate("", (tau,), tuple(theta), tuple(slope), tuple(intercept))
    near = torch.cat([torch.linspace(-40, 40, 81) + theta[0], torch.tensor([1e-30, 8191.0, -8191.0])])
    near, far = (v.requires_grad_() for v in (near, torch.tensor([1.0, 8193.0, 1e20, -1e20, -1e35])))
    # Those of moderate size and those that are not are computed by other forms.
    y = [functional.threshold_gate(v, tau, theta, slope, intercept) for v in (near, far)]
    found = torch.cat(torch.autograd.grad(y[0].sum() + y[1].sum(), (near, far)) if grad else y).detach()
    x = torch.cat([near, far])
    pairs = [exact(exactly, v) for v in x.tolist()]
    truth, sizes = (np.array([p[k][int(grad)] for p in pairs]) for k in (0, 1))
    return np.abs(found.double().numpy() - truth) / (2.0**-24 * sizes + 2.0**-149)


@pytest.mark.parametrize("grad", [False, True], ids=["value", "slope"])
@pytest.mark.parametrize("name", GATES)
def test_one_rounding_in_all_tails(name, grad):
    assert errors(GATES[name], grad).max() < 1.01


def test_a_form_that_leans_on_a_line_that_vanishes_is_noticed(monkeypatch):
    monkeypatch.setattr("gateproof.kernels.eager_gate.leans", lambda *_: "left")
    monkeypatch.setattr("gateproof.kernels.eager_gate._written", {})
    assert errors(GATES["right end vanishes"], False).max() > 1e3


def test_the_shorter_forms_are_taken():
    def form(tau, theta, slope, intercept, gradients=False):
        numbers = (tau, *theta, *slope, *intercept)
        return native_gate.leans(GATE.shape(len(slope), True, False, numbers), numbers, gradients)

    assert form(1.5, [0.2], [0.0, 1.0], [0.1, 0.1]) == "left"
    assert form(1.0, [0.0], [1.0, 0.0], [0.0, 0.0], gradients=True) == "right"
    assert form(*GATES["both ends vanish"]) == "exact"
    assert form(1.0, [0.0], [0.0, 0.0], [0.0, 1.0], gradients=True) == "exact"


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_float64_is_rounded_to_sixteen_bits_once(name):
    dtype, form = getattr(torch, name), FORMATS[name]
    below = torch.randint(0, 2**16, (4000,), generator=torch.manual_seed(0)).to(torch.int16).view(dtype)
    below = below[torch.isfinite(below)].double()
    above = torch.nextafter(below.to(dtype), torch.tensor(INF, dtype=dtype)).double()
    middle = (below + above) / 2
    # Next to the middle by less than float32 can tell, on it, and anywhere.
    value = torch.cat([middle * (1 + 2.0**-40), middle * (1 - 2.0**-40), middle, below * 1.001])
    value = value[torch.isfinite(value)]
    out = torch.empty(len(value), dtype=dtype)
    eager._round_once(value, torch.empty(len(value)), out)
    assert np.array_equal(out.double().numpy(), rounded(value.numpy(), form))
    # PyTorch's own way rounds twice.
    assert not torch.equal(value.to(dtype), out)


def test_pieces_with_and_without_infinities_are_the_same():
    torch.manual_seed(0)
    x = torch.randn(5 * eager.PIECE // 2)
    x[[7, 70000]] = torch.tensor([INF, math.nan])
    for gate in ((1.5, [0.2], [0.0, 1.0], [0.1, 0.1]), (INF, [0.2], [0.5, 1.0], [0.1, 0.3])):
        whole = functional.threshold_gate(x, *gate)
        parts = [functional.threshold_gate(v, *gate) for v in x.split(30000)]
        assert torch.allclose(whole, torch.cat(parts), rtol=2e-7, atol=1e-7, equal_nan=True)
        assert whole[7] == INF
        assert whole[70000].isnan()
        assert torch.equal(whole.isnan(), x.isnan())


HARD = {
    "relu": ([0.0], [0.0, 1.0], [0.0, 0.0]),
    "leaky relu": ([0.0], [0.01, 1.0], [0.0, 0.0]),
    "hardtanh": ([-1.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]),
    "convex": ([-3.0, 3.0], [0.0, 0.5, 1.0], [0.0, 1.5, 0.0]),
    "concave": ([0.0, 1.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
    "step": ([0.25], [0.0, 0.0], [-1.0, 2.0]),
    "jumps": ([-1.0, 0.5], [0.3, -0.7, 1.1], [0.1, 0.2, -0.3]),
    "out of order": ([1.0, -1.0], [0.5, 2.0, -1.0], [0.0, 1.0, 3.0]),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_gates_by_their_lines(name):
    theta, slope, intercept = HARD[name]
    above = [float(np.nextafter(np.float32(h), np.float32(INF))) for h in theta]
    x = torch.tensor([*theta, *above, -5.0, -0.3, 0.0, 0.7, 9.0, INF, -INF, math.nan], requires_grad=True)
    y = functional.threshold_gate(x, INF, theta, slope, intercept)
    (dx,) = torch.autograd.grad(y, x, torch.full_like(y, 2.0))
    for v, a, b in zip(x.tolist(), y.tolist(), dx.tolist(), strict=True):
        if math.isnan(v):
            assert math.isnan(a)
            assert math.isnan(b)
            continue
        # g_k = [x > theta_(k-1)] - [x > theta_k]
        ups = [1, *(int(v > h) for h in map(float, np.float32(theta))), 0]
        gates = [p - q for p, q in pairwise(ups)]
        lines = [(s * v if s else 0.0) + c for s, c in zip(slope, intercept, strict=True)]
        value = sum(g * line for g, line in zip(gates, lines, strict=True) if g)
        assert math.isclose(a, value, rel_tol=1e-6, abs_tol=1e-6)
        assert math.isclose(b, 2 * sum(g * s for g, s in zip(gates, slope, strict=True)), rel_tol=1e-6)
