"""Where a formula changes over: rational places exactly, others as doubles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.kinks import corners
from gateproof.numerics.special import special_points
from gateproof.theory.exact.domain import Domain
from gateproof.theory.facts import kinks_of
from gateproof.theory.formula import FormulaError, to_text
from gateproof.theory.formula.nodes import App, Expr, Num
from gateproof.theory.formula.powers import linear
from gateproof.theory.formula.scopes import free_names

#: Roots of one argument that are followed.
MOST = 64


def kinks_within(core: Expr, lo: Fraction | None, hi: Fraction | None) -> tuple[Fraction, ...]:
    """The places strictly inside of the domain where the formula is not smooth, ascending.

    Where these are not found by exact means: the zeros of what it switches on (arguments of abs, sign, max,
    min, conditions), of which some may be no kinks; a double zero may then be missed.
    """
    ends = Domain(None if lo is None else Num(lo), None if hi is None else Num(hi))
    exact = kinks_of(core, "x", ends)
    if exact is not None:
        found = {k.at if isinstance(k.at, Fraction) else Fraction(to_float(k.at)) for k in exact}
    else:
        found = set(special_points(core, "x"))
        for argument in dict.fromkeys(c for node in core.walk() for c in corners(node)):
            if free_names(argument) == {"x"} and linear(argument, "x") is None:
                found.update(_roots(argument, lo, hi))
    return tuple(k for k in sorted(found) if (lo is None or lo < k) and (hi is None or k < hi))


def features(core: Expr) -> tuple[tuple[float, float], ...]:
    """Where arguments a*x + b of functions are 0, with the width 1/|a|: (1000*(x - 5)) is narrow at 5."""
    found: dict[float, float] = {}
    for node in core.walk():
        line = linear(node, "x") if isinstance(node, App) else None
        if line is not None and line[0] != 0:
            at, width = float(-line[1] / line[0]), float(1 / abs(line[0]))
            found[at] = min(width, found.get(at, width))
    return tuple(sorted(found.items())[:MOST])


def _roots(argument: Expr, lo: Fraction | None, hi: Fraction | None) -> list[Fraction]:
    """Sign changes on a grid over twelve decades, or over the interval, by bisection."""
    try:
        run = formula(to_text(argument)).numpy
    except FormulaError:
        return []
    far = 1e-6 * np.sinh(np.linspace(0.0, np.log(2e12), 6001))
    x = np.concatenate([-far[:0:-1], far])
    if lo is not None:
        x = x[x > float(lo)]
    if hi is not None:
        x = x[x < float(hi)]
    if lo is not None and hi is not None:
        x = np.union1d(x, np.linspace(float(lo), float(hi), 12001))
    with np.errstate(all="ignore"):
        sign = np.sign(np.asarray(run(x), dtype=np.float64))
    alone = (sign[1:-1] == 0) & (sign[:-2] != 0) & (sign[2:] != 0)
    found = [Fraction(float(v)) for v in x[1:-1][alone][:MOST]]
    for k in np.flatnonzero(sign[1:] * sign[:-1] < 0)[:MOST]:
        a, b = float(x[k]), float(x[k + 1])
        for _ in range(200):
            middle = (a + b) / 2
            if not a < middle < b:
                break
            a, b = (middle, b) if np.sign(run(middle)) == sign[k] else (a, middle)
        found.append(Fraction(b))
    return found
