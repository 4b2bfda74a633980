"""Lines of a phase diagram: the critical one, and contours of xi_c, q* and chi_1.

At a variance q, sigma_w^2 = (q - sigma_b^2)/V(q). At chi_1 = r (r = 1 on the edge, exp(-1/xi) for xi_c = xi
in the ordered phase, the chi_1 with R'(c*) = exp(-1/xi) in the chaotic one), sigma_w^2 = r/D(q) and
sigma_b^2 = q - sigma_w^2 V(q).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield.phase_tables import STEP, Tables

Array = NDArray[np.float64]
#: Points of a line of one variance.
PARTS = 201
#: Less of q than this is rounding.
NOTHING = 1e-9


@dataclass(frozen=True)
class Window:
    """The ends of sigma_b and sigma_w."""

    sigma_b: tuple[float, float]
    sigma_w: tuple[float, float]


@dataclass(frozen=True)
class Line:
    """Points that follow each other; ``stable``: |chi_parallel| < 1 all along."""

    sigma_b: Array
    sigma_w: Array
    q_star: Array
    chi_parallel: Array
    stable: bool


def critical_line(tables: Tables, window: Window) -> list[Line]:
    """The edge of chaos in the window, cut where its stability changes; one point if phi is homogeneous."""
    if tables.phi.homogeneous:
        w = 1 / np.sqrt(tables.d([0.0]))
        inside = window.sigma_b[0] <= 0 and window.sigma_w[0] <= w[0] <= window.sigma_w[1]
        return [Line(np.zeros(1), w, np.ones(1), np.ones(1), False)] if inside else []
    q = _grid(tables.lo, tables.hi)
    return _lines(tables, q, np.ones_like(q), window, None)


def _grid(lo: float, hi: float) -> Array:
    """Variances four times as close as in the tables."""
    return np.geomspace(lo, hi, max(2, int(4 * np.log(hi / lo) / STEP)))


def contour(tables: Tables, window: Window, name: str, level: float, start: float) -> list[Line]:
    """Where the fixed point that the variance goes to from ``start`` has this xi_c, q_star or chi_1."""
    if name == "q_star":
        found = _same_variance(tables, window, level, start)
    elif name == "chi_1":
        q = _grid(tables.lo, tables.hi)
        found = _lines(tables, q, np.full_like(q, level), window, start)
    else:
        found = _same_depth(tables, window, level, start)
    return [line for line in found if line.stable]


def _same_variance(tables: Tables, window: Window, q: float, start: float) -> list[Line]:
    """sigma_w^2 = (q - sigma_b^2)/V, for each sigma_b of the window."""
    if not tables.lo <= q <= tables.hi:
        return []
    s = np.linspace(*window.sigma_b, PARTS) ** 2
    s = s[s < q]
    at = np.full_like(s, q)
    x = np.log(q)
    return _lines(tables, at, tables.d(x) * (q - s) / (q * tables.ratio(x)), window, start)


def _same_depth(tables: Tables, window: Window, xi_c: float, start: float) -> list[Line]:
    """On both sides of the critical line."""
    rate = exp(-1 / xi_c)
    q = _grid(tables.lo, tables.hi)
    found = _lines(tables, q, np.full_like(q, rate), window, start)
    lo, hi = tables.within
    if hi > lo > 0:
        q = _grid(lo, hi)
        one, other = tables.chi_1_of(q, rate)
        a, b = ~np.isnan(one), ~np.isnan(other)
        # Both branches begin at one variance: the line runs down the second and up the first.
        along = np.concatenate([q[b][::-1], q[a]])
        if len(along):  # None of these variances may have this xi_c.
            found += _lines(tables, along, np.concatenate([other[b][::-1], one[a]]), window, start)
    return found


def _lines(tables: Tables, q: Array, chi_1: Array, window: Window, start: float | None) -> list[Line]:
    x = np.log(q)
    w = chi_1 / tables.d(x)
    s = q - w * tables.ratio(x) * q
    chi = w * tables.slope(x)
    stable = abs(chi) < 1
    q, w, s, chi, stable = _to_the_axis(q, w, s, chi, stable)
    with np.errstate(invalid="ignore"):
        b, sw = np.sqrt(np.where(s >= 0, s, np.nan)), np.sqrt(np.where(w > 0, w, np.nan))
        inside = (b >= window.sigma_b[0]) & (b <= window.sigma_b[1])
        inside &= (sw >= window.sigma_w[0]) & (sw <= window.sigma_w[1])
    # One point more on either side, so that lines reach the window's border.
    wide = inside.copy()
    wide[1:] |= inside[:-1]
    wide[:-1] |= inside[1:]
    wide &= np.isfinite(b) & np.isfinite(sw)
    if start is not None:
        wide[wide] &= _reached(tables, q[wide], w[wide], s[wide], start)
    lines = []
    edges = np.nonzero((wide[1:] != wide[:-1]) | (stable[1:] != stable[:-1]))[0] + 1
    for part in np.split(np.arange(len(q)), edges):
        if len(part) > 1 and wide[part[0]]:
            # Lines of either stability meet.
            last = part[-1] + 1
            if last < len(q) and wide[last] and stable[last] != stable[part[0]]:
                part = np.append(part, last)
            lines.append(Line(b[part], sw[part], q[part], chi[part], bool(stable[part[0]])))
    return lines


def _to_the_axis(q: Array, w: Array, s: Array, chi: Array, stable: Any) -> tuple[Any, ...]:
    """The same with sigma_b^2 below rounding left out, and with points at 0 where a line comes to 0.

    Next to a point with sigma_b^2 > 0, what lies at or below 0 becomes the point between where it is 0.
    """
    some = s > NOTHING * q
    left, right = np.roll(some, -1), np.roll(some, 1)
    left[-1], right[0] = False, False
    q, w, s, chi, stable = q.copy(), w.copy(), s.copy(), chi.copy(), stable.copy()
    for ends, side in ((~some & left, 1), (~some & right, -1)):
        here = np.nonzero(ends)[0]
        there = here + side
        part = s[there] / (s[there] - np.minimum(s[here], 0))
        for values in (q, w, chi):
            values[here] = values[there] + part * (values[here] - values[there])
        s[here], stable[here] = 0, stable[there]
    keep = some | left | right
    # What is left out parts a line: NaN stands for it.
    w[~keep] = np.nan
    return q, w, s, chi, stable


def _reached(tables: Tables, q: Array, w: Array, s: Array, start: float) -> NDArray[np.bool_]:
    """Whether no other fixed point lies between the start and q."""
    grid = tables.q[None, :]
    growth = w[:, None] * tables.energy[None, :] + s[:, None] - grid
    lo, hi = np.minimum(q, start)[:, None] * 1.02, np.maximum(q, start)[:, None] / 1.02
    between = (grid > lo) & (grid < hi)
    right = np.where(q >= start, 1.0, -1.0)[:, None]
    return np.asarray(~(between & (growth * right <= 0)).any(axis=1))
