"""The programme of a minimax step against a general solver."""

from __future__ import annotations

import numpy as np
import pytest

from gateproof.numerics.fits import lowest as module
from gateproof.numerics.fits.lowest import lowest


@pytest.mark.parametrize("seed", range(60))
def test_as_low_as_a_general_solver(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n, m, k = (int(v) for v in rng.integers([1, 1, 0], [9, 25, 12]))
    slopes = rng.normal(size=(m, n)) * 10.0 ** rng.integers(-3, 4, n)
    if seed % 3 == 0:
        # Ties: equal peaks, and unknowns that do the same.
        slopes = np.round(slopes[rng.integers(0, m, m)], 1)
        slopes[:, -1] = slopes[:, 0]
    height = np.abs(rng.normal(size=m)) if seed % 2 else np.ones(m)
    low, high = -np.abs(rng.normal(size=n)), np.abs(rng.normal(size=n))
    low[rng.uniform(size=n) < 0.2] = 0.0
    if seed % 5 == 0:
        high[0] = low[0] = 0.0
    conditions = (rng.normal(size=k), rng.normal(size=(k, n))) if k else None
    right = module._general(slopes, height, low, high, conditions, 10.0)
    monkeypatch.setattr(module, "_general", lambda *_: pytest.fail("the tableau gave up"))
    d, value, shares = lowest(slopes, height, low, high, conditions, 10.0)
    assert value == pytest.approx(right[1], rel=1e-7, abs=1e-7)
    assert (low <= d).all()
    assert (d <= high).all()
    assert shares.sum() == pytest.approx(1)
    breach = 0.0 if conditions is None else max(0.0, float(-(conditions[0] + conditions[1] @ d).min()))
    assert (height + slopes @ d).max() + 10 * breach == pytest.approx(value, rel=1e-9, abs=1e-9)
    # Only what is at the level holds it up.
    assert np.allclose(shares * (height + slopes @ d - (height + slopes @ d).max()), 0, atol=1e-7)


def test_one_peak_goes_down_as_far_as_it_may():
    d, value, shares = lowest(
        np.array([[2.0, 0.0]]), np.array([1.0]), np.array([-0.25, -1]), np.array([1.0, 1])
    )
    assert d[0] == -0.25
    assert value == 0.5
    assert shares == pytest.approx([1])
