import math

import mpmath
import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.library import opcheck

from gateproof.kernels.soft_threshold import soft_threshold
from gateproof.kernels.soft_threshold_module import SoftThreshold, alpha_of, delta_for_rate, delta_of

KINDS = ("exact", "surrogate", "debiased")
D = torch.float64


def reference(x, delta):
    """sign(x) relu(|x| - delta), as printed."""
    return torch.sign(x) * torch.relu(x.abs() - delta)


def stated(x, delta, c, kind):
    """Both derivatives at a point, in 50 digits."""
    with mpmath.workdps(50):
        x, delta, c = mpmath.mpf(x), mpmath.mpf(delta), mpmath.mpf(c)
        if kind == "exact":
            on = 1 if abs(x) > delta else 0
            return on, -mpmath.sign(x) * on
        s = 1 / (1 + mpmath.exp(-c * (abs(x) - delta)))
        less = 1 / (1 + mpmath.exp(c * delta)) if kind == "debiased" else 0
        return s, -mpmath.sign(x) * (s - less)


def gradients(x, delta, c, kind, dtype=D):
    x = torch.tensor(x, dtype=dtype, requires_grad=True)
    delta = torch.tensor([float(delta)] * len(x), dtype=dtype, requires_grad=True)
    soft_threshold(x, delta, c, kind).sum().backward()
    return x.grad, delta.grad


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, D])
def test_value_at_special_points(dtype):
    x = torch.tensor([-math.inf, -2, -1, -0.5, -0.0, 0.0, 0.5, 1, 1.5, math.inf, math.nan], dtype=dtype)
    y, zeros = soft_threshold(x, 1.0, 4.0, return_stats=True)
    assert torch.equal(y[:-1], reference(x, 1.0)[:-1])
    assert torch.isnan(y[-1])
    assert not torch.signbit(y[y == 0]).any()
    assert zeros.item() == 6
    assert zeros.dtype == torch.int64


def test_value_off_the_domain_and_of_nan():
    x = torch.tensor([-1.0, -0.0, 0.0, 2.0])
    assert soft_threshold(x, torch.tensor(-0.5), 4.0).tolist() == [-1.5, 0.0, 0.0, 2.5]
    for kind in KINDS:
        x, delta = torch.tensor([1.0, math.nan]), torch.tensor([math.nan, 1.0])
        x.requires_grad_(), delta.requires_grad_()
        y = soft_threshold(x, delta, 4.0, kind)
        y.sum().backward()
        assert torch.isnan(torch.stack([y.detach(), x.grad, delta.grad])).all()


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_is_the_stated_one(kind):
    points = [-3.0, -1.0, -0.75, -1e-9, -0.0, 0.0, 1e-9, 0.3, 0.75, 40.0, -1e300]
    dx, ddelta = gradients(points, 0.75, 4.0, kind)
    for p, a, b in zip(points, dx.tolist(), ddelta.tolist(), strict=True):
        for found, true in zip((a, b), stated(p, 0.75, 4.0, kind), strict=True):
            assert abs(found - true) <= 8 * 2.0**-53 * abs(true), (p, found, true)


@pytest.mark.parametrize("kind", KINDS)
def test_gradcheck_passes_where_it_must_and_fails_where_it_must(kind):
    torch.manual_seed(0)
    x = torch.randn(3, 4, dtype=D)
    delta = torch.tensor([0.3, 0.7, 1.1, 0.02], dtype=D)
    # Off the kinks: no difference quotient of step 1e-6 crosses one.
    assert (x.abs() - delta).abs().min() > 1e-4
    assert x.abs().min() > 1e-4
    x.requires_grad_(), delta.requires_grad_()

    def call(a, b):
        return soft_threshold(a, b, 4.0, kind)

    exact = kind == "exact"
    assert gradcheck(call, (x, delta), raise_exception=False, check_forward_ad=exact) == exact
    assert gradgradcheck(call, (x, delta))


def test_second_derivatives_at_a_threshold_and_at_0():
    # C s (1 - s) sign(x) in x, with s = 1/2 at the threshold; the debiased one in delta has -C s (1 - s) at 0
    # too.
    x = torch.tensor([0.75, -0.75, 0.0], dtype=D, requires_grad=True)
    delta = torch.tensor(0.75, dtype=D, requires_grad=True)
    (dx,) = torch.autograd.grad(soft_threshold(x, delta, 4.0).sum(), x, create_graph=True)
    assert torch.autograd.grad(dx.sum(), x)[0].tolist() == [1.0, -1.0, 0.0]
    (ddelta,) = torch.autograd.grad(soft_threshold(x, delta, 4.0, "debiased").sum(), delta, create_graph=True)
    s = 1 / (1 + math.exp(3.0))
    assert torch.autograd.grad(ddelta, x)[0].tolist() == pytest.approx(
        [-1.0, -1.0, -4 * s * (1 - s)], rel=1e-14
    )


def around(kind, right=0.6, left=-0.8, low=0.2, high=1.0, c=4.0):
    """The integral of (dx, ddelta) round a rectangle that x = 0 cuts, by Gauss-Legendre on smooth pieces."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    n, w = torch.tensor((1 + nodes) / 2), torch.tensor(weights / 2)
    total = 0.0
    for (x0, d0), (x1, d1) in (
        ((left, low), (0.0, low)), ((0.0, low), (right, low)), ((right, low), (right, high)),
        ((right, high), (0.0, high)), ((0.0, high), (left, high)), ((left, high), (left, low)),
    ):  # fmt: skip
        x = (x0 + (x1 - x0) * n).requires_grad_()
        delta = (d0 + (d1 - d0) * n).requires_grad_()
        soft_threshold(x, delta, c, kind).sum().backward()
        total += (w * (x.grad * (x1 - x0) + delta.grad * (d1 - d0))).sum().item()
    return total


def test_debiased_pair_has_a_potential_and_the_printed_pair_has_none():
    # Round a loop through x = 0 the printed pair gains what sign(x) softplus(C(|x| - D))/C jumps by there:
    # 2/C softplus(-C D), at the upper crossing less that at the lower one.
    def softplus(u):
        return math.log1p(math.exp(u))

    gained = 2 / 4 * (softplus(-4 * 0.2) - softplus(-4 * 1.0))
    assert abs(around("debiased")) < 1e-13
    assert abs(abs(around("surrogate")) - gained) < 1e-13
    assert gained > 0.1


def test_debiased_pair_is_the_gradient_of_the_potential():
    torch.manual_seed(1)
    x = torch.randn(50, dtype=D, requires_grad=True)
    delta = torch.rand(50, dtype=D).add(0.1).requires_grad_()
    zero, c = torch.zeros(50, dtype=D), 3.0
    potential = (
        torch.sign(x) * (torch.logaddexp(c * (x.abs() - delta), zero) - torch.logaddexp(-c * delta, zero)) / c
    )
    wanted = torch.autograd.grad(potential.sum(), (x, delta))
    found = torch.autograd.grad(soft_threshold(x, delta, c, "debiased").sum(), (x, delta))
    for a, b in zip(found, wanted, strict=True):
        assert torch.allclose(a, b, rtol=0, atol=1e-14)
    printed = torch.autograd.grad(soft_threshold(x, delta, c).sum(), delta)[0]
    assert (printed - wanted[1]).abs().max() > 0.01


@pytest.mark.parametrize(
    ("dtype", "alive", "dead"),
    [(torch.float32, 103.97, 103.98), (torch.bfloat16, 92.88, 92.89), (torch.float16, 17.32, 17.33)],
)
def test_surrogate_is_0_where_the_claims_say(dtype, alive, dead):
    # two.float.corrected: half of the least positive number of each type lies between.
    for kind in ("surrogate", "debiased"):
        for delta, positive in ((alive, True), (dead, False)):
            x = torch.zeros(1, dtype=dtype, requires_grad=True)
            soft_threshold(x, delta, 1.0, kind).backward(torch.ones(1, dtype=dtype))
            assert (x.grad.item() > 0) == positive


def test_zeros_are_counted_exactly_and_by_channel():
    torch.manual_seed(2)
    x = torch.randn(5, 7, 300, dtype=torch.bfloat16)
    delta = torch.rand(7)
    _, zeros = soft_threshold(x, delta, 4.0, channel_dim=1, return_stats=True)
    assert torch.equal(zeros, (x.abs() <= delta[:, None]).sum((0, 2)))
    y, total = soft_threshold(x, torch.tensor(0.5), 4.0, return_stats=True)
    assert total.dim() == 0
    assert total.item() == (y == 0).sum().item()
    assert soft_threshold(x[:0], delta, 4.0, channel_dim=1, return_stats=True)[1].tolist() == [0] * 7


@pytest.mark.parametrize("kind", KINDS)
def test_operations_hold_what_they_promise(kind):
    ops, x, delta = torch.ops.gateproof, torch.randn(3, 4).t(), torch.rand(3)
    for args in ((x, delta, [], 1, True), (x, None, [0.5], None, False)):
        opcheck(ops.soft_threshold.default, args)
    for args in ((x, x, delta, [], 4.0, kind, 1, True), (x, x, None, [0.5], 4.0, kind, None, False)):
        opcheck(ops.soft_threshold_backward.default, args)


@pytest.mark.parametrize("dims", [(0, None), (None, 0), (1, 0)])
def test_vmap_of_value_count_and_gradient(dims):
    torch.manual_seed(3)
    x = torch.randn(3, 4, 5) if dims[0] is not None else torch.randn(4, 5)
    delta = torch.rand(3, 5) if dims[1] is not None else torch.rand(5)
    x = x.movedim(0, 1) if dims[0] == 1 else x

    def loss(a, b):
        return (soft_threshold(a, b, 4.0) ** 2).sum()

    def both(a, b):
        return *soft_threshold(a, b, 4.0, return_stats=True), *torch.func.grad(loss, (0, 1))(a, b)

    found = torch.vmap(both, dims)(x, delta)
    for i in range(3):
        one = both(x if dims[0] is None else x.select(dims[0], i), delta if dims[1] is None else delta[i])
        for a, b in zip(found, one, strict=True):
            assert torch.allclose(a[i], b, rtol=1e-6, atol=1e-7)
    counts = torch.vmap(lambda a: soft_threshold(a, 0.5, 4.0, return_stats=True)[1])(torch.ones(2, 3))
    assert counts.tolist() == [0, 0]


def test_forward_mode_is_the_stated_gradient():
    x, delta = torch.tensor([0.3, -2.0], dtype=D), torch.tensor(0.75, dtype=D)
    _, moved = torch.func.jvp(
        lambda a, b: soft_threshold(a, b, 4.0), (x, delta), (torch.ones(2, dtype=D), delta)
    )
    wanted = [
        float(a + mpmath.mpf(0.75) * b) for a, b in (stated(p, 0.75, 4.0, "surrogate") for p in (0.3, -2.0))
    ]
    assert moved.tolist() == pytest.approx(wanted, rel=1e-14)


def test_delta_and_its_inverse():
    with mpmath.workdps(40):
        for a in (-30.0, -3.0, 0.0, 5.0, 25.0, 700.0):
            true = mpmath.log1p(mpmath.exp(a)) + mpmath.mpf(1e-6)
            assert abs(delta_of(torch.tensor(a, dtype=D)).item() - true) <= 2e-15 * true
        for d in (1.1e-6, 1e-3, 0.25, 20.0, 800.0):
            y = mpmath.mpf(d) - mpmath.mpf(1e-6)
            true = mpmath.log(mpmath.expm1(y))
            assert abs(alpha_of(torch.tensor(d, dtype=D)).item() - true) <= 1e-13 * max(1, abs(true))
    for bad in (1e-6, 1e-7, 0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="greater than eps"):
            alpha_of(torch.tensor(bad, dtype=D))
    assert delta_of(torch.tensor(-40.0, dtype=torch.bfloat16)).item() == pytest.approx(1e-6, rel=1e-6)


def test_threshold_for_a_rate_is_the_least_that_reaches_it():
    x = torch.tensor([-5.0, 4, -3, 2, -1, 1, 2, 3, 4, 5])
    assert delta_for_rate(x, 0.2).item() == 1
    assert delta_for_rate(x, 0.3).item() == 2
    assert delta_for_rate(x.reshape(5, 2), 0.5, per_channel=True).tolist() == [3, 3]
    for bad in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="rate of zeros"):
            delta_for_rate(x, bad)
    with pytest.raises(ValueError, match="not-a-number"):
        delta_for_rate(torch.tensor([1.0, math.nan]), 0.5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_module_starts_at_its_rate_counts_and_learns(dtype):
    torch.manual_seed(4)
    x = torch.randn(500, 6).to(dtype)
    gate = SoftThreshold.for_rate(x, 0.2, 4.0, per_channel=True, track=True)
    gate(x).sum().backward()
    assert (gate.zero_rate() >= 0.2).all()
    assert (gate.zero_rate() < 0.22).all()
    assert gate.alpha.grad.abs().min() > 0
    gate.reset()
    assert torch.isnan(gate.zero_rate()).all()
    with pytest.raises(ValueError, match="greater than eps"):
        SoftThreshold.for_rate(torch.relu(-x.abs()), 0.2, 4.0)


def test_compiled_and_exported():
    torch.manual_seed(5)
    x, delta = torch.randn(4, 6), torch.rand(6)
    for kind in KINDS:

        def both(a, b, kind=kind):
            y, zeros = soft_threshold(a, b, 4.0, kind, return_stats=True)
            return y, zeros, *torch.autograd.grad(y.square().sum(), (a, b))

        def value(a, b, kind=kind):
            return soft_threshold(a, b, 4.0, kind, return_stats=True)

        a, b = x.clone().requires_grad_(), delta.clone().requires_grad_()
        y, zeros = torch.compile(value, fullgraph=True, backend="aot_eager")(a, b)
        found = y.detach(), zeros, *torch.autograd.grad(y.square().sum(), (a, b))
        for one, other in zip(found, both(a, b), strict=True):
            assert torch.allclose(one, other, rtol=1e-6, atol=1e-7)
    gate = SoftThreshold(delta + 0.1, 4.0, track=True)
    exported = torch.export.export(gate, (x,)).module()
    assert torch.equal(exported(x), gate(x))


def test_bad_input_is_refused():
    x = torch.ones(2, 3)
    for args, word in (
        ((x, -1.0, 4.0), "delta"), ((x, math.nan, 4.0), "delta"), ((x, 1.0, 0.0), "sharpness"),
        ((x, 1.0, 4.0, "smooth"), "gradient"),
        ((x, torch.ones(2), 4.0), "channels"), ((x, torch.ones(1, 3), 4.0), "one dimension"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=word):
            soft_threshold(*args)
    with pytest.raises(TypeError, match="floating"):
        soft_threshold(x.int(), 1.0, 4.0)
    with pytest.raises(TypeError, match="sharpness is a plain number"):
        soft_threshold(x, 1.0, torch.tensor(4.0))
