"""Quadrature: panels that are halved until 16 Gauss-Legendre points on each give all integrals to 13 digits.

Between kinks an integrand is analytic, so that the points of a panel converge fast once it is as narrow as
the distance of the nearest pole (pi/tau from the axis for a gate); panels are graded towards thresholds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.measure import Measure
from gateproof.numerics.fits.target import RefusedTarget, Target
from gateproof.numerics.fits.target_kinks import features

#: Points on a panel; accuracy relative to the integral of the absolute value; panels, and rounds of halving.
ORDER, DIGITS, MOST, ROUNDS = 16, 1e-13, 20_000, 60
#: Where a density is below this share of its largest value, a value that is not finite does not count.
NOTHING = 1e-100
#: The last panel towards infinity may hold this share of an integral.
LEFT_OVER = 1e-9


@lru_cache(maxsize=8)
def legendre(order: int) -> tuple[Array, Array]:
    """Points and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(order)
    return (x + 1) / 2, w / 2


def nodes(edges: Array, order: int = ORDER) -> tuple[Array, Array]:
    """The points and weights of panels, shape (panels, 2) in, (panels, order) out."""
    x, w = legendre(order)
    width = (edges[:, 1] - edges[:, 0])[:, None]
    return edges[:, :1] + width * x, width * w


def panels(
    integrand: Callable[[Array], Array],
    cuts: Array,
    *,
    noise: float = 0.0,
    digits: float = DIGITS,
    name: str = "the integral",
) -> tuple[Array, Array]:
    """Panels of shape (n, 2), and the integrals of an integrand that gives shape (m, ...) for points (...).

    The first of the m is a density; ``noise`` is how far the others, or what they are squares of, are off by
    rounding. Raises RefusedTarget where the integrals do not converge.
    """
    todo = np.stack([cuts[:-1], cuts[1:]], axis=1)
    whole = _over(integrand, todo)
    done: list[Array] = []
    sums: list[Array] = []
    kept = np.zeros(len(whole))
    for _ in range(ROUNDS):
        middle = todo.mean(axis=1)
        halves = np.stack([todo[:, 0], middle, middle, todo[:, 1]], axis=1).reshape(-1, 2)
        parts = _over(integrand, halves)
        finer = parts.reshape(len(parts), -1, 2).sum(axis=2)
        total = np.maximum(kept + np.abs(finer).sum(axis=1), 1e-300)
        allowed = np.maximum(digits * total, noise * np.sqrt(total * total[0]))
        allowed[0] = digits * total[0]
        wide = todo[:, 1] - todo[:, 0] > 1e-14 * np.abs(todo).max(axis=1)
        more = (np.abs(finer - whole) > allowed[:, None]).any(axis=0) & wide
        done.append(todo[~more])
        sums.append(finer[:, ~more])
        kept = kept + np.abs(sums[-1]).sum(axis=1)
        if not more.any():
            break
        keep = np.repeat(more, 2)
        todo, whole = halves[keep], parts[:, keep]
        if len(todo) + sum(map(len, done)) > MOST:
            raise RefusedTarget(
                f"{name}: its mean square does not converge, it oscillates or jumps too often"
            )
    else:
        done.append(todo)
        sums.append(whole)
    found, values = np.concatenate(done), np.concatenate(sums, axis=1)
    order = np.argsort(found[:, 0])
    return found[order], values[:, order]


def rounding(measure: Measure, target: Target, cuts: Array) -> float:
    """How far values of the target are off by rounding where the distribution has its mass."""
    assert measure.density is not None
    w = measure.density(cuts)
    with np.errstate(all="ignore"):
        size = np.sqrt(w / w.max()) * np.abs(target.function(cuts))
    return 2 * target.resolution * float(np.nanmax(size, initial=0.0, where=np.isfinite(size)))


def _over(integrand: Callable[[Array], Array], edges: Array) -> Array:
    x, w = nodes(edges)
    return np.asarray((integrand(x) * w).sum(axis=-1))


def cuts_of(
    measure: Measure,
    target: Target,
    places: Iterable[tuple[float, float]] = (),
    centre: float = 0.0,
    width: float = 1.0,
) -> Array:
    """Ends of first panels, ascending: the density's support within the domain, kinks, and graded ``places``.

    A place is a pair of a point and the width of what happens there.
    """
    lo = -np.inf if target.lo is None else float(target.lo)
    hi = np.inf if target.hi is None else float(target.hi)
    graded = [*places, (centre, width)]
    if target.expr is not None:
        graded += [(at, size) for at, size in features(target.expr) if lo < at < hi]
    inner: list[Array] = [np.array([float(k) for k in target.kinks])]
    if measure.kind == "normal":
        reach = np.concatenate([np.linspace(0, 6, 25), [7, 8, 10, 12.5, 16, 20, 27, 38]])
        support = measure.cuts[0] + measure.spread * np.concatenate([-reach, reach])
        lo, hi = max(lo, float(support.min())), min(hi, float(support.max()))
        inner.append(support)
    elif measure.kind == "bins":
        inner.append(np.array(measure.cuts))
        lo, hi = max(lo, measure.cuts[0]), min(hi, measure.cuts[-1])
    else:
        graded += [(c, width) for c in measure.cuts]
    for at, size in graded:
        steps = size * 2.0 ** np.arange(-1.0, 5.0 if np.isfinite(hi - lo) else 60.0)
        inner.append(np.concatenate([[at], at - steps, at + steps]))
    if np.isfinite(hi - lo):
        inner.append(np.linspace(lo, hi, 17))
    found = np.unique(np.concatenate(inner))
    if not np.isfinite(lo):
        lo = float(found[0])
    if not np.isfinite(hi):
        hi = float(found[-1])
    found = found[(found > lo) & (found < hi)]
    # Two cuts a rounding apart would make a panel without points between them.
    found = found[np.concatenate([[True], np.diff(found) > 1e-13 * np.abs(found[1:])])]
    return np.concatenate([[lo], found, [hi]])


def weighted_integrand(
    measure: Measure, values: Callable[[Array], Array], largest: float, name: str
) -> Callable[[Array], Array]:
    """The density times 1 and the values, shape (1 + m, ...). Raises RefusedTarget for what is not finite."""
    assert measure.density is not None
    density = measure.density

    def integrand(x: Array) -> Array:
        w = density(x)
        with np.errstate(all="ignore"):
            found = np.concatenate([w[None], w * values(x)])
        bad = ~np.isfinite(found).all(axis=0)
        if bad.any():
            if (w[bad] > NOTHING * largest).any():
                at = float(x[bad & (w > NOTHING * largest)].flat[0])
                raise RefusedTarget(
                    f"{name} is not finite under {measure.text}: no finite value at x = {at:.6g}"
                )
            found = np.where(bad, 0.0, found)
        return found

    return integrand


def must_converge(values: Array, edges: Array, target: Target, measure: Measure, name: str) -> None:
    """Refuse integrals of which the last panel towards infinity still holds a part."""
    if measure.kind == "bins":
        return
    for end, place in ((target.lo, 0), (target.hi, -1)):
        share = np.abs(values[:, place]) / np.maximum(np.abs(values).sum(axis=1), 1e-300)
        if end is None and (share > LEFT_OVER).any():
            what = "the density has no finite integral" if share[0] > LEFT_OVER else f"{name} is infinite"
            raise RefusedTarget(f"{what} under {measure.text} (seen up to x = {edges[place, place]:.3g})")
