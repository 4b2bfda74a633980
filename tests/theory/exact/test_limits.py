from __future__ import annotations

import pytest

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.limits import NoLimit, limit
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import to_text
from gateproof.theory.formula.nodes import Limit, num

# Right values: textbook limits; the activations' from their asymptotes.
LIMITS = {
    "limit(tanh(x)*sech(x), x, oo)": "0",
    "limit(tanh(x)*sech(x), x, -oo)": "0",
    "limit(gelu(x), x, -oo)": "0",
    "limit(gelu(x) - x, x, oo)": "0",
    "limit(silu(x) - x, x, oo)": "0",
    "limit(softplus(x) - x, x, oo)": "0",
    "limit(softplus(x), x, oo)": "oo",
    "limit(mish(x) - x, x, oo)": "0",
    "limit(gelu_tanh(x), x, -oo)": "0",
    "limit(sin(x)/x, x, 0)": "1",
    "limit((1 - cos(x))/x**2, x, 0)": "1/2",
    "limit((tanh(x) - x)/x**3, x, 0)": "-1/3",
    "limit((exp(x) - 1 - x)/x**2, x, 0)": "1/2",
    "limit(x*log(x), x, 0, +)": "0",
    "limit(log(x), x, 0, +)": "-oo",
    "limit(abs(x)/x, x, 0, +)": "1",
    "limit(step(x), x, 0, -)": "0",
    "limit(1/x**2, x, 0)": "oo",
    "limit(x**2*exp(-x), x, oo)": "0",
    "limit(exp(x)/x**10, x, oo)": "oo",
    "limit(log(x)/x, x, oo)": "0",
    "limit(atan(x), x, -oo)": "-pi/2",
    "limit(sqrt(x**2 + 1)/x, x, -oo)": "-1",
    "limit(x*(1 - erf(x)), x, oo)": "0",
    "limit(x**2*exp(x**2)*(1 - erf(x)), x, oo)": "oo",
    "limit(x*exp(x**2)*(1 - erf(x)), x, oo)": "1/sqrt(pi)",
    "limit(cosh(x)*exp(-x), x, oo)": "1/2",
    "limit(exp(1/x), x, 0, -)": "0",
    "limit(exp(x)*(softplus(-x)), x, oo)": "1",
    "limit(sqrt(x), x, 0, +)": "0",
    "limit(x*log(1 + 1/x), x, oo)": "1",
    "limit((x + 1/2)*log(1 + 1/x) - 1, x, oo)": "0",
    "limit(log(1 + 1/x) - 1/x, x, oo)": "0",
    "limit(log(2*x + 1) - log(x), x, oo)": "log(2)",
    "limit(x*(log(x**2 + x) - 2*log(x)), x, oo)": "1",
    "limit(relu(x), x, -oo)": "0",
}
NO_LIMIT = [
    "limit(abs(x)/x, x, 0)",
    "limit(1/x, x, 0)",
    "limit(sign(x), x, 0)",
    "limit(exp(1/x), x, 0)",
    "limit(step(x), x, 0)",
]
UNKNOWN = ["limit(sin(x), x, oo)", "limit(log(x), x, 0)", "limit(sqrt(x), x, -oo)"]


def found(node, assumptions=None):
    assert isinstance(node, Limit)
    return limit(node.body, node.var, node.point, node.side, assumptions or Assumptions())


@pytest.mark.parametrize("text", LIMITS)
def test_known_limits(expression, text):
    result = found(expression(text))
    assert isinstance(result, tuple)
    right = expression(LIMITS[text])
    if "oo" in LIMITS[text]:
        assert to_text(result[0]) == LIMITS[text]
    else:
        assert prove_relation(result[0], "==", right, Assumptions()) is not None


@pytest.mark.parametrize("text", NO_LIMIT)
def test_two_sides_that_differ_are_no_limit(expression, text):
    assert isinstance(found(expression(text)), NoLimit)


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_is_not_decided_is_none(expression, text):
    assert found(expression(text)) is None


def test_a_parameter_of_known_sign(expression):
    node = expression("limit(sigmoid(tau*x), tau, oo)")
    right, left, both = Domain(lo=num(0)), Domain(hi=num(0)), Domain()
    assert found(node, Assumptions({"x": right}))[0] == num(1)
    assert found(node, Assumptions({"x": left}))[0] == num(0)
    assert found(node, Assumptions({"x": both})) is None


def test_asymptotes_with_a_sharpness(expression):
    assumptions = Assumptions({"tau": Domain(lo=num(0))})
    node = expression("limit(x*sigmoid(tau*x) - x, x, oo)")
    assert found(node, assumptions)[0] == num(0)
    assert found(node, Assumptions({"tau": Domain()})) is None
