"""N10: attorch#15, pytorch#80803: the two-sided gate at its threshold and at 0, with both gradients."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")
from gateproof.kernels import functional  # noqa: E402 - after the library that it needs

ALPHA, SHARPNESS, EPSILON = -0.43275213, 10.0, 1e-6
X = [-0.7, -0.5, 0.0, 0.5, 0.7, 2.0]
Y = [-0.19999900017, 0.0, 0.0, 0.0, 0.19999900017, 1.49999900017]
IN_X = [0.880796028217, 0.499997500426, 0.00669278445537, 0.499997500426, 0.880796028217, 0.999999694095]
IN_DELTA = [0.880796028217, 0.499997500426, 0.0, -0.499997500426, -0.880796028217, -0.999999694095]
IN_ALPHA = [0.346566232059, 0.196733686586, 0.0, -0.196733686586, -0.346566232059, -0.39346921982]


def gate(gradient="surrogate"):
    """y, x, delta = softplus(alpha) + epsilon, alpha."""
    alpha = torch.tensor(ALPHA, dtype=torch.float64, requires_grad=True)
    delta = torch.nn.functional.softplus(alpha) + EPSILON
    x = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    return functional.soft_threshold(x, delta, SHARPNESS, gradient), x, delta, alpha


def test_value_and_surrogate():
    y, x, delta, alpha = gate()
    assert delta.item() == pytest.approx(0.500000999829702, abs=1e-15)
    assert y.tolist() == pytest.approx(Y, abs=1e-9)
    (in_x,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    assert in_x.tolist() == pytest.approx(IN_X, abs=1e-9)
    for of, right in ((delta, IN_DELTA), (alpha, IN_ALPHA)):
        for k, one in enumerate(right):
            (found,) = torch.autograd.grad(y[k], of, retain_graph=True)
            assert found.item() == pytest.approx(one, abs=1e-9)


def test_the_true_gradient_is_0_inside_and_1_outside():
    y, x, _, _ = gate("exact")
    (in_x,) = torch.autograd.grad(y.sum(), x)
    assert in_x.tolist() == [1, 0, 0, 0, 1, 1]


def test_gradcheck_refuses_the_surrogate_and_takes_the_true_gradient():
    x = torch.tensor([-1.3, 0.2, 0.9], dtype=torch.float64, requires_grad=True)
    run = functional.soft_threshold
    assert not torch.autograd.gradcheck(lambda t: run(t, 0.5, SHARPNESS), x, raise_exception=False)
    assert torch.autograd.gradcheck(lambda t: run(t, 0.5, SHARPNESS, "exact"), x)


def test_debiased_is_the_derivative_of_one_function():
    # in delta less its value at x = 0, where both gradients of sigmoid(C (|x| - delta)) then agree.
    x = torch.tensor([0.8, -0.3], dtype=torch.float64)
    found = []
    for mode in ("surrogate", "debiased"):
        delta = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
        y = functional.soft_threshold(x, delta, SHARPNESS, mode)
        found.append([torch.autograd.grad(v, delta, retain_graph=True)[0].item() for v in y])
    at_0 = 1 / (1 + math.exp(SHARPNESS * 0.5))
    surrogate, debiased = found
    assert debiased[0] == pytest.approx(surrogate[0] + at_0, abs=1e-12)
    assert debiased[1] == pytest.approx(surrogate[1] - at_0, abs=1e-12)
