"""What is to be fitted: a real function of one real variable, on the line or on an interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gateproof.numerics.backends.formula import Formula
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.special import special_points
from gateproof.theory.asymptotes import Asymptote, NoAsymptote, as_expr, asymptote
from gateproof.theory.formula.nodes import Expr


class RefusedTarget(ValueError):
    """Not a function that a gate can be fitted to, and why; one line."""


@dataclass(frozen=True)
class Line:
    """A line that the target approaches: exact coefficients, and floats near them."""

    slope: Expr
    intercept: Expr
    m: float
    b: float


@dataclass(frozen=True)
class Target:
    """``function`` takes and gives float64 arrays. ``expr`` is a core expression in x; None for a callable.

    ``lo`` and ``hi`` are None where the domain is infinite. ``left`` and ``right`` are the asymptotes where
    the domain is infinite and they exist; ``why`` says why not. ``kinks`` are rationals where the formula
    changes.
    """

    name: str
    function: Callable[[Array], Array]
    expr: Expr | None = None
    lo: Fraction | None = None
    hi: Fraction | None = None
    left: Line | None = None
    right: Line | None = None
    why: tuple[str, str] = ("", "")
    kinks: tuple[Fraction, ...] = ()


def of_formula(formula: Formula, core: Expr, lo: Fraction | None, hi: Fraction | None) -> Target:
    """The target of a formula in x whose core expression is given, with its asymptotes at infinite ends."""
    lines: list[Line | None] = []
    reasons = []
    for end, side in ((lo, "-"), (hi, "+")):
        found = asymptote(core, "x", side) if end is None else None
        lines.append(_line(found) if isinstance(found, Asymptote) else None)
        reasons.append("" if end is not None or lines[-1] else _reason(found))
    kinks = tuple(k for k in special_points(core, "x") if (lo is None or lo < k) and (hi is None or k < hi))
    run = formula.numpy

    def function(x: Array) -> Array:
        return np.broadcast_to(np.asarray(run(x), dtype=np.float64), x.shape)

    return Target(formula.text, function, core, lo, hi, lines[0], lines[1], (reasons[0], reasons[1]), kinks)


def _line(found: Asymptote) -> Line:
    from gateproof.numerics.backends.numbers import to_float

    slope, intercept = as_expr(found.slope), as_expr(found.intercept)
    return Line(slope, intercept, to_float(slope), to_float(intercept))


def _reason(found: Asymptote | NoAsymptote | None) -> str:
    return found.reason if isinstance(found, NoAsymptote) else "no asymptote was found"
