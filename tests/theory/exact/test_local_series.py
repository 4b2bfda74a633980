"""Coefficients of local series against mpmath's Taylor coefficients, which know nothing of them."""

from __future__ import annotations

import mpmath as mp
import pytest

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.local_series import LocalSeries
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.series import taylor
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Num, Var, num

ORDER = 9
AT = [
    ("gelu(x)", "0"), ("gelu(x)", "1/2"), ("mish(x)", "0"), ("sigmoid(x)", "1"), ("tanh(x)*sech(x)", "-1/3"),
    ("softplus(x)", "2"), ("sqrt(x + 3)", "1/2"), ("x**(1/2)", "2"), ("log(1 + x**2)", "1"), ("2**x", "0"),
    ("x**x", "1/2"), ("atan(x)", "1"), ("asin(x)", "1/3"), ("acos(x)", "1/3"), ("asinh(x)", "1"),
    ("acosh(x)", "2"), ("atanh(x)", "1/2"), ("erf(x)", "1"), ("erfc(-x)", "0"), ("sin(x)*cos(2*x)", "1/4"),
    ("tan(x)", "1/2"), ("1/(1 + x)", "0"), ("(1 + x)**(-3)", "1/2"), ("sinh(x)/cosh(x)", "1"),
    ("max(x, x**2)", "1/2"), ("min(x, x**2)", "1/2"), ("abs(x - 2)", "1"), ("sign(x)*x", "-1"),
    ("where(x > 0, exp(x), sin(x))", "1"), ("where(x > 0, exp(x), sin(x))", "-1"), ("exp(sin(x))", "0"),
    ("gelu_tanh(x)", "1"), ("exp(-1/x)", "1"),
]  # fmt: skip
NOT_ANALYTIC = [
    ("abs(x)", "0"), ("relu(x)", "0"), ("sqrt(x)", "0"), ("log(x)", "0"), ("asin(x)", "1"), ("1/x", "0"),
    ("max(x, x**2)", "1"), ("where(x >= 0, x, 2*x)", "0"), ("x**(3/2)", "0"), ("acosh(x)", "1"),
    ("log(x)", "-1"),
    ("where(x == 0, 1, x)", "0"), ("sign(x)", "0"), ("tan(x)", "pi/2"), ("atanh(x)", "1"),
]  # fmt: skip


def coefficients(node, point):
    shifted = substitute(node, {"x": App("add", (point, Var("h")))})
    return in_workspace(
        Assumptions(), lambda ws: [write(ws, c) for c in LocalSeries(ws, "h", ORDER).of(shifted)]
    )


@pytest.mark.parametrize(("text", "point"), AT)
def test_against_numbers(expression, mp_value, text, point):
    node, at = expression(text), expression(point)
    found = coefficients(node, at)
    assert found is not None
    with mp.workdps(120):
        right = mp.taylor(lambda t: mp_value(node, {"x": t}), mp_value(at, {}), ORDER)
    for exact, number in zip(found, right, strict=True):
        assert abs(mp_value(exact, {}) - number) < mp.mpf(10) ** -25


@pytest.mark.parametrize(("text", "point"), NOT_ANALYTIC)
def test_no_series_at_kinks_and_poles(expression, text, point):
    assert coefficients(expression(text), expression(point)) is None


def test_names_in_coefficients(expression, mp_value):
    node = expression("softplus(b*x)/b")
    given = Assumptions({"b": Domain(lo=num(0))})
    found = taylor(node, "x", num(0), 6, given)
    assert found is not None
    for b in (mp.mpf("0.7"), mp.mpf(3)):
        right = mp.taylor(lambda t, b=b: mp_value(node, {"x": t, "b": b}), 0, 6)
        x = mp.mpf("0.3")
        value = mp_value(found[0], {"x": x, "b": b})
        assert abs(value - sum(c * x**k for k, c in enumerate(right))) < mp.mpf(10) ** -25


def test_high_orders_are_cheap(expression):
    assert taylor(expression("gelu(x)"), "x", num(0), 20, Assumptions()) is not None
    assert taylor(expression("sigmoid(x)"), "x", num(1), 15, Assumptions()) is not None


def test_a_wrong_coefficient_is_seen(expression, mp_value):
    # The comparison above is worth something: the tenth of a percent shows.
    found = coefficients(expression("gelu(x)"), num(0))
    assert found is not None
    wrong = App("mul", (found[2], Num(num("1001/1000").value)))
    with mp.workdps(60):
        right = mp.taylor(lambda t: mp_value(expression("gelu(x)"), {"x": t}), 0, 2)
    assert abs(mp_value(wrong, {}) - right[2]) > mp.mpf(10) ** -6
