"""The checker's primitives: published digits, and enclosure of what mpmath computes."""

from __future__ import annotations

from fractions import Fraction

import gmpy2
import mpmath as mp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive_certificates import FUNCTIONS, PRIMITIVES, F, number

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.interval import PRIMITIVES as KNOWN
from gateproof.proofs_check.checker.interval import Interval, Intervals, interval

# Digits as printed in Abramowitz and Stegun, Handbook of Mathematical Functions (1964): Tables 1.1
# (constants), 4.2 (log), 4.4 (exp), 4.6 (sin, cos), 4.14 (atan), 4.15 (sinh, cosh, tanh), 7.1 (erf); and
# in the DLMF: 4.38 (inverse hyperbolic functions by logarithms of the constants of Table 1.1).
TABLE = [
    ("exp", 1, "2.718281828459045235360287"),
    ("exp", -1, "0.367879441171442321595524"),
    ("log", 2, "0.693147180559945309417232"),
    ("log", 10, "2.302585092994045684017991"),
    ("sqrt", 2, "1.414213562373095048801689"),
    ("sqrt", 3, "1.732050807568877293527446"),
    ("sin", 1, "0.84147098480789650665250"),
    ("cos", 1, "0.54030230586813971740094"),
    ("tan", 1, "1.55740772465490223"),
    ("asin", "1/2", "0.523598775598298873077"),
    ("acos", "1/2", "1.047197551196597746154"),
    ("atan", 1, "0.785398163397448309615661"),
    ("sinh", 1, "1.175201194"),
    ("cosh", 1, "1.543080635"),
    ("tanh", 1, "0.76159416"),
    ("sech", 1, "0.648054274"),
    ("asinh", 1, "0.881373587019543025232609"),
    ("acosh", 2, "1.316957896924816708625046"),
    ("atanh", "1/2", "0.549306144334054845697623"),
    ("erf", "1/2", "0.5204998778"),
    ("erf", 1, "0.8427007929"),
    ("erf", 2, "0.9953222650"),
    ("erfc", 1, "0.1572992071"),
    ("sigmoid", 0, "0.5"),
    ("sigmoid", 1, "0.731058578630004879"),
    ("softplus", 0, "0.693147180559945309417232"),
    ("softplus", 1, "1.313261687518222834"),
]


def exact(x: gmpy2.mpfr) -> Fraction:
    top, bottom = x.as_integer_ratio()
    return Fraction(int(top), int(bottom))


def holds(found: Interval, real: mp.mpf, slack: str = "1e-75") -> bool:
    """Whether the interval holds the real, which mpmath knows to more digits than the interval has."""
    low = -mp.inf if gmpy2.is_infinite(found.lo) else number(exact(found.lo))
    high = mp.inf if gmpy2.is_infinite(found.hi) else number(exact(found.hi))
    room = abs(real) * mp.mpf(slack)
    return bool(low - room <= real <= high + room)


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(90):
        yield


@pytest.mark.parametrize(("head", "at", "digits"), TABLE)
def test_published_digits(head, at, digits):
    field = Intervals(106)
    found = field.function(field.number(Fraction(at)), head)
    half_unit = Fraction(1, 2) / 10 ** len(digits.partition(".")[2])
    assert Fraction(digits) - half_unit <= exact(found.lo) <= exact(found.hi) <= Fraction(digits) + half_unit
    with mp.workdps(60):  # the table itself is checked, by a program that shares no code with MPFR
        assert abs(FUNCTIONS[head](number(Fraction(at))) - mp.mpf(digits)) <= number(half_unit)


def test_the_table_and_the_tests_miss_no_primitive():
    assert {head for head, _, _ in TABLE} == KNOWN
    assert {*PRIMITIVES, "sqrt"} == KNOWN


def test_constants():
    field = Intervals(80)
    for name, digits in (("pi", "3.141592653589793238462643"), ("e", "2.718281828459045235360287")):
        found = field.constant(name)
        assert abs(exact(found.lo) - Fraction(digits)) < Fraction(1, 10**22)
        assert found.lo < found.hi
        assert holds(found, {"pi": +mp.pi, "e": +mp.e}[name])


RATIONALS = st.fractions(max_denominator=10**6).filter(lambda q: abs(q) < 10**4) | st.fractions(-4, 4)
WIDTHS = st.fractions(0, 7) | st.just(Fraction(0)) | st.fractions(0, Fraction(1, 10**6))
PARTS = st.lists(st.fractions(0, 1), min_size=3, max_size=3)


@pytest.mark.parametrize("head", [*PRIMITIVES, "sqrt"])
@settings(max_examples=25, deadline=None)
@given(lo=RATIONALS, width=WIDTHS, parts=PARTS, bits=st.sampled_from([32, 60, 106, 200]))
def test_enclosure_of_a_primitive(head, lo, width, parts, bits):
    field = Intervals(bits)
    lo = lo % 50 - 25 if head == "erfc" else lo  # mpmath's erfc takes seconds far out
    box = Interval(field.number(lo).lo, field.number(lo + width).hi)
    inside = [lo + width * part for part in (0, 1, *parts)]
    try:
        found = field.function(box, head)
    except Rejected:
        # A rejection is right only if some point near the box has no value.
        if head in ("log", "sqrt", "acosh"):
            assert lo <= (1 if head == "acosh" else 0)
        elif head in ("asin", "acos", "atanh"):
            assert lo <= -1 or lo + width >= 1
        else:
            assert head == "tan"
            assert width > 1 or abs(mp.cos(number(lo))) * abs(mp.cos(number(lo + width))) < 1
        return
    for x in inside:
        assert holds(found, FUNCTIONS[head](number(x)))
    if width == 0 and box.lo == box.hi and found.lo > 0 and gmpy2.is_finite(found.hi):
        assert exact(found.hi) <= exact(found.lo) * (
            1 + Fraction(8, 2**bits)
        )  # a few units in the last place


@settings(max_examples=100, deadline=None)
@given(a=RATIONALS, b=RATIONALS, w=WIDTHS, v=WIDTHS, parts=PARTS, n=st.integers(-6, 7), q=st.fractions(-3, 3))
def test_enclosure_of_operations(a, b, w, v, parts, n, q):
    field = Intervals(64)
    x, y = (Interval(field.number(lo).lo, field.number(lo + width).hi) for lo, width in ((a, w), (b, v)))
    s, t = a + w * parts[0], b + v * parts[1]
    cases = [
        (lambda: field.add(x, y), s + t),
        (lambda: field.sub(x, y), s - t),
        (lambda: field.mul(x, y), s * t),
        (lambda: field.div(x, y), s / t if t else None),
        (lambda: field.power(x, n), s**n if s or n >= 0 else None),
        (lambda: field.abs(x), abs(s)),
        (lambda: field.max(x, y), max(s, t)),
        (lambda: field.min(x, y), min(s, t)),
        (lambda: field.sign(x), (s > 0) - (s < 0)),
    ]
    for compute, real in cases:
        try:
            found = compute()
        except Rejected:
            continue
        assert real is not None
        assert exact(found.lo) <= real <= exact(found.hi)
    if a > 0:
        assert holds(field.power(x, q), mp.power(number(s), number(q)))
    for relation, truth in (("<", s < t), ("<=", s <= t), ("==", s == t), ("!=", s != t), (">", s > t)):
        assert truth in field.compare(x, y, relation)


@given(q=st.fractions(), bits=st.integers(32, 200))
def test_rationals_are_rounded_outward_and_no_farther(q, bits):
    found = Intervals(bits).number(q)
    assert exact(found.lo) <= q <= exact(found.hi)
    assert found.lo == found.hi or gmpy2.next_above(found.lo) == found.hi or bits != 53
    assert exact(found.hi) - exact(found.lo) <= abs(q) * Fraction(2, 2**bits)


@pytest.mark.parametrize("head", ["sin", "cos"])
@settings(max_examples=40, deadline=None)
@given(k=st.integers(-50, 50), before=st.fractions(0, 3), after=st.fractions(0, 3))
def test_extrema_inside_a_box_are_found(head, k, before, after):
    assume(before + after > 0)
    field = Intervals(60)
    middle = (k + (Fraction(1, 2) if head == "sin" else 0)) * Fraction(exact(field.constant("pi").lo))
    found = field.function(Interval(field.number(middle - before).lo, field.number(middle + after).hi), head)
    assert (found.hi == 1) if k % 2 == 0 else (found.lo == -1)


def test_waves_are_narrow_where_they_can_be():
    field = Intervals(60)
    found = field.function(Interval(field.number(1).lo, field.number(Fraction(3, 2)).hi), "sin")
    assert found.hi < 1
    assert found.lo > 0.84
    for middle in (-1000, 1000):
        found = field.function(Interval(field.number(middle).lo, field.number(middle + F(1, 100)).hi), "cos")
        assert found.hi - found.lo < 0.01
    far = field.number(2**101)
    assert field.function(far, "cos") == (-1, 1)


@pytest.mark.parametrize(
    ("head", "lo", "hi"),
    [
        ("log", 0, 1), ("log", -1, 1), ("log", -2, -1), ("sqrt", -1, 4), ("asin", -2, 0), ("asin", 0, 2),
        ("acos", -2, 0), ("acos", 0, 2), ("acosh", 0, 2), ("atanh", -1, 0), ("atanh", 0, 1), ("atanh", 0, 2),
        ("tan", 1, 2), ("tan", 0, 4), ("tan", -2, -1),
    ],
)  # fmt: skip
def test_no_value_no_enclosure(head, lo, hi):
    field = Intervals(60)
    with pytest.raises(Rejected):
        field.function(Interval(field.number(lo).lo, field.number(hi).hi), head)


def test_operations_without_a_value():
    field = Intervals(60)
    zero, wide, one = field.number(0), Interval(gmpy2.mpfr(-1), gmpy2.mpfr(1)), field.number(1)
    for attempt in (
        lambda: field.div(one, zero),
        lambda: field.div(one, wide),
        lambda: field.div(one, Interval(gmpy2.mpfr(-1), gmpy2.mpfr(0))),
        lambda: field.div(one, Interval(gmpy2.mpfr(-1), gmpy2.mpfr("-0"))),
        lambda: field.div(one, Interval(gmpy2.mpfr(0), gmpy2.mpfr(1))),
        lambda: field.div(one, Interval(gmpy2.mpfr("-0"), gmpy2.mpfr(1))),
        lambda: field.power(wide, -2),
        lambda: field.power(wide, Fraction(1, 2)),
        lambda: field.power(one, 10**7),
        lambda: field.power(one, -(10**7)),
        lambda: interval(gmpy2.mpfr("nan"), gmpy2.mpfr(1)),
        lambda: interval(gmpy2.mpfr(2), gmpy2.mpfr(1)),
        lambda: interval(gmpy2.inf(), gmpy2.inf()),
        lambda: interval(gmpy2.inf(-1), gmpy2.inf(-1)),
    ):
        with pytest.raises(Rejected):
            attempt()
    assert field.power(zero, 0) == (1, 1)  # as docs/certificates.md says


@pytest.mark.parametrize("q", [F(1, 2), F(1, 3), F(5, 3), F(7, 2)])
def test_fractional_powers_down_to_0(q):
    field = Intervals(60)
    for hi in (F(0), F(1, 2), F(1), F(3)):
        found = field.power(Interval(field.number(0).lo, field.number(hi).hi), q)
        assert found.lo == 0
        assert holds(found, mp.power(number(hi), number(q)))
        assert exact(found.hi) <= max(1, hi**4)


def test_overflow_leaves_a_true_bound():
    field = Intervals(60)
    huge = field.function(field.number(10**12), "exp")
    assert gmpy2.is_finite(huge.lo)
    assert gmpy2.is_infinite(huge.hi)
    assert field.mul(huge, field.number(0)) == (0, 0)
    assert field.div(field.number(1), huge).lo == 0
    assert field.function(huge, "tanh").hi == 1
    assert field.function(field.neg(huge), "sigmoid").lo == 0
    assert field.function(huge, "sigmoid").hi == 1
    assert field.function(huge, "erfc").lo == 0
    assert field.function(huge, "sin") == (-1, 1)
    assert gmpy2.is_infinite(field.sub(huge, huge).lo)
    assert field.function(huge, "log").lo > 10**8
    assert field.function(Interval(field.number(3).lo, huge.hi), "cos") == (-1, 1)
    with pytest.raises(Rejected):
        field.div(field.number(1), field.sub(huge, huge))


def test_the_global_context_is_neither_used_nor_changed():
    wanted = Intervals(100).function(Intervals(100).number(Fraction(1, 3)), "softplus")
    with gmpy2.context(precision=10, round=gmpy2.RoundUp) as context:
        before = repr(context)
        field = Intervals(100)
        found = field.function(field.number(Fraction(1, 3)), "softplus")
        assert field.neg(field.neg(found)) == found == wanted
        assert repr(context) == before
