"""What is to be fitted: a real function of one real variable, on the line or on an interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from gateproof.numerics.backends.formula import Formula
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.target_kinks import kinks_within
from gateproof.numerics.fits.target_lines import line_of
from gateproof.theory.asymptotes import Asymptote, NoAsymptote, as_expr
from gateproof.theory.formula import free_names
from gateproof.theory.formula.nodes import Expr

UNKNOWN = "no asymptote was found"
#: The accuracy of values in float64 and in float32.
DOUBLE, SINGLE = 2.0**-52, 2.0**-23


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
class Points:
    """A measured curve: ascending x, their y, and standard errors of y where they are known.

    ``count`` is the number of rows that they come from.
    """

    x: Array
    y: Array
    se: Array | None = None
    count: int = 0


@dataclass(frozen=True)
class Target:
    """``function`` takes and gives float64 arrays. ``expr`` is a core expression in x; None for a callable.

    ``lo`` and ``hi`` are None where the domain is infinite. ``left`` and ``right`` are the asymptotes where
    the domain is infinite and they exist; ``why`` says why not. ``kinks`` are where the formula changes:
    rationals, or doubles next to roots that are none.

    ``kind`` is 'formula', 'gate', 'callable' or 'data'; only the first two have an ``expr``. A callable's
    asymptotes are estimates. ``points`` are those of data; between them the function is interpolated by
    lines, and the error is meant on the points. ``weight`` multiplies the error of the sup norm
    (``weight_expr`` is the same as an expression). ``notes`` are remarks for the user, a line each.
    ``resolution`` is the relative accuracy of the values. ``left_out``: ends that do not belong to the
    domain; there the function has its limit.
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
    kind: str = "formula"
    points: Points | None = None
    weight: Callable[[Array], Array] | None = None
    weight_expr: Expr | None = None
    notes: tuple[str, ...] = ()
    resolution: float = DOUBLE
    left_out: tuple[bool, bool] = (False, False)

    @property
    def domain(self) -> str:
        """The domain in the language of the claims: 'R', '[-8, 8]', '(0, oo)'."""
        if self.lo is None and self.hi is None:
            return "R"
        a, b = ("(" if self.left_out[0] else "["), (")" if self.left_out[1] else "]")
        left = "(-oo" if self.lo is None else f"{a}{exact_text(self.lo)}"
        return f"{left}, " + ("oo)" if self.hi is None else f"{exact_text(self.hi)}{b}")

    def same(self, other: Target) -> bool:
        """Whether all is equal but the Python functions, which cannot be compared."""
        apart = ("function", "weight", "points")
        if any(getattr(self, f.name) != getattr(other, f.name) for f in fields(self) if f.name not in apart):
            return False
        a, b = self.points, other.points
        if a is None or b is None:
            return a is b
        known = (a.se is None) == (b.se is None) and (
            a.se is None or b.se is None or np.array_equal(a.se, b.se)
        )
        return known and np.array_equal(a.x, b.x) and np.array_equal(a.y, b.y)

    def __getstate__(self) -> dict[str, Any]:
        """Without functions, which are made again. TypeError where the target is a Python function."""
        if self.expr is None and self.points is None:
            raise TypeError(
                f"a fit of {self.name:.60} cannot be pickled: its target is a Python function; keep its "
                "to_json(), or its gate"
            )
        return {**self.__dict__, "function": None, "weight": self.weight is not None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        points, weight = self.points, None
        run = None if self.expr is None else _run_of(self.expr)
        if points is not None:
            run = partial(_between, points)
        assert run is not None
        if self.weight:
            weight = partial(_inverse, run) if self.weight_expr is None else _run_of(self.weight_expr)
        self.__dict__.update(function=run, weight=weight)


def _between(points: Points, x: Array) -> Array:
    """Straight lines between points."""
    return np.asarray(np.interp(x, points.x, points.y))


def _inverse(function: Callable[[Array], Array], x: Array) -> Array:
    """The weight of a relative error."""
    return np.asarray(1.0 / np.abs(function(x)))


def _run_of(node: Expr) -> Callable[[Array], Array]:
    """A core expression as a function of arrays."""
    names = ("x",) if "x" in free_names(node) else ()
    return values_of(Formula("the formula", node, names, {}, node))


def of_formula(
    formula: Formula,
    core: Expr,
    lo: Fraction | None,
    hi: Fraction | None,
    lines: tuple[Asymptote, Asymptote] | None = None,
) -> Target:
    """The target of a formula in x whose core expression is given, with its asymptotes at infinite ends.

    ``lines`` are the asymptotes, left and right, where they are known.
    """
    found: list[Line | None] = []
    reasons = []
    for k, (end, side) in enumerate(((lo, "-"), (hi, "+"))):
        line = None if end is not None else lines[k] if lines is not None else line_of(core, side)
        found.append(_line(line) if isinstance(line, Asymptote) else None)
        reasons.append("" if end is not None or found[-1] else _reason(line))
    function = values_of(formula)
    kinks = kinks_within(core, lo, hi)
    return Target(formula.text, function, core, lo, hi, found[0], found[1], (reasons[0], reasons[1]), kinks)


def values_of(formula: Formula) -> Callable[[Array], Array]:
    """A formula without other names than x, as a function of float64 arrays."""
    run = formula.numpy
    if "x" not in formula.names:
        value = float(run())
        return lambda x: np.full(x.shape, value)

    def function(x: Array) -> Array:
        return np.broadcast_to(np.asarray(run(x), dtype=np.float64), x.shape)

    return function


def exact_text(value: Fraction) -> str:
    """The shortest exact text of a rational: decimals where they are exact."""
    near = float(value)
    return repr(near) if value.denominator != 1 and Fraction(repr(near)) == value else str(value)


def _line(found: Asymptote) -> Line:
    from gateproof.numerics.backends.numbers import to_float

    slope, intercept = as_expr(found.slope), as_expr(found.intercept)
    return Line(slope, intercept, to_float(slope), to_float(intercept))


def _reason(found: Asymptote | NoAsymptote | None) -> str:
    return found.reason if isinstance(found, NoAsymptote) else UNKNOWN
