"""N11: NNlib.jl#164: tanh as a gate of -1 and 1 cancels near 0; the formula's own form does not."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from gateproof.kernels.formula_kernel import compile_kernel  # noqa: E402 - after the library that it needs
from gateproof.kernels.functional import threshold_gate  # noqa: E402

X = [1e-8, 1e-6, 1e-4, 1e-2]
RIGHT = [1e-8, 1e-6, 9.99999996667e-5, 0.00999966668]
ULP = 2.0**-23


def test_the_gate_is_off_by_two_units_of_1_at_most():
    x = torch.tensor([*X, *(-v for v in X)])
    found = threshold_gate(x, 2.0, [0.0], [0.0, 0.0], [-1.0, 1.0])
    assert np.abs(found.double().numpy() - [*RIGHT, *(-v for v in RIGHT)]).max() <= 2 * ULP


@pytest.mark.parametrize("text", ["tanh(x)", "expm1(2*x)/(expm1(2*x) + 2)"])
def test_formulas_keep_the_relative_error(text):
    found = compile_kernel(text)(torch.tensor(X))
    np.testing.assert_allclose(found.double().numpy(), RIGHT, rtol=4e-7)
