"""Targets made for tests of fits: planted gates and moved functions, without formulas."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.gates import Gates
from gateproof.numerics.fits.target import Line, Target, of_formula
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import num


def of_text(text: str, lo: int | None = None, hi: int | None = None) -> Target:
    ends = [None if e is None else Fraction(e) for e in (lo, hi)]
    return of_formula(formula(text), expand(parse_expr(text)), *ends)


def line(m: float, b: float) -> Line:
    return Line(num(Fraction(m)), num(Fraction(b)), float(m), float(b))


def of_function(function: Callable[[np.ndarray], np.ndarray], left: Line, right: Line) -> Target:
    return Target("made", function, None, None, None, left, right)


def planted(
    branches: int,
    sharpness: str,
    rng: np.random.Generator,
    *,
    scale: float = 1.0,
    shift: float = 0.0,
    height: float = 1.0,
) -> Target:
    """A random gate, stretched by ``scale`` and then moved by ``shift``, times ``height``."""
    n = branches - 1
    tau = np.full(n, rng.uniform(0.3, 5)) if sharpness == "shared" else rng.uniform(0.3, 5, n)
    theta, slope, intercept = (
        np.sort(rng.normal(0, 2, n)),
        rng.normal(size=branches),
        rng.normal(size=branches),
    )
    slope = slope * height / scale
    intercept = intercept * height - slope * shift
    gates = Gates(branches)
    full = np.concatenate([np.log(tau / scale), shift + scale * theta, slope, intercept])
    ends = [line(slope[k], intercept[k]) for k in (0, -1)]
    return of_function(lambda x: gates.values(full, x), *ends)


def moved(target: Target, *, a: float, b: float, c: float, m: float, d: float) -> Target:
    """Y = c f(a x + b) + m x + d."""
    left, right = (target.left, target.right) if a > 0 else (target.right, target.left)
    assert left is not None
    assert right is not None
    ends = [line(c * e.m * a + m, c * (e.m * b + e.b) + d) for e in (left, right)]
    return of_function(lambda x: c * target.function(a * x + b) + m * x + d, *ends)
