from __future__ import annotations

import mpmath as mp
import pytest

from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.series import taylor
from gateproof.theory.formula import to_text
from gateproof.theory.formula.nodes import Taylor

# Abramowitz and Stegun 4.2.1, 4.5.64, 7.1.5; tanh*sech from the product of its factors' series.
TAYLOR = {
    "taylor(tanh(x)*sech(x), x, 0, 4)": "x - 5*x**3/6",
    "taylor(tanh(x)*sech(x), x, 0, 5)": "x - 5*x**3/6 + 61*x**5/120",
    "taylor(silu(x), x, 0, 4)": "x/2 + x**2/4 - x**4/48",
    "taylor(softplus(x), x, 0, 4)": "log(2) + x/2 + x**2/8 - x**4/192",
    "taylor(erf(x), x, 0, 5)": "2/sqrt(pi)*(x - x**3/3 + x**5/10)",
    "taylor(log(x), x, 1, 3)": "(x-1) - (x-1)**2/2 + (x-1)**3/3",
    "taylor(exp(x), x, 1, 2)": "e*(1 + (x-1) + (x-1)**2/2)",
    "taylor(sqrt(x), x, 4, 2)": "2 + (x-4)/4 - (x-4)**2/64",
    "taylor(relu(x), x, 1, 3)": "x",
    "taylor(abs(x), x, -2, 3)": "-x",
    "taylor(cos(x), x, pi, 2)": "-1 + (x-pi)**2/2",
}


@pytest.mark.parametrize("text", TAYLOR)
def test_known_series(expression, claim, text):
    node = expression(text)
    assert isinstance(node, Taylor)
    found = taylor(node.body, node.var, node.point, node.order, Assumptions())
    assert found is not None
    _, line = claim("for x in R: x == x")
    assert prove_relation(found[0], "==", expression(TAYLOR[text]), line) is not None
    wrong = expression(f"({TAYLOR[text]}) + x**2/1000")
    assert prove_relation(found[0], "==", wrong, line) is None


@pytest.mark.parametrize(
    "text",
    [
        "taylor(relu(x), x, 0, 3)",
        "taylor(abs(x), x, 0, 1)",
        "taylor(x*abs(x), x, 0, 2)",
        "taylor(log(x), x, 0, 2)",
        "taylor(sqrt(x), x, 0, 2)",
        "taylor(1/x, x, 0, 2)",
        "taylor(step(x), x, 0, 0)",
    ],
)
def test_refused_at_kinks_and_poles(expression, text):
    node = expression(text)
    assert taylor(node.body, node.var, node.point, node.order, Assumptions()) is None


@pytest.mark.parametrize(
    "text",
    [
        "tanh(x)*sech(x)",
        "gelu(x)",
        "mish(x)",
        "gelu_tanh(x)",
        "x**x",
        "asinh(x)",
        "atan(x)/x",
        "softplus(x)**2",
        "sqrt(1+x)",
        "exp(-x**2)",
        "tan(x)",
        "cos(x)*sin(x)",
        "asin(x/3)",
        "acos(x/3)",
        "atanh(x/3)",
        "acosh(x+2)",
        "max(x, 1/4)",
        "soft_threshold(x, 1/8)",
        "where(x > 0, x**2, x)",
        "log(x)",
        "erfc(x)",
        "sinh(x)/cosh(x)",
        "2**x",
    ],
)
def test_derivatives_agree_with_differences(expression, mp_value, text):
    node = expression(text)
    slope = derivative(node, "x")
    assert slope is not None
    for x in (mp.mpf("0.7"), mp.mpf("1.3")):
        right = mp.diff(lambda t: mp_value(node, {"x": t}), x)
        assert mp.almosteq(mp_value(slope, {"x": x}), right, 1e-25)


def test_kinks_are_listed(expression):
    assert [to_text(k) for k in kinks(expression("relu(x)"), "x")] == ["x"]
    assert kinks(expression("tanh(x)*sech(x)"), "x") == ()
    found = {to_text(k) for k in kinks(expression("sign(x)*max(abs(x) - 1/2, 0)"), "x")}
    assert found == {"x", "abs(x) - 1/2"}
