"""The best monotone gate against a search of another kind: differential evolution and linear programmes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import differential_evolution, linprog
from scipy.special import expit, ndtr

import gateproof

X = np.linspace(-10, 10, 161)
RIGHT = {
    "softplus(x)": np.logaddexp(0, X),
    "gelu(x)": X * ndtr(X),
    "silu(x)": X * expit(X),
}


def least(right, tau, first, apart):
    """The smallest error of a rising gate with lines 0, m x + c, x: a linear programme in m and c."""
    second = first + apart
    low, high = expit(tau * (X - first)), expit(tau * (X - second))
    steep, later = tau * low * (1 - low), tau * high * (1 - high)
    middle, turn = low - high, steep - later
    lines, slopes = np.stack([middle * X, middle], 1), np.stack([turn * X + middle, turn], 1)
    rest, rise = high * X, later * X + high
    one = np.ones((len(X), 1))
    # Far out on the left y is exp(tau x) x (exp(-tau first) m + exp(-tau second) (1 - m)), to first order.
    tail = np.exp(-tau * apart)
    rows = [
        np.hstack([lines, -one]),
        np.hstack([-lines, -one]),
        np.hstack([-slopes, 0 * one]),
        [[1 - tail, 0, 0]],
    ]
    bounds = [right - rest, rest - right, rise, [-tail]]
    found = linprog(
        [0, 0, 1],
        A_ub=np.vstack(rows),
        b_ub=np.concatenate(bounds),
        bounds=[(None, None)] * 3,
        method="highs",
    )
    return found.fun if found.status == 0 else 10.0


@pytest.mark.parametrize(
    "text", ["softplus(x)", *(pytest.param(t, marks=pytest.mark.deep) for t in list(RIGHT)[1:])]
)
def test_no_other_search_finds_a_better_rising_gate(text):
    right = RIGHT[text]
    other = differential_evolution(
        lambda p: least(right, *p),
        [(0.3, 15), (-4, 3), (1e-3, 6)],
        seed=1,
        maxiter=12,
        popsize=8,
        polish=False,
    )
    found = gateproof.fit(text, 3, monotone=True)
    assert found.error.evidence == "certified"
    assert "rising throughout, certified" in found.message
    # At points of a grid the other error is a little less than it is.
    assert float(found.error.hi) <= other.fun * 1.002


def test_the_other_search_knows_what_rises():
    # With thresholds nearly one x sigmoid(x) is a gate, which falls on the left of its minimum.
    assert least(RIGHT["silu(x)"], 1.0, -1e-3, 1e-3) > 0.1
