from __future__ import annotations

import pytest

from gateproof.theory.exact.integrals import prove_integral
from gateproof.theory.formula.nodes import Integral

TRUE = [
    "for x in R: integrate(sigmoid(t), t, -oo, x) == softplus(x)",
    "for x in R: integrate(exp(-t**2/2)/sqrt(2*pi), t, -oo, x) == (1+erf(x/sqrt(2)))/2",
    "for x in R: integrate(sech(t)**2, t, -oo, x) == tanh(x) + 1",
    "for x > 0: integrate(1/t, t, 1, 1 + x) == log(1 + x)",
    "integrate(exp(-t**2), t, -oo, oo) == sqrt(pi)",
    "integrate(sech(t), t, -oo, oo) == pi",
    "integrate(1/(1+t**2), t, -oo, oo) == pi",
    "integrate(tanh(t)*sech(t), t, 0, oo) == 1",
    "integrate(1/t, t, 1, 2) == log(2)",
    "integrate(t, t, 0, 1) == 1/2",
    "integrate(exp(-t), t, 0, oo) == 1",
    "integrate(sigmoid(t)*(1-sigmoid(t)), t, -oo, oo) == 1",
    "integrate(1/sqrt(t), t, 0, 1) == 2",
    "integrate(log(t), t, 0, 1) == -1",
]
FALSE = [
    "for x in R: integrate(sigmoid(t), t, -oo, x) == softplus(x) + 1",
    "for x in R: integrate(sigmoid(t), t, 0, x) == softplus(x)",
    "for x in R: integrate(sech(t)**2, t, -oo, x) == tanh(x)",
    "integrate(1/t, t, -1, 1) == 0",
    "integrate(1/t**2, t, -1, 1) == -2",
    "integrate(1/t, t, 0, 1) == 0",
    "integrate(1/t, t, 1, oo) == 1",
    "integrate(exp(t), t, -oo, oo) == 0",
    "integrate(exp(-t**2), t, -oo, oo) == 1.7724538509",
    "integrate(t, t, -oo, oo) == 0",
    "integrate(sign(t), t, -1, 2) == 3",
]


@pytest.mark.parametrize("text", TRUE)
def test_known_integrals(claim, text):
    body, assumptions = claim(text)
    assert isinstance(body.terms[0], Integral)
    assert prove_integral(body.terms[0], body.terms[1], assumptions) is not None


@pytest.mark.parametrize("text", FALSE)
def test_wrong_and_divergent_integrals_are_not_proved(claim, text):
    body, assumptions = claim(text)
    assert prove_integral(body.terms[0], body.terms[1], assumptions) is None
