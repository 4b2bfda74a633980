"""The two-sided gate: proofs of gradients and potential, moments against quadrature."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.numerics.points import at_point
from gateproof.numerics.zero_rate import threshold_for_rate
from gateproof.theory import two_sided as ts
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import expand, parse_claim, parse_expr, substitute
from gateproof.theory.formula.nodes import Rel, num

POSITIVE = Domain(num(0), None)
REAL = {"x": Domain(), "D": POSITIVE, "C": POSITIVE, "alpha": Domain(), "eps": POSITIVE}
OFF_ZERO = Assumptions({**REAL, "x": Domain(without=(num(0),))})


def fact(text):
    body = parse_claim(f"for x in R, D > 0, eps > 0: {text}").body
    assert isinstance(body, Rel)
    return body


def equal(left, right, given_=None):
    return prove_relation(expand(left), "==", expand(right), given_ or Assumptions(REAL)) is not None


def value(expr, **point):
    found = at_point(expand(expr), {k: Fraction(v) for k, v in point.items()}, 200)
    return mp.mpf(found.str(45, radius=False))


def slope(expr, name):
    found = derivative(expand(expr), name)
    assert found is not None
    return found


def test_branches():
    assert equal(ts.gate(), ts.gate_by_branches())


@pytest.mark.parametrize("where", [["x > D"], ["x < -D"], ["x > 0", "x < D"], ["x < 0", "x > -D"]])
def test_slopes_off_the_thresholds(where):
    off = Assumptions(REAL, tuple(map(fact, where)))
    assert equal(slope(ts.gate(), "x"), ts.slope_x(), off)
    assert equal(slope(ts.gate(), "D"), ts.slope_delta(), off)
    assert equal(slope(ts.gate(), "D"), ts.slope_x(), off) == (where != ["x > D"])


def test_subgradients():
    assert ts.subgradient(1, 2) == ts.Subgradient((0, 0), (0, 0), ((0, 0),))
    assert ts.subgradient(-3, 2).joint == ((1, 1),)
    assert ts.subgradient(3, 2).joint == ((1, -1),)
    kink = ts.subgradient(-2, 2)
    assert (kink.x, kink.delta, kink.joint) == ((0, 1), (0, 1), ((0, 0), (1, 1)))
    with pytest.raises(ValueError, match="positive"):
        ts.subgradient(1, 0)
    with pytest.raises(TypeError, match="float"):
        ts.subgradient(0.5, 1)


@settings(max_examples=40, deadline=None)
@given(st.fractions(-3, 3, max_denominator=4), st.fractions(Fraction(1, 4), 3, max_denominator=4))
def test_subgradients_hold_the_one_sided_quotients(x, d):
    def gate(u, e):
        return max(abs(u) - e, Fraction(0)) * ((u > 0) - (u < 0))

    h = Fraction(1, 1000)
    found = ts.subgradient(x, d)
    right, left = (gate(x + h, d) - gate(x, d)) / h, (gate(x, d) - gate(x - h, d)) / h
    assert sorted((right, left)) == list(found.x)
    up, down = (gate(x, d + h) - gate(x, d)) / h, (gate(x, d) - gate(x, d - h)) / h
    assert sorted((up, down)) == list(found.delta)


def test_the_potential_has_both_as_derivatives_and_not_the_printed_one():
    assert equal(slope(ts.potential(), "x"), ts.surrogate_x(), OFF_ZERO)
    assert equal(slope(ts.potential(), "D"), ts.debiased_delta(), OFF_ZERO)
    assert not equal(slope(ts.potential(), "D"), ts.surrogate_delta(), OFF_ZERO)
    assert value(ts.debiased_delta(), x=0, D=1, C=4) == 0
    # The jump of the printed one, by its values beside 0.
    with mp.workdps(40):
        tiny = Fraction(1, 10**40)
        sides = value(ts.surrogate_delta(), x=-tiny, D=1, C=4) - value(ts.surrogate_delta(), x=tiny, D=1, C=4)
        assert abs(sides - value(ts.jump(), D=1, C=4)) < 1e-35


@pytest.mark.parametrize(("c", "d"), [(4, 1), (1, "1/4"), ("1/2", "1/3"), (10, 2)])
def test_distance_of_the_potential(c, d):
    """A scan over |x| and the far end: never above the closed form, and close to it."""
    with mp.workdps(30):
        bound = value(ts.potential_distance(), C=c, D=d)
        cm, dm = (mp.mpf(f.numerator) / f.denominator for f in map(Fraction, (c, d)))

        def gap(x):
            soft = (mp.log1p(mp.exp(cm * (x - dm))) - mp.log1p(mp.exp(-cm * dm))) / cm
            return abs(soft - max(x - dm, 0))

        points = [dm * k / 40 for k in range(200)] + [dm + 80 / cm]
        best = max(map(gap, points))
        assert best <= bound + mp.mpf(10) ** -25
        assert best > bound * mp.mpf("0.999")
        assert (bound == value(ts.threshold_distance(), C=c, D=d)) == (cm * dm > mp.asinh(1))


def test_parameterisation():
    above = Assumptions(REAL, (fact("D > eps"),))
    back = expand(ts.inverse())
    assert equal(substitute(ts.threshold(), {"alpha": back}), parse_expr("D"), above)
    assert equal(ts.inverse(), ts.stable_inverse(), above)
    assert equal(slope(ts.threshold(), "alpha"), ts.threshold_slope())
    with mp.workdps(40):
        for d in (Fraction(1, 10**9), Fraction(1), Fraction(700)):
            y = mp.mpf(d.numerator) / d.denominator
            right = y + mp.log(-mp.expm1(-y))
            assert abs(value(ts.stable_inverse(), D=d, eps=0) - right) < mp.mpf(10) ** -30


@pytest.mark.parametrize(("s", "d"), [(1, "1/2"), (2, 3), ("1/3", "1/10")])
def test_gaussian_moments_against_quadrature(s, d):
    with mp.workdps(25):
        sm, dm = (mp.mpf(f.numerator) / f.denominator for f in map(Fraction, (s, d)))

        def mean(f):
            def density(x):
                return f(x) * mp.exp(-x * x / (2 * sm**2)) / (sm * mp.sqrt(2 * mp.pi))

            ends = [-mp.inf, -dm - sm, -dm, 0, dm, dm + sm, mp.inf]
            return mp.quad(density, ends)

        def y(x):
            return mp.sign(x) * max(abs(x) - dm, 0)

        for expr, f in (
            (ts.zero_rate(), lambda x: 1 if abs(x) <= dm else 0),
            (ts.mean_square(), lambda x: y(x) ** 2),
            (ts.mean_size(), lambda x: abs(y(x))),
            (ts.mean_product(), lambda x: x * y(x)),
            (ts.distortion(), lambda x: (x - y(x)) ** 2),
        ):
            assert abs(value(expr, s=s, D=d) - mean(f)) < mp.mpf(10) ** -15
        rate = value(ts.zero_rate_slope(), s=s, D=d)
        assert abs(rate - mp.diff(lambda t: mp.erf(t / (sm * mp.sqrt(2))), dm)) < 1e-12


def test_moments_fit_together():
    parts = "s**2 - 2*product + square"
    whole = substitute(parse_expr(parts), {"product": ts.mean_product(), "square": ts.mean_square()})
    assert equal(whole, ts.distortion(), Assumptions({"s": POSITIVE, "D": POSITIVE}))


@pytest.mark.parametrize(
    ("rate", "right"),
    # Half-normal quantiles: norm.ppf((1 + rate)/2), from tables of the normal distribution.
    [("0.2", "0.2533471031"), ("0.3", "0.3853204664"), ("0.5", "0.6744897502"), ("0.75", "1.1503493804")],
)
def test_thresholds_for_rates(rate, right):
    lo, hi = threshold_for_rate(Fraction(rate), 12)
    assert hi - lo <= Fraction(1, 10**12)
    assert abs(lo - Fraction(right)) < Fraction(1, 10**10)
    with mp.workdps(30):
        ends = [mp.erf(mp.mpf(e.numerator) / e.denominator / mp.sqrt(2)) for e in (lo, hi)]
    assert ends[0] <= mp.mpf(rate) <= ends[1]


def test_rates_refused():
    for rate in (0, 1, Fraction(-1, 2), 2):
        with pytest.raises(ValueError, match="between 0 and 1"):
            threshold_for_rate(Fraction(rate))
