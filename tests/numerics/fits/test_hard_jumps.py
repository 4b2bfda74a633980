"""Hard gates at jumps where the value is not the limit from the left: the error counts every x."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gateproof
from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.hard import hard_fit
from gateproof.numerics.fits.hard_check import holds
from gateproof.numerics.fits.target import of_formula
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import expand, parse_expr

HEAVISIDE, HALF = "where(x < 0, 0, 1)", "where(x < 0, 0, where(x > 0, 1, 1/2))"
R = (None, None)
CASES = [
    # The branch that holds at 0 holds left of it too, so half of the value less the limit from the left is
    # the least error of all; pinned gates of two branches have 0 or 1 there.
    (HEAVISIDE, R, 2, {}, 1),
    (HEAVISIDE, R, 3, {}, Fraction(1, 2)),
    (HEAVISIDE, R, 2, {"ends": "slopes"}, Fraction(1, 2)),
    (HALF, R, 2, {}, Fraction(1, 2)),
    (HALF, R, 3, {}, Fraction(1, 4)),
    ("sign(x)", R, 2, {}, 1),
    ("sign(x)", R, 3, {}, Fraction(1, 2)),
    ("sign(x)", R, 5, {}, Fraction(1, 2)),
    ("sign(x)", R, 2, {"ends": "slopes"}, Fraction(1, 2)),
    ("sign(x)", (-1, 1), 2, {}, Fraction(1, 2)),
    ("sign(x - 3)", (-1, 7), 3, {"family": "constant"}, Fraction(1, 2)),
    # m*x is off by |m - 1| and |m - 3| at 1, and by 2*|m - 3| at 2: so m = 7/3, or 2 with a branch more.
    ("where(x < 1, x, 3*x)", (-2, 2), 2, {"family": "multiplicative"}, Fraction(4, 3)),
    ("where(x < 1, x, 3*x)", (-2, 2), 3, {"family": "multiplicative"}, 1),
    ("sign(x)", (-1, 1), 3, {"continuous": True}, 1),
    (HALF, (-1, 1), 3, {"continuous": True}, Fraction(1, 2)),
    (HEAVISIDE + "*exp(-x**2)", R, 3, {}, Fraction(1, 2)),
    (HEAVISIDE + "*exp(-x**2)", R, 4, {}, Fraction(1, 2)),
    ("where(x < 1, x, 1 + x)", (-1, 2), 2, {}, Fraction(1, 2)),
    # With the value at the jump that of its left side nothing is lost.
    ("where(x <= 0, 0, 1)", R, 2, {}, 0),
    ("where(x <= 0, 0, 1)*(x + 1)", (-1, 2), 2, {}, 0),
]


def target(text, lo, hi):
    ends = [None if e is None else Fraction(e) for e in (lo, hi)]
    return of_formula(formula(text), expand(parse_expr(text)), *ends)


@pytest.mark.parametrize(("text", "ends", "k", "options", "right"), CASES, ids=str)
def test_the_least_error_and_its_proof(text, ends, k, options, right):
    found = hard_fit(target(text, *ends), k, **options)
    assert found.error == pytest.approx(float(right), rel=1e-9, abs=1e-14)
    if right:
        assert found.bound is not None
        assert float(right) * (1 - 1e-9) <= found.bound <= right
        assert holds(found.witness)
        verdict = verify(found.record)
        assert verdict.accepted, verdict.reason


def test_a_higher_bound_or_another_limit_is_not_accepted():
    found = hard_fit(target(HEAVISIDE, *R), 3)
    (block,) = found.witness["blocks"]
    assert block["points"] == ["0-", "0"]
    assert not holds({**found.witness, "bound": str(found.bound + Fraction(1, 10**9))})
    for points in (["0", "0+"], ["0", "0-"], ["-1", "0"], ["0-"]):
        assert not holds({**found.witness, "blocks": [{**block, "points": points}]})
    # Left of the domain's end there is no limit.
    assert not holds({**found.witness, "domain": ["0", None], "left": None})


@pytest.mark.parametrize(
    ("text", "k", "right"), [("sign(x)", 3, 0.5), (HEAVISIDE + "*exp(-x**2)", 4, 0.5), (HALF, 3, 0.25)]
)
def test_the_certified_error_is_that_of_the_search(text, k, right):
    found = gateproof.fit(text, k, sharpness="hard")
    assert float(found.error.hi) == pytest.approx(right, rel=1e-6)
    assert found.status.name == "OK"
    assert found.lower_bound is not None
    assert float(found.lower_bound) == pytest.approx(right, rel=1e-9)


def test_branches_of_no_use_are_left_out():
    # Between the asymptotes' parallels through half the dip, 0.0849856.., a third branch gains nothing.
    two, three = (hard_fit(target("gelu(x)", *R), k, ends="slopes") for k in (2, 3))
    assert three.error == pytest.approx(two.error, rel=1e-8)
    assert three.gate.branches == 2
    assert "K = 2 is as good as K = 3" in three.why


def least(levels, values, k):
    """The least error of k constants for a staircase, by trying all breaks.

    A break at a step leaves the value there to the left; one within a level leaves it to both sides.
    """
    n = len(levels)

    def spread(a, b, upto):
        # Levels a to b, with the values between, and that at the right end of b.
        part = [*levels[a : b + 1], *values[a : b + (1 if upto else 0)]]
        return (max(part) - min(part)) / 2

    @cache
    def best(start, left):
        if left == 1:
            return spread(start, n - 1, upto=False)
        whole = [spread(start, n - 1, upto=False)]
        for b in range(start, n):
            whole.append(max(spread(start, b, upto=False), best(b, left - 1)))
            if b < n - 1:
                whole.append(max(spread(start, b, upto=True), best(b + 1, left - 1)))
        return min(whole)

    return best(0, k)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=5),
    st.integers(1, 4),
)
def test_staircases_with_values_of_their_own(steps, k):
    levels, values = [Fraction(a) for a, _ in steps], [Fraction(b) for _, b in steps[:-1]]
    text = str(levels[-1])
    for j in range(len(values), 0, -1):
        text = f"where(x < {j}, {levels[j - 1]}, where(x <= {j}, {values[j - 1]}, {text}))"
    found = hard_fit(target(text, 0, len(levels)), k, family="constant")
    right = least(tuple(levels), tuple(values), k)
    assert found.error == pytest.approx(float(right), rel=1e-9, abs=1e-12)
    x = np.unique(np.concatenate([np.linspace(0, len(levels), 1001), np.arange(len(levels))]))
    assert np.abs(found.pieces.at(x) - formula(text).numpy(x)).max() <= found.error * (1 + 1e-12) + 1e-12
    if found.bound is not None:
        assert holds(found.witness)
        assert found.bound <= right
