"""Formulas in large and small units and shifted ones: values, certificates and lower bounds go with them."""

from __future__ import annotations

import copy
from fractions import Fraction

import mpmath as mp
import pytest

from gateproof.numerics.extrema import extremum
from gateproof.numerics.fits.certified import certified_error
from gateproof.numerics.fits.certified_hard import error_by_pieces
from gateproof.numerics.lower_bound import family_of, prove
from gateproof.numerics.lower_bound_family import End, Family
from gateproof.numerics.lower_bound_units import Units, units_of
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import App, Const, Num, num
from gateproof.theory.gate import Gate

SCALES = ("1000000", "1000", "0.001", "0.000001")


def core(text):
    return expand(parse_expr(text))


def numbers(*values):
    return tuple(Const("oo") if v == "oo" else Num(Fraction(v)) for v in values)


@pytest.fixture(scope="module")
def peak():
    """The maximum of |x sigmoid(1.77 x) - gelu(x)|, by mpmath."""
    with mp.workdps(30):

        def gap(x):
            return x / (1 + mp.exp(-mp.mpf("1.77") * x)) - x * mp.ncdf(x)

        return max(abs(gap(mp.findroot(lambda x: mp.diff(gap, x), near))) for near in (0.7, 2.4))


@pytest.mark.parametrize("s", SCALES)
def test_a_supremum_scales_with_its_formula(s, peak):
    found = extremum(core(f"abs({s}*(x/{s}*sigmoid(1.77*x/{s}) - gelu(x/{s})))"), "x", None, None, "sup", 10)
    assert found.status == "ok"
    lo, hi = (float(v / Fraction(s)) for v in found.value)
    assert lo <= float(peak) * (1 + 1e-15)
    assert hi >= float(peak) * (1 - 1e-15)
    assert hi - lo <= 1e-9 * hi
    assert verify(found.certificate).accepted


@pytest.mark.parametrize("shift", [-1000, 37, 1000])
def test_a_shifted_tail_is_seen(shift):
    """|gelu| left of 0 is largest at -0.7517916: by mpmath."""
    with mp.workdps(30):
        at = mp.findroot(lambda x: mp.ncdf(x) + x * mp.npdf(x), -0.75)
        least = -at * mp.ncdf(at)
    end = num(shift)
    found = extremum(core(f"abs(gelu(x - ({shift})))"), "x", None, end, "sup", 10)
    assert found.status == "ok"
    assert abs(float(found.value[0]) - float(least)) < 1e-10
    assert verify(found.certificate).accepted


@pytest.mark.parametrize("end", ["-1.5503248", "-1.2", "-0.9"])
def test_a_tail_begins_where_the_checker_sees_its_bounds(end):
    found = extremum(core("abs(gelu(x))"), "x", None, num(Fraction(end)), "sup", 10)
    assert verify(found.certificate).accepted


def test_an_arc_tangents_tails_are_accepted():
    half_pi = App("mul", (num(Fraction(1, 2)), Const("pi")))
    gate = Gate(
        numbers("1.1839701996", "1.1839701996"),
        numbers("-1.5474515618", "-1.4331261141"),
        (App("neg", (half_pi,)), *numbers("-6.873475442"), half_pi),
        numbers("-1", "61.603463218", "-1"),
        "difference",
    )
    found = certified_error(gate, core("x*atan(x)"), None, None)
    assert verify(found.certificate).accepted


@pytest.mark.parametrize("shift", ["0", "1000"])
def test_a_piece_with_a_tiny_error_is_only_bounded(shift):
    """Right of 108 gelu is x to 2500 digits; with a wrong line the piece decides, and is not lost."""
    c = Fraction(shift)
    gate = Gate(
        numbers("oo", "oo"),
        numbers(c, c + 108),
        numbers(0, 1, 1),
        numbers(0, -c, -c),
        "difference",
    )
    target = core(f"gelu(x - {shift})")
    found = error_by_pieces(gate, target, None, None, None, 10)
    with mp.workdps(30):
        at = mp.findroot(lambda x: mp.ncdf(x) + x * mp.npdf(x), -0.75)
        least = float(-at * mp.ncdf(at))
    assert abs(float(found.hi) - least) < 1e-10
    assert verify(found.certificate).accepted
    wrong = Gate(gate.tau, gate.theta, numbers(0, 1, 1), numbers(0, -c, 1 - c), "difference")
    assert error_by_pieces(wrong, target, None, None, None, 10).lo > Fraction(99, 100)


#: The least error of two branches with gelu's own asymptotes lies between these, as the certified gate of
#: sharpness 1.77293397 and a proof at scale 1 say.
BELOW, ABOVE = Fraction("0.013908"), Fraction("0.0139222460")
PLACED = ("gelu(x - 1000)", "gelu(x + 3/2)", *(f"{s}*gelu(x/{s})" for s in SCALES))


@pytest.mark.parametrize("text", PLACED)
def test_a_lower_bound_goes_with_its_target(text):
    target = core(text)
    s = Fraction(text.split("*", maxsplit=1)[0]) if "*" in text else Fraction(1)
    family = family_of(target, "x", 2)
    assert not isinstance(family, str)
    free = family_of(target, "x", 2, left=family.left.intercept, right=family.right.intercept)
    found = prove(target, "x", free, BELOW * s, 300)
    assert found.value == BELOW * s
    assert verify(found.certificate).accepted
    assert prove(target, "x", free, ABOVE * s, 300).value is None
    damaged = copy.deepcopy(found.certificate)
    bound = Fraction(damaged["bound"]) * Fraction(101, 100)
    damaged["bound"] = f"{bound.numerator}/{bound.denominator}"
    assert not verify(damaged).accepted


def test_lines_and_families_are_those_of_the_substitution():
    """f(x) = 3 x - 5: g(u) = (3 (c + w u) - 5)/h."""
    units = Units(Fraction(7), Fraction(32), Fraction(1, 4))
    family = Family(2, End(Fraction(3), Fraction(-5)), End(Fraction(0), Fraction(2), False), Fraction(9))
    inner = units.into(family)
    assert (inner.left.slope, inner.left.intercept) == (384, 64)
    assert (inner.right.slope, inner.right.intercept, inner.right.free) == (0, 8, False)
    assert inner.theta == Fraction(1, 16)
    assert units.line(inner.left.slope, inner.left.intercept) == (3, -5)
    written = units.out_of(inner)
    assert (written.left.slope, written.left.intercept, written.theta) == (96, 16, Fraction(1, 16))


@pytest.mark.parametrize(
    ("text", "centre", "width"),
    [("gelu(x)", 0, 1), ("gelu(x - 1000)", 1000, 1), ("gelu(1024*x)", 0, Fraction(1, 1024)), ("3", 0, 1)],
)
def test_units_are_those_of_the_formula(text, centre, width):
    found = units_of(core(text), "x")
    assert found.centre == centre
    assert width / 2 <= found.width <= 2 * width
