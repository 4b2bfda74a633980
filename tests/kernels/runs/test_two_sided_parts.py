"""The parts of the experiment two-sided: gate, scan, counts, models."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from gateproof.kernels.runs.two_sided_parts.gate import Gate, gated
from gateproof.kernels.runs.two_sided_parts.models import LanguageModel
from gateproof.kernels.runs.two_sided_parts.scan import scan
from gateproof.kernels.runs.two_sided_parts.tally import Tally
from gateproof.kernels.soft_threshold import soft_threshold

KINDS = ("surrogate", "exact", "debiased")
SIZES = {"vocabulary": 23, "context": 12, "width": 8, "layers": 2, "heads": 2, "hidden": 20, "states": 6}


def _drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _model(family: str, thresholds: str = "trainable", **options: str) -> LanguageModel:
    gate = {
        "per": "projection",
        "gradient": "surrogate",
        "sharpness": 10.0,
        "thresholds": thresholds,
    } | options
    return LanguageModel(family, **SIZES, gate=gate, seed=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "channels"), list(product(KINDS, (False, True))))
def test_the_gate_is_the_operation_of_the_package(kind: str, channels: bool) -> None:
    """Values bit for bit; gradients to the rounding of their sums."""
    x = _drawn(40, 6)
    x[0, 0], x[1, 1] = 0.0, 0.5  # at the kink and at a threshold
    delta = torch.linspace(0.25, 1.5, 6) if channels else torch.tensor(0.5)
    dy, made = _drawn(40, 6, seed=1), []
    for operation in (gated, soft_threshold):
        a, b = x.clone().requires_grad_(), delta.clone().requires_grad_()
        y = operation(a, b, 10.0, kind)  # type: ignore[arg-type]
        y.backward(dy)
        made.append((y.detach(), a.grad, b.grad))
    (y, dx, dd), (y2, dx2, dd2) = made
    assert torch.equal(y, y2)
    torch.testing.assert_close(dx, dx2, rtol=2e-6, atol=1e-7)
    torch.testing.assert_close(dd, dd2, rtol=1e-5, atol=1e-5)


def test_alpha_has_the_gradient_of_the_chain_rule() -> None:
    """d loss/d alpha = sigmoid(alpha) times the sum of -sign(z) sigmoid(C (|z| - delta)), by hand."""
    gate = Gate("trainable", "projection", 5, 10.0, "surrogate")
    z = _drawn(30, 5).double()
    gate.double().start(z, 0.2)
    assert int((gate(z) == 0).sum()) == 30  # 0.2 of 150
    gate(z).sum().backward()
    with torch.no_grad():
        direct = -(z.sign() * torch.sigmoid(10.0 * (z.abs() - gate.delta()))).sum() * torch.sigmoid(
            gate.alpha
        )
    assert gate.alpha.grad is not None
    torch.testing.assert_close(gate.alpha.grad, direct)
    with pytest.raises(AssertionError):
        torch.testing.assert_close(gate.alpha.grad, -direct)


def test_the_smooth_rate_has_a_gradient_and_the_printed_one_none() -> None:
    gate, z = Gate("trainable", "projection", 5, 10.0, "surrogate"), _drawn(30, 5)
    gate.start(z, 0.2)
    torch.autograd.backward(gate.smooth_zeros(z))
    assert gate.alpha.grad is not None
    assert gate.alpha.grad > 0  # descent on + lambda rho lowers the threshold
    assert not (z.abs() <= gate.delta()).requires_grad


def test_scan_is_the_recurrence_step_by_step() -> None:
    decay = torch.tensor([0.0, 0.3, 0.99, 1.0], dtype=torch.float64)
    for time in (1, 2, 7, 64):
        u, h, expected = _drawn(3, time, 4).double(), torch.zeros(3, 4, dtype=torch.float64), []
        for t in range(time):
            h = decay * h + u[:, t]
            expected.append(h)
        torch.testing.assert_close(scan(decay, u), torch.stack(expected, 1), rtol=1e-12, atol=1e-12)
    a, v = torch.tensor([0.5, 0.9]).double().requires_grad_(), _drawn(2, 5, 2).double().requires_grad_()
    assert torch.autograd.gradcheck(scan, (a, v))


def test_attention_is_counted_as_three_loops_count_it() -> None:
    """Multiply-adds whose both factors are nonzero, over queries, keys up to them, and channels."""
    q, k, v = (t * (t > 0) for t in (_drawn(2, 3, 5, 4, seed=s) for s in range(3)))
    tally = Tally()
    tally.attention(q, k, v)
    scores = mix = 0
    for b, h, t in product(range(2), range(3), range(5)):
        for s in range(t + 1):
            scores += int(((q[b, h, t] != 0) & (k[b, h, s] != 0)).sum())
            mix += int((v[b, h, s] != 0).sum())
    assert (tally.effective["scores"], tally.effective["mix"]) == (scores, mix)
    assert tally.full["scores"] == 2 * 3 * 15 * 4


def test_products_and_the_recurrence_are_counted_exactly() -> None:
    tally = Tally()
    # In the first row 0.003 is below half a level of 1/127; in the second it is the largest.
    tally.product("up", torch.tensor([[1.0, 0.003, 0.0], [0.0, 0.003, 0.0]]), 7)
    assert (tally.effective["up"], tally.full["up"]) == (2 * 7, 6 * 7)
    u = torch.tensor([[[0.0], [2.0], [0.0]]])
    tally.recurrence(scan(torch.tensor([0.5]), u), u)
    assert (tally.effective["recurrence"], tally.full["recurrence"]) == (1 + 1, 2 + 3)
    tally.events("up", u)
    assert (tally.zeros["up"], tally.elements["up"], tally.events_left()) == (2, 3, 1)


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        # A block: q k v out 4*8*8, up and down 2*8*20, scores and mix 2*8*(12+1)/2; head 8*23.
        ("transformer", 2 * (4 * 64 + 2 * 160 + 8 * 13) + 184),
        # A block: 8*6 + 6*6 + 6*8, recurrence 6 + 6*11/12; head.
        ("state-space", 2 * (48 + 36 + 48 + 6 + 5.5) + 184),
    ],
)
def test_operations_of_a_model(family: str, expected: float) -> None:
    tally = Tally()
    _model(family, "dense")(torch.arange(24).reshape(2, 12) % 23, tally)
    assert sum(tally.full.values()) == 24 * expected
    assert sum(tally.effective.values()) <= 24 * expected


@pytest.mark.parametrize("family", ["transformer", "state-space"])
@pytest.mark.parametrize("per", ["projection", "channel"])
def test_thresholds_start_at_the_wanted_rate_and_models_are_causal(family: str, per: str) -> None:
    tokens = torch.randint(0, 23, (10, 12), generator=torch.Generator().manual_seed(1))
    model = _model(family, per=per)
    model.start(tokens, 0.2)
    tally = Tally()
    before = model(tokens, tally)
    for name, zeros in tally.zeros.items():
        # 24 of 120 a channel, and more where tokens repeat, so that values tie.
        assert 0.19 <= zeros / tally.elements[name] <= 0.23
    changed = tokens.clone()
    changed[:, 7] = (changed[:, 7] + 1) % 23
    after = model(changed)
    assert torch.equal(before[:, :7], after[:, :7])
    assert not torch.equal(before[:, 7:], after[:, 7:])


def test_smooth_has_the_surrogate_as_its_slope_and_no_zeros() -> None:
    gate = Gate("smooth", "projection", 5, 10.0, "surrogate")
    z = _drawn(30, 5).requires_grad_()
    gate.start(z, 0.5)
    y = gate(z)
    y.sum().backward()
    assert int((y == 0).sum()) == 0
    torch.testing.assert_close(z.grad, torch.sigmoid(10.0 * (z.detach().abs() - gate.delta())))
