"""N08: pytorch#52248, #68425: a branch that is not taken must not reach the gradient; sqrt and abs at 0."""

from __future__ import annotations

import numpy as np
import pytest
from array_backends import ALL_SLOPES as SLOPES
from array_backends import ALL_VALUES as VALUES

import gateproof

X = [1000, -1, 0, 4]
CASES = {
    "where(x > 0, x, exp(x)-1)": ([1000, -0.63212055882855768, 0, 4], [1, 0.36787944117144232, 1, 1]),
    "elu(x)": ([1000, -0.63212055882855768, 0, 4], [1, 0.36787944117144232, 1, 1]),
    "sqrt(x**2)": ([1000, 1, 0, 4], [1, -1, 0, 1]),
    "where(x < 20, log(1+exp(x)), x)": (
        [1000, 0.31326168751822286, 0.69314718055994531, 4.0181499279178094],
        [1, 0.26894142136999512, 0.5, 0.98201379003790844],
    ),
    "where(x == 0, 1, sin(x)/x)": (
        [np.sin(1000.0) / 1000, 0.8414709848078965, 1, -0.18920062382698207],
        [0.0005615526, 0.30116867893975674, 0, -0.11611074925915747],
    ),
    "where(x > 0, log(x), 0)": ([6.907755278982137, 0, None, 1.3862943611198906], [1e-3, 0, None, 0.25]),
}


@pytest.mark.parametrize("backend", VALUES)
@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_leak(backend, text, dtype):
    x = np.array(X, dtype=dtype)
    for run, table in zip((VALUES, SLOPES), CASES[text], strict=True):
        found = run[backend](text, x)
        for y, right in zip(found, table, strict=True):
            assert right is None or abs(y - right) <= 2e-6 * abs(right) + 1e-9


@pytest.mark.parametrize("backend", SLOPES)
def test_sqrt_in_the_branch_that_is_not_taken(backend):
    text = "where(x > 0, sqrt(x), 0)"
    assert VALUES[backend](text, np.array([1000.0, -1, 0, 4])).tolist() == [float(np.sqrt(1000.0)), 0, 0, 2]
    found = SLOPES[backend](text, np.array([4.0, -1, 0]))
    # From the right the derivative at 0 is infinite, from the left it is 0: the lesser one.
    assert found.tolist() == [0.25, 0, 0]


@pytest.mark.parametrize("backend", SLOPES)
def test_tiny_arguments_of_an_absolute_value(backend):
    assert SLOPES[backend]("sqrt(x**2)", np.array([1e-30, -1e-30], dtype=np.float32)).tolist() == [1, -1]


def test_sympy_spellings_are_refused_with_ours():
    with pytest.raises(gateproof.FormulaError, match="write where"):
        gateproof.formula("Piecewise((x, x > 0), (exp(x) - 1, True))")


def test_plain_torch_fails_here():
    import torch

    x = torch.tensor([1000.0], requires_grad=True)
    torch.where(x > 0, x, torch.exp(x) - 1).sum().backward()
    assert x.grad is not None
    assert x.grad.isnan().all()
