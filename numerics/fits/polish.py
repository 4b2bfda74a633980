"""Newton's iteration on the conditions of a minimax fit, with parameters + 1 level peaks or fewer.

At a local optimum q peaks phi_i(q) = |r(x_i(q); q)| are level at e and shares l_i >= 0 with sum 1 make
sum l_i phi_i' vanish. Newton's step (d, e, l) solves

    H d + G' l = 0,   G d + phi = e,   sum l = 1,      G_i = phi_i',   H = sum l_i phi_i''

The peaks move: phi'' = s (r_qq - r_xq r_xq' / r_xx) with the sign s of r, where the place is inside and
smooth. H is what makes the iteration quadratic where the fit has fewer level peaks than unknowns. Second
derivatives are differences of first ones.

Source: Hettich, Kortanek, "Semi-Infinite Programming" (1993), reduction to a finite programme.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.sampled import Sampled

Indices = NDArray[np.intp]
ITERATIONS = 14
#: Peaks are level to this share at the end, and to this much of a function of size 1; the longest step in log
#: tau or theta at the beginning.
LEVEL, ROUNDING, LONGEST = 2e-12, 4e-15, 0.25
#: Peaks below this share of the error are no candidates.
FOLLOWED = 0.1
#: Step of differences.
STEP = 1e-4


def polished(
    problem: Sampled, q: Array, places: Array, here: Array, share: Array
) -> tuple[Array, float] | None:
    """The local optimum near q and its sup error; None where the iteration does not get to one.

    ``places`` and ``here`` are the peaks at q, ``share`` estimates l.
    """
    use = share > 1e-7
    if problem.inequality is not None or not use.any():
        return None
    at, sign, share = places[use], np.sign(here[use]), share[use] / share[use].sum()
    for _ in range(ITERATIONS):
        error = problem.error(q)
        found, heights = problem.peaks(q, error, follow=FOLLOWED, fine=3)
        matched = _match(found, heights, at, sign, share)
        if matched is None:
            return None
        k, share = matched
        size = np.abs(heights)
        others = np.setdiff1d(np.flatnonzero(size > size[k].max() * (1 + 1e-9)), k)
        if len(others):
            k, share = np.append(k, others), np.append(share, np.zeros(len(others)))
        at, sign = found[k], np.sign(heights[k])
        step = _step(problem, q, at, sign, size[k], share)
        if step is None:
            return None
        d, share, kept = step
        at, sign, level = at[kept], sign[kept], size[k][kept]
        longest = np.abs(d[problem.curved]).max(initial=0.0)
        if not np.isfinite(d).all() or longest > LONGEST:
            return None
        sup = max(float(np.abs(error).max()), float(size.max()))
        room = LEVEL * sup + ROUNDING * (1 + float(np.abs(q[~problem.curved]).max(initial=0.0)))
        flat = level.max() - level.min() <= room and sup <= level.max() + room
        if flat and longest <= 1e-5:
            return q, sup
        q = problem.clipped(q + d)
    return None


def _match(
    found: Array, heights: Array, at: Array, sign: Array, share: Array
) -> tuple[Indices, Array] | None:
    """The peaks that continue those at ``at``, each once, and their shares."""
    kept: dict[int, float] = {}
    for x, s, part in zip(at, sign, share, strict=True):
        same = np.flatnonzero(np.sign(heights) == s)
        if not len(same):
            return None
        k = int(same[np.argmin(np.abs(found[same] - x))])
        kept[k] = kept.get(k, 0.0) + float(part)
    order = sorted(kept)
    return np.asarray(order, dtype=np.intp), np.asarray([kept[k] for k in order])


def _step(
    problem: Sampled, q: Array, at: Array, sign: Array, size: Array, share: Array
) -> tuple[Array, Array, Indices] | None:
    """Newton's step, the new shares, and which peaks are kept (those of negative share are let go)."""
    n = len(q)
    span = np.where(problem.curved, 1.0, np.maximum(1.0, np.abs(q)))
    slopes = sign[:, None] * problem.slopes(q, at) * span
    bend = _curvature(problem, q, at, sign, share, span)
    downhill = share @ slopes
    tiny = 1e-9 * np.abs(slopes).max(initial=1e-300)
    held = np.zeros(n, dtype=np.bool_)
    if problem.low is not None:
        held |= (q <= problem.low + 1e-12 * span) & (downhill > tiny)
    if problem.high is not None:
        held |= (q >= problem.high - 1e-12 * span) & (downhill < -tiny)
    free = np.flatnonzero(~held)
    kept = np.arange(len(at))
    while len(kept):
        g = slopes[np.ix_(kept, free)]
        m, f = len(kept), len(free)
        if m > f + 1:
            return None
        scale = float(np.abs(size).max())
        system = np.zeros((f + 1 + m, f + 1 + m))
        # The programme divided by the error, so that steps and shares are of size 1.
        system[:f, :f] = bend[np.ix_(free, free)] / scale
        system[:f, f + 1 :], system[f + 1 :, :f] = g.T / scale, g / scale
        system[f, f + 1 :] = system[f + 1 :, f] = -1.0
        right = np.concatenate([np.zeros(f), [-1.0], -size[kept] / scale])
        if not np.isfinite(system).all():
            return None
        solved = np.linalg.lstsq(system, right, rcond=1e-14)[0]
        shares = solved[f + 1 :]
        if shares.min() < -1e-9:
            kept = np.delete(kept, int(np.argmin(shares)))
            continue
        if not _convex(system[:f, :f], g / scale):
            return None
        d = np.zeros(n)
        d[free] = solved[:f]
        return d * span, np.maximum(shares, 0.0), kept
    return None


def _convex(bend: Array, slopes: Array) -> bool:
    """Whether the curvature is not negative where the peaks stay level with each other."""
    rows = slopes[1:] - slopes[:1]
    if len(bend) <= len(rows):
        return True
    _, values, basis = np.linalg.svd(np.vstack([rows, np.zeros((1, len(bend)))]), full_matrices=True)
    rank = int((values > 1e-9 * values.max(initial=1e-300)).sum())
    null = basis[rank:]
    if not len(null):
        return True
    # Along it all peaks may still sink together; then it is no optimum, which the step shows.
    eigen = np.linalg.eigvalsh(null @ bend @ null.T)
    return bool(eigen.min() >= -1e-6 * max(1.0, float(np.abs(bend).max())))


def _curvature(problem: Sampled, q: Array, at: Array, sign: Array, share: Array, span: Array) -> Array:
    """H in parameters divided by ``span``."""
    n, use = len(q), share > 0
    at, part = at[use], (share * sign)[use]
    if not n or not len(at):
        return np.zeros((n, n))
    h = STEP * np.diag(span)
    up, down = problem.slopes(q + h, at), problem.slopes(q - h, at)
    second = np.einsum("i,jif->jf", part, up - down) / (2 * STEP) * span
    if problem.function is not None:
        second -= _moving(problem, q, at, part, span)
    return np.asarray((second + second.T) / 2)


def _moving(problem: Sampled, q: Array, at: Array, part: Array, span: Array) -> Array:
    """Sum of share sign r_xq r_xq' / r_xx over the peaks that move with q."""
    k = np.clip(np.searchsorted(problem.x, at), 1, len(problem.x) - 1)
    step = 0.05 * (problem.x[k] - problem.x[k - 1])
    inside = (at - step > problem.x[0]) & (at + step < problem.x[-1])
    total = np.zeros((len(q), len(q)))
    if not inside.any():
        return total
    x, h, weight = at[inside], step[inside], part[inside]
    before, middle, after = (problem.error_at(q, place) for place in (x - h, x, x + h))
    bend = (after - 2 * middle + before) / h**2
    # At a kink the two sides fall with slopes of their own; there the peak stays.
    tilt = np.abs(after - before) / (2 * h)
    smooth = (bend * middle < 0) & (tilt * h < 0.05 * np.abs(bend) * h**2)
    mixed = (problem.slopes(q, x + h) - problem.slopes(q, x - h)) / (2 * h)[:, None] * span
    for row, b, w in zip(mixed[smooth], bend[smooth], weight[smooth], strict=True):
        total += w / b * np.outer(row, row)
    return total
