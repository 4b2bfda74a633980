"""Conditions as equations: ties solved by hand, contradictions, bounds in the target's coordinates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.driver import fits
from gateproof.numerics.fits.embedding import Contradiction, Embedding
from gateproof.numerics.fits.gates import Gates
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.search import Effort
from gateproof.numerics.fits.setting import Setting, problem
from gateproof.numerics.fits.target import of_formula
from gateproof.theory.formula import expand, parse_expr

LITTLE = Effort(starts=24, disturbed=8, levelled=2, idle=1)


def target(text, lo=None, hi=None):
    return of_formula(formula(text), expand(parse_expr(text)), lo, hi)


def point(tied, q):
    base, basis = tied.matrices()
    return base + basis @ np.asarray(q)


def test_chains_of_ties_with_factors():
    tied = Embedding(Gates(3))
    tied.tie(0, 1, 2.0, 3.0)
    tied.tie(1, 2, -0.5, 1.0)
    # p0 = 2 p1 + 3, p1 = 1 - p2/2, so p0 = 5 - p2.
    free = tied.matrices()[1].shape[1]
    assert free == Gates(3).size - 2
    p = point(tied, np.arange(1.0, free + 1))
    assert p[0] == pytest.approx(2 * p[1] + 3)
    assert p[1] == pytest.approx(1 - p[2] / 2)
    tied.fix(0, 1.0)
    p = point(tied, np.ones(free - 1))
    assert (p[0], p[1], p[2]) == pytest.approx((1.0, -1.0, 4.0))


def test_a_loop_fixes_or_contradicts():
    tied = Embedding(Gates(2))
    tied.tie(0, 1, 3.0, 4.0)
    tied.tie(0, 1, 1.0, 2.0)
    # 3 p + 4 = p + 2.
    p = point(tied, np.zeros(tied.matrices()[1].shape[1]))
    assert (p[1], p[0]) == pytest.approx((-1.0, 1.0))
    with pytest.raises(Contradiction):
        tied.fix(1, 0.0)
    same = Embedding(Gates(2))
    same.tie(0, 1, 1.0, 2.0)
    with pytest.raises(Contradiction):
        same.tie(0, 1, 1.0, 2.5)


def test_a_factor_of_zero_fixes():
    tied = Embedding(Gates(2))
    tied.tie(0, 1, 0.0, 7.0)
    assert point(tied, np.ones(tied.matrices()[1].shape[1]))[0] == 7


@pytest.mark.parametrize("text", ["gelu(x - 3)", "1000*gelu(x/1000 + 2)"])
def test_coefficients_stay_within_the_bound_in_the_target_s_coordinates(text):
    found = normal(target(text, Fraction(-3000), Fraction(2000)) if "1000" in text else target(text))
    # Unbound the middle branch of the first would have the intercept -1.5 and more.
    most = 1.2 if "1000" not in text else 900.0
    ends = "slopes" if "1000" not in text else "free"
    one = fits(found, Setting(3, ends=ends, max_coefficient=most), effort=LITTLE)[-1]
    _, _, slope, intercept = found.inverse(one.gates, one.full)
    assert max(np.abs(slope).max(), np.abs(intercept).max()) <= most
    free = fits(found, Setting(3, ends=ends), effort=LITTLE)[-1]
    _, _, slope, intercept = found.inverse(free.gates, free.full)
    assert max(np.abs(slope).max(), np.abs(intercept).max()) > most
    assert one.error > free.error


def test_pinned_ends_are_exact():
    found = normal(target("softplus(3*x - 1)"))
    sampled = problem(found, Setting(3), found.grid())
    rng = np.random.default_rng(1)
    for _ in range(5):
        full = sampled.full(rng.normal(size=sampled.basis.shape[1]))
        _, _, slope, intercept = found.inverse(sampled.gates, full)
        assert (slope[0], slope[-1]) == pytest.approx((0, 3), abs=1e-12)
        assert (intercept[0], intercept[-1]) == pytest.approx((0, -1), abs=1e-12)
