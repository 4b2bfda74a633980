"""Continuous hard gates: the printed numbers have no jumps, exactly, and are as good as the search."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gateproof
from gateproof.numerics.fits.hard_joined import is_continuous, largest_jump
from gateproof.numerics.fits.joined_sums import Sum, sum_of
from gateproof.theory.formula.nodes import Const, Num
from gateproof.theory.gate import Gate

PROVED = "continuous, proved"


def rational(numbers):
    """Texts of decimals or p/q as exact fractions; None where one is something else."""
    try:
        return [Fraction(t) for t in numbers]
    except ValueError:
        return None


def value(text):
    """A closed text in 80 digits; only + - * / and pi, log(2) occur."""
    with mpmath.workdps(80):
        return mpmath.mpf(eval(_decimals(text), {"pi": mpmath.pi, "log": mpmath.log, "mpf": mpmath.mpf}))  # noqa: S307


def _decimals(text):
    import re

    return re.sub(r"\d+(?:\.\d+)?", lambda n: f"mpf('{n[0]}')", text)


def check(found):
    """Thresholds rise and lines meet: in fractions where all numbers are, else to 60 digits of mpmath."""
    document = found.to_json()
    named = [document[n] for n in ("theta", "slope", "intercept")]
    exact = [rational(n) for n in named]
    theta, slope, intercept = exact if None not in exact else [[value(t) for t in n] for n in named]
    assert all(a < b for a, b in pairwise(theta))
    with mpmath.workdps(80):
        for k, t in enumerate(theta):
            jump = (slope[k + 1] - slope[k]) * t + intercept[k + 1] - intercept[k]
            assert jump == 0 if None not in exact else abs(jump) < mpmath.mpf(10) ** -60
    assert PROVED in found.message


def best(found):
    """The error is at most 1.0001 times a proved lower bound of all such gates: rounding costs less."""
    assert found.error.evidence == "certified"
    if found.attained is not False:
        assert found.optimal_within < Fraction(1, 10000)


ON_R = ["softplus(x)", "gelu(x)", "silu(x)", "tanh(x)", "elu(x)", "mish(x)", "gelu(x - 1/3)", "atan(x)"]


@pytest.mark.parametrize(("text", "k"), [*zip(ON_R, (4, 5, 7, 3, 4, 5, 5, 5), strict=True), ("elu(x)", 7)])
def test_lines_meet_exactly_on_r(text, k):
    found = gateproof.fit(text, k, sharpness="hard", continuous=True)
    check(found)
    best(found)


def test_a_peak_that_is_a_rational_number_is_certified():
    # hardswish is x(x + 3)/6 on [-3, 3]: relu is off by 3/8 at -3/2.
    for continuous in (False, True):
        found = gateproof.fit("hardswish(x)", 2, sharpness="hard", continuous=continuous)
        assert found.error.evidence == "certified"
        assert found.error.lo <= Fraction(3, 8) <= found.error.hi <= Fraction(3, 8) * Fraction(10001, 10000)
        assert found.certificate is not None
    # Its outer branches are the target, from 7/2 on.
    best(gateproof.fit("hardswish(x)", 5, sharpness="hard", continuous=True))


@pytest.mark.deep
@pytest.mark.parametrize("k", range(4, 10))
@pytest.mark.parametrize("text", [*ON_R, "erf(x)", "hardswish(x)", "exp(-x**2)", "celu(x, 3)", "softsign(x)"])
def test_lines_meet_exactly_for_many(text, k):
    found = gateproof.fit(text, k, sharpness="hard", continuous=True)
    check(found)
    best(found)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("x*atan(x)", "pinned"),
        ("x*atan(x) + gelu(x)", "pinned"),
        ("pi*gelu(x)", "slopes"),
        ("pi*elu(x)", "pinned"),
    ],
)
def test_irrational_outer_lines_stay_and_meet(text, ends):
    for k in (4, 5):
        found = gateproof.fit(text, k, sharpness="hard", continuous=True, ends=ends)
        check(found)
        assert "pi" in found.text
        best(found)


@pytest.mark.parametrize(("text", "k"), [("softplus(x)", 4), ("gelu(x)", 6), ("x*atan(x)", 4)])
def test_a_threshold_that_is_0_by_symmetry_is_0(text, k):
    found = gateproof.fit(text, k, sharpness="hard", continuous=True)
    assert found.to_json()["theta"][k // 2 - 1] == "0"
    assert [-Fraction(t) for t in reversed(found.to_json()["theta"])] == [
        Fraction(t) for t in found.to_json()["theta"]
    ]


@pytest.mark.parametrize(
    ("text", "domain", "k"),
    [("sin(x)", "[-3, 3]", 5), ("exp(x)", "[0, 1]", 3), ("x**2", "[-1, 1]", 4), ("sqrt(x)", "[0, 2]", 6)],
)
def test_free_ends(text, domain, k):
    found = gateproof.fit(text, k, sharpness="hard", continuous=True, domain=domain)
    check(found)
    best(found)


def test_half_lines_and_the_root_mean_square():
    check(gateproof.fit("gelu(x)", 3, sharpness="hard", continuous=True, domain="[0, oo)"))
    check(gateproof.fit("softplus(x)", 4, sharpness="hard", continuous=True, norm="rms"))
    x = np.linspace(-2, 2, 101)
    check(gateproof.fit(np.stack([x, np.sin(x)], axis=1), 4, sharpness="hard", continuous=True))


def test_asymptotes_that_meet_at_an_irrational_place():
    # The lines -pi/2 x - 2 and pi/2 x meet at -2/pi, and the distance there is the error.
    found = gateproof.fit("x*atan(x) + tanh(x)", 2, sharpness="hard", continuous=True)
    assert found.to_json()["theta"] == ["-2/pi"]
    check(found)
    with mpmath.workdps(30):
        t = -2 / mpmath.pi
        right = abs(t * mpmath.atan(t) + mpmath.tanh(t) - mpmath.pi / 2 * t)
        assert mpmath.mpf(found.error.lo.numerator) / found.error.lo.denominator <= right
        assert right <= mpmath.mpf(found.error.hi.numerator) / found.error.hi.denominator


def test_a_jump_is_not_answered_by_a_gate_with_a_jump():
    found = gateproof.fit("where(x > 0, 1, 0)", 3, sharpness="hard", continuous=True)
    check(found)
    assert float(found.error.hi) == pytest.approx(0.5, rel=1e-8)


def test_rounded_numbers_say_how_large_the_jumps_are():
    found = gateproof.fit("gelu(x)", 5, sharpness="hard", continuous=True, quantise=10)
    assert PROVED not in found.message
    assert "up to jumps of" in found.message


def test_a_gate_whose_lines_miss_by_the_last_digit_is_none():
    def num(text):
        return Num(Fraction(text))

    gate = Gate((Const("oo"),), (num("0.5"),), (num("0"), num("2")), (num("1"), num("0")))
    assert is_continuous(gate)
    for moved in (
        replace(gate, theta=(num("0.5000000000000000001"),)),
        replace(gate, intercept=(num("1"), num("0.0000000000000000001"))),
    ):
        assert not is_continuous(moved)
        assert 0 < largest_jump(moved) < 1e-18


@settings(max_examples=30, deadline=None)
@given(*[st.fractions(min_value=-9, max_value=9, max_denominator=60)] * 4)
def test_sums_are_those_of_the_numbers(a, b, c, d):
    pi = Const("pi")
    one, two = Sum(a, {pi: b} if b else {}), Sum(c, {pi: d} if d else {})
    for made, right in (
        (one + two, (a + c, b + d)),
        (one - two, (a - c, b - d)),
        (one.times(c), (a * c, b * c)),
    ):
        assert (made.rational, made.terms.get(pi, 0)) == right
        assert sum_of(made.expression) == made
    quotient = one.over(two)
    if quotient is not None:
        assert one == two.times(quotient)
    elif not two.zero and not one.zero:
        assert a * d != b * c
