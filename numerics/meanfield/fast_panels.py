"""Gauss-Legendre panels: nodes between ends, and sums with their estimated errors.

A sum is (value, error, size): its estimated error, from the last Legendre coefficients of each panel's
integrand, and the sum of the integrand's size, which the error is judged by. With coefficients that fall
like rho^-k the last of n is rho^-(n-1), relative to the panel, and the rule is off by rho^-2n.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield.fast_features import ORDER, rule

Array = NDArray[np.float64]
Value = Any

ROOT = float(np.sqrt(2 * np.pi))
#: Rounding of an exponent -z^2/2 leaves eps z^2 of what it is the exponent of.
EPS = float(np.finfo(np.float64).eps)


def nodes_between(ends: Value) -> tuple[Value, Value]:
    """Nodes (.., panels, n) and half widths (.., panels) of sorted ends (.., panels + 1), for any arrays."""
    t, _, _ = rule()
    half = (ends[..., 1:] - ends[..., :-1]) / 2
    return ends[..., :-1, None] + half[..., None] * (t + 1), half


def ends_of(cuts: Array, lo: float, hi: float, widest: float) -> Array:
    """Ends of panels on [lo, hi]: at the cuts, and evenly between two of them, no wider than ``widest``."""
    at = [lo, *cuts[(cuts > lo) & (cuts < hi)], hi]
    parts = [
        np.linspace(a, b, int(np.ceil((b - a) / widest * (1 - 1e-12))) + 1)[:-1] for a, b in pairwise(at)
    ]
    return np.concatenate([*parts, [hi]])


def errors(values: Array) -> Array:
    """For each panel of nodal values (.., panels, n) the error of its mean value."""
    _, _, last = rule()
    # As one matrix: a stack of small ones costs a call each.
    flat = values.reshape(-1, ORDER)
    with np.errstate(all="ignore"):
        top = np.max(np.abs(flat), axis=-1)
        tail = np.max(np.abs(flat @ last), axis=-1)
        found = np.where(top > 0, 4 * tail * (tail / np.where(top > 0, top, 1.0)), 0.0)
    return np.asarray(found.reshape(values.shape[:-1]))


def summed(values: Array, half: Array) -> tuple[Array, Array, Array]:
    """The integral of nodal values (.., panels, n), over the last two axes."""
    _, weights, _ = rule()
    flat, shape = values.reshape(-1, ORDER), values.shape[:-1]
    with np.errstate(all="ignore"):
        whole, size = ((a @ weights).reshape(shape) for a in (flat, np.abs(flat)))
        value, error, spread = (np.sum(a * half, axis=-1) for a in (whole, errors(values), size))
    return value, error, spread


def weights_of(half: Array) -> Array:
    """The weights of all nodes, flat."""
    _, weights, _ = rule()
    return np.asarray((half[:, None] * weights).reshape(-1))


__all__ = ["EPS", "ORDER", "ROOT", "ends_of", "errors", "nodes_between", "summed", "weights_of"]
