"""S01: sympy#18636, #21411, #22925: names that a backend lacks, constants that lose their shape."""

from __future__ import annotations

import numpy as np
import pytest
from array_backends import VALUES

import gateproof

X = np.array([[-1.0, 0.0, 2.0]])
REFUSED = {
    "besselj(y, x)": "besselj",
    "expint(1, x)": "'expint'",
    "DiracDelta(x)": "'DiracDelta'",
    "I*x": "complex",
    "z[1]*x": "z[1]",
    "integrate(sin(t)/t, t, 0, x)": "integrate(sin(t)/t, t, 0, x)",
    "sup(x*y, y in R)": "sup(x*y, y in R)",
    "gauss(x*z, z, q=1)": "gauss(x*z",
    "29.314~*x": "29.314~",
    "sqrt(-1)*x": "sqrt(-1)",
    "x + oo": "oo",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused_by_name(text):
    with pytest.raises(gateproof.FormulaError) as caught:
        gateproof.formula(text)
    assert REFUSED[text] in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("backend", VALUES)
@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("erf(x)", ["-0.8427007929497149", "0", "0.9953222650189527"]),
        ("erfc(x)", ["1.8427007929497149", "1", "0.004677734981047266"]),
        ("x*0 + 1", ["1", "1", "1"]),
        ("where(x > 9, 3, 3)", ["3", "3", "3"]),
    ],
)
def test_same_shape_and_real(backend, text, right):
    found = VALUES[backend](text, X)
    assert (found.shape, found.dtype) == (X.shape, X.dtype)
    np.testing.assert_allclose(found, [[float(r) for r in right]], rtol=4e-16)
