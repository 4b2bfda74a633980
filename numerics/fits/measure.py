"""The distribution of inputs that a root mean square is taken under.

A normal distribution (N(0, 1) on R unless said), a uniform one on an interval, a density given as a formula,
or real pre-activations: samples, or bins with counts. On a domain that is not R the first and the third are
restricted to it, and have mass 1 there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.measure_weight import checked_weight
from gateproof.numerics.fits.target import RefusedTarget, Target, exact_text
from gateproof.theory.formula.nodes import Expr


@dataclass(frozen=True)
class Measure:
    """A distribution of mass 1 after division by its mass.

    ``kind`` is 'normal', 'uniform', 'density', 'bins' or 'points'. ``density`` is positive and not scaled;
    None for points, which have ``x`` and ``weight``. ``cuts``: places beside which the density changes,
    ``spread`` its width around each. ``text`` says which distribution it is.
    """

    kind: str
    text: str
    density: Callable[[Array], Array] | None = None
    cuts: tuple[float, ...] = ()
    spread: float = 1.0
    x: Array | None = None
    weight: Array | None = None
    mu: Fraction = Fraction(0)
    sigma: Fraction = Fraction(1)
    expr: Expr | None = None
    notes: tuple[str, ...] = ()


def measure_of(
    target: Target,
    mu: Fraction | float | None = None,
    sigma: Fraction | float | None = None,
    histogram: Any = None,
    weight: str | None = None,
) -> Measure:
    """The distribution that is asked for, or the usual one of the target's domain. Raises RefusedTarget.

    Data: every point counts alike, or by 1/se^2 where there are standard errors, times ``weight``. Else one
    of: ``mu`` and ``sigma`` of a normal distribution; a ``histogram`` of pre-activations; a ``weight``, a
    formula in x that is its density up to a factor. Without any: uniform on an interval, N(0, 1) otherwise.
    """
    given = [n for n, v in (("--sigma", sigma if sigma is not None else mu), ("--histogram", histogram),
                            ("--weight", weight)) if v is not None]  # fmt: skip
    if len(given) > 1:
        raise RefusedTarget(
            f"{given[0]} and {given[1]} each say how inputs are distributed; give one of them"
        )
    if target.points is not None:
        return _of_data(target, given, weight)
    if histogram is not None:
        from gateproof.numerics.fits.measure_samples import of_histogram

        return of_histogram(histogram, target)
    if weight is not None:
        return _of_weight(target, weight)
    if mu is None and sigma is None and target.lo is not None and target.hi is not None:
        return Measure("uniform", f"uniform on {target.domain}", np.ones_like, _ends(target))
    return _of_normal(target, _fraction("mu", mu, 0), _fraction("sigma", sigma, 1))


def _fraction(name: str, value: Fraction | float | None, default: int) -> Fraction:
    if value is None:
        return Fraction(default)
    try:
        found = value if isinstance(value, Fraction) else Fraction(repr(value))
    except (ValueError, ZeroDivisionError):
        raise RefusedTarget(f"--{name} {value!r:.40}: give a finite number") from None
    if abs(found) > 10**100 or (name == "sigma" and not found > Fraction(1, 10**100)):
        wanted = "above 0" if name == "sigma" else "below 1e100"
        raise RefusedTarget(f"--{name} {float(found):g}: give a number {wanted}")
    return found


def _ends(target: Target) -> tuple[float, ...]:
    return tuple(float(e) for e in (target.lo, target.hi) if e is not None)


def _within(target: Target) -> str:
    return "" if target.lo is None and target.hi is None else f" within {target.domain}"


def _of_normal(target: Target, mu: Fraction, sigma: Fraction) -> Measure:
    m, s = float(mu), float(sigma)

    def density(x: Array) -> Array:
        return np.exp(-0.5 * ((x - m) / s) ** 2)

    centre = exact_text(mu)
    text = f"N({centre}, {exact_text(sigma)}{'' if sigma == 1 else '^2'}){_within(target)}"
    lo, hi = (np.inf if e is None else float(e) for e in (target.lo, target.hi))
    near = m + 38 * s if target.lo is None else lo, m - 38 * s if target.hi is None else hi
    if near[0] > m + 38 * s or near[1] < m - 38 * s:
        raise RefusedTarget(f"{text}: its inputs do not come near {target.domain}; give --mu and --sigma")
    return Measure("normal", text, density, (m,), s, mu=mu, sigma=sigma)


def _of_weight(target: Target, text: str) -> Measure:
    run, core, cuts = checked_weight(text, target)
    return Measure("density", f"density {text.strip():.60} on {target.domain}", run, cuts, expr=core)


def _of_data(target: Target, given: list[str], text: str | None) -> Measure:
    assert target.points is not None
    if given and text is None:
        raise RefusedTarget(f"{given[0]}: a measured curve has its own points; give --weight, a formula in x")
    points = target.points
    weight = np.ones_like(points.x) if points.se is None else (points.se.min() / points.se) ** 2
    words = "the points" if points.se is None else "the points by 1/se^2"
    if text is not None:
        weight = weight * checked_weight(text, target)[0](points.x)
        words = f"{words}, times {text.strip():.60}"
    if not weight.sum() > 0:
        raise RefusedTarget("--weight is 0 at all points of the curve")
    return Measure("points", words, None, x=points.x, weight=weight / weight.sum())


def chi_squared(target: Target, error: Array, parameters: int) -> float | None:
    """Chi^2 per degree of freedom of errors at the points of data; None without standard errors."""
    points = target.points
    if points is None or points.se is None or len(points.x) <= parameters:
        return None
    return float(((error / points.se) ** 2).sum() / (len(points.x) - parameters))


def root_mean(weight: Array, error: Array) -> float:
    """The root mean square of errors whose weights sum to 1."""
    size = float(np.abs(error).max(initial=0.0))
    return size * sqrt(float((weight * (error / size) ** 2).sum())) if 0 < size < np.inf else size
