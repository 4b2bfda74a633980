"""Nested extrema against best approximations known from theory."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from gateproof.numerics.bounds import Budget
from gateproof.numerics.charts import charts
from gateproof.numerics.minimax import minimax
from gateproof.numerics.points import at_point
from gateproof.numerics.ranges import Range
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import expand, free_names, parse_expr
from gateproof.theory.formula.nodes import num

REALS, POSITIVE = Range(), Range(num(0), None)
UNIT, SYMMETRIC = Range(num(0), num(1), True, True), Range(num(-1), num(1), True, True)
GATE = "abs(tg(x, tau=t, theta=[h], slope=[0, 1], intercept=[0, 0]) - gelu(x))"


def found(text, inner, outer, digits=4, boxes=20_000):
    return minimax(expand(parse_expr(text)), inner, outer, digits, Budget(boxes=boxes))


def e():
    return mpmath.e


# Best uniform approximations: Chebyshev's on [-1, 1], and exp by a constant or a line on [0, 1].
KNOWN = [
    ("abs(x - a)", UNIT, "a", lambda: mpmath.mpf(1) / 2),
    ("abs(x**2 - a*x - b)", SYMMETRIC, "ab", lambda: mpmath.mpf(1) / 2),
    ("abs(exp(x) - a)", UNIT, "a", lambda: (e() - 1) / 2),
    ("abs(exp(x) - a - b*x)", UNIT, "ab", lambda: (2 - e() + (e() - 1) * mpmath.log(e() - 1)) / 2),
]


@pytest.mark.parametrize(("text", "within", "names", "value"), KNOWN, ids=[k[0] for k in KNOWN])
def test_best_approximation(text, within, names, value):
    result = found(text, (("x", within),), tuple((n, REALS) for n in names))
    assert result.status == "ok"
    with mpmath.workdps(30):
        right = value()
        assert mpmath.mpf(result.lower.numerator) / result.lower.denominator <= right + mpmath.mpf(10) ** -25
        assert mpmath.mpf(result.upper.numerator) / result.upper.denominator >= right - mpmath.mpf(10) ** -25
    assert result.upper - result.lower < Fraction(1, 1000)


FOUR = Range(num(-4), num(4), True, True)


@pytest.mark.parametrize(("text", "within", "names", "value"), KNOWN, ids=[k[0] for k in KNOWN])
def test_certificate_of_a_lower_bound(text, within, names, value):
    result = found(text, (("x", within),), tuple((n, FOUR) for n in names))
    (document,) = result.below
    assert verify(document).accepted
    assert Fraction(document["bound"]) == result.lower
    with mpmath.workdps(30):
        true = Fraction(str(value())) * (1 + Fraction(1, 10**9))
    assert not verify({**document, "bound": str(true)}).accepted
    assert document["tree"][0] == "split"
    assert not verify({**document, "tree": document["tree"][3]}).accepted
    assert not verify({**document, "core": ["var", "x"]}).accepted
    # Every witness is in the inner set, and at sampled parameters one of them shows the bound.
    points = set(_witnesses(document["tree"]))
    assert all(within.lo.value <= x <= within.hi.value for x in points)
    body = expand(parse_expr(text))
    for k in range(40):
        at = {n: Fraction((7 * k + 3 * i * k * k) % 33 - 16, 4) for i, n in enumerate(names)}
        assert max(at_point(body, {**at, "x": x}, 80) for x in points) > float(result.lower) - 1e-12


def _witnesses(tree):
    if tree[0] == "leaf":
        yield Fraction(tree[1][1]["x"])
    else:
        yield from _witnesses(tree[3])
        yield from _witnesses(tree[4])


def test_no_certificate_over_an_infinite_range():
    assert found("abs(x - a)", (("x", UNIT),), (("a", REALS),)).below == ()


def _balanced_sharpness():
    """Where the two peaks of |x sigmoid(t x) - gelu(x)| on x > 0 are equally high, and how high."""

    def gap(t, x):
        return x / (1 + mpmath.exp(-t * x)) - x * mpmath.ncdf(x)

    def peaks(t):
        inner = mpmath.findroot(lambda x: mpmath.diff(lambda y: gap(t, y), x), 0.7)
        outer = mpmath.findroot(lambda x: mpmath.diff(lambda y: gap(t, y), x), 2.4)
        return abs(gap(t, inner)), abs(gap(t, outer))

    def difference(t):
        a, b = peaks(t)
        return a - b

    t = mpmath.findroot(difference, (1.76, 1.78), solver="secant", tol=1e-20)
    return t, peaks(t)[0]


def test_best_sharpness_for_gelu_is_where_two_peaks_balance():
    with mpmath.workdps(25):
        sharpness, error = _balanced_sharpness()
        one = found("abs(x*sigmoid(t*x) - gelu(x))", (("x", REALS),), (("t", POSITIVE),), 8)
        assert float(one.lower) <= float(error) <= float(one.upper)
        assert abs(float(one.point["t"]) - float(sharpness)) < 1e-6
        # The curve is symmetric, so a threshold off 0 does not help.
        two = found(GATE, (("x", REALS),), (("t", POSITIVE), ("h", REALS)), 4)
        assert float(two.lower) <= float(error) <= float(two.upper)
        assert float(two.upper - two.lower) < 5e-6


def test_bound_holds_at_every_parameter_tried():
    result = found(GATE, (("x", REALS),), (("t", POSITIVE), ("h", REALS)), 3)
    for t in (1e-6, 0.1, 1.0, 1.7, 1.7729, 1.9, 30.0, 1e6):
        for h in (-1e6, -3.0, -0.01, 0.0, 0.02, 5.0, 1e7):
            worst = max(
                abs(x * float(mpmath.mpf(1) / (1 + mpmath.exp(-t * (x - h)))) - float(x * mpmath.ncdf(x)))
                for x in [k / 8 for k in range(-80, 81)] + [1e4, -1e4]
            )
            assert worst >= float(result.lower) * 0.95


def test_work_is_bounded():
    result = found(GATE, (("x", REALS),), (("t", POSITIVE), ("h", REALS)), 9, boxes=10)
    assert result.boxes == 10
    assert result.reason == "boxes"
    assert result.lower is None or float(result.lower) <= 0.013922246


def test_infinite_inner_value_is_not_a_number():
    assert found("x*t", (("x", REALS),), (("t", POSITIVE),)).status == "infinite"


def test_chart_of_a_gate_is_the_same_function():
    body = expand(parse_expr(GATE))
    small, large = charts(body, {"t": POSITIVE, "h": REALS})
    assert large.body == body
    assert small.products == {"h": "t"}
    assert small.back({"t": Fraction(1, 2), "h": Fraction(3)}) == {"t": Fraction(1, 2), "h": Fraction(6)}
    for x, t, h in ((2, Fraction(1, 3), 5), (-1, Fraction(7, 8), -2), (0, Fraction(1, 9), 11)):
        point = {"x": Fraction(x), "t": t, "h": Fraction(h)}
        moved = {**point, "h": t * h}
        assert abs(at_point(small.body, moved, 128) - at_point(body, point, 128)) < 1e-30


def test_no_chart_where_a_threshold_stands_alone():
    body = expand(parse_expr("h + sigmoid(t*(x - h))"))
    assert len(charts(body, {"t": POSITIVE, "h": REALS})) == 1
    assert free_names(body) == {"t", "h", "x"}
