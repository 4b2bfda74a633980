"""Ranges and Lipschitz constants: by hand, and no sampled value or slope outside."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from known_zoo import ZOO, Known

from gateproof.numerics.extent import Bound, extent
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.zeros import order

#: Infimum, supremum ('!' where it is attained) and Lipschitz constant, as formula text.
BY_HAND = [
    ("tanh(x)", "-1", "1", "1"),
    ("sigmoid(x)", "0", "1", "1/4"),
    ("hardsigmoid(x)", "0!", "1!", "1/6"),
    ("relu(x)", "0!", "oo", "1"),
    ("elu(x)", "-1", "oo", "1"),
    ("elu(x, 3)", "-3", "oo", "3"),
    ("hardswish(x)", "-3/8!", "oo", "3/2"),
    ("memglu(x)", "-1/2!", "1/2!", "1"),
    ("gaussian(x)", "0", "1!", "sqrt(2/e)"),
    ("arctan(x)", "-pi/2", "pi/2", "1"),
    ("x*atan(x)", "0!", "oo", "pi/2"),
    ("asinh(x)", "-oo", "oo", "1"),
    ("sin(x)", "-1!", "1!", "1"),
    ("snake(x)", "-oo", "oo", "2"),
    ("isru(x, 4)", "-1/2", "1/2", "1"),
    ("softplus(x, 3)", "0", "oo", "1"),
    ("two_sided_surrogate(x)", "1/(1 + exp(2))!", "1", "1"),
    ("hardshrink(x)", "-oo", "oo", "oo"),
    ("step(x)", "0!", "1!", "oo"),
    ("where(x > 0, 1, where(x < 0, -1, 1/2))", "-1!", "1!", "oo"),
    ("where(x > 0, exp(-x), -1)", "-1!", "1", "oo"),
    ("x**2", "0!", "oo", "oo"),
    ("silu_hard_removal(x)", "", "asinh(1)/sqrt(2)!", "oo"),
    ("gelu(x)", "", "oo", "erfc(-1)/2 + sqrt(2)*exp(-1)/sqrt(2*pi)"),
    ("7/2", "7/2!", "7/2!", "0"),
    ("max(0, 1 - abs(x))", "0!", "1!", "1"),
    ("max(tanh(x), 0)**3 - max(-tanh(x), 0)**3", "-1", "1", "3/4"),
]


def agrees(found: Bound | None, text: str) -> bool:
    assert found is not None
    if not text:
        return True
    if text in ("oo", "-oo"):
        return found.lo is None
    attained = text.endswith("!")
    assert found.exact is not None
    return order(found.exact, expand(parse_expr(text.rstrip("!")))) == 0 and (
        found.attained is None or found.attained is attained
    )


@pytest.mark.parametrize(("text", "lower", "upper", "steepest"), BY_HAND, ids=[row[0] for row in BY_HAND])
def test_by_hand(text: str, lower: str, upper: str, steepest: str) -> None:
    found = extent(expand(parse_expr(text)))
    assert found.reason == ""
    assert agrees(found.lower, lower)
    assert agrees(found.upper, upper)
    assert agrees(found.lipschitz, steepest)


def test_the_constants_of_silu() -> None:
    """Its infimum is -W(1/e) and its steepest slope 1.0998393..., both by mpmath outside."""
    found = extent(expand(parse_expr("silu(x)")))
    assert found.lower is not None
    assert found.lower.attained is True
    assert found.lipschitz is not None
    for bound, text in ((found.lower, "-0.27846454276107379511"), (found.lipschitz, "1.0998393201288669170")):
        assert bound.lo is not None
        assert bound.hi is not None
        assert bound.lo - Fraction(1, 10**19) <= Fraction(text) <= bound.hi + Fraction(1, 10**19)
        assert bound.hi - bound.lo < Fraction(1, 10**15)


@pytest.mark.parametrize("known", ZOO.values(), ids=ZOO)
def test_no_sample_lies_outside_and_some_come_near(known: Known) -> None:
    found = extent(expand(parse_expr(known.text)))
    assert found.reason == ""
    with mp.workdps(60):
        grid = [mp.mpf(k) / 16 + mp.mpf(1) / 999 for k in range(-160, 161)]
        far = [mp.mpf(s) * 10**6 for s in (-1, 1)]
        values = [known.value(x) for x in (*grid, *far)]
        h = mp.mpf(10) ** -20
        slopes = [abs(known.value(x + h) - known.value(x - h)) / (2 * h) for x in grid]
        for bound, sample, side in (
            (found.lower, min(values), -1),
            (found.upper, max(values), 1),
            (found.lipschitz, max(slopes), 1),
        ):
            assert bound is not None
            if bound.lo is None or bound.hi is None:
                continue
            lo, hi = (mp.mpf(p.numerator) / p.denominator for p in (bound.lo, bound.hi))
            edge = hi if side > 0 else lo
            assert side * (edge - sample) >= -(mp.mpf(10) ** -15)
            assert abs(edge - sample) < 0.2
            assert hi - lo < mp.mpf(10) ** -15


def test_a_function_with_holes_has_no_extent_here() -> None:
    assert extent(expand(parse_expr("log(x)"))).reason
