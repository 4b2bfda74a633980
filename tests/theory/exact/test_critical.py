from __future__ import annotations

import pytest

from gateproof.theory.exact.critical import equal_constants, exact_extremum_candidates
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.formula.nodes import num

EQUAL = [
    ("asinh(1)", "log(1+sqrt(2))"),
    ("sqrt(3+2*sqrt(2))", "1+sqrt(2)"),
    ("sin(pi/6)", "1/2"),
    ("cos(5*pi/3)", "1/2"),
    ("cos(pi/4)", "1/sqrt(2)"),
    ("atan(1)", "pi/4"),
    ("exp(log(7))", "7"),
    ("log(8)", "3*log(2)"),
    ("e", "exp(1)"),
    ("atanh(1/2)", "log(3)/2"),
    ("tanh(asinh(1))*sech(asinh(1))", "1/2"),
    ("2**(1/3)*2**(2/3)", "2"),
    ("acosh(3)", "2*asinh(1)"),
    ("erf(1)+erf(-1)", "0"),
]
DIFFERENT = [
    ("pi", "22/7"),
    ("pi", "3.14159265358979323846264338327950288419716939937510"),
    ("sqrt(2)", "1.41421356237309504880168872420969807856967187537694"),
    ("asinh(1)", "0.8813735870195430"),
    ("log(2)+log(3)", "log(5)"),
]


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_equal_constants(expression, a, b):
    assert equal_constants(expression(a), expression(b)) is True


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_different_constants(expression, a, b):
    assert equal_constants(expression(a), expression(b)) is False


@pytest.mark.parametrize(("a", "b"), [("log(-1)", "log(-1)"), ("1/0", "1/0"), ("x", "x")])
def test_undefined_or_open_constants_are_not_compared(expression, a, b):
    assert equal_constants(expression(a), expression(b)) is None


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("tanh(x)*sech(x)", ["asinh(1)", "-asinh(1)"]),
        ("x*exp(-x)", ["1"]),
        ("abs(x)", ["0"]),
        ("x**3 - 3*x", ["1", "-1"]),
        ("sigmoid(x)*(1 - sigmoid(x))", ["0"]),
        ("abs(x**2 - 2)", ["sqrt(2)", "-sqrt(2)", "0"]),
        ("sech(x)*(1 - 2*tanh(x)**2)", ["0", "asinh(sqrt(5))", "-asinh(sqrt(5))"]),
        ("tanh(x)", []),
    ],
)
def test_candidates(expression, text, points):
    found = exact_extremum_candidates(expression(text), "x", Assumptions({"x": Domain()}))
    assert found is not None
    assert len(found) == len(points)
    for point in points:
        assert any(equal_constants(expression(point), f) for f in found)


def test_ends_and_outside_points(expression):
    domain = Domain(num(0), num(5), True, False)
    found = exact_extremum_candidates(expression("x**3 - 3*x"), "x", Assumptions({"x": domain}))
    assert found == (num(0), num(1))


def test_what_cannot_be_solved_is_none(expression):
    line = Assumptions({"x": Domain()})
    assert exact_extremum_candidates(expression("silu(x)"), "x", line) is None
    assert exact_extremum_candidates(expression("1/x"), "x", line) is None
