"""Values and gradients of threshold gates against mpmath and closed forms, and what is refused."""

from __future__ import annotations

import math

import mpmath
import pytest
import torch

from gateproof.kernels import choice, functional

INF = math.inf
SILU = (1.0, [0.0], [0.0, 1.0], [0.0, 0.0])


def exact(x, tau, theta, slope, intercept):
    """sum g_k (slope_k x + intercept_k) in 60 digits, its gates as differences of sigmoids."""
    with mpmath.workdps(60):
        taus = tau if isinstance(tau, list) else [tau] * len(theta)
        sides = [
            1 / (1 + mpmath.exp(-mpmath.mpf(t) * (x - mpmath.mpf(h))))
            for t, h in zip(taus, theta, strict=True)
        ]
        gates = [a - b for a, b in zip([1, *sides], [*sides, 0], strict=True)]
        return mpmath.fsum(g * (s * x + c) for g, s, c in zip(gates, slope, intercept, strict=True))


@pytest.mark.parametrize(
    ("tau", "theta", "slope", "intercept"),
    [
        SILU,
        (3.5, [-1.0, 0.5], [0.25, 1.0, -0.5], [0.5, 0.0, 2.0]),
        ([2.0, 8.0], [-1.0, 1.0], [0.0, 1.0, 0.5], [1.0, 0.0, 0.25]),  # the two sides cross
        (40.0, [1.0, -1.0], [1.0, 2.0, -1.0], [1.0, 3.0, 5.0]),  # thresholds in the wrong order
        (2.0, [0.5, 0.5], [0.0, 7.0, 1.0], [0.0, 3.0, 0.0]),  # a branch of no width
        (1.0, [float(h) for h in range(-7, 8)], [0.1 * k for k in range(16)], [0.5] * 16),
    ],
)
def test_values_and_slopes(tau, theta, slope, intercept):
    points = [-60.0, -20.0, -3.0, -1.0, -0.3, 0.0, 0.5, 1.0, 2.0, 11.0, 90.0]
    x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    numbers = (tau, theta, slope, intercept)
    plain = functional.threshold_gate(x, *numbers)
    learned = functional.threshold_gate(x, *(torch.tensor(p, dtype=torch.float64) for p in numbers))
    single = functional.threshold_gate(x.detach().float(), *numbers)
    (slopes,) = torch.autograd.grad(plain.sum(), x)
    for k, p in enumerate(points):
        value = exact(mpmath.mpf(p), *numbers)
        size = 1e-13 * (1 + abs(p)) * (1 + max(map(abs, slope)))
        assert abs(plain[k].item() - value) < size
        assert abs(learned[k].item() - value) < size
        assert abs(single[k].item() - value) < 1e8 * size
        with mpmath.workdps(40):
            wanted = mpmath.diff(lambda v: exact(v, *numbers), p)
        assert abs(slopes[k].item() - wanted) < 1e-11 * (1 + abs(wanted))


def test_a_tail_keeps_its_digits():
    # silu(-80): the gate is far below the spacing of numbers at 1.
    found = functional.threshold_gate(torch.tensor([-80.0]), *SILU).item()
    assert abs(found / float(-80 / (1 + mpmath.exp(80))) - 1) < 4 * 2**-23


def test_gradients_in_the_numbers():
    x = torch.linspace(-4, 4, 9, dtype=torch.float64)
    one = torch.tensor(1.0, dtype=torch.float64)
    tau, theta = one.clone().requires_grad_(), (0 * one).reshape(1).requires_grad_()
    slope = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    intercept = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    functional.threshold_gate(x, tau, theta, slope, intercept).sum().backward()
    g = 1 / (1 + torch.exp(-x))
    p = g * (1 - g)
    assert math.isclose(tau.grad.item(), (x * p * x).sum().item(), rel_tol=1e-12)
    assert math.isclose(theta.grad.item(), -(p * x).sum().item(), abs_tol=1e-12)
    assert torch.allclose(slope.grad, torch.stack([((1 - g) * x).sum(), (g * x).sum()]), rtol=1e-12)
    assert torch.allclose(intercept.grad, torch.stack([(1 - g).sum(), g.sum()]), rtol=1e-12)


def test_plain_numbers_lose_nothing_beside_learned_ones():
    x = torch.linspace(-1, 1, 5, dtype=torch.float64)
    theta = torch.tensor([0.1], dtype=torch.float64)
    found = functional.threshold_gate(x, 1.1, theta, [0.0, 1.0], [0.3, 0.0])
    assert torch.allclose(
        found, functional.threshold_gate(x, 1.1, [0.1], [0.0, 1.0], [0.3, 0.0]), rtol=0, atol=1e-15
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sixteen_bits_are_rounded_once(dtype):
    torch.manual_seed(0)
    g, u = torch.randn(20000).to(dtype), torch.randn(20000).to(dtype)
    gd, ud = g.double(), u.double()
    wanted = (gd / (1 + torch.exp(-gd)) * ud).to(dtype)
    packed = torch.cat([g[None], u[None]], 1)
    for found in (
        functional.swiglu(g, u),
        functional.swiglu_packed(packed)[0],
        functional.tg_glu(g, u, *SILU),
        functional.tg_glu_packed(packed, *SILU)[0],
    ):
        # Rounding silu before the product changes a quarter of the results.
        assert (found != wanted).sum() <= 10


def test_types_of_results():
    narrow, wide = torch.randn(3).bfloat16(), torch.randn(3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert functional.swiglu(wide, narrow).dtype == torch.float32
        assert functional.threshold_gate(narrow, *SILU).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda f: f.swiglu(torch.arange(3), torch.ones(3)), TypeError, "g is of a floating type"),
        (lambda f: f.swiglu([1.0], torch.ones(1)), TypeError, "g is a tensor, found list"),
        (lambda f: f.threshold_gate(torch.arange(3), *SILU), TypeError, "floating type"),
        (lambda f: f.threshold_gate(torch.ones(3), torch.tensor([1]), *SILU[1:]), TypeError, "tau is of"),
        (lambda f: f.threshold_gate(torch.ones(3), -1.0, *SILU[1:]), ValueError, "tau is positive"),
        (lambda f: f.threshold_gate(torch.ones(3), math.nan, *SILU[1:]), ValueError, "tau is positive"),
        (lambda f: f.threshold_gate(torch.ones(3), 1.0, [0.0, 1.0], *SILU[2:]), ValueError, "1 thresholds"),
        (
            lambda f: f.threshold_gate(torch.ones(3), 1.0, [0.0] * 16, [0.0] * 17, [0.0] * 17),
            ValueError,
            "16",
        ),
        (lambda f: f.threshold_gate(torch.ones(3, 4), torch.ones(3, 1), *SILU[1:]), ValueError, "channels"),
        (lambda f: f.threshold_gate(torch.ones(3), "1.7", *SILU[1:]), TypeError, "found '1.7'"),
        (lambda f: f.memglu(torch.ones(3), torch.ones(3), torch.ones(())), TypeError, "c0 is a plain number"),
        (lambda f: f.swiglu_packed(torch.ones(3)), ValueError, "two halves"),
        (lambda f: f.silu_smooth_attenuation_glu(torch.ones(2), torch.ones(2), w=0.0), ValueError, "w > 0"),
    ],
)
def test_refusals(call, kind, words):
    with pytest.raises(kind, match=words):
        call(functional)


def test_interventions():
    g = torch.tensor([-800.0, -1.0, 0.5, 0.881373587, 0.9, 1.2, 3.0, 800.0, math.nan], dtype=torch.float64)
    u = torch.full_like(g, 2.0)
    t = math.asinh(1.0)

    def silu(x):
        return float(x / (1 + mpmath.exp(-x)))

    def smooth(x, w=0.5, b=1.0):
        tail = silu(t) * float(mpmath.exp(-b * mpmath.log(1 + mpmath.exp(x - t))))
        step = min(max((x - t) / w, 0.0), 1.0)
        return silu(x) + step**2 * (3 - 2 * step) * (tail - silu(x)) if x > t else silu(x)

    for function, of in (
        (functional.silu_hard_removal_glu, lambda x: silu(x) if x <= t else 0.0),
        (functional.silu_positive_cap_glu, lambda x: silu(min(x, t))),
        (functional.silu_smooth_attenuation_glu, smooth),
    ):
        found = function(g, u)
        wanted = torch.tensor([2 * of(x) for x in g[:-1].tolist()], dtype=torch.float64)
        assert torch.allclose(found[:-1], wanted, rtol=1e-12, atol=1e-15)
        assert found[-1].isnan()


def test_choice_of_code_holds_for_backward():
    seen = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if "gateproof" in str(func):
                seen.append((str(func), choice.chosen()))
            return func(*args, **(kwargs or {}))

    x = torch.randn(4, requires_grad=True)
    with choice.use("torch"):
        y = functional.swiglu(x, x) + functional.threshold_gate(x, *SILU) + functional.swiglu_packed(x).sum()
    with Watch():
        y.sum().backward()
    assert len(seen) == 3
    assert {code for _, code in seen} == {"torch"}
