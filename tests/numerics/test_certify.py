from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateproof.numerics.certify import certify
from gateproof.numerics.decimals import (
    agreed_digits,
    ceil_decimal,
    decimal_enclosure,
    floor_decimal,
    magnitude,
)
from gateproof.numerics.errors import NotImplementedOperator
from gateproof.theory.formula import define, parse_claim, parse_expr

F = Fraction


def value(text: str, digits: int = 15, **more):
    return certify(parse_expr(text), digits, **more)


def test_exact_decimals_give_forty_digits():
    found = value("0.5*1*(1+tanh(sqrt(2/pi)*(1+0.044715*1**3)))", 40)
    right = F("0.8411919906082767047819957770451838608258")
    assert F(found["value"]["lo"]) <= right + F(1, 10**40)
    assert F(found["value"]["hi"]) >= right - F(1, 10**40)
    assert F(found["value"]["hi"]) - F(found["value"]["lo"]) <= F(2, 10**40)
    assert found["digits"] == 40


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("gelu(1)", lambda: mp.ncdf(1)),
        ("2*sup(tanh(x)*sech(x), x in R) + 1", lambda: mp.mpf(2)),
        ("inf(silu(x), x in R)/2", lambda: -mp.lambertw(mp.exp(-1)).real / 2),
        ("argmax(tanh(x)*sech(x), x in R) + 0", lambda: mp.asinh(1)),
        ("sup(x, x in [0, sqrt(2)))", lambda: mp.sqrt(2)),
        ("max(1 - x**2, x in [-1, 1])", lambda: mp.mpf(1)),
        ("exp(-1000)", lambda: mp.exp(-1000)),
        ("100000*pi", lambda: 100000 * mp.pi),
        ("exp(20000)", lambda: mp.exp(20000)),
        ("exp(-20000)", lambda: mp.exp(-20000)),
    ],
)
def test_values(text, right):
    found = value(text, 20)
    assert found["kind"] == "value"
    assert found["digits"] == 20
    with mp.workdps(50):
        lo, hi = mp.mpf(found["value"]["lo"]), mp.mpf(found["value"]["hi"])
        assert lo <= right() <= hi
        assert hi - lo <= abs(hi) * mp.mpf(10) ** -18


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("max(tanh(x), x in R)", "undefined"),
        ("argmax(tanh(x), x in R)", "empty"),
        ("argmin(silu(x), x in R)", "set"),
        ("zeros(exp(x), x in R)", "empty"),
        ("zeros(diff(silu(x), x, 2), x in R)", "set"),
        ("sup(silu(x), x in R)", "infinite"),
        ("inf(x, x in (-oo, 3])", "infinite"),
        ("1/0", "undefined"),
        ("log(-1)", "undefined"),
        ("oo", "infinite"),
        ("zeros(relu(x), x in R)", None),
        ("exp(10**9)", None),
        ("exp(-exp(100))", None),
    ],
)
def test_kinds(text, kind):
    found = value(text, 10)
    assert found["kind"] == kind
    if kind is None:
        assert found["reason"]


def test_inflections_of_silu():
    found = value("zeros(diff(silu(x), x, 2), x in R)", 15)
    with mp.workdps(30):
        right = mp.findroot(lambda x: mp.diff(lambda t: t / (1 + mp.exp(-t)), x, 2), 2.4)
        (left, there) = found["points"]
        assert mp.mpf(there["lo"]) <= right <= mp.mpf(there["hi"])
        assert mp.mpf(left["lo"]) <= -right <= mp.mpf(left["hi"])


def test_definitions_and_conditions():
    extra = {"bent": define("bent", "x*sigmoid(2*x)")}
    found = certify(parse_expr("bent(1)", extra), 12, extra=extra)
    assert found["value"]["lo"].startswith("0.88079707797")
    body = parse_claim("for x in R: 1/3 < sqrt(2) < 3/2").body
    assert certify(body)["value"] is True
    assert certify(parse_claim("for x in R: sqrt(2)**2 == 2").body)["kind"] is None


@pytest.mark.parametrize(
    "text",
    ["limit(exp(x), x, 0)", "argmax(x + y, x in [0, 1], y in [0, 1])", "sup(x*y, x in [0, 1], y in N)",
     "integrate(sup(x*y, x in [0, 1]), y, 0, 1)", "sup(x, x in R \\ {0})", "zeros(diff(abs(x), x), x in R)"],
)  # fmt: skip
def test_what_is_not_implemented_says_its_name(text):
    with pytest.raises(NotImplementedOperator):
        value(text)


@given(st.fractions(), st.integers(1, 40))
def test_decimals_are_rounded_outward(x, digits):
    places = digits - 1 - magnitude(x)
    assert F(floor_decimal(x, places)) <= x <= F(ceil_decimal(x, places))
    both = decimal_enclosure(x, x, digits)
    assert F(both["hi"]) - F(both["lo"]) <= F(10) ** -places
    if x:
        assert F(10) ** magnitude(x) <= abs(x) < F(10) ** (magnitude(x) + 1)


@given(st.fractions(min_value=1, max_value=10**6), st.integers(0, 30))
def test_agreed_digits(x, digits):
    assert agreed_digits(x, x + x / F(10) ** (digits + 1)) >= digits
    assert agreed_digits(-x, x) == 0
