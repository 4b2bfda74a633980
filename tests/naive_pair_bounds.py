"""What a leaf for two sharpnesses claims, seen at samples: gates by definition, fitted to its witnesses.

The coordinates of the charts are turned into sharpnesses and thresholds; the best lines for those, at the
witnesses of the leaf alone, must miss the function by more than the bound. None of the prover's rows is used.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog
from scipy.special import expit

FAR = 3.0


def gates(rng, chart, sides, ratio):
    """Sharpnesses and thresholds of a random gate of the box; None if there is none at the point drawn."""
    t, d, place = (_within(rng, side) for side in sides)
    if t == 0 or (d == 0 and chart != "cross"):
        return None
    if chart == "cross":
        c = place
    elif chart == "beyond":
        c = FAR - math.log(place) / (2 * d) if place else math.inf
    else:
        k = d / place if place else math.inf
        c = math.atanh(k) / d if k < 1 else math.inf
    if not math.isfinite(c) or c > 1e6:
        return None
    # c1/c0 = exp(d c - (t + d) m).
    low, high = (math.exp(-8), math.exp(8)) if ratio is None else (float(ratio[0]), float(ratio[1] or 1e4))
    b = math.exp(rng.uniform(math.log(max(low, 1e-4)), math.log(high)))
    m = (d * c - math.log(b)) / (t + d)
    one, two = t + 2 * d, t
    return one, two, ((t + d) * m + d * c) / one, ((t + d) * m - d * c) / two


def least_error(gate, f, points, bound):
    """Of all lines, outer ones within ``bound`` of the asymptotes 0 and x, at the points alone."""
    one, two, h, k = gate
    x = np.array([float(p) for p in points])
    s, r = expit(one * (x - h)), expit(two * (x - k))
    y = np.array([f(p) for p in x])
    shape = np.stack([1 - s, r, s - r, (s - r) * x], 1)
    scale = np.abs(shape).max(0) + 1e-300
    shape, rest = shape / scale, y - x * r
    ones = np.ones((len(x), 1))
    limits = [(-bound * scale[0], bound * scale[0]), (-bound * scale[1], bound * scale[1])]
    best = linprog(
        [0, 0, 0, 0, 1],
        A_ub=np.block([[shape, -ones], [-shape, -ones]]),
        b_ub=np.concatenate([rest, -rest]),
        bounds=[*limits, (None, None), (None, None), (0, None)],
    )
    assert best.status == 0, best.message
    return best.fun


def _within(rng, side):
    low, high = float(side[0]), side[1]
    return low + rng.expovariate(1 / (1 + low)) if high is None else rng.uniform(low, float(high))
