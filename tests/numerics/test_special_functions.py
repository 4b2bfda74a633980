"""Special functions by balls and by the checker, held against mpmath at 50 digits."""

from __future__ import annotations

from fractions import Fraction

import gmpy2
import mpmath as mp
import pytest
from flint import arb, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gateproof.numerics import special_boxes
from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.precision import precision
from gateproof.numerics.series import taylor
from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.interval import Intervals
from gateproof.proofs_check.checker.special import coefficients, enclosed
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.special import FAMILIES, find, split

DIGITS = 50
PLAIN = {
    "gamma": mp.gamma,
    "loggamma": mp.loggamma,
    "digamma": mp.digamma,
    "zeta": mp.zeta,
    "lambertw": mp.lambertw,
    "airyai": mp.airyai,
    "airybi": mp.airybi,
    "airyaiprime": lambda x: mp.airyai(x, 1),
    "airybiprime": lambda x: mp.airybi(x, 1),
    "ei": mp.ei,
    "si": mp.si,
    "ci": mp.ci,
}


def spherical(n: int, x: mp.mpf) -> mp.mpf:
    if x == 0:
        return mp.mpf(n == 0)
    return mp.sign(x) ** n * mp.sqrt(mp.pi / 2 / abs(x)) * mp.besselj(n + mp.mpf(1) / 2, abs(x))


WITH_PARAMETERS = {
    "polygamma": lambda n, x: mp.polygamma(int(n), x),
    "zetaderiv": lambda n, x: mp.zeta(x, 1, int(n)),
    "besselj": mp.besselj,
    "bessely": mp.bessely,
    "besseli": mp.besseli,
    "besselk": mp.besselk,
    "sphericalj": lambda n, x: spherical(int(n), x),
    "hyp1f1": mp.hyp1f1,
    "hyp2f1": mp.hyp2f1,
}
HEADS = [
    *PLAIN,
    *(f"polygamma[{n}]" for n in (1, 2, 3)),
    *("zetaderiv[1]", "sphericalj[0]", "sphericalj[2]"),
    *(f"bessel{kind}[{n}]" for kind in "jyik" for n in ("0", "1", "3", "1/2", "1/3", "-1/3", "5/2")),
    *("hyp1f1[1,3/2]", "hyp1f1[-1/2,1/3]", "hyp1f1[2,1]"),
    *("hyp2f1[1/2,1/2,1]", "hyp2f1[-1/2,1/2,1]", "hyp2f1[1/3,2,5/2]", "hyp2f1[-3/2,4,1/2]"),
]
HEADS = [h for h in HEADS if find(h) is not None and h != "besselk[-1/3]"]
POINTS = st.fractions(-30, 30, max_denominator=1000)
WIDTHS = st.sampled_from([Fraction(0), Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(7)])


def real(head: str, x: Fraction) -> mp.mpf:
    """mpmath's value; its own imaginary part must vanish."""
    name, params = split(head)
    with mp.workdps(DIGITS):
        at = mp.mpf(x.numerator) / x.denominator
        numbers = [mp.mpf(Fraction(p).numerator) / Fraction(p).denominator for p in params]
        value = WITH_PARAMETERS[name](*numbers, at) if params else PLAIN[name](at)
        value = mp.mpmathify(value)
        assert abs(value.imag) < mp.mpf(10) ** (10 - DIGITS) * (1 + abs(value))
        return value.real


def fraction(x: object) -> Fraction:
    q = gmpy2.mpq(x)
    return Fraction(int(q.numerator), int(q.denominator))


def of_arb(x: arb) -> Fraction | None:
    if not x.is_finite():
        return None
    m, e = x.man_exp()
    return Fraction(int(m)) * Fraction(2) ** int(e)


def holds(lo: Fraction | None, hi: Fraction | None, value: mp.mpf) -> bool:
    """Whether the enclosure holds what rounds to mpmath's value."""
    sign, man, exp, _ = value._mpf_
    exact = (-1) ** sign * Fraction(int(man)) * Fraction(2) ** int(exp)
    slack = (1 + abs(exact)) / 10 ** (DIGITS - 8)
    return (lo is None or lo <= exact + slack) and (hi is None or exact - slack <= hi)


def near(text: str, right: mp.mpf) -> bool:
    """To 15 digits: mpmath's derivatives are differences, and a ball's text may round its last places."""
    with mp.workdps(DIGITS):
        return bool(abs(mp.mpf(text) - right) < mp.mpf(10) ** -15 * (1 + abs(right)))


def arb_box(head: str, lo: Fraction, hi: Fraction, bits: int) -> tuple[arb, arb]:
    run = special_boxes.on_interval(head)
    assert run is not None
    with precision(bits):
        ends = [arb(fmpq(v.numerator, v.denominator)) for v in (lo, hi)]
        return run((ends[0].lower(), ends[1].upper()))


@pytest.mark.parametrize("head", HEADS)
@settings(max_examples=12, deadline=None)
@given(
    lo=POINTS, width=WIDTHS, inside=st.fractions(0, 1, max_denominator=64), bits=st.sampled_from([60, 150])
)
def test_boxes_of_both_engines_hold_the_values(head, lo, width, inside, bits):
    hi = lo + width
    try:
        low, high = arb_box(head, lo, hi, bits)
    except (Undefined, MaybeUndefined):
        field = Intervals(bits)
        with pytest.raises(Rejected):
            enclosed(field, head, field.hull(gmpy2.mpq(lo), gmpy2.mpq(hi)))
        return
    points = (lo, hi, lo + width * inside)
    values = [real(head, x) for x in points]
    assert all(holds(of_arb(low), of_arb(high), v) for v in values)
    field = Intervals(bits)
    try:
        second = enclosed(field, head, field.hull(gmpy2.mpq(lo), gmpy2.mpq(hi)))
    except Rejected:
        # Derivatives of zeta, and series that would be too long.
        assert head == "zetaderiv[1]" or width > 0 or head.startswith(("hyp2f1", "zeta"))
        return
    ends = [None if gmpy2.is_infinite(e) else fraction(e) for e in second]
    assert all(holds(ends[0], ends[1], v) for v in values)


@pytest.mark.parametrize("head", HEADS)
def test_taylor_coefficients_are_those_of_mpmath(head):
    at = Fraction(7, 10)
    name, params = split(head)
    text = f"{name}({', '.join([*params, 'x'])})"
    with mp.workdps(DIGITS):
        point = mp.mpf(7) / 10
        numbers = [mp.mpf(Fraction(p).numerator) / Fraction(p).denominator for p in params]

        def f(x: mp.mpf) -> mp.mpf:
            return WITH_PARAMETERS[name](*numbers, x) if params else PLAIN[name](x)

        right = [mp.re(c) for c in mp.taylor(f, point, 4)]
    with precision(200):
        found = taylor(expand(parse_expr(text)), "x", {"x": arb(fmpq(7, 10))}, 4, 200)
    for a, b in zip(found, right, strict=True):
        assert near(a.str(40, radius=False), b)
    if name in ("zeta", "zetaderiv"):
        return
    field = Intervals(300)
    for c, b in zip(coefficients(field, head, field.number(gmpy2.mpq(at)), 4), right, strict=True):
        assert near(str(gmpy2.mpfr(c.lo, 200)), b)


@pytest.mark.parametrize("head", HEADS)
def test_the_derivative_rule_is_mpmaths(head):
    """The symbolic slope, evaluated by balls, against a numeric derivative."""
    from gateproof.numerics.points import at_point
    from gateproof.theory.special.symbolic import slope

    name, params = split(head)
    found = slope(head)
    assert found is not None
    with mp.workdps(40):
        numbers = [mp.mpf(Fraction(p).numerator) / Fraction(p).denominator for p in params]

        def f(x: mp.mpf) -> mp.mpf:
            return WITH_PARAMETERS[name](*numbers, x) if params else PLAIN[name](x)

        right = mp.re(mp.diff(f, mp.mpf(3) / 5))
    value = at_point(found, {"x": Fraction(3, 5)}, 200)
    assert near(value.str(40, radius=False), right)


@settings(max_examples=60, deadline=None)
@given(gap=st.integers(1, 60), bits=st.sampled_from([60, 120]))
def test_lambertw_beside_its_branch_point(gap, bits):
    """By the equation itself: w exp(w) on the sides of x, w >= -1."""
    with precision(200):
        end = -arb(-1).exp()
        x = (end.upper() + arb(2) ** -gap).upper()
    assume(x < 1)
    run = special_boxes.on_interval("lambertw")
    assert run is not None
    with precision(bits):
        lo, hi = run((x, x))
    with precision(400):
        assert lo >= -1
        assert (lo * lo.exp()).lower() <= x <= (hi * hi.exp()).upper()


@pytest.mark.parametrize(
    ("head", "points"),
    [
        ("gamma", (0, -1, -2, -100)),
        ("digamma", (0, -3)),
        ("polygamma[1]", (0, -1)),
        ("loggamma", (0, -1, Fraction(-1, 2))),
        ("zeta", (1,)),
        ("zetaderiv[1]", (1,)),
        ("lambertw", (-1, Fraction(-37, 100))),
        ("besselk[0]", (0, -1)),
        ("bessely[1]", (0, -1)),
        ("besselj[1/2]", (-1,)),
        ("besselj[-1/2]", (0, -1)),
        ("hyp2f1[1/2,1/2,1]", (1, 2)),
        ("hyp2f1[-1/2,1/2,1]", (Fraction(11, 10),)),
        ("ei", (0,)),
        ("ci", (0, -1)),
    ],
)
def test_no_value_outside_the_domain(head, points):
    for x in map(Fraction, points):
        with pytest.raises(Undefined):
            arb_box(head, x, x, 100)
        below, above = (3, Fraction(1, 1000)) if head.startswith("hyp2f1") else (Fraction(1, 1000), 3)
        with pytest.raises(MaybeUndefined):
            arb_box(head, x - below, x + above, 100)
        field = Intervals(100)
        with pytest.raises(Rejected):
            enclosed(field, head, field.number(gmpy2.mpq(x)))


def test_every_family_is_tried_here():
    assert {split(h)[0] for h in HEADS} == set(FAMILIES)
