from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.limits import NoLimit, Question, limit, limit_or_question
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import to_text
from gateproof.theory.formula.nodes import App, Limit, Num, Rel, num

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
    # terms that grow and cancel: sqrt(x^2 + x) = x + 1/2 - 1/(8 x) + ...
    "limit(sqrt(x**2 + x) - x, x, oo)": "1/2",
    "limit(sqrt(x**2 + x) + x, x, -oo)": "-1/2",
    "limit(x*(sqrt(x**2 + 1) - x), x, oo)": "1/2",
    "limit(sqrt(x + 1) - sqrt(x), x, oo)": "0",
    "limit(sqrt(x)*(sqrt(x + 1) - sqrt(x)), x, oo)": "1/2",
    "limit(x - x**2*log(1 + 1/x), x, oo)": "1/2",
    "limit(x - log(exp(x) + 1), x, oo)": "0",
    "limit(sqrt(x**2 + x) - x + exp(-x), x, oo)": "1/2",
    "limit((1 + 1/x)**x, x, oo)": "e",
    "limit((1 - 2/x)**(3*x), x, oo)": "exp(-6)",
    "limit((1 + x)**(1/x), x, 0)": "e",
    "limit(x**x, x, 0, +)": "1",
    "limit(exp(sqrt(x))/x**3, x, oo)": "oo",
    "limit(log(log(x))/log(x), x, oo)": "0",
    # squeezed between -1/x and 1/x
    "limit(sin(x)/x, x, oo)": "0",
    "limit(x*sin(1/x), x, 0)": "0",
    "limit((x + sin(x))/x, x, oo)": "1",
    "limit(exp(-x)*cos(x**2), x, oo)": "0",
    "limit(x + sin(x), x, oo)": "oo",
    "limit(where(x > 100, 1/x, sin(x)), x, oo)": "0",
}
NO_LIMIT = [
    "limit(abs(x)/x, x, 0)",
    "limit(1/x, x, 0)",
    "limit(sign(x), x, 0)",
    "limit(exp(1/x), x, 0)",
    "limit(step(x), x, 0)",
    # waves: two values, each taken arbitrarily far out
    "limit(sin(x), x, oo)",
    "limit(abs(cos(3*x)), x, -oo)",
    "limit(sin(x) + cos(2*x/3), x, oo)",
    "limit(sin(1/x), x, 0)",
    "limit(cos(1/x), x, 0, -)",
    "limit(sin(x) + 1/x, x, oo)",
    "limit((1 + 1/x)*sin(x), x, oo)",
    "limit(x*sin(x), x, oo)",
]
UNKNOWN = [
    "limit(log(x), x, 0)",
    "limit(sqrt(x), x, -oo)",
    # no value at the zeros of the cosine, so near oo there is nothing to speak of
    "limit(tan(x), x, oo)",
    "limit(log(sin(x)), x, oo)",
    "limit((x - x**2)*0 + sqrt(sin(x)), x, oo)",
    "limit(log(-1/x)**0, x, oo)",
    "limit((-1 - 1/x)**x, x, oo)",
    # periodic, but constant
    "limit(sin(x)**2 + cos(x)**2 + log(sin(x)) - log(sin(x)), x, oo)",
]


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


def test_a_wave_that_is_constant_has_a_limit(expression):
    result = found(expression("limit(sin(x)**2 + cos(x)**2, x, oo)"))
    assert isinstance(result, tuple)
    assert prove_relation(result[0], "==", num(1), Assumptions()) is not None


def test_the_question_that_a_limit_depends_on(expression):
    node = expression("limit(sigmoid(C*(x - D)), C, oo)")
    line = Assumptions({"x": Domain(), "D": Domain()})
    asked = limit_or_question(node.body, node.var, node.point, node.side, line)
    assert isinstance(asked, Question)
    gap = expression("x - D")
    signs = {to_text(asked.expr), to_text(App("neg", (asked.expr,)))}
    assert any(
        prove_relation(asked.expr, "==", other, line) is not None for other in (gap, App("neg", (gap,)))
    ), signs
    right = Assumptions(line.domains, (Rel((">",), (gap, num(0))),))
    assert found(node, right)[0] == num(1)


ratios = st.fractions(min_value=-4, max_value=4, max_denominator=6)


@settings(
    max_examples=15,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(ratios.filter(bool), ratios, ratios, ratios.filter(bool))
def test_cancelling_roots_and_powers_of_e(expression, a, b, c, off):
    # sqrt(a^2 x^2 + b x + c) - |a| x -> b/(2 |a|), and (1 + a/x)^(b x) -> exp(a b)
    cases = {
        f"limit(sqrt(({a})**2*x**2 + ({b})*x + ({c})) - ({abs(a)})*x, x, oo)": Num(b / (2 * abs(a))),
        f"limit((1 + ({a})/x)**(({b})*x), x, oo)": App("exp", (Num(a * b),)),
    }
    for text, value in cases.items():
        result = found(expression(text))
        assert isinstance(result, tuple), text
        assert prove_relation(result[0], "==", value, Assumptions()) is not None
        wrong = App("add", (value, Num(off)))
        assert prove_relation(result[0], "==", wrong, Assumptions()) is None
